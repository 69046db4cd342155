//===- launch/Stopwatch.cpp - Times of launches in streams ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "launch/Stopwatch.h"

#include <algorithm>

namespace reconverge::launch {

bool Stopwatch::begin(Timing &T, cudaStream_t Stream) {
  BesideCapture Guard;
  if (!Free.empty()) {
    T.Begin = Free.back().Begin;
    T.End = Free.back().End;
    Free.pop_back();
  } else if (cudaEventCreate(&T.Begin)) {
    return false;
  } else if (cudaEventCreate(&T.End)) {
    (void)cudaEventDestroy(T.Begin);
    return false;
  }
  if (cudaEventRecord(T.Begin, Stream) == cudaSuccess)
    return true;
  drop(T);
  return false;
}

bool Stopwatch::end(const Timing &T, cudaStream_t Stream) {
  const bool Will = cudaEventRecord(T.End, Stream) == cudaSuccess;
  (Will ? Running : Free).push_back(T);
  return Will;
}

std::vector<Stopwatch::Known> Stopwatch::poll() {
  std::vector<Known> All;
  if (Running.empty())
    return All;
  BesideCapture Guard;
  std::erase_if(Running, [&](const Timing &T) {
    const cudaError_t State = cudaEventQuery(T.End);
    if (State == cudaErrorNotReady)
      return false;
    float Milliseconds = -1;
    if (State || cudaEventElapsedTime(&Milliseconds, T.Begin, T.End))
      Milliseconds = -1;
    All.push_back({T, Milliseconds});
    Free.push_back(T);
    return true;
  });
  return All;
}

} // namespace reconverge::launch
