//===- runtime/vm/Herd.cpp - Policies that herd ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/vm/Herd.h"

#include "remedies/herd/ByMachine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Function.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::runtime {

using Numbers = std::optional<std::vector<uint32_t>>;

static warpvm::Herding herdingIn(const Function &Kernel,
                                 const HerdSettings &Settings) {
  warpvm::Herding Found;
  Found.Threshold = Settings.Threshold;
  Found.BlockBytes = Settings.BlockBytes;
  // Numbers that the kernel does not have do nothing in it.
  const bool TrustsBranches = Settings.Trust && Settings.NamedBranches;
  const bool TrustsLoads = Settings.Trust && Settings.NamedLoads;
  const auto Safe =
      remedies::herdByMachine(Kernel, Settings.Branches && !TrustsBranches,
                              Settings.Loads && !TrustsLoads);
  auto IsMeant = [](const Numbers &Named, uint32_t Number) {
    return !Named || is_contained(*Named, Number);
  };
  for (const remedies::MovableBranch &Each : Safe.Branches)
    if (IsMeant(Settings.NamedBranches, Each.Number))
      Found.Branches.push_back({Each.Number, Each.ToFirst, Each.ToSecond});
  for (uint32_t Load : Safe.Loads)
    if (IsMeant(Settings.NamedLoads, Load))
      Found.Loads.push_back(Load);
  if (TrustsBranches)
    for (uint32_t Number : *Settings.NamedBranches)
      Found.Branches.push_back({Number, /*ToFirst=*/true, /*ToSecond=*/true});
  if (TrustsLoads)
    append_range(Found.Loads, *Settings.NamedLoads);
  return Found;
}

/// "herded in k: branches 1, 4; loads 0".
static std::string noteOn(const Function &Kernel, const warpvm::Herding &Herd) {
  std::string Text;
  raw_string_ostream OS(Text);
  OS << "herded in " << demangle(Kernel.getName()) << ": ";
  if (Herd.empty())
    OS << "nothing";
  if (!Herd.Branches.empty()) {
    OS << "branches ";
    interleaveComma(Herd.Branches, OS, [&](const warpvm::HerdedBranch &Each) {
      OS << Each.Number;
    });
  }
  if (!Herd.Branches.empty() && !Herd.Loads.empty())
    OS << "; ";
  if (!Herd.Loads.empty()) {
    OS << "loads ";
    interleaveComma(Herd.Loads, OS);
  }
  return Text;
}

std::function<warpvm::Herding(const Function &)>
herdingOf(const HerdSettings &Settings) {
  if (!Settings.any())
    return nullptr;
  return [Settings](const Function &Kernel) {
    warpvm::Herding Found = herdingIn(Kernel, Settings);
    Settings.Done->push_back(noteOn(Kernel, Found));
    return Found;
  };
}

} // namespace reconverge::runtime
