//===- benchmarks/kernels/bitonic/bitonic.cu - Bitonic sort of buckets ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every block sorts a bucket of as many keys as it has threads, in shared
// memory (K. Batcher, "Sorting networks and their applications", 1968). Whether
// a thread sorts upwards or downwards depends on its number: the two arms
// compare the same two words, the other way round.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"

#include <algorithm>

__global__ void bitonic(unsigned *Keys) {
  extern __shared__ unsigned Tile[];
  const unsigned Tid = threadIdx.x, At = blockIdx.x * blockDim.x + Tid;
  Tile[Tid] = Keys[At];
  __syncthreads();
  for (unsigned Run = 2; Run <= blockDim.x; Run *= 2)
    for (unsigned Stride = Run / 2; Stride > 0; Stride /= 2) {
      const unsigned Partner = Tid ^ Stride;
      if (Partner > Tid) {
        if ((Tid & Run) == 0) {
          if (Tile[Tid] > Tile[Partner]) {
            const unsigned Mine = Tile[Tid];
            Tile[Tid] = Tile[Partner];
            Tile[Partner] = Mine;
          }
        } else {
          if (Tile[Tid] < Tile[Partner]) {
            const unsigned Mine = Tile[Tid];
            Tile[Tid] = Tile[Partner];
            Tile[Partner] = Mine;
          }
        }
      }
      __syncthreads();
    }
  Keys[At] = Tile[Tid];
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "bitonic");
  const long Blocks = Run.integer("blocks", 64, 1, 1 << 22);
  const long Block = Run.integer("block", 64, 2, 1024);
  Run.ready();
  if (Block & (Block - 1)) {
    std::fprintf(stderr, "bitonic: block=%ld: give a power of two\n", Block);
    return 2;
  }

  std::vector<unsigned> Keys(Blocks * Block);
  Random Draw = Run.random();
  for (unsigned &Key : Keys)
    Key = Draw.bits();
  DeviceArray<unsigned> Device(Keys);
  Run.run(
      [&] { Device.set(Keys); },
      [&] { bitonic<<<Blocks, Block, Block * sizeof(unsigned)>>>(Device); });
  const std::vector<unsigned> Sorted = Device.get();
  if (Run.checks())
    for (auto From = Keys.begin(); From != Keys.end(); From += Block)
      std::sort(From, From + Block);
  return Run.finish(Sorted == Keys, checksum(Sorted));
}
