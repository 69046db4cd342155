//===- rewrite/writer/RoundDraft.cpp - A round's own words ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lines that a round adds, and what stands for threadIdx behind it. That is
// an int where the user's was unsigned: it may stand there if it becomes an int
// anyway, or unsigned by what it is added to; else it is made unsigned.
//
//===----------------------------------------------------------------------===//

#include "rewrite/writer/RoundDraft.h"

#include "rewrite/writer/Effects.h"
#include "rewrite/writer/Layout.h"
#include "rewrite/writer/Locals.h"

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace reconverge::rewrite {

void RoundDraft::takeNames() {
  Draft::takeNames();
  Remapped = T.freshName("remapped");
}

//===----------------------------------------------------------------------===//
// threadIdx
//===----------------------------------------------------------------------===//

/// What the number in \p Dimension is behind the round; unsigned, or where only
/// x counts, int.
std::string RoundDraft::newName(int Dimension) const {
  const std::string Id = Remapped + ".id";
  if (Moves.Dimensions == 1)
    return Id;
  if (Dimension == 0)
    return Id + " % blockDim.x";
  if (Moves.Dimensions == 2)
    return Id + " / blockDim.x";
  return Dimension == 1 ? Id + " / blockDim.x % blockDim.y"
                        : Id + " / (blockDim.x * blockDim.y)";
}

/// An int may stand for the unsigned at the end of \p Parents, outermost first.
static bool mayBeInt(ArrayRef<const Stmt *> Parents, const Stmt *Of) {
  for (const Stmt *At : llvm::reverse(Parents)) {
    if (const auto *Cast = dyn_cast<CastExpr>(At)) {
      if (Cast->getCastKind() == CK_IntegralCast &&
          Cast->getType()->isIntegerType() && !Cast->getType()->isBooleanType())
        return true;
      if (Cast->getCastKind() != CK_NoOp)
        return false;
    } else if (isa<ArraySubscriptExpr>(At)) {
      return true;
    } else if (const auto *Op = dyn_cast<BinaryOperator>(At);
               Op && (Op->isAdditiveOp() || Op->getOpcode() == BO_Mul)) {
      const Expr *Other =
          Op->getLHS()->IgnoreParens() == Of ? Op->getRHS() : Op->getLHS();
      // What it is added to makes it unsigned again.
      if (Other->IgnoreParenImpCasts()->getType()->isUnsignedIntegerType() &&
          Op->getType()->isUnsignedIntegerType())
        return true;
    } else if (!isa<ParenExpr>(At)) {
      return false;
    }
    Of = At;
  }
  return false;
}

/// What is below \p Parents needs parentheses.
static bool isOperand(ArrayRef<const Stmt *> Parents) {
  for (const Stmt *At : llvm::reverse(Parents))
    if (!isa<ImplicitCastExpr>(At))
      return isa<BinaryOperator, UnaryOperator, ConditionalOperator>(At);
  return false;
}

std::vector<Edit> RoundDraft::threadEdits(const Stmt &S) const {
  std::vector<Edit> Found;
  std::vector<const Stmt *> Parents;
  const auto Look = [&](auto &&Self, const Stmt *At) -> void {
    if (!At || At == Path.Condition)
      return;
    if (llvm::any_of(Path.Hoists, [&](const Hoist &H) { return H.Of == At; }))
      return;
    if (const int Index = threadIndex(At); Index >= 0) {
      std::string Name = newName(Index);
      if (Moves.Dimensions == 1 && !mayBeInt(Parents, At))
        Name = "unsigned(" + Name + ")";
      else if (Moves.Dimensions > 1 && isOperand(Parents))
        Name = "(" + Name + ")";
      if (T.spanOf(At->getSourceRange()))
        Found.push_back(instead(*At, Name));
      return;
    }
    if (isLaunchIndex(At))
      return;
    Parents.push_back(At);
    if (const auto *Lambda = dyn_cast<LambdaExpr>(At))
      Self(Self, Lambda->getBody());
    else
      for (const Stmt *Child : At->children())
        Self(Self, Child);
    Parents.pop_back();
  };
  Look(Look, &S);
  return Found;
}

//===----------------------------------------------------------------------===//
// The round
//===----------------------------------------------------------------------===//

std::string RoundDraft::typeOf(const VarDecl &V) const {
  return typeText(V, *Where.Kernel, T);
}

/// Equal ones are counted.
std::string RoundDraft::exchangeBytes() const {
  std::vector<std::pair<std::string, unsigned>> Sizes;
  const auto Add = [&](const std::string &What) {
    const auto Same =
        llvm::find_if(Sizes, [&](const auto &S) { return S.first == What; });
    if (Same != Sizes.end())
      ++Same->second;
    else
      Sizes.push_back({What, 1});
  };
  // Variables of a loop are not there yet where the round is declared.
  for (const VarDecl *V : Moves.Exchange)
    Add(Where.Loop ? typeOf(*V) : V->getNameAsString());
  for (const VarDecl *V : Moves.Hoisted)
    Add(isDependentAuto(*V, *Where.Kernel) ? wordsOf(*V->getInit())
                                           : typeOf(*V));
  for (const Hoist &H : Path.Hoists)
    Add(H.Type);
  std::vector<std::string> Words;
  for (const auto &[What, Times] : Sizes)
    Words.push_back((Times > 1 ? std::to_string(Times) + " * " : "") +
                    "sizeof(" + What + ")");
  return llvm::join(Words, " + ");
}

std::string RoundDraft::thread() const {
  if (Moves.Dimensions == 1)
    return "threadIdx.x";
  if (Moves.Dimensions == 2)
    return "threadIdx.y * blockDim.x + threadIdx.x";
  return "(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x";
}

std::string RoundDraft::threads() const {
  if (Moves.Dimensions == 1)
    return "blockDim.x";
  return Moves.Dimensions == 2 ? "blockDim.x * blockDim.y"
                               : "blockDim.x * blockDim.y * blockDim.z";
}

std::string RoundDraft::declareRound(const std::string &Indent) const {
  const unsigned Paths = Path.Leaves + Where.hasExits();
  const std::string Bytes = exchangeBytes();
  std::vector<std::string> Words = {std::to_string(What.Threads)};
  const bool Indexed = What.Algorithm == "data_group_indexing";
  if (Paths != 2 || !Bytes.empty() || !What.Algorithm.empty())
    Words.push_back(std::to_string(Paths));
  if (!Bytes.empty() || !What.Algorithm.empty())
    Words.push_back(Library + "remap_algorithm::" +
                    (What.Algorithm.empty() ? "automatic" : What.Algorithm));
  if (!Bytes.empty() || (Indexed && What.Neighbours != 16))
    Words.push_back(Bytes.empty() ? "0" : Bytes);
  if (Indexed && What.Neighbours != 16)
    Words.push_back(std::to_string(What.Neighbours));
  const bool IsDependent =
      llvm::any_of(Moves.Exchange,
                   [&](const VarDecl *V) {
                     return hasDependentType(*V, *Where.Kernel);
                   }) ||
      llvm::any_of(Moves.Hoisted, [&](const VarDecl *V) {
        return hasDependentType(*V, *Where.Kernel);
      });
  std::vector<std::string> Arguments = {Storage, thread()};
  if (!isExact())
    Arguments.push_back(threads());
  return declare(
      Indent,
      What.Behind
          ? "They trade places once more, for the next branch."
          : "The block's threads trade places, so that warps take one way.",
      Words, Arguments, IsDependent ? "typename " : "");
}

std::string RoundDraft::callRound(StringRef By) const {
  std::vector<std::string> Words = {By.str()};
  for (const auto *List : {&Moves.Exchange, &Moves.Hoisted})
    for (const VarDecl *V : *List)
      Words.push_back(V->getNameAsString());
  for (const Hoist &H : Path.Hoists)
    Words.push_back(H.Name);
  const std::string Result = AsksResult ? "const auto " + Remapped + " = " : "";
  return wrappedList(Indent, Result + Object + "(", Words, ");");
}

std::string RoundDraft::declareHoisted() const {
  std::string Result, Words, Last;
  const auto Flush = [&] {
    if (!Words.empty())
      Result += wrapped(Indent, Words + ";");
    Words.clear();
  };
  const auto Add = [&](const std::string &Type, const std::string &Name) {
    const bool IsNext = !Words.empty() && Type == Last && Type.back() != '*';
    if (!IsNext)
      Flush();
    Words += IsNext ? ", " : Type.back() == '*' ? Type : Type + " ";
    Words += Name + "{}";
    Last = Type;
  };
  for (const VarDecl *V : Moves.Hoisted)
    Add(typeOf(*V), V->getNameAsString());
  const bool IsOutside = Where.Region.empty() && !Where.Wrapper;
  for (const Hoist &H : Path.Hoists) {
    if (IsOutside)
      Result +=
          wrapped(Indent, H.Type + " " + H.Name + " = " + wordsOf(*H.Of) + ";");
    else
      Add(H.Type, H.Name);
  }
  Flush();
  return Result;
}

} // namespace reconverge::rewrite
