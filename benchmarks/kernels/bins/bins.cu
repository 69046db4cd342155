//===- benchmarks/kernels/bins/bins.cu - Histograms of 64 and 256 bins ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often does each value of a byte occur (paper 4, histogram)? First every
// block counts its part of the data in shared memory, then a block a bin adds
// up what they have counted.
//
//   256 bins: a histogram a warp, without atomic operations. Lanes write one
//   more than what they read, with their lane's number in the upper bits; one
//   lane's write to a bin stays, it sees its number and is done, and the others
//   try again:
//
//     lane  0 1 2 3        bin of lanes 0 and 2: 7 -> 8 (lane 2's) -> 9
//     bin   5 9 5 1        round 1: all; round 2: lane 0
//
//   64 bins: a histogram a thread, in bytes; a thread counts no more values
//   than a byte holds. The upper six bits of a value are its bin.
//
// Counts do not depend on who comes first.
//
//===----------------------------------------------------------------------===//
#include "../common/output.h"
#include "../common/picture.h"

static constexpr int Lanes = 32, Warps = 8, Block = Lanes * Warps;
static constexpr int Bins256 = 256, Bins64 = 64, MergeThreads = 128;
static constexpr unsigned TagShift = 27, CountMask = (1u << TagShift) - 1;
static constexpr int WordsEach = 63; ///< four values each: 252 at most

/// Counts the bytes of lanes for which Waits holds. All lanes of the warp call
/// it.
__device__ static void add(volatile unsigned *Hist, unsigned Value,
                           unsigned Tag, bool Waits) {
  while (__any_sync(~0u, Waits)) {
    unsigned Count = 0;
    if (Waits)
      Count = Tag | ((Hist[Value] & CountMask) + 1);
    __syncwarp();
    if (Waits)
      Hist[Value] = Count;
    __syncwarp();
    if (Waits)
      Waits = Hist[Value] != Count;
  }
}

__global__ void count256(const unsigned *Words, unsigned *Partial, int Count) {
  __shared__ unsigned Hists[Warps][Bins256];
  const int Thread = int(threadIdx.x), Lane = Thread % Lanes;
  for (int I = Thread; I < Warps * Bins256; I += Block)
    Hists[I / Bins256][I % Bins256] = 0;
  __syncthreads();
  unsigned *Hist = Hists[Thread / Lanes];
  const unsigned Tag = unsigned(Lane) << TagShift;
  // The whole warp goes on while one of its lanes has a word.
  for (int First = int(blockIdx.x) * Block + Thread - Lane; First < Count;
       First += int(gridDim.x) * Block) {
    const bool There = First + Lane < Count;
    const unsigned Word = There ? Words[First + Lane] : 0;
    add(Hist, Word & 255, Tag, There);
    add(Hist, Word >> 8 & 255, Tag, There);
    add(Hist, Word >> 16 & 255, Tag, There);
    add(Hist, Word >> 24, Tag, There);
  }
  __syncthreads();
  for (int Bin = Thread; Bin < Bins256; Bin += Block) {
    unsigned Sum = 0;
    for (int W = 0; W < Warps; ++W)
      Sum += Hists[W][Bin] & CountMask;
    Partial[blockIdx.x * Bins256 + Bin] = Sum;
  }
}

__global__ void count64(const unsigned *Words, unsigned *Partial, int Count) {
  __shared__ unsigned char Hists[Bins64][Bins64]; // of [bin][thread]
  const int Thread = int(threadIdx.x);
  for (int Bin = 0; Bin < Bins64; ++Bin)
    Hists[Bin][Thread] = 0;
  const int First = int(blockIdx.x) * Bins64 * WordsEach + Thread;
  for (int W = 0; W < WordsEach; ++W) {
    const int I = First + W * Bins64;
    if (I >= Count)
      break;
    const unsigned Word = Words[I];
    ++Hists[Word >> 2 & 63][Thread];
    ++Hists[Word >> 10 & 63][Thread];
    ++Hists[Word >> 18 & 63][Thread];
    ++Hists[Word >> 26][Thread];
  }
  __syncthreads();
  unsigned Sum = 0; // of the bin that is the thread's number
  for (int I = 0; I < Bins64; ++I)
    Sum += Hists[Thread][(Thread + I) % Bins64]; // unlike banks
  Partial[blockIdx.x * Bins64 + unsigned(Thread)] = Sum;
}

/// Adds up what all blocks have of the bin that is the block's number.
__global__ void merge(const unsigned *Partial, unsigned *Out, int Blocks) {
  __shared__ unsigned Sums[MergeThreads];
  const int Thread = int(threadIdx.x), Bins = int(gridDim.x);
  unsigned Sum = 0;
  for (int I = Thread; I < Blocks; I += MergeThreads)
    Sum += Partial[I * Bins + int(blockIdx.x)];
  Sums[Thread] = Sum;
  for (int Half = MergeThreads / 2; Half > 0; Half /= 2) {
    __syncthreads();
    if (Thread < Half)
      Sums[Thread] += Sums[Thread + Half];
  }
  if (Thread == 0)
    Out[blockIdx.x] = Sums[0];
}

/// Kinds: 0 any byte, 1 a scene's pixels, 2 letters, few of them often.
static std::vector<unsigned char> bytes(Random Draw, int Kind, size_t Count) {
  std::vector<unsigned char> Bytes(Count);
  if (Kind == 1) {
    const int Width = 1024,
              Rows = int(std::min<size_t>(Count / Width + 1, 4096));
    const auto Picture = greyPicture(Draw, 0, Width, Rows);
    for (size_t I = 0; I < Count; ++I) // a large one repeats
      Bytes[I] = Picture[I % Picture.size()];
  } else {
    for (unsigned char &B : Bytes) {
      const float At = Draw.uniform();
      B = static_cast<unsigned char>(Kind == 0 ? Draw.below(256)
                                               : 97 + int(26 * At * At * At));
    }
  }
  return Bytes;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "bins");
  const int Bins = Run.integer("bins", 256, 64, 256);
  const int Count = Run.integer("words", 16000, 1, 1 << 28);
  const int Blocks256 = Run.integer("blocks", 4, 1, 1 << 16);
  const int Kind = Run.integer("kind", 0, 0, 2);
  const std::string Output = Run.output();
  Run.ready();
  if (Bins != Bins64 && Bins != Bins256) {
    std::fprintf(stderr, "bins: bins=%d: give 64 or 256\n", Bins);
    return 2;
  }

  const std::vector<unsigned char> Bytes =
      bytes(Run.random(), Kind, size_t(Count) * 4);
  std::vector<unsigned> Words(Count);
  std::memcpy(Words.data(), Bytes.data(), Bytes.size());
  const int PerBlock = Bins64 * WordsEach;
  const int Blocks =
      Bins == Bins256 ? Blocks256 : (Count + PerBlock - 1) / PerBlock;
  DeviceArray<unsigned> There(Words), Out(std::vector<unsigned>(Bins, 0));
  DeviceArray<unsigned> Partial(std::vector<unsigned>(size_t(Blocks) * Bins));
  Run.run([&] { Out.clear(); },
          [&] {
            if (Bins == Bins256)
              count256<<<Blocks, Block>>>(There, Partial, Count);
            else
              count64<<<Blocks, Bins64>>>(There, Partial, Count);
            merge<<<Bins, MergeThreads>>>(Partial, Out, Blocks);
          });
  const std::vector<unsigned> Got = Out.get();
  std::vector<unsigned> Should(Bins, 0); // no count may differ
  for (unsigned char B : Bytes)
    ++Should[B * Bins / 256];
  writeFloats(Output, {Got.begin(), Got.end()});
  return Run.finish(!Run.checks() || Got == Should, checksum(Got));
}
