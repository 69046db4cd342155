//===- remedies/flatten/AheadLegality.cpp - What may be looked ahead ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AheadRewrite.cpp says how. Rounds are gone through without their work, up to 32
// of them, before the first work is done; and the work of a round computes anew
// what that round had found out. So
//
//   - without its work a round has no effects, and hangs on nothing that the work
//     changes: no value, no memory;
//   - what one round hands to the next grows by what is the same in all rounds
//     (a step), or is changed by the work alone (a sum);
//   - the loop is left at one place, which is no part of the work.
//
// Limitation: whether other threads write what rounds read is not asked. Nothing
// orders that with the loop, so it would be a race; but the work then may find
// another value than the round did that led to it.
//
//===----------------------------------------------------------------------===//

#include "remedies/flatten/Ahead.h"

#include "remedies/flatten/Refusals.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::remedies::flatten {

SmallVector<BasicBlock *> blocksOfWork(const Loop &L, const Skip &Skipped,
                                       const DominatorTree &Dominance) {
  SmallVector<BasicBlock *> Work;
  for (BasicBlock *BB : L.blocks())
    if (Dominance.dominates(Skipped.Work, BB))
      Work.push_back(BB);
  return Work;
}

/// Whether \p Next is \p Phi and something that is the same in all rounds of
/// \p L.
static bool isStep(const PHINode &Phi, const Value *Next, const Loop &L) {
  const auto *I = dyn_cast<Instruction>(Next);
  if (!I || !L.contains(I) || I->getNumOperands() != 2)
    return false;
  if (const auto *Address = dyn_cast<GetElementPtrInst>(I))
    return Address->getPointerOperand() == &Phi &&
           L.isLoopInvariant(Address->getOperand(1));
  return I->getOpcode() == Instruction::Add &&
         ((I->getOperand(0) == &Phi && L.isLoopInvariant(I->getOperand(1))) ||
          (I->getOperand(1) == &Phi && L.isLoopInvariant(I->getOperand(0))));
}

namespace {
class Judge {
public:
  Judge(const Loop &L, const Skip &Skipped, const DominatorTree &Dominance,
        AAResults &Aliases)
      : L(L), Aliases(Aliases), Work(blocksOfWork(L, Skipped, Dominance)),
        Plan{L.getHeader(), Skipped, {}, {}} {}

  PlanOr<AheadPlan> judge();

private:
  bool works(const BasicBlock *BB) const { return is_contained(Work, BB); }
  bool works(const Use &U) const;
  bool isSum(const PHINode &Phi, const Value *Next) const;
  bool isWritten(const LoadInst &Load) const;
  std::optional<Refusal> refusedBy(const Instruction &I) const;

  const Loop &L;
  AAResults &Aliases;
  const SmallVector<BasicBlock *> Work;
  AheadPlan Plan;
};
} // namespace

/// The user is in the work, or behind the loop.
bool Judge::works(const Use &U) const {
  const auto *User = cast<Instruction>(U.getUser());
  return !L.contains(User) || works(User->getParent());
}

/// \p Next is \p Phi, or what the work has made of it, and no round without the
/// work asks for either.
bool Judge::isSum(const PHINode &Phi, const Value *Next) const {
  const auto *Behind = dyn_cast<PHINode>(Next);
  if (!Behind || !L.contains(Behind) || works(Behind->getParent()))
    return false;
  for (unsigned I = 0; I != Behind->getNumIncomingValues(); ++I)
    if (!works(Behind->getIncomingBlock(I)) &&
        Behind->getIncomingValue(I) != &Phi)
      return false;
  return all_of(
             Phi.uses(),
             [&](const Use &U) { return U.getUser() == Behind || works(U); }) &&
         all_of(Behind->uses(),
                [&](const Use &U) { return U.getUser() == &Phi || works(U); });
}

/// Whether the work may write what \p Load reads.
bool Judge::isWritten(const LoadInst &Load) const {
  if (Load.hasMetadata(LLVMContext::MD_invariant_load))
    return false;
  const MemoryLocation Where = MemoryLocation::get(&Load);
  return any_of(Work, [&](const BasicBlock *BB) {
    return any_of(*BB, [&](const Instruction &I) {
      return I.mayWriteToMemory() &&
             (isa<AtomicRMWInst, AtomicCmpXchgInst>(I)
                  ? !Aliases.isNoAlias(MemoryLocation::get(&I), Where)
                  : isModSet(Aliases.getModRefInfo(&I, Where)));
    });
  });
}

/// Of an instruction of a round without work.
std::optional<Refusal> Judge::refusedBy(const Instruction &I) const {
  const auto *Load = dyn_cast<LoadInst>(&I);
  if (I.mayHaveSideEffects() || (I.mayReadFromMemory() && !Load) ||
      (Load && !Load->isSimple()))
    return refusal(refuse::Effects, I);
  if (Load && isWritten(*Load))
    return refusal(refuse::Changes, I, "memory");
  const auto *Phi = dyn_cast<PHINode>(&I);
  if (!Phi || I.getParent() == L.getHeader() ||
      none_of(Phi->blocks(), [&](const BasicBlock *BB) { return works(BB); }) ||
      any_of(Plan.Sums, [&](auto &Sum) { return Sum.second == Phi; }))
    return std::nullopt;
  return refusal(refuse::Changes, I);
}

PlanOr<AheadPlan> Judge::judge() {
  const Instruction &Start = *L.getHeader()->getTerminator();
  const BasicBlock *From = L.getLoopPredecessor(), *Latch = L.getLoopLatch(),
                   *Exiting = L.getExitingBlock();
  if (!From || !Latch || !Exiting || works(Latch) || works(Exiting))
    return refusal(refuse::Exits, Start);
  for (PHINode &Phi : L.getHeader()->phis()) {
    Value *Next = Phi.getIncomingValueForBlock(Latch);
    if (isStep(Phi, Next, L))
      Plan.Steps.push_back(&Phi);
    else if (isSum(Phi, Next))
      Plan.Sums.push_back({&Phi, cast<PHINode>(Next)});
    else
      return refusal(refuse::Changes, Phi);
  }
  for (const BasicBlock *BB : L.blocks())
    if (!works(BB))
      for (const Instruction &I : *BB)
        if (auto Why = refusedBy(I))
          return *Why;
  return Plan;
}

PlanOr<AheadPlan> planAhead(const Loop &L, const Skip &Skipped,
                            const DominatorTree &Dominance,
                            AAResults &Aliases) {
  return Judge(L, Skipped, Dominance, Aliases).judge();
}

} // namespace reconverge::remedies::flatten
