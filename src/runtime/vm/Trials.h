//===- runtime/vm/Trials.h - Candidates on a program's launches -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_TRIALS_H
#define RECONVERGE_RUNTIME_VM_TRIALS_H

#include "analysis/Costs.h"
#include "runtime/trial/LaunchChoice.h"
#include "runtime/trial/Log.h"
#include "runtime/trial/Variant.h"
#include "warpvm/Machine.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>

namespace reconverge::runtime {

/// A launch as it is to be repeated.
struct TrialLaunch {
  warpvm::Machine &On;
  warpvm::Program &Home;
  warpvm::Kernel &Kernel;
  const LaunchShape &Shape;
  void **Args;
};

/// Tries the candidates of a plan (core/Trials.h) on the launches of this
/// process.
class Trials {
public:
  static llvm::Expected<std::unique_ptr<Trials>>
  create(llvm::StringRef PlanFile, analysis::MachineModel Costs,
         Remedies Apply = remedies::apply);
  virtual ~Trials() = default;

  /// Calls \p Natural, which runs the original and counts into \p Counts, and,
  /// if the plan wants this launch, runs other orders of it and every candidate
  /// from the same state of memory; leaves memory as \p Natural did. Returns
  /// what \p Natural returned.
  virtual llvm::Error launch(const TrialLaunch &L,
                             llvm::function_ref<llvm::Error()> Natural,
                             const LaunchCounts &Counts) = 0;
};

} // namespace reconverge::runtime

#endif
