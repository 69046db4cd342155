//===- benchmarks/kernels/pcm/pcm.cu - Partition and concurrent merge -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts a block's keys in buckets, a bucket a thread, by odd-even merge-splits
// (G. Baudet and D. Stevenson, "Optimal sorting algorithms for parallel
// computers", 1978, on Batcher's idea). Every thread sorts its bucket; then, in
// every phase, neighbours pair up, and both merge the two buckets concurrently:
// the left one from the front, keeping the smaller half, the right one from the
// back, keeping the larger. Two arms with a loop each and a branch on data in
// either.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"

#include <algorithm>

template <int Size> __global__ void mergeSplit(unsigned *Keys) {
  extern __shared__ unsigned Shared[];
  const int Tid = int(threadIdx.x), Buckets = int(blockDim.x);
  unsigned *Mine = Shared + Tid * Size;
  unsigned *Spare = Shared + Buckets * Size + Tid * Size;
  unsigned *Global = Keys + (size_t(blockIdx.x) * Buckets + Tid) * Size;

  for (int I = 0; I < Size; ++I) { // insertion
    const unsigned Key = Global[I];
    int J = I;
    for (; J > 0 && Mine[J - 1] > Key; --J)
      Mine[J] = Mine[J - 1];
    Mine[J] = Key;
  }
  __syncthreads();

  for (int Phase = 0; Phase < Buckets; ++Phase) {
    const bool IsLeft = (Tid & 1) == (Phase & 1);
    const int Partner = IsLeft ? Tid + 1 : Tid - 1;
    const bool Paired = Partner >= 0 && Partner < Buckets;
    if (Paired) {
      const unsigned *Theirs = Shared + Partner * Size;
      if (IsLeft) {
        int A = 0, B = 0;
        for (int I = 0; I < Size; ++I) {
          if (Mine[A] <= Theirs[B])
            Spare[I] = Mine[A++];
          else
            Spare[I] = Theirs[B++];
        }
      } else {
        int A = Size - 1, B = Size - 1;
        for (int I = Size - 1; I >= 0; --I) {
          if (Mine[A] >= Theirs[B])
            Spare[I] = Mine[A--];
          else
            Spare[I] = Theirs[B--];
        }
      }
    }
    __syncthreads();
    if (Paired)
      for (int I = 0; I < Size; ++I)
        Mine[I] = Spare[I];
    __syncthreads();
  }
  for (int I = 0; I < Size; ++I)
    Global[I] = Mine[I];
}

static constexpr int BucketSize = 8;

int main(int argc, char **argv) {
  Bench Run(argc, argv, "pcm");
  const long Blocks = Run.integer("blocks", 4, 1, 1 << 20);
  const long Block = Run.integer("block", 64, 2, 512); // buckets
  Run.ready();

  const long Part = Block * BucketSize;
  std::vector<unsigned> Keys(Blocks * Part);
  Random Draw = Run.random();
  for (unsigned &Key : Keys)
    Key = Draw.bits();
  DeviceArray<unsigned> Device(Keys);
  Run.run([&] { Device.set(Keys); },
          [&] {
            mergeSplit<BucketSize>
                <<<Blocks, Block, 2 * Part * sizeof(unsigned)>>>(Device);
          });
  const std::vector<unsigned> Sorted = Device.get();
  if (Run.checks())
    for (auto From = Keys.begin(); From != Keys.end(); From += Part)
      std::sort(From, From + Part);
  return Run.finish(Sorted == Keys, checksum(Sorted));
}
