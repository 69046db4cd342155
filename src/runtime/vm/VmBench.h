//===- runtime/vm/VmBench.h - One launch on the warp VM, tried --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_VMBENCH_H
#define RECONVERGE_RUNTIME_VM_VMBENCH_H

#include "analysis/Costs.h"
#include "core/Recipe.h"
#include "runtime/trial/LaunchChoice.h"
#include "runtime/trial/Variant.h"
#include "runtime/vm/RepeatedLaunch.h"

#include <memory>
#include <optional>
#include <vector>

namespace reconverge::runtime {

/// A kernel of a candidate's code.
struct VmStep {
  warpvm::Kernel *Kernel;
  KernelInfo Info;
};

/// Other code for one kernel.
struct VmCandidate : TriedCandidate {
  std::string Hash; ///< of the bitcode: equal for equal code
  std::unique_ptr<warpvm::Program> Code; ///< null: not built yet
  /// What is launched: the kernel alone, or by Launch one for each of its
  /// steps; kernels are of Code.
  std::optional<Recipe> Launch;
  std::vector<VmStep> Steps;
};

/// A kernel that the plan names.
struct VmTriedKernel {
  std::vector<VmCandidate> Candidates;
  LaunchChoice Choice;
  std::optional<KernelInfo> Info; ///< of the original, once it was run
};

/// How candidates are made and weighed.
struct VmTrialSettings {
  TrialPlan Plan;
  analysis::MachineModel Costs;
  Remedies Apply;
};

/// A launch of the program's while candidates are tried on it.
class VmBench : public OnVm<Bench> {
public:
  /// \p Natural counts into \p Counts.
  VmBench(const RepeatedLaunch &L, llvm::function_ref<llvm::Error()> Natural,
          const LaunchCounts &Counts, VmTriedKernel &K,
          const VmTrialSettings &Settings)
      : OnVm(L, Natural, Settings.Plan.Budget), Counts(Counts), K(K),
        Settings(Settings) {}

  llvm::SmallVector<TriedCandidate *> candidates() override;
  bool namesStruckOff() const override { return true; }
  const llvm::Function &kernel() const override { return L.Kernel.function(); }
  SpreadRule spread() const override {
    return {Settings.Plan.Orders, /*Seeded=*/true};
  }

  llvm::Expected<RunEnd> runNatural() override;
  std::optional<RaceFindings> findRaces() override;
  std::optional<RaceFindings> findRacesOf(TriedCandidate &Proof) override;
  llvm::Error build(TriedCandidate &C) override;
  RunEnd run(TriedCandidate &C, const RunOptions &How) override;

private:
  llvm::Error addStep(VmCandidate &C, llvm::StringRef Kernel);
  RunEnd launchAsItIs(warpvm::Kernel &Kernel, const KernelInfo &Info);

  const LaunchCounts &Counts; ///< of the natural run
  VmTriedKernel &K;
  const VmTrialSettings &Settings;
  uint64_t StepLimit = 0; ///< of a candidate's loops
};

} // namespace reconverge::runtime

#endif
