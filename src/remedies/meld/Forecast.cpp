//===- remedies/meld/Forecast.cpp - What melding gives back ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes that idle at a branch are what melding may fill, but only code that both
// sides have becomes one. The plan says how much that is: of A + B issue slots
// of both arms, one after the other, it saves r (A + B). Warps that split run
// both arms. With
//
//   R   slots of the branch's region: of its blocks, by the warps that ran them
//   W   warps that came to the branch, n of them split
//
// there were W + n runs of an arm, 2 n of them of warps that split, so
//
//   gives back = r R 2 n / (W + n),   no more than idles at the branch
//
// The W - n warps that go one way pay for selects and guards, and for what of the
// other arm all lanes run: x issue slots a run of which an arm takes (A + B) / 2,
//
//   costs = R (W - n) / (W + n) 2 x / (A + B)
//
// Accesses that become one with another have lost their numbers in the melded
// copy. Of their requests n / (W + n) are not made any more, nor the wavefronts
// of those to shared memory. Those to other memory ask for the lines of both: a
// wavefront each is saved, and the lines stay.
//
// All this is told by the IR. Where ptxas compiles the melded copy, its machine
// code goes before slots and chains (common/Runs.h): of sad it has four times the
// ALU's instructions, and melded loops may have longer chains (gdt).
//
// Limitation: both arms are taken to be as long.
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Forecast.h"

#include "analysis/Numbering.h"
#include "model/Slots.h"
#include "remedies/common/Runs.h"
#include "remedies/meld/Meld.h"
#include "remedies/meld/Simplify.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace reconverge::remedies::meld {

/// Numbers of the accesses that \p F has.
static DenseSet<uint32_t> accessesOf(const Function &F) {
  DenseSet<uint32_t> All;
  for (const Instruction &I : instructions(F))
    if (auto Number = analysis::accessNumber(I))
      All.insert(*Number);
  return All;
}

namespace {
struct Memory {
  double Requests = 0, Wavefronts = 0;
};
} // namespace

/// What the accesses that \p Left does not have asked for: each became one with
/// another. \p Twice: of the runs of arms of each branch, those that need not be.
/// Requests to other memory than shared take a wavefront at least, and those for
/// their lines stay.
static Memory paired(const KernelProfile &Seen, ArrayRef<double> Twice,
                     const DenseSet<uint32_t> &Left) {
  Memory Sum;
  if (Seen.Accesses.empty())
    return Sum;
  for (auto [Info, Counts] : zip_equal(Seen.Info.Accesses, Seen.Accesses)) {
    if (!Counts.Requests || Left.contains(Info.Id))
      continue;
    const BranchInfo *Inner = nullptr;
    double Share = 0;
    for (auto [Branch, Of] : zip_equal(Seen.Info.Branches, Twice))
      if (Of > 0 && model::inRegion(Branch, Info.Block) &&
          (!Inner || Branch.Region.size() < Inner->Region.size())) {
        Inner = &Branch;
        Share = Of;
      }
    const double Requests = Share * double(Seen.Blocks[Info.Block].Warps);
    Sum.Requests += Requests;
    Sum.Wavefronts +=
        Info.Space == MemorySpace::Shared
            ? Requests * double(Counts.Wavefronts) / double(Counts.Requests)
            : Requests;
  }
  return Sum;
}

Foreseen foresee(Function &Copy, const KernelProfile &Seen,
                 StringRef Parameters) {
  Foreseen F;
  auto Options = parseMeldOptions(Parameters);
  if (!Options) {
    consumeError(Options.takeError()); // Check says so
    F.IsRefused = true;
    return F;
  }
  Options->Polish = false; // done below: here accesses keep their numbers
  markRuns(Copy, Seen);
  OptimizationRemarkEmitter Remarks(&Copy);
  const MeldResult Melded = meldFunction(Copy, *Options, Remarks);
  F.IsRefused = !Melded.Branches;
  F.Slots.resize(Seen.Branches.size());
  F.Added.emplace();
  const std::vector<double> SlotsOf = model::slotsOf(Seen.Info),
                            Self = model::KernelSlots(Seen).self();
  std::vector<double> Twice(Seen.Branches.size());
  for (auto [B, Info, Counts] : enumerate(Seen.Info.Branches, Seen.Branches)) {
    const auto Found = Melded.ByBranch.find(Info.Id);
    if (Found == Melded.ByBranch.end() || !Counts.Splits)
      continue;
    double Region = 0;
    for (uint32_t Block : Info.Region)
      Region += SlotsOf[Block] * double(Seen.Blocks[Block].Warps);
    const double Split = double(Counts.Splits);
    Twice[B] = Split / (double(Counts.Warps) + Split);
    const double Told =
        Found->second.Saved / Found->second.Before * Region * 2 * Twice[B];
    F.Slots[B] = std::min(Self[B], Told);
    F.Added->Slots += Region * (1 - 2 * Twice[B]) * 2 * Found->second.Extra /
                      Found->second.Before;
  }
  const Memory Pairs = paired(Seen, Twice, accessesOf(Copy));
  F.Added->Requests = -Pairs.Requests;
  F.Added->Wavefronts = -Pairs.Wavefronts;
  polish(Copy); // as it will be compiled
  return F;
}

} // namespace reconverge::remedies::meld
