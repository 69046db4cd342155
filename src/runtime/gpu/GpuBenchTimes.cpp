//===- runtime/gpu/GpuBenchTimes.cpp - One launch on a GPU, timed ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A time is that of all device work of one launch between two events: the
// kernel, or all steps of a recipe with their scratch memory. The same memory
// copies precede each run, so the caches start alike. The host's part of the
// launch is not in the time (StreamGate.cpp). A launch of up to 1 ms is run
// twice in a row, and only the second run counts, because a program's launches
// usually follow similar ones. Where a launch makes an order that others reuse,
// one that makes it and one that reuses it are timed, and the mean of a launch
// with its share in the order is the time.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/GpuBench.h"

#include "core/Recipe.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::gpu {

GpuBench::CudaEnd GpuBench::runWarm(GpuCandidate *C, bool AsLater) {
  constexpr float Short = 1; // ms; before a longer one nothing stays warm
  const auto Run = [&] {
    return runWatched(C, /*Gated=*/true, /*Stub=*/nullptr, AsLater);
  };
  const CudaEnd First = Run();
  if (First.Launched || First.Ran || First.Milliseconds > Short)
    return First;
  restoreBefore();
  return Run();
}

GpuBench::CudaEnd GpuBench::runTimed(GpuCandidate *C) {
  const CudaEnd Making = runWarm(C, /*AsLater=*/false);
  const bool IsReused =
      C && C->Launch && C->Launch->Reuse && L.Args && !C->Launch->servesLater();
  if (Making.Launched || Making.Ran || !IsReused)
    return Making;
  restoreBefore();
  CudaEnd Later = runWarm(C, /*AsLater=*/true);
  Later.Milliseconds +=
      std::max(Making.Milliseconds - Later.Milliseconds, 0.f) /
      float(RecipeReuse::UsesAtFirst);
  return Later;
}

} // namespace reconverge::gpu
