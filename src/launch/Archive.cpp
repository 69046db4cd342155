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
#include "launch/Launched.h"
#include "launch/RecipeText.h"
#include "launch/Trips.h"

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
                                  cudaLaunchKernel,
                                  cudaDeviceGetStreamPriorityRange,
                                  cudaStreamCreateWithPriority,
                                  cudaStreamDestroy,
                                  cudaEventCreateWithFlags,
                                  cudaEventDestroy,
                                  cudaEventRecord,
                                  cudaStreamWaitEvent};

/// What is known of \p In, which is read at its first launch; null: it cannot be.
static Launched *launchedOf(reconverge_recipe &In) {
  std::atomic_ref<void *> Slot(In.Parsed);
  if (void *Known = Slot.load(std::memory_order_acquire))
    return static_cast<Launched *>(Known);
  auto Read = parseRecipe(In.Text);
  Launched *New =
      Read ? new (std::nothrow) Launched(std::move(*Read)) : nullptr;
  void *Expected = nullptr;
  if (!New)
    return nullptr;
  if (Slot.compare_exchange_strong(Expected, New, std::memory_order_acq_rel)) {
    describeAtExit(*New);
    return New;
  }
  delete New; // another thread was first
  return static_cast<Launched *>(Expected);
}

static dim3 sizes(const std::array<uint32_t, 3> &S) {
  return {S[0], S[1], S[2]};
}

int reconverge_launch(reconverge_recipe *In, const uint32_t *Grid,
                      const uint32_t *Block, void **Args, size_t Shared,
                      void *Given, int OwnStream, int *IsOriginal) {
  *IsOriginal = 1;
  Launched *L = launchedOf(*In);
  if (!L || cudaPeekAtLastError())
    return cudaSuccess;
  cudaStream_t Stream = static_cast<cudaStream_t>(Given);
  if (!Stream && OwnStream)
    Stream = cudaStreamPerThread;
  LaunchShape Shape;
  Shape.Grid = {Grid[0], Grid[1], Grid[2]};
  Shape.Block = {Block[0], Block[1], Block[2]};
  Shape.DynamicShared = Shared;
  Launched::Turn Turn =
      L->begin(takenAs(L->recipe(), Shape, Args), Stream, Args, Runtime);
  if (!Turn.Given.empty())
    Turn.Which.Kept = &Turn.Given;
  int Error = Turn.Fault;
  Ended End = Ended::Original;
  if (Error)
    End = Ended::Failed;
  else if (Turn.Take == Form::Recipe) {
    CudaPlace On(Runtime, L->recipe(), In->StepHandles, Stream,
                 Turn.In ? &Turn.In->Beside : nullptr);
    End = execute(L->recipe(), Shape, Args, On, Turn.Which);
    // One that failed after others did some work is for the program to see.
    if (End == Ended::Failed)
      Error = cudaPeekAtLastError();
  } else if (Turn.Measured) {
    // Here and not by the caller, since it is to be timed.
    (void)cudaGetLastError(); // of ours: none was waiting
    Error = cudaLaunchKernel(In->Original, sizes(Shape.Grid),
                             sizes(Shape.Block), Args, Shared, Stream);
    End = Error ? Ended::Failed : Ended::Done;
  }
  *IsOriginal = End == Ended::Original;
  L->end(Turn, End == Ended::Done, Stream);
  if (Error)
    return Error;
  (void)cudaGetLastError(); // of ours: none was waiting
  return cudaSuccess;
}
