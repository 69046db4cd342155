//===- rewrite/writer/Items.cpp - A kernel's threads as items -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass has found that a thread may be an item, on whatever thread it runs.
// In the source an item is a number, so the kernel must ask for that alone, in one
// sum, and say how many there are:
//
//   const int i = blockIdx.x * blockDim.x + threadIdx.x;
//   if (i >= n)                      or:   if (i < n && ...) { all the rest }
//     return;
//
// or, of a loop over the grid, its head: for (int i = ...; i < n; ...).
//
// A launch of any number of blocks is then right that has a thread for each item:
// blocks behind the last item return at once. That of before is, and one of fewer
// blocks.
//
// Limitation: a kernel that is launched with fewer threads than its own bound has
// items, on purpose, would work on more of them than before.
//
//===----------------------------------------------------------------------===//

#include "rewrite/writer/Items.h"

#include "rewrite/writer/Effects.h"
#include "rewrite/writer/Launches.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace reconverge::rewrite {

namespace {
class Planner {
public:
  Planner(const Shape &Where, const Order &What, const PathPlan &Path,
          const Text &T, ItemPlan &Into)
      : Where(Where), What(What), Path(Path), T(T), Into(Into) {}
  Trouble plan();

private:
  bool isNumber(const Stmt &S);
  bool isItem(const Expr &E) const;
  bool isSame(const Expr &E) const;
  Trouble checkChanges() const;
  Trouble findNumbers();
  Trouble checkCalls(const Stmt &S) const;
  Trouble checkSize();
  void readCount(const Expr &Condition, bool IsExit);
  const Stmt *body() const { return &Where.body(); }

  const Shape &Where;
  const Order &What;
  const PathPlan &Path;
  const Text &T;
  ItemPlan &Into;
};
} // namespace

/// Of the same size as those before it.
bool Planner::isNumber(const Stmt &S) {
  const Expr *Size = sizeInNumber(S, T.Context);
  if (!Size)
    return false;
  if (!Into.Size)
    Into.Size = Size;
  const auto Span = T.spanOf(Size->getSourceRange()),
             First = T.spanOf(Into.Size->getSourceRange());
  return Span && First && T.textOf(*Span) == T.textOf(*First);
}

/// Functions that are called must not ask which thread it is.
Trouble Planner::checkCalls(const Stmt &S) const {
  const auto *Call = dyn_cast<CallExpr>(&S);
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  const Stmt *Inside = F ? F->getBody(F) : nullptr;
  if (!Inside)
    return std::nullopt;
  const Effect Does = effectOf(Inside);
  if (!Does.Thread && !Does.Block)
    return std::nullopt;
  return Refused{&refuse::Thread, S.getBeginLoc(), F->getNameAsString()};
}

/// \p S is no declaration, or some statement of \p All names what it declares.
static bool isNamed(const Stmt &S, ArrayRef<const Stmt *> All) {
  const auto *Decls = dyn_cast<DeclStmt>(&S);
  return !Decls || llvm::any_of(Decls->decls(), [&](const Decl *D) {
    const auto *V = dyn_cast<VarDecl>(D);
    return !V || llvm::any_of(
                     All, [&](const Stmt *Other) { return names(Other, *V); });
  });
}

Trouble Planner::findNumbers() {
  Trouble Why;
  std::vector<const Stmt *> All = {body()};
  if (Where.Grid) {
    All = {Where.Grid->getInit(), Where.Grid->getCond(), body()};
    // The last first: what asks for gridDim is gone if the loop's step alone is made
    // of it.
    for (const Stmt *S : llvm::reverse(Where.Before))
      if (S->getBeginLoc() < Where.Grid->getBeginLoc() && isNamed(*S, All))
        All.push_back(S);
  }
  const auto Look = [&](const Stmt &At) {
    if (Why)
      return false;
    if (isNumber(At)) {
      Into.Numbers.push_back(cast<Expr>(&At));
      if (At.getBeginLoc().isMacroID() || !T.spanOf(At.getSourceRange()))
        Why = Refused{&refuse::Macro, At.getBeginLoc(), "threadIdx"};
      return false;
    }
    if (threadIndex(&At) >= 0 || !partOf(&At, "blockIdx").empty() ||
        !partOf(&At, "gridDim").empty())
      Why = Refused{&refuse::Number, At.getBeginLoc()};
    else
      Why = checkCalls(At);
    return !Why;
  };
  for (const Stmt *S : All)
    walk(S, Look);
  if (!Why && Into.Numbers.empty())
    Why = Refused{&refuse::Number, Where.Kernel->getLocation()};
  return Why;
}

/// What is written twice must come to the same twice, and what is written once
/// must be all that happens: nothing before the branch changes a variable. The
/// parameters are one for all items of a thread.
Trouble Planner::checkChanges() const {
  for (const ParmVarDecl *P : Where.Kernel->parameters())
    if (mayChange(Where.Kernel->getBody(), *P))
      return Refused{&refuse::Parameter, P->getLocation(), P->getName().str()};
  std::vector<const Stmt *> Twice = Where.Before;
  Twice.insert(Twice.end(), Where.Region.begin(), Where.Region.end());
  std::vector<const VarDecl *> Variables;
  for (const Stmt *S : Twice)
    if (const auto *Decls = dyn_cast<DeclStmt>(S))
      for (const Decl *D : Decls->decls())
        if (const auto *V = dyn_cast<VarDecl>(D)) {
          if (V->isStaticLocal() && !V->getType().isConstQualified())
            return Refused{&refuse::Statement, V->getLocation(),
                           V->getName().str()};
          Variables.push_back(V);
        }
  if (Path.Condition)
    Twice.push_back(Path.Condition);
  if (Where.Wrapper)
    Twice.push_back(Where.Wrapper->getCond());
  for (const Stmt *S : Twice)
    for (const VarDecl *V : Variables)
      if (mayChange(S, *V))
        return Refused{&refuse::Statement, S->getBeginLoc(),
                       V->getName().str()};
  if (Where.Grid)
    for (const VarDecl *V : Variables)
      if (V->getLocation() < Where.Grid->getBeginLoc() &&
          mayChange(body(), *V)) // it goes from one trip to the next
        return Refused{&refuse::Statement, V->getLocation(),
                       V->getName().str()};
  return std::nullopt;
}

/// A constant is how large blocks are; as its author took it.
Trouble Planner::checkSize() {
  Into.Threads = What.Threads;
  if (partOf(Into.Size, "blockDim") == "x")
    return std::nullopt;
  const auto Value = Into.Size->getIntegerConstantExpr(T.Context);
  const uint64_t Threads = Value ? Value->getLimitedValue() : 0;
  if (!Threads || Threads > What.Threads)
    return Refused{&refuse::Number, Into.Size->getBeginLoc()};
  Into.Threads = Threads;
  return std::nullopt;
}

/// The thread's number, or a variable that always is.
bool Planner::isItem(const Expr &E) const {
  const Expr *At = E.IgnoreParenImpCasts();
  if (!At->getType()->isIntegerType() ||
      T.Context.getIntWidth(At->getType()) < 32) // it would begin anew
    return false;
  At = At->IgnoreParenCasts();
  if (llvm::is_contained(Into.Numbers, At))
    return true;
  const VarDecl *V = variableOf(*At);
  return V && V->hasLocalStorage() && V->getInit() &&
         llvm::is_contained(Into.Numbers,
                            V->getInit()->IgnoreParenImpCasts()) &&
         V->getType()->isIntegerType() && !mayChange(body(), *V);
}

/// In all threads of the grid, whatever has run before.
bool Planner::isSame(const Expr &E) const {
  const Effect Does = effectOf(&E);
  bool Same = !Does.Acts && !Does.Reads && !Does.Thread && !Does.Block &&
              T.spanOf(E.getSourceRange()) && !E.getBeginLoc().isMacroID();
  walk(&E, [&](const Stmt &At) {
    if (const VarDecl *V = variableOf(At); V && V->hasLocalStorage())
      Same = Same && isa<ParmVarDecl>(V) && !mayChange(body(), *V);
    return Same;
  });
  return Same;
}

/// Of a condition to leave, or to stay.
void Planner::readCount(const Expr &Condition, bool IsExit) {
  const auto *Op = dyn_cast<BinaryOperator>(Condition.IgnoreParenImpCasts());
  if (!Op || Into.Count)
    return;
  if (Op->getOpcode() == (IsExit ? BO_LOr : BO_LAnd)) {
    readCount(*Op->getLHS(), IsExit);
    return readCount(*Op->getRHS(), IsExit);
  }
  const bool IsLeft = Op->getOpcode() == (IsExit ? BO_GE : BO_LT),
             IsRight = Op->getOpcode() == (IsExit ? BO_LE : BO_GT);
  const Expr &Item = IsRight ? *Op->getRHS() : *Op->getLHS(),
             &Bound = IsRight ? *Op->getLHS() : *Op->getRHS();
  if ((!IsLeft && !IsRight) || !isItem(Item) || !isSame(Bound) ||
      !Bound.getType()->isIntegerType())
    return;
  Into.Count = &Bound;
  Into.CountType = Bound.getType();
  // What a narrow variable cannot hold, it has to be asked for.
  if (T.Context.getIntWidth(Item.IgnoreParenImpCasts()->getType()) >=
      T.Context.getIntWidth(Into.CountType))
    Into.Implied = &Condition;
}

Trouble Planner::plan() {
  for (const auto *List : {&Where.Before, &Where.Region})
    for (const Stmt *S : *List) {
      const Expr *Exit = exitCondition(*S);
      if ((!Exit && !isa<DeclStmt, NullStmt>(S)) || effectOf(S).Acts)
        return Refused{&refuse::Statement, S->getBeginLoc()};
    }
  if (Trouble Why = checkChanges())
    return Why;
  if (Trouble Why = findNumbers())
    return Why;
  if (Trouble Why = checkSize())
    return Why;
  const auto *If = dyn_cast<IfStmt>(Where.At);
  if (If && !If->getElse() && Where.After.size() == 1 &&
      Path.Leaves == Path.Ahead + 1 && Path.Condition == If->getCond())
    Into.Last = If;
  if (Where.Grid)
    readCount(*Where.Grid->getCond(), /*IsExit=*/false);
  for (const Stmt *S : Where.Region)
    if (const Expr *Condition = exitCondition(*S))
      readCount(*Condition, /*IsExit=*/true);
  if (Where.Wrapper)
    readCount(*Where.Wrapper->getCond(), /*IsExit=*/false);
  if (Into.Last)
    readCount(*Into.Last->getCond(), /*IsExit=*/false);
  if (!Into.Count)
    return Refused{&refuse::Count, Where.Kernel->getLocation()};
  return std::nullopt;
}

Trouble planItems(const Shape &Where, const Order &What, const PathPlan &Path,
                  const Text &T, ItemPlan &Into) {
  return Planner(Where, What, Path, T, Into).plan();
}

} // namespace reconverge::rewrite
