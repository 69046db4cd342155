//===- runtime/gpu/LaunchTrial.h - One launch, tried ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_LAUNCHTRIAL_H
#define RECONVERGE_RUNTIME_GPU_LAUNCHTRIAL_H

#include "runtime/gpu/Trials.h"
#include "runtime/trial/Comparison.h"

namespace reconverge::gpu {

/// A launch of the program's while candidates are tried on it.
class LaunchTrial {
public:
  LaunchTrial(Trials &In, TriedKernel &K, const LaunchShape &Shape,
              cudaStream_t Stream, LaunchFunction Launch);
  ~LaunchTrial();
  LaunchTrial(const LaunchTrial &) = delete;
  LaunchTrial &operator=(const LaunchTrial &) = delete;

  /// Runs the original and, unless \p Hindrance says why not, what is to be
  /// tried. Returns what the original's launch returned.
  cudaError_t run(llvm::StringRef Hindrance);

private:
  /// How one run of code ended.
  struct End {
    cudaError_t Launched = cudaSuccess; ///< by the launch itself
    cudaError_t Ran = cudaSuccess;      ///< then by the device: a fault
    double Seconds = 0;                 ///< of host time
    float Milliseconds = 0;             ///< between events
  };

  std::string findHindrance();
  llvm::Error prepare();
  uint64_t unexplained(uint64_t Used);
  uint64_t extent() const; ///< bytes that are compared

  /// Gated: without the host's part in the time.
  End runCode(const void *Stub, bool Gated);
  /// From the state before, watched; null: the original. \p Stub: other code
  /// that does the same.
  End runAgain(CandidateCode *C, bool Gated, const void *Stub = nullptr);
  End runTimed(CandidateCode *C);
  bool mayVary() const; ///< with the order of threads, as far as is known
  static double now();  ///< by the clock, seconds
  double share() const;
  void runOriginal(unsigned Times);
  std::string whyNotLoaded(const CandidateCode &C);
  cudaError_t copyVariables(const CandidateCode &C, bool ToTheirs);
  bool endedWell(CandidateCode &C, const End &E);
  Verdict compare(const CandidateCode &C);
  double slotsOf(const CountingCode &Code, CandidateCode *C);
  void tryOne(CandidateCode &C);
  void timeRounds();

  void log(TrialEvent::Kind What, const CandidateCode &C,
           const llvm::Twine &Why);
  void strikeOff(TrialEvent::Kind What, CandidateCode &C,
                 const llvm::Twine &Why);
  void leaveUntried(const llvm::Twine &Why);
  /// Of calls that cannot fail while all is well; ends the run if one does.
  void must(cudaError_t E);
  [[noreturn]] void endRun();

  Trials &In;
  TriedKernel &K;
  cudaStream_t Stream;
  LaunchFunction Launch;
  TrialEvent Event;    ///< what all events of the launch have in common
  const double Begin;  ///< by the clock, seconds
  double Limit;        ///< seconds that a run may take
  std::string Unknown; ///< why no verdict can be given; empty: one can
  std::vector<Area> Areas;
  std::unique_ptr<MemoryCopy> Before, After;
  llvm::BitVector Written; ///< areas that a run so far has changed
  unsigned Runs = 1;       ///< of the original
  runtime::OrderSpread Spread;
  std::vector<CandidateCode *> Right; ///< what is worth timing
  std::optional<double> Slots;        ///< of the original, if counted; 0: not
  cudaEvent_t Start = nullptr, Stop = nullptr;
};

} // namespace reconverge::gpu

#endif
