//===- rewrite/pen/State.cpp - What moves, in the user's words ------------===//
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
//   references and objects   are declared once more behind the round, by then of
//                            what has moved, if that does nothing but compute
//                            and read
//
// all others refuse. What the pass moves must be among these: else one of the two
// has not understood the kernel.
//
// Reading memory once more gives what it gave, in a program without races: nobody
// else may write it between the two reads, for nothing orders those.
//
//===----------------------------------------------------------------------===//

#include "rewrite/pen/State.h"

#include "rewrite/pen/Effects.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace reconverge::rewrite {

static constexpr uint64_t MaxBytes = 16;

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
class Planner {
public:
  Planner(Shape &Where, const Order &What, const PathPlan &Path, const Text &T,
          State &Into)
      : Where(Where), What(What), Path(Path), T(T), Into(Into) {}
  Trouble plan();

private:
  Trouble settle(const VarDecl &V);
  Trouble settleOther(const VarDecl &V);
  Trouble redeclare(const VarDecl &V);
  Trouble checkThread() const;
  Trouble checkAgreement() const;
  bool isSame(const VarDecl &V);
  bool isSameValue(const Stmt *S);
  bool countsTrips(const VarDecl &V);
  bool isFunction(const Stmt *S);
  bool usedAfter(const VarDecl &V) const {
    return Needed.contains(&V) || llvm::any_of(Where.After, [&](const Stmt *S) {
             return uses(S, V, Path);
           });
  }
  void need(const Stmt *S);
  bool changedBefore(const VarDecl &V) const;
  bool isSaidSame(const VarDecl &V) const {
    return llvm::is_contained(What.Same, keyOf(V));
  }
  std::string keyOf(const VarDecl &V) const {
    return (V.getName() + ":" +
            Twine(T.SM.getSpellingLineNumber(
                T.SM.getExpansionLoc(V.getLocation()))))
        .str();
  }
  std::vector<const VarDecl *> declaredIn(ArrayRef<const Stmt *> All) const;
  void growRegion(const VarDecl &V);

  Shape &Where;
  const Order &What;
  const PathPlan &Path;
  const Text &T;
  State &Into;
  llvm::SmallPtrSet<const VarDecl *, 16> InRegion;
  /// What is named where others are computed again, behind the round.
  llvm::SmallPtrSet<const VarDecl *, 16> Needed;
  std::vector<const VarDecl *> Outer; ///< before the loop
};
} // namespace

std::vector<const VarDecl *>
Planner::declaredIn(ArrayRef<const Stmt *> All) const {
  std::vector<const VarDecl *> Found;
  for (const Stmt *S : All)
    if (const auto *Decls = dyn_cast<DeclStmt>(S))
      for (const Decl *D : Decls->decls())
        if (const auto *V = dyn_cast<VarDecl>(D))
          Found.push_back(V);
  return Found;
}

/// \p V may be given a value after its declaration and before the round.
bool Planner::changedBefore(const VarDecl &V) const {
  const auto Changes = [&](const Stmt *S) { return mayChange(S, V); };
  return llvm::any_of(Where.Before, Changes) ||
         llvm::any_of(Where.Region, Changes) ||
         (Path.Condition && mayChange(Path.Condition, V)) ||
         (Where.Loop && mayChange(Where.Loop, V));
}

/// The same in all threads of the block, when the round comes.
bool Planner::isSame(const VarDecl &V) {
  if (!V.hasLocalStorage())
    return true;
  if (changedBefore(V))
    return countsTrips(V);
  // What has one value has the one that the pass knows.
  if (isa<ParmVarDecl>(V) || (isSaidSame(V) && !InRegion.contains(&V)))
    return true;
  if (!V.getInit())
    return true; // it has no value yet
  return isSameValue(V.getInit());
}

/// Of the loop around the round, which all threads run alike: set and changed in
/// its head alone.
bool Planner::countsTrips(const VarDecl &V) {
  const auto *For = dyn_cast_or_null<ForStmt>(Where.Loop);
  const auto *Init = For ? dyn_cast_or_null<DeclStmt>(For->getInit()) : nullptr;
  if (!Init || !llvm::is_contained(Init->decls(), &V) || !V.getInit() ||
      mayChange(For->getBody(), V) || !isSameValue(V.getInit()))
    return false;
  bool Same = true;
  walk(For->getInc(), [&](const Stmt &At) {
    const VarDecl *Other = variableOf(At);
    Same = Same && (!Other || Other == &V || isSame(*Other));
    return Same && threadIndex(&At) < 0;
  });
  return Same;
}

bool Planner::isSameValue(const Stmt *S) {
  const Effect E = effectOf(S);
  if (E.Acts || E.Reads || E.Thread)
    return false;
  bool Same = true;
  walk(S, [&](const Stmt &At) {
    if (const VarDecl *V = variableOf(At); V && V->hasLocalStorage())
      Same = Same && isSame(*V);
    return Same;
  });
  return Same;
}

/// Of threadIdx, of what is the same and of what is there anyway.
bool Planner::isFunction(const Stmt *S) {
  bool All = true;
  walk(S, [&](const Stmt &At) {
    if (const VarDecl *V = variableOf(At);
        All && V && V->hasLocalStorage() && !isSame(*V) && !usedAfter(*V))
      All = V->getInit() && !changedBefore(*V) &&
            effectOf(V->getInit()).isCheap() && isFunction(V->getInit());
    return All;
  });
  return All;
}

void Planner::need(const Stmt *S) {
  walk(S, [&](const Stmt &At) {
    if (const VarDecl *V = variableOf(At); V && V->hasLocalStorage())
      Needed.insert(V);
    return true;
  });
}

/// As they stand in the source.
static void sort(std::vector<const VarDecl *> &All, const SourceManager &SM) {
  llvm::sort(All, [&](const VarDecl *A, const VarDecl *B) {
    return SM.isBeforeInTranslationUnit(A->getLocation(), B->getLocation());
  });
}

static bool isPlain(QualType Type, const ASTContext &C) {
  if (Type->isDependentType() || Type->isArrayType() || Type->isReferenceType())
    return false;
  return Type.isTriviallyCopyableType(C) &&
         C.getTypeSizeInChars(Type).getQuantity() <= int64_t(MaxBytes);
}

/// \p S takes the address of a local variable, or binds to one.
static bool namesLocal(const Stmt *S) {
  bool Found = false;
  walk(S, [&](const Stmt &At) {
    const auto *Of = dyn_cast<UnaryOperator>(&At);
    const auto *Decay = dyn_cast<ImplicitCastExpr>(&At);
    const Expr *Place =
        Of && Of->getOpcode() == UO_AddrOf ? Of->getSubExpr()
        : Decay && Decay->getCastKind() == CK_ArrayToPointerDecay
            ? Decay->getSubExpr()
            : nullptr;
    if (Place)
      walk(Place, [&](const Stmt &Part) {
        const VarDecl *V = variableOf(Part);
        Found |= V && V->hasLocalStorage() && !isa<ParmVarDecl>(V) &&
                 !V->getType()->isReferenceType() &&
                 !V->getType()->isPointerType();
        return !Found && !isa<ArraySubscriptExpr>(Part);
      });
    return !Found;
  });
  return Found;
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
Trouble Planner::settleOther(const VarDecl &V) {
  const bool IsReference = V.getType()->isReferenceType();
  const remedies::RefusalKind *Kind =
      IsReference ? &refuse::Reference : &refuse::Type;
  const Effect Made =
      V.getInit() ? effectOf(V.getInit()) : Effect{.Acts = true};
  if (Made.Acts || changedBefore(V) || Where.Loop ||
      V.getType()->isDependentType())
    return Refused{Kind, V.getLocation(), V.getName().str()};
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
      return Refused{Kind, V.getLocation(), V.getName().str()};
  }
  growRegion(V);
  for (const Stmt *S : Where.Region)
    if (!exitCondition(*S) && !isa<DeclStmt, NullStmt>(S))
      return Refused{&refuse::Work, S->getBeginLoc()};
  return std::nullopt;
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

Trouble Planner::settle(const VarDecl &V) {
  if (isa<DecompositionDecl>(V)) {
    for (const BindingDecl *B : cast<DecompositionDecl>(V).bindings())
      for (const Stmt *S : Where.After) {
        bool Used = false;
        walk(S, [&](const Stmt &At) {
          const auto *Name = dyn_cast<DeclRefExpr>(&At);
          Used |= Name && Name->getDecl() == B;
          return !Used;
        });
        if (Used)
          return Refused{&refuse::Binding, V.getLocation()};
      }
    return std::nullopt;
  }
  if (V.isConstexpr() || !V.hasLocalStorage() || !usedAfter(V))
    return std::nullopt;
  if (isSame(V) && !InRegion.contains(&V))
    return std::nullopt;
  const QualType Type = V.getType();
  if (Type->isArrayType())
    return Refused{&refuse::Array, V.getLocation(), V.getName().str()};
  if (!V.getInit() && !changedBefore(V))
    return std::nullopt; // it has no value yet
  if (V.getInit() && namesLocal(V.getInit()) && Type->isPointerType())
    return Refused{&refuse::Pointer, V.getLocation(), V.getName().str()};
  if (llvm::is_contained(Outer, &V))
    return Refused{&refuse::Loop, V.getLocation(), V.getName().str()};
  const bool IsFixed = V.getInit() && !changedBefore(V);
  const bool IsPlain = isPlain(Type, T.Context);
  const bool IsObject = Type->isRecordType();
  if (IsFixed && effectOf(V.getInit()).isCheap() && isFunction(V.getInit()) &&
      (!IsObject || InRegion.contains(&V))) {
    need(V.getInit());
    if (!InRegion.contains(&V)) {
      Into.Again.push_back(&V);
      return std::nullopt;
    }
    return redeclare(V);
  }
  if (IsPlain && !(IsObject && IsFixed && !effectOf(V.getInit()).Acts)) {
    (InRegion.contains(&V) ? Into.Hoisted : Into.Exchange).push_back(&V);
    return std::nullopt;
  }
  if (Trouble Why = settleOther(V))
    return Why;
  need(V.getInit());
  return redeclare(V);
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
    std::vector<const Stmt *> All = Where.Before;
    All.insert(All.end(), Where.Region.begin(), Where.Region.end());
    for (const VarDecl *V : declaredIn(All))
      if (llvm::is_contained(Names, keyOf(*V))) {
        IsKnown = true;
        // What the path alone asks for, it has then been asked for.
        Agrees |= Into.moves(V) || !usedAfter(*V);
      }
    for (const ParmVarDecl *P : Where.Kernel->parameters())
      if (llvm::is_contained(Names, keyOf(*P))) {
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
  if (Trouble Why = checkThread())
    return Why;
  return checkAgreement();
}

Trouble planState(Shape &Where, const Order &What, const PathPlan &Path,
                  const Text &T, State &Into) {
  return Planner(Where, What, Path, T, Into).plan();
}

} // namespace reconverge::rewrite
