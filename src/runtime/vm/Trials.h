//===- runtime/vm/Trials.h - Candidates on a program's launches -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_TRIALS_H
#define RECONVERGE_RUNTIME_VM_TRIALS_H

#include "runtime/vm/VmBench.h"

#include <map>

namespace reconverge::runtime {

/// Tries the candidates of a plan (core/Trials.h) on the launches of this
/// process.
class VmTrials {
public:
  static llvm::Expected<std::unique_ptr<VmTrials>>
  create(llvm::StringRef PlanFile, analysis::MachineModel Costs,
         Remedies Apply = remedies::apply);

  /// Calls \p Natural, which runs the original and counts into \p Counts, and,
  /// if the plan wants this launch, runs other orders of it and every candidate
  /// from the same state of memory; leaves memory as \p Natural did. Returns
  /// what \p Natural returned.
  llvm::Error launch(const RepeatedLaunch &L,
                     llvm::function_ref<llvm::Error()> Natural,
                     const LaunchCounts &Counts);

private:
  VmTrials(VmTrialSettings Settings, std::unique_ptr<TrialLog> Log);

  VmTrialSettings Settings;
  std::unique_ptr<TrialLog> Log;
  std::map<std::string, VmTriedKernel> Kernels; ///< module, '/', name
};

} // namespace reconverge::runtime

#endif
