//===- examples/histogram/histogram.cu - Lesson 3: text statistics --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the bytes of a text and the lengths of its words. Every thread block
// counts into shared memory with atomics, and adds its counts to the totals at
// the end. Two things are uneven:
//
//   t h e _ q u i c k _ b r o w n _ f o x     one lane a byte
//   ^       ^           ^           ^         lanes at which a word starts
//   3       5           5           3         ... walk to its end, the rest
//   wait
//
// and lanes that meet the same byte (most of all ' ' and 'e') take turns at its
// counter. The first is control divergence and shows in the table; the second
// is contention, which no branch shows.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"
#include "text.h"

#include <vector>

static constexpr int ByteBins = 256;
static constexpr int WordBins = 32; // the last one holds the longer words
static constexpr int Bins = ByteBins + WordBins;

__host__ __device__ inline bool isLetter(unsigned char C) {
  return (C | 32) >= 'a' && (C | 32) <= 'z';
}

__global__ void textHistogram(const unsigned char *Text, int Length,
                              unsigned *Totals) {
  __shared__ unsigned Counts[Bins];
  for (int Bin = int(threadIdx.x); Bin < Bins; Bin += int(blockDim.x))
    Counts[Bin] = 0;
  __syncthreads();

  const int Threads = int(gridDim.x * blockDim.x);
  for (int At = int(blockIdx.x * blockDim.x + threadIdx.x); At < Length;
       At += Threads) {
    const unsigned char C = Text[At];
    atomicAdd(&Counts[C], 1u);
    if (isLetter(C) && (At == 0 || !isLetter(Text[At - 1]))) {
      int End = At + 1;
      while (End < Length && isLetter(Text[End]))
        ++End;
      atomicAdd(&Counts[ByteBins + min(End - At, WordBins - 1)], 1u);
    }
  }
  __syncthreads();

  for (int Bin = int(threadIdx.x); Bin < Bins; Bin += int(blockDim.x))
    if (Counts[Bin] != 0)
      atomicAdd(&Totals[Bin], Counts[Bin]);
}

/// The reference: one pass with a state.
static std::vector<unsigned>
countOnHost(const std::vector<unsigned char> &Text) {
  std::vector<unsigned> Totals(Bins);
  size_t Word = 0;
  for (unsigned char C : Text) {
    ++Totals[C];
    if (isLetter(C)) {
      ++Word;
    } else if (Word) {
      ++Totals[ByteBins + std::min<size_t>(Word, WordBins - 1)];
      Word = 0;
    }
  }
  if (Word)
    ++Totals[ByteBins + std::min<size_t>(Word, WordBins - 1)];
  return Totals;
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Length = Args.integer("bytes", 2000000, 1, 1 << 30);
  const long Blocks = Args.integer("blocks", 64, 1, 65535);
  const long Threads = Args.integer("block", 256, 1, 1024);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();

  const std::vector<unsigned char> Text = makeText(Length, Seed);
  unsigned char *DeviceText = nullptr;
  unsigned *DeviceTotals = nullptr;
  CHECK_CUDA(cudaMalloc(&DeviceText, Text.size()));
  CHECK_CUDA(cudaMalloc(&DeviceTotals, Bins * sizeof(unsigned)));
  CHECK_CUDA(
      cudaMemcpy(DeviceText, Text.data(), Text.size(), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(DeviceTotals, 0, Bins * sizeof(unsigned)));

  textHistogram<<<unsigned(Blocks), unsigned(Threads)>>>(
      DeviceText, int(Length), DeviceTotals);
  CHECK_LAUNCH();
  CHECK_CUDA(cudaDeviceSynchronize());

  std::vector<unsigned> Totals(Bins);
  CHECK_CUDA(cudaMemcpy(Totals.data(), DeviceTotals, Bins * sizeof(unsigned),
                        cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(DeviceText));
  CHECK_CUDA(cudaFree(DeviceTotals));

  unsigned Words = 0;
  for (int Bin = ByteBins; Bin < Bins; ++Bin)
    Words += Totals[Bin];
  const bool Right = !Check || Totals == countOnHost(Text);
  std::printf("histogram: %ld bytes, %u words, %u times 'e': %s\n", Length,
              Words, Totals['e'],
              Check ? Right ? "right" : "WRONG" : "not checked");
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(Totals)));
  return Right ? 0 : 1;
}
