//===- launch/Archive.cpp - Launching by a recipe, in a program -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scratch is stream-ordered memory from a pool of ours: two launches in two
// streams have two pieces of it, and a stream that is captured into a graph
// gets nodes that take it and give it back. The pool is not the program's
// default one, whose settings and statistics are the program's affair.
//
// The program must find the errors that it would find without us: where one is
// waiting to be read, the original is launched, and what fails here is cleared.
//
// Limitation: CUDA allows one executable graph at a time of a graph that takes
// memory, and neither clones of it nor its use as a child. A program that
// captures such a launch and needs more has to be built without the remedy.
//
//===----------------------------------------------------------------------===//

#include "launch/Archive.h"

#include "launch/Execute.h"
#include "launch/RecipeText.h"

#include <cuda_runtime_api.h>

#include <atomic>
#include <map>
#include <mutex>
#include <new>

using namespace reconverge;
using namespace reconverge::launch;

/// What a pool keeps for later launches when the device has nothing to do.
static constexpr uint64_t KeptBytes = uint64_t(256) << 20;

/// The pool of the current device; null: it can have none.
static cudaMemPool_t poolOfDevice() {
  static std::mutex Lock;
  static std::map<int, cudaMemPool_t> Pools; // they live as long as the program
  int Device = 0, Can = 0;
  if (cudaGetDevice(&Device))
    return nullptr;
  std::lock_guard<std::mutex> Guard(Lock);
  if (auto Known = Pools.find(Device); Known != Pools.end())
    return Known->second;
  cudaMemPool_t Pool = nullptr;
  cudaMemPoolProps Properties = {};
  Properties.allocType = cudaMemAllocationTypePinned;
  Properties.location.type = cudaMemLocationTypeDevice;
  Properties.location.id = Device;
  uint64_t Kept = KeptBytes;
  if (cudaDeviceGetAttribute(&Can, cudaDevAttrMemoryPoolsSupported, Device) ||
      !Can || cudaMemPoolCreate(&Pool, &Properties))
    Pool = nullptr;
  else
    (void)cudaMemPoolSetAttribute(Pool, cudaMemPoolAttrReleaseThreshold,
                                  &Kept); // without it, it is slower
  return Pools[Device] = Pool;
}

namespace {
class Program : public Place {
public:
  Program(const Recipe &R, const void *const *Handles, cudaStream_t Stream)
      : R(R), Handles(Handles), Stream(Stream) {}

  void *allocate(uint64_t Bytes, bool Zeroed) override {
    cudaMemPool_t Pool = poolOfDevice();
    void *New = nullptr;
    if (!Pool || cudaMallocFromPoolAsync(&New, Bytes, Pool, Stream))
      return nullptr;
    if (Zeroed && cudaMemsetAsync(New, 0, Bytes, Stream)) {
      release(New);
      return nullptr;
    }
    return New;
  }

  void release(void *Scratch) override { (void)cudaFreeAsync(Scratch, Stream); }

  uint64_t resident(const RecipeStep &Step, uint64_t BlockThreads,
                    uint64_t DynamicShared) override {
    int Device = 0, Processors = 0, Blocks = 0;
    if (cudaGetDevice(&Device) ||
        cudaDeviceGetAttribute(&Processors, cudaDevAttrMultiProcessorCount,
                               Device) ||
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &Blocks, handleOf(Step), int(BlockThreads), DynamicShared))
      return 0;
    return uint64_t(Processors) * uint64_t(Blocks);
  }

  bool launch(const RecipeStep &Step, const LaunchShape &Shape,
              void **Args) override {
    return cudaLaunchKernel(handleOf(Step),
                            {Shape.Grid[0], Shape.Grid[1], Shape.Grid[2]},
                            {Shape.Block[0], Shape.Block[1], Shape.Block[2]},
                            Args, Shape.DynamicShared, Stream) == cudaSuccess;
  }

private:
  const void *handleOf(const RecipeStep &Step) const {
    return Handles[&Step - R.Steps.data()];
  }

  const Recipe &R;
  const void *const *Handles;
  cudaStream_t Stream;
};
} // namespace

/// The recipe of \p In, read at its first launch; null: it cannot be.
static const Recipe *recipeOf(reconverge_recipe &In) {
  std::atomic_ref<void *> Slot(In.Parsed);
  if (void *Known = Slot.load(std::memory_order_acquire))
    return static_cast<const Recipe *>(Known);
  auto Read = parseRecipe(In.Text);
  Recipe *New = Read ? new (std::nothrow) Recipe(std::move(*Read)) : nullptr;
  void *Expected = nullptr;
  if (!New ||
      Slot.compare_exchange_strong(Expected, New, std::memory_order_acq_rel))
    return New;
  delete New; // another thread was first
  return static_cast<const Recipe *>(Expected);
}

int reconverge_launch(reconverge_recipe *In, const uint32_t *Grid,
                      const uint32_t *Block, void **Args, size_t Shared,
                      void *Given, int OwnStream, int *IsOriginal) {
  *IsOriginal = 1;
  const Recipe *R = recipeOf(*In);
  if (!R || cudaPeekAtLastError())
    return cudaSuccess;
  cudaStream_t Stream = static_cast<cudaStream_t>(Given);
  if (!Stream && OwnStream)
    Stream = cudaStreamPerThread;
  LaunchShape Shape;
  Shape.Grid = {Grid[0], Grid[1], Grid[2]};
  Shape.Block = {Block[0], Block[1], Block[2]};
  Shape.DynamicShared = Shared;
  Program On(*R, In->StepHandles, Stream);
  const Ended End = execute(*R, Shape, Args, On);
  *IsOriginal = End == Ended::Original;
  // One that failed after others did some work is for the program to see.
  if (End == Ended::Failed)
    return cudaPeekAtLastError();
  (void)cudaGetLastError(); // of ours: none was waiting
  return cudaSuccess;
}
