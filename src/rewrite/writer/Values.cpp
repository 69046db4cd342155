//===- rewrite/writer/Values.cpp - What variables are made of -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same for all threads of the block is what is made of the launch's numbers, of
// parameters and of each other, and what the pass has found so. What is not, may be
// computed again from the number of the thread, if what it is made of is still as it
// was: no statement between its declaration and the round changes that.
//
//===----------------------------------------------------------------------===//

#include "rewrite/writer/Values.h"

#include "rewrite/writer/Effects.h"
#include "rewrite/writer/State.h"

#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace reconverge::rewrite {

std::vector<const VarDecl *>
Values::declaredIn(ArrayRef<const Stmt *> All) const {
  std::vector<const VarDecl *> Found;
  for (const Stmt *S : All)
    if (const auto *Decls = dyn_cast<DeclStmt>(S))
      for (const Decl *D : Decls->decls())
        if (const auto *V = dyn_cast<VarDecl>(D))
          Found.push_back(V);
  return Found;
}

/// \p V may be given a value after its declaration and before the round.
bool Values::changedBefore(const VarDecl &V) const {
  const auto Changes = [&](const Stmt *S) { return mayChange(S, V); };
  return llvm::any_of(Where.Before, Changes) ||
         llvm::any_of(Where.Region, Changes) ||
         (Path.Condition && mayChange(Path.Condition, V)) ||
         (Where.Loop && mayChange(Where.Loop, V));
}

/// The same in all threads of the block, when the round comes.
bool Values::isSame(const VarDecl &V) {
  if (!V.hasLocalStorage())
    return true;
  if (changedBefore(V))
    return countsTrips(V);
  // What has one value has the one that the pass knows.
  if (isa<ParmVarDecl>(V) ||
      (llvm::is_contained(What.Same, keyOf(V)) && !InRegion.contains(&V)))
    return true;
  if (!V.getInit())
    return true; // it has no value yet
  return isSameValue(V.getInit());
}

/// Of the loop around the round, which all threads run alike: set and changed in
/// its head alone.
bool Values::countsTrips(const VarDecl &V) {
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

bool Values::isSameValue(const Stmt *S) {
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

/// Calls \p Visit on what comes before the round and behind the declaration of
/// \p V, and on that.
void Values::walkSince(const VarDecl &V,
                       llvm::function_ref<void(const Stmt &)> Visit) const {
  bool IsBehind = isa<ParmVarDecl>(V);
  for (const auto *List : {&Where.Before, &Where.Region})
    for (const Stmt *S : *List) {
      const auto *Decls = dyn_cast<DeclStmt>(S);
      IsBehind |= Decls && llvm::is_contained(Decls->decls(), &V);
      if (IsBehind)
        Visit(*S);
    }
  if (Path.Condition)
    Visit(*Path.Condition);
}

/// What \p V is made of is as it was when the round comes.
bool Values::isStable(const VarDecl &V) {
  bool All = true;
  walk(V.getInit(), [&](const Stmt &At) {
    const VarDecl *Part = variableOf(At);
    if (!All || !Part || !Part->hasLocalStorage())
      return All;
    if (Where.Loop && changedBefore(*Part))
      All = countsTrips(*Part);
    walkSince(V, [&](const Stmt &S) { All = All && !mayChange(&S, *Part); });
    return All;
  });
  return All;
}

/// What has been read for \p V may be something else when the round comes.
bool Values::writesSince(const VarDecl &V) const {
  bool Acts = false;
  walkSince(V, [&](const Stmt &S) { Acts |= effectOf(&S).Acts; });
  return Acts;
}

/// Of threadIdx, of what is the same and of what is there anyway.
bool Values::isFunction(const Stmt *S) {
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

void Values::need(const Stmt *S) {
  walk(S, [&](const Stmt &At) {
    if (const VarDecl *V = variableOf(At); V && V->hasLocalStorage())
      Needed.insert(V);
    return true;
  });
}

bool Values::usedAfter(const VarDecl &V) const {
  return Needed.contains(&V) || llvm::any_of(Where.After, [&](const Stmt *S) {
           return uses(S, V, Path);
         });
}

std::string Values::keyOf(const VarDecl &V) const {
  return (V.getName() + ":" +
          llvm::Twine(T.SM.getSpellingLineNumber(
              T.SM.getExpansionLoc(V.getLocation()))))
      .str();
}

} // namespace reconverge::rewrite
