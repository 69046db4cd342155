//===- runtime/gpu/Trials.h - Candidates on a program's launches -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_TRIALS_H
#define RECONVERGE_RUNTIME_GPU_TRIALS_H

#include "runtime/gpu/Allocations.h"
#include "runtime/gpu/MemoryCopy.h"
#include "runtime/gpu/TrialImages.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <atomic>
#include <shared_mutex>

namespace reconverge::gpu {

/// Launches what \p Stub stands for as the program launches its kernel.
using LaunchFunction = llvm::function_ref<cudaError_t(const void *Stub)>;

/// A launch of the program's.
struct ProgramLaunch {
  LaunchShape Shape;
  cudaStream_t Stream;
  LaunchFunction Launch;
  /// For launches by recipes; null: those that a program in the end makes
  /// without one (launch/Archive.h).
  void **Args;
  llvm::StringRef Hindrance; ///< why it cannot be tried; empty: it can
};

/// The trials of this process.
class GpuTrials {
public:
  static GpuTrials &get(); ///< made at first use, never destroyed

  /// Reads the plan and opens its log. \p Apply: tests bring remedies of their
  /// own.
  llvm::Error configure(Options O, runtime::Remedies Apply = remedies::apply);

  void **registerFatBinary(void *Wrapper);

  /// Launches \p Stub as \p L says. If the plan wants this launch, its
  /// candidates are tried from the same state of memory, which is left as the
  /// program's launch left it. Returns what that returned.
  cudaError_t launch(const void *Stub, const ProgramLaunch &L);

  /// Held, shared, by each CUDA call of the program that may change memory, and
  /// alone by a trial.
  std::shared_mutex Gate;
  TrialImages Images;
  Allocations Memory;
  std::atomic<int> Captures = 0; ///< of streams into graphs, going on

  /// Notes how much device memory is in use before the program takes any.
  void noteFirstUse();

private:
  friend class GpuBench;

  TrialPlan Plan;
  Options Settings;
  std::unique_ptr<runtime::TrialLog> Log;
  PageComparer Compare;
  double Spent = 0; ///< seconds, on trials
  double Built = 0; ///< seconds, on building candidates' code, if hurried
  std::atomic<bool> FirstUseKnown = false;
  uint64_t UsedAtFirst = 0; ///< bytes of device memory
  int OwnProcess = 0;       ///< a fork's child tries nothing
};

/// Why no more is tried, after \p Spent seconds on trials in this run; of a
/// hurried run's, \p Built were spent on building candidates' code before.
std::string outOfTime(bool IsHurried, double Built, double Spent);

/// What a hurried run's \p Seconds for trials come to after building took \p
/// Building of them: at least half, so that something is tried.
double secondsAfter(double Building, double Seconds);

} // namespace reconverge::gpu

#endif
