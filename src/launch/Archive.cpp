//===- launch/Archive.cpp - Launching by a recipe, in a program -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

#include "launch/CudaPlace.h"
#include "launch/RecipeText.h"

#include <atomic>
#include <new>

using namespace reconverge;
using namespace reconverge::launch;

static const CudaCalls Runtime = {cudaGetDevice,
                                  cudaDeviceGetAttribute,
                                  cudaThreadExchangeStreamCaptureMode,
                                  cudaMemPoolCreate,
                                  cudaMemPoolSetAttribute,
                                  cudaMemPoolTrimTo,
                                  cudaMallocFromPoolAsync,
                                  cudaFreeAsync,
                                  cudaMemsetAsync,
                                  cudaOccupancyMaxActiveBlocksPerMultiprocessor,
                                  cudaLaunchKernel};

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
  CudaPlace On(Runtime, *R, In->StepHandles, Stream);
  const Ended End = execute(*R, Shape, Args, On);
  *IsOriginal = End == Ended::Original;
  // One that failed after others did some work is for the program to see.
  if (End == Ended::Failed)
    return cudaPeekAtLastError();
  (void)cudaGetLastError(); // of ours: none was waiting
  return cudaSuccess;
}
