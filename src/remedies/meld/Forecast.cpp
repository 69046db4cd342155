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
//   gives back = r R 2 n / (W + n)
//
// Limitation: both arms are taken to be as long, and what warps that do not
// split pay for selects is left out.
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Forecast.h"

#include "model/Slots.h"
#include "remedies/meld/Meld.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace reconverge::remedies::meld {

Foreseen foresee(Function &Copy, const KernelProfile &Seen,
                 StringRef Parameters) {
  Foreseen F;
  auto Options = parseMeldOptions(Parameters);
  if (!Options) {
    consumeError(Options.takeError()); // Check says so
    F.IsRefused = true;
    return F;
  }
  Options->Polish = false; // takes time, and the plan knows nothing of it
  OptimizationRemarkEmitter Remarks(&Copy);
  const MeldResult Melded = meldFunction(Copy, *Options, Remarks);
  F.IsRefused = !Melded.Branches;
  const std::vector<double> SlotsOf = model::slotsOf(Seen.Info);
  std::vector<double> &Back = F.Slots;
  for (auto [Info, Counts] : zip_equal(Seen.Info.Branches, Seen.Branches)) {
    Back.push_back(0);
    const auto Found = Melded.ByBranch.find(Info.Id);
    if (Found == Melded.ByBranch.end() || !Counts.Splits)
      continue;
    double Region = 0;
    for (uint32_t Block : Info.Region)
      Region += SlotsOf[Block] * double(Seen.Blocks[Block].Warps);
    const double Split = double(Counts.Splits);
    Back.back() = Found->second.Saved / Found->second.Before * Region * 2 *
                  Split / (double(Counts.Warps) + Split);
  }
  return F;
}

} // namespace reconverge::remedies::meld
