//===- rewrite/writer/State.cpp - What moves, in the user's words ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// After a round a thread goes on with the data of another. Of the variables that
// are declared before the branch and named at it or behind it,
//
//   those that are the same in the whole block  stay: they are made of the
//                            launch's numbers, of parameters and of each other,
//                            or the pass has found so
//   cheap functions of threadIdx and of others  are computed again, from the
//                            number of the thread that this one now is
//   numbers and the like     are exchanged in the round
//   references, objects,     are declared once more behind the round, by then of
//   and closures             what has moved, if that does nothing but compute
//                            and read, of what is as it was; closures by
//                            reference need not be
//
// all others refuse. What the pass moves must be among these: else one of the two
// has not understood the kernel.
//
// Reading memory once more gives what it gave, in a program without races: nobody
// else may write it between the two reads, for nothing orders those; and the
// thread itself does not.
//
//===----------------------------------------------------------------------===//

#include "rewrite/writer/State.h"

#include "rewrite/writer/Effects.h"
#include "rewrite/writer/Locals.h"
#include "rewrite/writer/Values.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace reconverge::rewrite {

bool State::moves(const VarDecl *V) const {
  return llvm::is_contained(Exchange, V) || llvm::is_contained(Hoisted, V) ||
         llvm::is_contained(Again, V) ||
         llvm::any_of(Redeclare, [&](const DeclStmt *S) {
           return llvm::is_contained(S->decls(), V);
         });
}

bool uses(const Stmt *S, const VarDecl &V, const PathPlan &Path) {
  bool Found = false;
  walk(S, [&](const Stmt &At) {
    if (&At == Path.Condition ||
        llvm::any_of(Path.Hoists, [&](const Hoist &H) { return H.Of == &At; }))
      return false;
    Found |= variableOf(At) == &V;
    return !Found;
  });
  return Found;
}

namespace {
class Planner : Values {
public:
  Planner(Shape &Where, const Order &What, const PathPlan &Path, const Text &T,
          State &Into)
      : Values(Where, What, Path, T), Into(Into) {}
  Trouble plan();

private:
  Trouble settle(const VarDecl &V);
  Trouble settleOther(const VarDecl &V, const remedies::RefusalKind &Kind);
  Trouble settleClosure(const VarDecl &V, const LambdaExpr &Made);
  Trouble settleBinding(const VarDecl &V);
  Trouble redeclare(const VarDecl &V);
  void keep();
  Trouble checkThread() const;
  Trouble checkAgreement() const;
  void growRegion(const VarDecl &V);
  Trouble refused(const remedies::RefusalKind &Kind, const VarDecl &V) const {
    return Refused{&Kind, V.getLocation(), V.getName().str()};
  }

  State &Into;
  std::vector<const VarDecl *> Outer; ///< before the loop
  Locals ToLocals;
};
} // namespace

/// As they stand in the source.
static void sort(std::vector<const VarDecl *> &All, const SourceManager &SM) {
  llvm::sort(All, [&](const VarDecl *A, const VarDecl *B) {
    return SM.isBeforeInTranslationUnit(A->getLocation(), B->getLocation());
  });
}

/// The region begins with the declaration of \p V.
void Planner::growRegion(const VarDecl &V) {
  if (InRegion.contains(&V))
    return;
  const auto From = llvm::find_if(Where.Before, [&](const Stmt *S) {
    const auto *Decls = dyn_cast<DeclStmt>(S);
    return Decls && llvm::is_contained(Decls->decls(), &V);
  });
  if (From == Where.Before.end())
    return;
  const std::vector<const Stmt *> More(From, Where.Before.end());
  Where.Before.erase(From, Where.Before.end());
  Where.Region.insert(Where.Region.begin(), More.begin(), More.end());
  Where.InWrapper += More.size();
  for (const VarDecl *In : declaredIn(More))
    InRegion.insert(In);
}

static const DeclStmt *statementOf(const VarDecl &V,
                                   ArrayRef<const Stmt *> In) {
  for (const Stmt *S : In)
    if (const auto *Decls = dyn_cast<DeclStmt>(S);
        Decls && llvm::is_contained(Decls->decls(), &V))
      return Decls;
  return nullptr;
}

/// References, and objects that are not exchanged.
Trouble Planner::settleOther(const VarDecl &V,
                             const remedies::RefusalKind &Kind) {
  const bool IsReference = V.getType()->isReferenceType();
  if (!V.getInit() || changedBefore(V) || Where.Loop ||
      V.getType()->isDependentType())
    return refused(Kind, V);
  const Effect Made =
      IsReference ? effectOfPlace(V.getInit()) : effectOf(V.getInit());
  if (Made.Acts || !isStable(V) || (Made.Reads && writesSince(V)))
    return refused(Kind, V);
  if (IsReference) {
    // To memory, not to a variable of the thread's own.
    const Expr *To = V.getInit()->IgnoreParenImpCasts();
    while (const auto *Member = dyn_cast<MemberExpr>(To)) {
      if (Member->isArrow())
        break;
      To = Member->getBase()->IgnoreParenImpCasts();
    }
    const VarDecl *Named = variableOf(*To);
    if ((Named && !Named->getType()->isReferenceType()) ||
        isa<MaterializeTemporaryExpr, CallExpr>(To))
      return refused(Kind, V);
  }
  growRegion(V);
  return std::nullopt;
}

/// What a closure refers to moves; of what it has a copy, it has to be made again.
Trouble Planner::settleClosure(const VarDecl &V, const LambdaExpr &Made) {
  bool IsCopy = false;
  for (const LambdaCapture &C : Made.captures()) {
    if (!C.capturesVariable() || C.getCapturedVar()->isInitCapture())
      return refused(refuse::Type, V);
    const auto *Captured = dyn_cast<VarDecl>(C.getCapturedVar());
    if (C.getCaptureKind() == LCK_ByRef || !Captured || isSame(*Captured))
      continue;
    if (changedBefore(*Captured) || Captured->getType()->isArrayType())
      return refused(refuse::Type, V);
    IsCopy = true;
  }
  if (changedBefore(V) || (IsCopy && Where.Loop))
    return refused(refuse::Type, V);
  need(V.getInit());
  if (!IsCopy && !InRegion.contains(&V))
    return std::nullopt;
  growRegion(V);
  return redeclare(V);
}

/// All that its statement declares.
Trouble Planner::redeclare(const VarDecl &V) {
  const DeclStmt *In = statementOf(V, Where.Region);
  if (!In)
    return Refused{&refuse::Type, V.getLocation(), V.getName().str()};
  if (llvm::is_contained(Into.Redeclare, In))
    return std::nullopt;
  Into.Redeclare.push_back(In);
  for (const Decl *D : In->decls())
    if (const auto *Other = dyn_cast<VarDecl>(D)) {
      if (llvm::is_contained(Into.Hoisted, Other))
        return Refused{&refuse::Type, V.getLocation(), V.getName().str()};
      if (Other->getInit())
        need(Other->getInit());
    }
  return std::nullopt;
}

/// Its parts are not exchanged one by one, and function objects cannot name them.
Trouble Planner::settleBinding(const VarDecl &V) {
  if (usedAfter(V) && !(isSame(V) && !InRegion.contains(&V))) {
    if (Trouble Why = settleOther(V, refuse::Binding))
      return Why;
    need(V.getInit());
    return redeclare(V);
  }
  const bool IsCaptured =
      !InRegion.contains(&V) &&
      llvm::any_of(Where.Region, [&](const Stmt *S) { return names(S, V); });
  return IsCaptured ? refused(refuse::Binding, V) : std::nullopt;
}

Trouble Planner::settle(const VarDecl &V) {
  if (isa<DecompositionDecl>(V))
    return settleBinding(V);
  if (V.isConstexpr() || !V.hasLocalStorage() || !usedAfter(V))
    return std::nullopt;
  if (isSame(V) && !InRegion.contains(&V))
    return std::nullopt;
  if (!isa<ParmVarDecl>(V) && hasNoValue(V) && !changedBefore(V))
    return std::nullopt;
  const QualType Type = V.getType();
  if (Type->isArrayType())
    return refused(refuse::Array, V);
  if (const LambdaExpr *Made = closureOf(V))
    return settleClosure(V, *Made);
  if (ToLocals.contains(&V))
    return refused(refuse::Pointer, V);
  if (llvm::is_contained(Outer, &V))
    return refused(refuse::Loop, V);
  const bool IsFixed = V.getInit() && !changedBefore(V);
  const bool IsPlain = isPlain(Type, T.Context);
  const bool IsObject = Type->isRecordType();
  if (IsFixed && effectOf(V.getInit()).isCheap() && isStable(V) &&
      isFunction(V.getInit()) && (!IsObject || InRegion.contains(&V))) {
    need(V.getInit());
    if (!InRegion.contains(&V)) {
      Into.Again.push_back(&V);
      return std::nullopt;
    }
    return redeclare(V);
  }
  const bool IsMadeAgain = IsObject && IsFixed && !effectOf(V.getInit()).Acts &&
                           isStable(V) && !writesSince(V) && !Where.Loop;
  if (IsPlain && !IsMadeAgain) {
    if (!InRegion.contains(&V)) {
      Into.Exchange.push_back(&V);
      return std::nullopt;
    }
    if (!isAssignable(Type))
      return refused(refuse::Type, V);
    Into.Hoisted.push_back(&V);
    return std::nullopt;
  }
  if (Trouble Why = settleOther(V, Type->isReferenceType() ? refuse::Reference
                                                           : refuse::Type))
    return Why;
  need(V.getInit());
  return redeclare(V);
}

/// What cannot be in the function object, or is to be seen behind it.
void Planner::keep() {
  for (const Stmt *S : Where.Region) {
    const auto *Decls = dyn_cast<DeclStmt>(S);
    if (!Decls)
      continue;
    for (const Decl *D : Decls->decls()) {
      const auto *V = dyn_cast<VarDecl>(D);
      if (!V || !V->hasLocalStorage() || V->isConstexpr() ||
          (hasNoValue(*V) && !Into.moves(V) && usedAfter(*V)))
        Into.Kept.push_back(D);
    }
  }
}

/// threadIdx behind the round is that of the data, where it is written; what is
/// called must not ask.
Trouble Planner::checkThread() const {
  Trouble Why;
  for (const Stmt *S : Where.After)
    walk(S, [&](const Stmt &At) {
      if (Why)
        return false;
      const int Index = threadIndex(&At);
      if (Index == 3)
        Why = Refused{&refuse::Thread, At.getBeginLoc(), "threadIdx"};
      if (Index >= 0 && &At != Path.Condition) {
        Into.UsesThread = true;
        if (!T.spanOf(At.getSourceRange()) || At.getBeginLoc().isMacroID())
          Why = Refused{&refuse::Macro, At.getBeginLoc(), "threadIdx"};
        return false;
      }
      if (const auto *Call = dyn_cast<CallExpr>(&At)) {
        const FunctionDecl *F = Call->getDirectCallee();
        if (const Stmt *Body = F ? F->getBody(F) : nullptr;
            Body && effectOf(Body).Thread)
          Why =
              Refused{&refuse::Thread, At.getBeginLoc(), F->getNameAsString()};
      }
      return !Why;
    });
  return Why;
}

Trouble Planner::checkAgreement() const {
  for (StringRef Moved : What.Moves) {
    SmallVector<StringRef, 4> Names;
    Moved.split(Names, '|');
    bool Agrees = false, IsKnown = false;
    const auto IsNamed = [&](const VarDecl &V) {
      return llvm::is_contained(Names, keyOf(V)) ||
             llvm::is_contained(Names, V.getName());
    };
    std::vector<const Stmt *> All = Where.Before;
    All.insert(All.end(), Where.Region.begin(), Where.Region.end());
    for (const VarDecl *V : declaredIn(All))
      if (IsNamed(*V)) {
        IsKnown = true;
        // What the path alone asks for, it has then been asked for.
        Agrees |= Into.moves(V) || !usedAfter(*V);
      }
    for (const ParmVarDecl *P : Where.Kernel->parameters())
      if (IsNamed(*P)) {
        IsKnown = true;
        Agrees |= Into.moves(P) || !usedAfter(*P);
      }
    if (IsKnown && !Agrees)
      return Refused{&refuse::Disagree, Where.At->getBeginLoc(),
                     Names.front().split(':').first.str()};
  }
  return std::nullopt;
}

Trouble Planner::plan() {
  for (const VarDecl *V : declaredIn(Where.Region))
    InRegion.insert(V);
  std::vector<const Stmt *> All = Where.Before;
  All.insert(All.end(), Where.Region.begin(), Where.Region.end());
  std::vector<const VarDecl *> Variables(Where.Kernel->param_begin(),
                                         Where.Kernel->param_end());
  llvm::append_range(Variables, declaredIn(All));
  if (Where.Loop) {
    const SourceLocation Begin = Where.Loop->getBeginLoc();
    for (const VarDecl *V : Variables)
      if (T.SM.isBeforeInTranslationUnit(V->getLocation(), Begin))
        Outer.push_back(V);
    if (const auto *For = dyn_cast<ForStmt>(Where.Loop))
      if (const Stmt *Init = For->getInit())
        for (const VarDecl *V : declaredIn({Init})) {
          Outer.push_back(V);
          Variables.push_back(V);
        }
  }
  if (Where.Loop)
    All.push_back(Where.Loop);
  ToLocals = pointersToLocals(All);
  // What a reference is bound to may pull the region forward: once more then.
  for (size_t Before = SIZE_MAX; Before != InRegion.size();) {
    Before = InRegion.size();
    Into = {};
    Needed.clear();
    // The last first: what it is computed from comes later, and hears of it.
    for (const VarDecl *V : llvm::reverse(Variables))
      if (!Into.moves(V))
        if (Trouble Why = settle(*V))
          return Why;
  }
  sort(Into.Exchange, T.SM);
  sort(Into.Hoisted, T.SM);
  sort(Into.Again, T.SM);
  llvm::sort(Into.Redeclare, [&](const DeclStmt *A, const DeclStmt *B) {
    return T.SM.isBeforeInTranslationUnit(A->getBeginLoc(), B->getBeginLoc());
  });
  for (const Stmt *S : {Where.Kernel->getBody()})
    walk(S, [&](const Stmt &At) {
      if (const int Index = threadIndex(&At); Index >= 0)
        Into.Dimensions = std::max(Into.Dimensions, unsigned(Index % 3) + 1);
      return true;
    });
  keep();
  if (Trouble Why = checkThread())
    return Why;
  return checkAgreement();
}

/// Operations of a condition that is asked twice.
static constexpr unsigned MostAsked = 16;

bool staysAsked(const Shape &Where, const PathPlan &Path, const State &Moves) {
  if (!Path.Condition || !Path.Question.empty() || Path.Leaves != 2)
    return false;
  // A variable of its own, which the sides need as well.
  const auto IsThere = [&](const VarDecl &V) {
    if (!V.getInit() || V.getType()->isReferenceType() || !Moves.moves(&V) ||
        llvm::is_contained(Moves.Exchange, &V) ||
        llvm::is_contained(Moves.Hoisted, &V))
      return false;
    const Effect Does = effectOf(V.getInit());
    return !Does.Reads && !Does.Acts &&
           llvm::any_of(Where.After,
                        [&](const Stmt *S) { return uses(S, V, Path); });
  };
  const Effect Does = effectOf(Path.Condition);
  bool Stays =
           !Does.Reads && !Does.Acts && !Does.Thread && Does.Cost <= MostAsked,
       IsComputed = false;
  walk(Path.Condition, [&](const Stmt &At) {
    const VarDecl *V = variableOf(At);
    if (!V || !V->hasLocalStorage())
      return Stays;
    const bool IsParameter = isa<ParmVarDecl>(V);
    IsComputed |= !IsParameter;
    Stays &= IsParameter ? !Moves.moves(V) : IsThere(*V);
    return Stays;
  });
  return Stays && IsComputed;
}

Trouble planState(Shape &Where, const Order &What, const PathPlan &Path,
                  const Text &T, State &Into) {
  return Planner(Where, What, Path, T, Into).plan();
}

} // namespace reconverge::rewrite
