//===- remedies/refill/Legality.cpp - What may be refilled ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads have to be items (common/ItemLegality.cpp), which may wait for one
// another where the source knows nothing of it:
//
//   - A thread that is through with the loop waits for its warp, and one that
//     has not begun waits for a lane. So nobody may wait for it, in whatever
//     loop: no exit depends on an exchange, or on what a volatile or atomic load
//     has read. To compare and swap with what was read before, and to try again
//     if it failed, is no wait: then another has succeeded.
//   - A lane runs one item after the other. `exit` would end all of them, and
//     an alloca beyond the entry's would take memory for each.
//
// Which loop: the one that a pragma names, or that Options.Branch leaves, or the
// rounds in which it skips some work (common/Skips.cpp). Else of the outermost loops
// that threads leave at different times the one with the most instructions,
// those of inner loops counted eight times; the first of several. Never one that
// the source forbids.
//
//===----------------------------------------------------------------------===//

#include "remedies/refill/Legality.h"

#include "analysis/Uniformity.h"
#include "remedies/common/Loops.h"
#include "remedies/common/Requests.h"
#include "remedies/refill/Refusals.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::remedies::refill {

using analysis::UniformityResult;

static bool mayBeTaken(const Loop &L, const RefillOptions &Options) {
  const auto Said = requestOf(L, Name);
  return Said ? Said->On : !Options.Marked;
}

static Loop *chooseLoop(const LoopInfo &Loops, const UniformityResult &Known,
                        const RefillOptions &Options,
                        const BlockPrologue &Prologue) {
  Loop *Chosen = nullptr;
  SmallPtrSet<const Loop *, 4> Found;
  for (Loop *L : Loops.getLoopsInPreorder()) {
    const Loop *Around = L->getParentLoop();
    if (Found.contains(Around))
      Found.insert(L); // it is inside one
    else if (divergesAt(*L, Known) && mayBeTaken(*L, Options) &&
             !Prologue.Blocks.contains(L->getHeader()) &&
             Found.insert(L).second &&
             (!Chosen || weightOf(*Chosen, Loops) < weightOf(*L, Loops)))
      Chosen = L;
  }
  return Chosen;
}

/// Of loops that pragmas name, the one to take; null: none are named. Why not
/// the others goes to \p Refused.
static Loop *loopNamed(const LoopInfo &Loops, const UniformityResult &Known,
                       std::vector<Refusal> &Refused) {
  Loop *Chosen = nullptr;
  SmallVector<Loop *> Named;
  for (Loop *L : Loops.getLoopsInPreorder()) {
    const auto Said = requestOf(*L, Name);
    if (!Said || !Said->On || !Said->AtAnyCost)
      continue;
    Named.push_back(L);
    if (divergesAt(*L, Known) &&
        (!Chosen || weightOf(*Chosen, Loops) < weightOf(*L, Loops)))
      Chosen = L;
  }
  SmallPtrSet<const void *, 4> Told;
  if (Chosen)
    Told.insert(requestOf(*Chosen, Name)->Id);
  for (const Loop *L : Named)
    if (Told.insert(requestOf(*L, Name)->Id).second)
      Refused.push_back(
          {divergesAt(*L, Known) ? &refuse::Other : &refuse::Uniform,
           L->getStartLoc(), ""});
  return Chosen;
}

/// The loop to refill. \p Refused: why not others that are asked for.
static PlanOr<Loop *>
findLoop(Function &Kernel, const LoopInfo &Loops, const UniformityResult &Known,
         const RefillOptions &Options, const Skip &Skipped,
         const BlockPrologue &Prologue, std::vector<Refusal> &Refused) {
  const Instruction &Start = *Kernel.getEntryBlock().getTerminator();
  if (Loop *L = loopNamed(Loops, Known, Refused))
    return L;
  if (!Refused.empty()) {
    Refusal First = Refused.front();
    Refused.erase(Refused.begin());
    return First;
  }
  if (Options.Branch) {
    Loop *L = loopLeftBy(*Options.Branch, Kernel, Loops, Known);
    if (Skipped.Work)
      L = Loops.getLoopFor(Skipped.Work->getSinglePredecessor());
    if (!L)
      return refusal(refuse::Branch, Start, std::to_string(*Options.Branch));
    if (!mayBeTaken(*L, Options))
      return Refusal{&refuse::Off, L->getStartLoc(), ""};
    return L;
  }
  if (Loop *L = chooseLoop(Loops, Known, Options, Prologue))
    return L;
  for (const Loop *L : Loops.getLoopsInPreorder())
    if (const auto Said = requestOf(*L, Name);
        Said && !Said->On && divergesAt(*L, Known))
      return Refusal{&refuse::Off, L->getStartLoc(), ""};
  return refusal(refuse::Loop, Start);
}

static const Instruction *takesFrame(Function &F) {
  for (Instruction &I : instructions(F)) {
    const auto *Frame = dyn_cast<AllocaInst>(&I);
    if (Frame && (Frame->getParent() != &F.getEntryBlock() ||
                  !isa<ConstantInt>(Frame->getArraySize())))
      return Frame;
  }
  return nullptr;
}

PlanOr<RefillPlan> planRefill(Function &Kernel, const RefillOptions &Options) {
  PlanOr<ItemsBehind> Planned = planBehindPrologue(Kernel);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  auto &[Items, Prologue] = std::get<ItemsBehind>(Planned);
  const Instruction &Start = *Kernel.getEntryBlock().getTerminator();
  const UniformityResult Known = analysis::computeUniformity(Kernel);
  DominatorTree Dominance(Kernel);
  LoopInfo Loops(Dominance);
  RefillPlan Plan{{}, {}, nullptr, {}, Options, {}};
  if (Options.Branch)
    Plan.Skipped = skipAt(*Options.Branch, Kernel, Loops, Dominance, Known);
  PlanOr<Loop *> Found = findLoop(Kernel, Loops, Known, Options, Plan.Skipped,
                                  Prologue, Plan.Others);
  if (const auto *Why = std::get_if<Refusal>(&Found))
    return *Why;
  const Loop *L = std::get<Loop *>(Found);
  if (Prologue.Blocks.contains(L->getHeader()))
    return Refusal{&refuse::Prologue, L->getStartLoc(), ""};
  if (const Instruction *I = waitsFor(Kernel, Loops))
    return refusal(refuse::Waits, *I);
  if (Items.Exits)
    return refusal(refuse::Exit, Start);
  if (const Instruction *I = takesFrame(Kernel))
    return refusal(refuse::Frame, *I);
  if (const auto Said = requestOf(*L, Name)) {
    Plan.Options = cantFail(parseRefillOptions(Said->Parameters, Options));
    Plan.Options.Occupancy &= !Said->AtAnyCost;
  }
  Plan.Items = std::move(Items);
  Plan.Prologue = std::move(Prologue);
  Plan.Header = L->getHeader();
  return Plan;
}

} // namespace reconverge::remedies::refill
