//===- benchmarks/kernels/mergesort/mergesort.cu - Bottom-up merge sort ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every launch merges pairs of sorted runs into runs twice as long, a thread a
// pair, key by key. From which run the next key comes is up to the data: two
// arms that do the same with two cursors.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"

#include <algorithm>

__global__ void mergeRuns(const int *From, int *To, int Count, int Run) {
  const int Thread = int(blockIdx.x * blockDim.x + threadIdx.x);
  int Left = Thread * 2 * Run;
  if (Left >= Count)
    return;
  const int Middle = min(Left + Run, Count), End = min(Left + 2 * Run, Count);
  int Right = Middle;
  for (int At = Left; At < End; ++At) {
    if (Left < Middle && (Right >= End || From[Left] <= From[Right])) {
      To[At] = From[Left];
      ++Left;
    } else {
      To[At] = From[Right];
      ++Right;
    }
  }
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "mergesort");
  const long Count = Run.integer("count", 8192, 1, 1 << 28);
  const long Block = Run.integer("block", 64, 1, 1024);
  Run.ready();

  std::vector<int> Keys(Count);
  Random Draw = Run.random();
  for (int &Key : Keys)
    Key = int(Draw.below(1u << 30));
  DeviceArray<int> A(Keys), B(Keys);
  int *Result = nullptr;
  Run.run([&] { A.set(Keys); },
          [&] {
            int *From = A, *To = B;
            for (long Width = 1; Width < Count; Width *= 2) {
              const long Pairs = (Count + 2 * Width - 1) / (2 * Width);
              mergeRuns<<<(Pairs + Block - 1) / Block, Block>>>(
                  From, To, int(Count), int(Width));
              std::swap(From, To);
            }
            Result = From;
          });
  const std::vector<int> Sorted = Result == A ? A.get() : B.get();
  if (Run.checks())
    std::sort(Keys.begin(), Keys.end());
  return Run.finish(Sorted == Keys, checksum(Sorted));
}
