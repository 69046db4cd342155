//===- launch/CudaPlace.h - Launching by a recipe, on CUDA ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_LAUNCH_CUDAPLACE_H
#define RECONVERGE_LAUNCH_CUDAPLACE_H

#include "launch/Execute.h"

#include <cuda_runtime_api.h>

#include <vector>

namespace reconverge::launch {

/// What is needed of the CUDA runtime: a program's own, or the one below a
/// trial. A member is null where the runtime has no such function.
struct CudaCalls {
  decltype(&::cudaGetDevice) GetDevice;
  decltype(&::cudaDeviceGetAttribute) DeviceGetAttribute;
  decltype(&::cudaThreadExchangeStreamCaptureMode) ExchangeCaptureMode;
  decltype(&::cudaMemPoolCreate) MemPoolCreate;
  decltype(&::cudaMemPoolSetAttribute) MemPoolSetAttribute;
  decltype(&::cudaMemPoolTrimTo) MemPoolTrimTo;
  cudaError_t (*MallocFromPoolAsync)(void **, size_t, cudaMemPool_t,
                                     cudaStream_t);
  decltype(&::cudaFreeAsync) FreeAsync;
  decltype(&::cudaMemsetAsync) MemsetAsync;
  cudaError_t (*MaxActiveBlocks)(int *, const void *, int, size_t);
  decltype(&::cudaLaunchKernel) LaunchKernel;
  decltype(&::cudaDeviceGetStreamPriorityRange) StreamPriorityRange;
  decltype(&::cudaStreamCreateWithPriority) StreamCreate;
  decltype(&::cudaStreamDestroy) StreamDestroy;
  cudaError_t (*EventCreate)(cudaEvent_t *, unsigned);
  decltype(&::cudaEventDestroy) EventDestroy;
  decltype(&::cudaEventRecord) EventRecord;
  decltype(&::cudaStreamWaitEvent) StreamWaitEvent;
};

/// A stream for what runs beside another one, and the places where they part and
/// meet. Null: there is none.
struct SideStream {
  cudaStream_t Stream = nullptr;
  cudaEvent_t Forked = nullptr, Joined = nullptr;

  /// On the current device; false: it cannot be.
  bool create(const CudaCalls &Calls);
  void destroy(const CudaCalls &Calls);
};

/// Scratch is stream-ordered memory from a pool of ours. All calls go to one
/// stream, which may be captured into a graph, or beside it; errors stay for the
/// caller to clear.
class CudaPlace : public Place {
public:
  /// \p Handles: what launches each step of \p R. \p Side: null where nothing runs
  /// beside.
  CudaPlace(const CudaCalls &Calls, const Recipe &R, const void *const *Handles,
            cudaStream_t Stream, const SideStream *Side = nullptr)
      : Calls(Calls), R(R), Handles(Handles), Own(Stream), Side(Side),
        Stream(Stream) {}

  void *allocate(uint64_t Bytes, bool Zeroed) override;
  void release(void *Scratch) override;
  uint64_t resident(const RecipeStep &Step, uint64_t BlockThreads,
                    uint64_t DynamicShared) override;
  std::optional<MemoryRange> rangeOf(uint64_t Address) override;
  bool launch(const RecipeStep &Step, const LaunchShape &Shape,
              void **Args) override;
  bool fork() override;
  void beside() override;
  void join() override;

private:
  const void *handleOf(const RecipeStep &Step) const;

  const CudaCalls &Calls;
  const Recipe &R;
  const void *const *Handles;
  cudaStream_t Own;
  const SideStream *Side;
  cudaStream_t Stream; ///< Own or Side's
};

/// Gives back what pools of ours keep for later launches.
void trimPools(const CudaCalls &Calls);

} // namespace reconverge::launch

#endif
