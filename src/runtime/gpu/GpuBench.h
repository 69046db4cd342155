//===- runtime/gpu/GpuBench.h - One launch on a GPU, tried ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_GPUBENCH_H
#define RECONVERGE_RUNTIME_GPU_GPUBENCH_H

#include "launch/CudaPlace.h"
#include "runtime/gpu/StackLimit.h"
#include "runtime/gpu/TrialCount.h"
#include "runtime/gpu/Trials.h"
#include "runtime/trial/Bench.h"
#include "runtime/trial/Stopwatch.h"

#include <limits>

namespace reconverge::gpu {

/// A launch of the program's while candidates are tried on it.
class GpuBench : public runtime::Bench {
public:
  GpuBench(GpuTrials &In, GpuTriedKernel &K, const ProgramLaunch &L);
  ~GpuBench() override;
  GpuBench(const GpuBench &) = delete;
  GpuBench &operator=(const GpuBench &) = delete;

  /// Runs the original and, if it can be tried, what is to be. Returns what the
  /// original's launch returned.
  cudaError_t tryLaunch();

  llvm::Error takeBefore() override;
  llvm::Expected<runtime::RunEnd> runNatural() override;
  llvm::Error takeAfter() override;
  void runUntried() override;
  void restoreBefore() override;
  runtime::RunEnd runOriginal(const runtime::RunOptions &How) override;
  void differences(runtime::PageVisitor Visit) override;
  uint64_t extent() const override;
  void restoreAfter() override;

  llvm::SmallVector<runtime::TriedCandidate *> candidates() override;
  const llvm::Function &kernel() const override { return *K.Code; }
  bool admit() override;
  std::string whyUnknown() const override { return Unexplained; }
  runtime::SpreadRule spread() const override;
  llvm::Error build(runtime::TriedCandidate &) override {
    return llvm::Error::success(); // what has no code is struck off
  }
  runtime::RunEnd run(runtime::TriedCandidate &C,
                      const runtime::RunOptions &How) override;
  void goOnAfter(const runtime::RunEnd &End) override;
  runtime::DemandPair count(runtime::TriedCandidate &C) override;
  bool canTime() const override { return true; }

private:
  /// What CUDA says of one run of code.
  struct CudaEnd {
    cudaError_t Launched = cudaSuccess; ///< by the launch itself
    cudaError_t Ran = cudaSuccess;      ///< then by the device: a fault
    double Seconds = 0;                 ///< of host time
    float Milliseconds = 0;             ///< between events
    std::string Printed;                ///< nothing of it is shown yet
  };

  std::string findHindrance();
  uint64_t unexplained(uint64_t Used);

  /// As a program in the end launches it, by its recipe if it has one.
  cudaError_t launchCandidate(const GpuCandidate &C,
                              const launch::Steps &Which);
  launch::CudaPlace placeOf(const GpuCandidate &C);
  /// What later launches alone have use for or, ForLater, they as well; memory is
  /// as before.
  cudaError_t makeBefore(const GpuCandidate &C, launch::MadeBefore &Made,
                         bool ForLater);
  /// Gated: without the host's part in the time.
  CudaEnd runCode(llvm::function_ref<cudaError_t()> Launch, bool Gated);
  /// Watched; null: the original. \p Stub: other code that does the same.
  /// AsLater: by what an earlier launch has made, if that may be.
  CudaEnd runWatched(GpuCandidate *C, bool Gated, const void *Stub = nullptr,
                     bool AsLater = false);
  CudaEnd runWarm(GpuCandidate *C, bool AsLater);
  CudaEnd runTimed(GpuCandidate *C);
  runtime::RunEnd endOf(const CudaEnd &E);
  std::string whyNotLoaded(const GpuCandidate &C);
  cudaError_t copyVariables(const GpuCandidate &C, bool ToTheirs);
  Demands demandsOf(const CountingCode &Code, GpuCandidate *C);
  bool addCounts(TrialCount::Kind What, const CountingCode &Code,
                 GpuCandidate *C, LaunchCounts &Counts);

  /// Of calls that cannot fail while all is well; ends the run if one does.
  void must(cudaError_t E);
  [[noreturn]] void endRun();

  GpuTrials &In;
  GpuTriedKernel &K;
  const ProgramLaunch L;
  runtime::LaunchLog Log;
  const runtime::Stopwatch Time;
  double Limit; ///< seconds that a run may take
  float Shortest = std::numeric_limits<float>::max(); ///< ms of the original's
  std::string Unexplained; ///< device memory, in words; empty: there is none
  cudaError_t Result = cudaSuccess; ///< of the program's launch
  std::vector<Area> Areas;
  std::unique_ptr<MemoryCopy> Before, After;
  llvm::BitVector Written;     ///< areas that a run so far has changed
  std::optional<Demands> Asks; ///< of the original, once it was counted
  cudaEvent_t Start = nullptr, Stop = nullptr;
  launch::SideStream Side; ///< of candidates that run steps beside their kernel
  std::optional<RaisedStack> Room;
};

} // namespace reconverge::gpu

#endif
