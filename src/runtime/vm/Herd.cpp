//===- runtime/vm/Herd.cpp - Policies that herd ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/vm/Herd.h"

#include "remedies/herd/ByMachine.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace reconverge::runtime {

static warpvm::Herding herdingIn(const Function &Kernel,
                                 const HerdSettings &Settings) {
  warpvm::Herding Found;
  Found.Threshold = Settings.Threshold;
  Found.BlockBytes = Settings.BlockBytes;
  // Numbers that the kernel does not have do nothing in it.
  if (Settings.NamedBranches)
    for (uint32_t Number : *Settings.NamedBranches)
      Found.Branches.push_back({Number, /*ToFirst=*/true, /*ToSecond=*/true});
  if (Settings.NamedLoads)
    append_range(Found.Loads, *Settings.NamedLoads);
  const auto Safe = remedies::herdByMachine(
      Kernel, Settings.Branches && !Settings.NamedBranches,
      Settings.Loads && !Settings.NamedLoads);
  for (const remedies::MovableBranch &Each : Safe.Branches)
    Found.Branches.push_back({Each.Number, Each.ToFirst, Each.ToSecond});
  append_range(Found.Loads, Safe.Loads);
  return Found;
}

std::function<warpvm::Herding(const Function &)>
herdingOf(const HerdSettings &Settings) {
  if (!Settings.any())
    return nullptr;
  return [Settings](const Function &Kernel) {
    return herdingIn(Kernel, Settings);
  };
}

} // namespace reconverge::runtime
