//===- rewrite/writer/Effects.cpp - What running code anew would do -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code may be moved, left out or run twice if it does nothing but compute. What
// an expression does is what its parts do; a call does what its function's body
// does, less what that does to its own variables. What is not known here acts:
// assignments to others' variables, memory written, volatile, atomics, assembly,
// functions without a body but for CUDA's mathematics.
//
// Limitation: member functions are taken to write only what they assign by name;
// one that writes a member acts, also on an object that is a local variable.
//
//===----------------------------------------------------------------------===//

#include "rewrite/writer/Effects.h"

#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/Builtins.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace reconverge::rewrite {

static constexpr unsigned Many = 100; ///< the cost of what is not cheap

void Effect::add(Effect E) {
  Reads |= E.Reads;
  Acts |= E.Acts;
  Thread |= E.Thread;
  Block |= E.Block;
  Cost += E.Cost;
}

/// As it is written; properties of CUDA's built-in variables are no calls.
static const MSPropertyRefExpr *propertyOf(const Stmt *S) {
  const auto *Pseudo = dyn_cast<PseudoObjectExpr>(S);
  return dyn_cast_or_null<MSPropertyRefExpr>(Pseudo ? Pseudo->getSyntacticForm()
                                                    : dyn_cast<Expr>(S));
}

static StringRef builtinOf(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (const auto *Opaque = dyn_cast<OpaqueValueExpr>(E))
    E = Opaque->getSourceExpr()->IgnoreParenImpCasts();
  const auto *Name = dyn_cast<DeclRefExpr>(E);
  if (!Name ||
      !Name->getType().getAsString().starts_with("const __cuda_builtin_"))
    return "";
  return Name->getDecl()->getName();
}

int threadIndex(const Stmt *S) {
  if (const MSPropertyRefExpr *P = propertyOf(S)) {
    if (builtinOf(P->getBaseExpr()) != "threadIdx")
      return -1;
    return llvm::StringSwitch<int>(P->getPropertyDecl()->getName())
        .Case("x", 0)
        .Case("y", 1)
        .Case("z", 2)
        .Default(3);
  }
  const auto *E = dyn_cast<Expr>(S);
  return E && isa<DeclRefExpr>(E) && builtinOf(E) == "threadIdx" ? 3 : -1;
}

bool isLaunchIndex(const Stmt *S) {
  const MSPropertyRefExpr *P = propertyOf(S);
  const StringRef Name = P ? builtinOf(P->getBaseExpr()) : "";
  return !Name.empty() && Name != "threadIdx";
}

StringRef partOf(const Stmt *S, StringRef Name) {
  const MSPropertyRefExpr *P = propertyOf(S);
  return P && builtinOf(P->getBaseExpr()) == Name
             ? P->getPropertyDecl()->getName()
             : "";
}

void walk(const Stmt *S, llvm::function_ref<bool(const Stmt &)> Visit) {
  if (!S || !Visit(*S) || propertyOf(S))
    return;
  if (const auto *Pseudo = dyn_cast<PseudoObjectExpr>(S))
    return walk(Pseudo->getSyntacticForm(), Visit);
  if (const auto *Lambda = dyn_cast<LambdaExpr>(S)) {
    for (const Expr *Init : Lambda->capture_inits())
      walk(Init, Visit);
    return walk(Lambda->getBody(), Visit);
  }
  if (const auto *Loop = dyn_cast<CXXForRangeStmt>(S)) {
    walk(Loop->getRangeInit(), Visit);
    return walk(Loop->getBody(), Visit);
  }
  if (const auto *Default = dyn_cast<CXXDefaultArgExpr>(S))
    return walk(Default->getExpr(), Visit);
  for (const Stmt *Child : S->children())
    walk(Child, Visit);
}

const VarDecl *variableOf(const Stmt &S) {
  const auto *Name = dyn_cast<DeclRefExpr>(&S);
  if (!Name)
    return nullptr;
  if (const auto *Part = dyn_cast<BindingDecl>(Name->getDecl()))
    return dyn_cast_or_null<VarDecl>(Part->getDecomposedDecl());
  return dyn_cast<VarDecl>(Name->getDecl());
}

namespace {
/// Of one function's body or of an expression.
class Looker {
public:
  explicit Looker(llvm::SmallPtrSetImpl<const FunctionDecl *> &Seen)
      : Seen(Seen) {}
  Effect of(const Stmt *S);
  Effect ofPlace(const Expr *E);
  Effect ofFunction(const FunctionDecl *F);
  bool MakesObject = false; ///< it is a constructor

private:
  Effect ofParts(const Stmt *S) {
    Effect Sum;
    for (const Stmt *Child : S->children())
      if (Child)
        Sum.add(of(Child));
    return Sum;
  }
  Effect ofName(const DeclRefExpr &E) const;
  Effect ofCall(const Expr &Call, const FunctionDecl *F);
  bool isOwn(const Expr *Target) const;
  llvm::SmallPtrSetImpl<const FunctionDecl *> &Seen; ///< being looked into
};
} // namespace

/// Of whole numbers.
static bool isConstant(const Expr &E) {
  const Expr *At = E.IgnoreParenImpCasts();
  const VarDecl *V = variableOf(*At);
  return isa<IntegerLiteral>(At) || (V && V->isConstexpr()) ||
         (isa<DeclRefExpr>(At) &&
          isa<EnumConstantDecl>(cast<DeclRefExpr>(At)->getDecl()));
}

static Effect acts() { return {.Acts = true, .Cost = Many}; }

/// A variable, an element or a member of one, that lives in this body.
bool Looker::isOwn(const Expr *Target) const {
  Target = Target->IgnoreParenImpCasts();
  if (const auto *Member = dyn_cast<MemberExpr>(Target)) {
    if (isa<CXXThisExpr>(Member->getBase()->IgnoreParenImpCasts()))
      return MakesObject;
    return !Member->isArrow() && isOwn(Member->getBase());
  }
  if (const auto *Element = dyn_cast<ArraySubscriptExpr>(Target)) {
    const Expr *Base = Element->getBase()->IgnoreParenImpCasts();
    return Base->getType()->isArrayType() && isOwn(Base);
  }
  if (const auto *Choice = dyn_cast<ConditionalOperator>(Target))
    return isOwn(Choice->getTrueExpr()) && isOwn(Choice->getFalseExpr());
  const VarDecl *V = variableOf(*Target);
  return V && V->hasLocalStorage() && !V->getType()->isReferenceType();
}

Effect Looker::ofName(const DeclRefExpr &E) const {
  const auto *V = dyn_cast<VarDecl>(E.getDecl());
  if (!V || V->isConstexpr())
    return {};
  // What a parameter is bound to, the call says.
  if (V->hasLocalStorage())
    return {.Reads = V->getType()->isReferenceType() && !isa<ParmVarDecl>(V)};
  return {.Reads = !V->getType().isConstQualified() &&
                   !V->hasAttr<CUDAConstantAttr>(),
          .Cost = 1};
}

Effect Looker::ofFunction(const FunctionDecl *F) {
  const Stmt *Body = F->getBody(F);
  if (!Body || F->isVirtualAsWritten() || !Seen.insert(F).second)
    return acts();
  Looker Inside(Seen);
  const auto *Constructor = dyn_cast<CXXConstructorDecl>(F);
  Inside.MakesObject = Constructor;
  Effect Sum = Inside.of(Body);
  if (Constructor)
    for (const CXXCtorInitializer *Init : Constructor->inits())
      Sum.add(Inside.of(Init->getInit()));
  Seen.erase(F);
  return Sum;
}

Effect Looker::ofCall(const Expr &Call, const FunctionDecl *F) {
  Effect Sum = ofParts(&Call);
  ++Sum.Cost;
  if (!F)
    Sum.add(acts());
  else if (const unsigned Id = F->getBuiltinID()) {
    const auto &Known = F->getASTContext().BuiltinInfo;
    if (StringRef(Known.getName(Id)).starts_with("__nvvm_ldg_"))
      Sum.Reads = true;
    else if (!Known.isConst(Id))
      Sum.add(acts());
  } else if (!F->getBody() && F->getName().starts_with("__nv_") &&
             llvm::none_of(F->parameters(), [](const ParmVarDecl *P) {
               return P->getType()->isPointerType();
             }))
    Sum.Cost += Many;
  else if (!(F->isTrivial() && isa<CXXMethodDecl>(F)))
    Sum.add(ofFunction(F));
  return Sum;
}

static bool isVolatile(const Expr &E) {
  return E.isGLValue() && E.getType().isVolatileQualified();
}

Effect Looker::ofPlace(const Expr *E) {
  E = E->IgnoreParens();
  Effect Sum{.Cost = 1};
  if (const auto *Cast = dyn_cast<ImplicitCastExpr>(E);
      Cast && Cast->getCastKind() == CK_NoOp)
    return ofPlace(Cast->getSubExpr());
  if (const auto *Member = dyn_cast<MemberExpr>(E)) {
    Sum.add(Member->isArrow() ? of(Member->getBase())
                              : ofPlace(Member->getBase()));
    return Sum;
  }
  if (const auto *Element = dyn_cast<ArraySubscriptExpr>(E)) {
    Sum.add(of(Element->getBase()));
    Sum.add(of(Element->getIdx()));
    return Sum;
  }
  if (const auto *Of = dyn_cast<UnaryOperator>(E);
      Of && Of->getOpcode() == UO_Deref)
    return of(Of->getSubExpr());
  return variableOf(*E) ? Effect() : of(E);
}

Effect Looker::of(const Stmt *S) {
  if (threadIndex(S) >= 0)
    return {.Thread = true, .Cost = 0};
  if (isLaunchIndex(S))
    return {.Block = partOf(S, "blockDim").empty()};
  if (const auto *E = dyn_cast<Expr>(S); E && isVolatile(*E))
    return acts();
  if (const auto *Name = dyn_cast<DeclRefExpr>(S))
    return ofName(*Name);
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(S))
    return ofCall(*Construct, Construct->getConstructor());
  if (const auto *Call = dyn_cast<CallExpr>(S))
    return ofCall(*Call, Call->getDirectCallee());
  if (const auto *Address = dyn_cast<UnaryOperator>(S);
      Address && Address->getOpcode() == UO_AddrOf)
    return ofPlace(Address->getSubExpr());
  Effect Sum = ofParts(S);
  if (const auto *Op = dyn_cast<BinaryOperator>(S)) {
    ++Sum.Cost;
    if (Op->isAssignmentOp() && !isOwn(Op->getLHS()))
      Sum.add(acts());
    const auto Code = Op->getOpcode();
    if (Code == BO_Div || Code == BO_Rem || Code == BO_DivAssign ||
        Code == BO_RemAssign) {
      Sum.Cost += isConstant(*Op->getRHS()) ? 0 : Many;
    }
  } else if (const auto *Op = dyn_cast<UnaryOperator>(S)) {
    ++Sum.Cost;
    if (Op->isIncrementDecrementOp() && !isOwn(Op->getSubExpr()))
      Sum.add(acts());
    Sum.Reads |= Op->getOpcode() == UO_Deref;
  } else if (const auto *Element = dyn_cast<ArraySubscriptExpr>(S)) {
    ++Sum.Cost;
    Sum.Reads |=
        !Element->getBase()->IgnoreParenImpCasts()->getType()->isArrayType();
  } else if (const auto *Member = dyn_cast<MemberExpr>(S)) {
    Sum.Reads |= Member->isArrow() &&
                 !isa<CXXThisExpr>(Member->getBase()->IgnoreParenImpCasts());
  } else if (isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(S)) {
    Sum.Cost += Many;
  } else if (isa<AsmStmt, CXXNewExpr, CXXDeleteExpr, CXXThrowExpr, LambdaExpr,
                 AtomicExpr, StmtExpr, GotoStmt, LabelStmt, CXXTryStmt>(S)) {
    Sum.add(acts());
  }
  return Sum;
}

Effect effectOf(const Stmt *S) {
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
  return Looker(Seen).of(S);
}

Effect effectOfPlace(const Expr *E) {
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
  return Looker(Seen).ofPlace(E);
}

/// Of an array, its elements.
static bool isConst(QualType Type) {
  while (const ArrayType *Array = Type->getAsArrayTypeUnsafe())
    Type = Array->getElementType();
  return Type.isConstQualified();
}

/// \p E is a place that is only read, or bound to a const reference.
static bool onlyReads(const Expr &Place, const Stmt &Parent) {
  if (const auto *Cast = dyn_cast<ImplicitCastExpr>(&Parent))
    return Cast->getCastKind() == CK_LValueToRValue ||
           Cast->getType().isConstQualified();
  return Place.getType().isConstQualified();
}

bool mayChange(const Stmt *S, const VarDecl &V) {
  bool Changes = false;
  // Each name with what is around it: members and elements are its parts.
  const auto Look = [&](auto &&Self, const Stmt *At,
                        const Stmt *Parent) -> void {
    if (!At || Changes)
      return;
    if (const VarDecl *Named = variableOf(*At); Named == &V) {
      Changes |= !Parent || !onlyReads(*cast<Expr>(At), *Parent);
      return;
    }
    if (const auto *Lambda = dyn_cast<LambdaExpr>(At)) {
      for (const LambdaCapture &C : Lambda->captures())
        Changes |= C.capturesVariable() && C.getCapturedVar() == &V &&
                   C.getCaptureKind() == LCK_ByRef &&
                   mayChange(Lambda->getBody(), V);
      return;
    }
    if (const auto *Pseudo = dyn_cast<PseudoObjectExpr>(At))
      return Self(Self, Pseudo->getSyntacticForm(), At);
    for (const Stmt *Child : At->children()) {
      const Stmt *Inner = Child ? Child : nullptr;
      // A part that is read is no more than a read of the whole.
      const Stmt *Around = At;
      if (const auto *Cast = dyn_cast<ImplicitCastExpr>(At);
          Cast && (Cast->getCastKind() == CK_LValueToRValue ||
                   (Cast->getCastKind() == CK_NoOp && Cast->isGLValue() &&
                    isConst(Cast->getType())))) {
        const Expr *Part = Cast->getSubExpr()->IgnoreParens();
        while (const auto *Member = dyn_cast<MemberExpr>(Part)) {
          if (Member->isArrow())
            break;
          Part = Member->getBase()->IgnoreParens();
        }
        if (variableOf(*Part) == &V)
          return;
      }
      Self(Self, Inner, Around);
    }
  };
  Look(Look, S, nullptr);
  return Changes;
}

bool names(const Stmt *S, const VarDecl &V) {
  bool Found = false;
  walk(S, [&](const Stmt &At) {
    Found |= variableOf(At) == &V;
    return !Found;
  });
  return Found;
}

} // namespace reconverge::rewrite
