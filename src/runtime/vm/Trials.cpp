//===- runtime/vm/Trials.cpp - Candidates on a program's launches ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which launches of the process are tried. How one is, is in VmBench.cpp and,
// for all backends, in trial/Protocol.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Trials.h"

#include "runtime/trial/Protocol.h"

using namespace llvm;

namespace reconverge::runtime {

Expected<std::unique_ptr<VmTrials>>
VmTrials::create(StringRef PlanFile, analysis::MachineModel Costs,
                 Remedies Apply) {
  auto Plan = readTrialPlan(PlanFile);
  if (!Plan)
    return Plan.takeError();
  auto Log = TrialLog::open(Plan->Log);
  if (!Log)
    return Log.takeError();
  return std::unique_ptr<VmTrials>(new VmTrials(
      {std::move(*Plan), std::move(Costs), std::move(Apply)}, std::move(*Log)));
}

VmTrials::VmTrials(VmTrialSettings Given, std::unique_ptr<TrialLog> Log)
    : Settings(std::move(Given)), Log(std::move(Log)) {
  for (const TrialRequest &R : Settings.Plan.Kernels) {
    VmTriedKernel &K = Kernels[R.Module + "/" + R.Kernel];
    K.Choice = LaunchChoice(R.Launches);
    for (const Candidate &C : R.Candidates) {
      K.Candidates.emplace_back();
      K.Candidates.back().What = C;
    }
  }
}

/// Why \p L cannot be run again; empty: it can.
static std::string whyNotTried(const RepeatedLaunch &L) {
  if (L.Shape.Cooperative)
    return CooperativeHindrance.str();
  std::string Why = hindrance(L.Kernel.function());
  return Why.empty() ? "" : "the kernel cannot be run again: " + Why;
}

Error VmTrials::launch(const RepeatedLaunch &L, function_ref<Error()> Natural,
                       const LaunchCounts &Counts) {
  auto Found = Kernels.find((L.Home.hash() + "/" + L.Kernel.name()).str());
  if (Found == Kernels.end() ||
      !Found->second.Choice.wants(L.Shape, Settings.Plan.Launches))
    return Natural();
  VmTriedKernel &K = Found->second;
  TrialEvent Common;
  Common.Kernel = L.Kernel.name().str();
  Common.Module = L.Home.hash().str();
  Common.Launch = K.Choice.launches();
  Common.Shape = L.Shape;
  LaunchLog Lines(*Log, std::move(Common));
  VmBench Bench(L, Natural, Counts, K, Settings);
  if (std::string Why = whyNotTried(L); !Why.empty()) {
    leaveUntried(Bench, Lines, Why);
    return Natural();
  }
  tryLaunch(Bench, Lines, Settings.Plan);
  return Bench.takeResult();
}

} // namespace reconverge::runtime
