//===- rewrite/writer/Launches.cpp - How large a kernel's blocks are ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   constexpr int Block = 128;       dim3 block(16, 16);
//   step<<<grid, Block>>>(...);      scan<<<grid, block>>>(...);
//
// A size is known if it is a constant, or made of local variables that get a
// constant where they are declared and are not changed. All of a kernel's launches
// must be so; a name of the kernel that is no launch is its address, and who has
// that may launch it in any way.
//
//   const int i = blockIdx.x * 128 + threadIdx.x;
//
// is how a kernel takes them to be. By itself that proves nothing: a thread may
// have two items, i and i + 64. With others who say that blocks have at most as
// many threads, all have just so many: with fewer there would be gaps. A template
// says it by numbers and the file's constants alone, for the next instance may have
// others of its own.
//
//===----------------------------------------------------------------------===//

#include "rewrite/writer/Launches.h"

#include "rewrite/writer/Effects.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace reconverge::rewrite {

/// What a local variable that nobody changes is declared as; null: it is none.
static const Expr *valueOf(const Expr &E) {
  const VarDecl *V = variableOf(*E.IgnoreParenImpCasts());
  const auto *In = V && V->hasLocalStorage() && !isa<ParmVarDecl>(V)
                       ? dyn_cast<FunctionDecl>(V->getDeclContext())
                       : nullptr;
  return In && V->getInit() && !mayChange(In->getBody(), *V) ? V->getInit()
                                                             : nullptr;
}

/// None: it is not known.
static std::optional<uint64_t> numberOf(const Expr &E, const ASTContext &C) {
  Expr::EvalResult Result;
  if (!E.isValueDependent() && E.getType()->isIntegerType() &&
      E.EvaluateAsInt(Result, C))
    return Result.Val.getInt().getLimitedValue(UINT32_MAX);
  if (const Expr *Value = valueOf(E))
    return numberOf(*Value, C);
  const auto *Op = dyn_cast<BinaryOperator>(E.IgnoreParenImpCasts());
  if (!Op || (Op->getOpcode() != BO_Mul && Op->getOpcode() != BO_Div))
    return std::nullopt;
  const auto Left = numberOf(*Op->getLHS(), C),
             Right = numberOf(*Op->getRHS(), C);
  if (!Left || !Right || !*Right)
    return std::nullopt;
  return Op->getOpcode() == BO_Mul ? *Left * *Right : *Left / *Right;
}

/// Of a dim3.
static std::optional<uint64_t> threadsOf(const Expr &E, const ASTContext &C) {
  const Expr *At = E.IgnoreImplicit()->IgnoreParens();
  if (const auto *Cast = dyn_cast<CXXFunctionalCastExpr>(At))
    return threadsOf(*Cast->getSubExpr(), C);
  if (const Expr *Value = valueOf(*At))
    return threadsOf(*Value, C);
  const auto *Made = dyn_cast<CXXConstructExpr>(At);
  if (!Made)
    return std::nullopt;
  if (Made->getConstructor()->isCopyOrMoveConstructor())
    return threadsOf(*Made->getArg(0), C);
  uint64_t Threads = Made->getNumArgs() > 0;
  for (const Expr *Arg : Made->arguments()) {
    const auto Size = numberOf(*Arg, C);
    if (!Size)
      return std::nullopt;
    Threads *= *Size;
  }
  return Threads;
}

namespace {
/// The launches of the kernels whose text is at one place.
class Launches : public RecursiveASTVisitor<Launches> {
public:
  Launches(SourceLocation At, const ASTContext &C) : At(At), C(C) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool VisitCUDAKernelCallExpr(CUDAKernelCallExpr *Launch) {
    const FunctionDecl *F = Launch->getDirectCallee();
    if (!F || !isIt(*F))
      return true;
    Names.insert(Launch->getCallee()->IgnoreParenImpCasts());
    const CallExpr *Shape = Launch->getConfig();
    const auto Threads = Shape && Shape->getNumArgs() > 1
                             ? threadsOf(*Shape->getArg(1), C)
                             : std::nullopt;
    IsKnown &= Threads.has_value();
    Least = std::min(Least, Threads.value_or(0));
    Most = std::max(Most, Threads.value_or(0));
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr *Name) {
    // A launch is visited before its parts.
    if (const auto *F = dyn_cast<FunctionDecl>(Name->getDecl()))
      IsKnown &= !isIt(*F) || Names.contains(Name);
    return true;
  }
  bool IsKnown = true;
  uint64_t Least = UINT64_MAX, Most = 0;

private:
  bool isIt(const FunctionDecl &F) const {
    const FunctionDecl *Written = F.getTemplateInstantiationPattern();
    Written = Written ? Written : F.getDefinition();
    return Written && Written->getLocation() == At;
  }
  const SourceLocation At;
  const ASTContext &C;
  llvm::SmallPtrSet<const Expr *, 8> Names;
};
} // namespace

BlockSizes launchedThreads(const FunctionDecl &Kernel, ASTContext &C) {
  if (Kernel.getTemplateSpecializationKind() ==
      TSK_ExplicitInstantiationDefinition)
    return {}; // for others to launch
  Launches All(Kernel.getLocation(), C);
  All.TraverseDecl(C.getTranslationUnitDecl());
  return All.IsKnown && All.Most ? BlockSizes{All.Least, All.Most}
                                 : BlockSizes{};
}

const Expr *sizeInNumber(const Stmt &S, const ASTContext &C) {
  const auto *Sum = dyn_cast<BinaryOperator>(&S);
  if (!Sum || Sum->getOpcode() != BO_Add)
    return nullptr;
  const Expr *Left = Sum->getLHS()->IgnoreParenCasts(),
             *Right = Sum->getRHS()->IgnoreParenCasts();
  if (threadIndex(Left) == 0)
    std::swap(Left, Right);
  const auto *Product = dyn_cast<BinaryOperator>(Left);
  if (threadIndex(Right) != 0 || !Product || Product->getOpcode() != BO_Mul)
    return nullptr;
  const Expr *Block = Product->getLHS(), *Size = Product->getRHS();
  if (partOf(Size->IgnoreParenCasts(), "blockIdx") == "x")
    std::swap(Block, Size);
  if (partOf(Block->IgnoreParenCasts(), "blockIdx") != "x")
    return nullptr;
  // What stands for a template's parameter is to be seen.
  Size = Size->IgnoreParens();
  while (const auto *Cast = dyn_cast<ImplicitCastExpr>(Size))
    Size = Cast->getSubExpr()->IgnoreParens();
  return partOf(Size, "blockDim") == "x" || Size->isIntegerConstantExpr(C)
             ? Size
             : nullptr;
}

/// A number, or a constant of the file: the same in all instances of a template.
static bool isOfNoInstance(const Expr &E) {
  const VarDecl *V = variableOf(E);
  return isa<IntegerLiteral>(E) ||
         (V && V->isFileVarDecl() && !V->isStaticDataMember() &&
          !isa<VarTemplateSpecializationDecl>(V));
}

uint64_t threadsAsTaken(const FunctionDecl &Kernel) {
  const ASTContext &C = Kernel.getASTContext();
  uint64_t Threads = 0;
  bool IsOne = true;
  walk(Kernel.getBody(), [&](const Stmt &At) {
    IsOne &= partOf(&At, "blockDim").empty();
    const Expr *Size = sizeInNumber(At, C);
    const auto Value =
        Size ? Size->getIntegerConstantExpr(C) : std::optional<llvm::APSInt>();
    if (!Value)
      return IsOne;
    IsOne &= !Kernel.isTemplateInstantiation() || isOfNoInstance(*Size);
    IsOne &= !Threads || Threads == Value->getLimitedValue();
    Threads = Value->getLimitedValue();
    return IsOne;
  });
  return IsOne ? Threads : 0;
}

} // namespace reconverge::rewrite
