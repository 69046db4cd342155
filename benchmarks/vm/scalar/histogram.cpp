//===- benchmarks/vm/scalar/histogram.cpp - Text statistics, scalar -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of examples/histogram/histogram.cu; stopwatch.h says how and why.
//
//===----------------------------------------------------------------------===//
#include "common/checksum.h"
#include "common/options.h"
#include "histogram/text.h"
#include "stopwatch.h"

#include <algorithm>
#include <vector>

static constexpr int ByteBins = 256, WordBins = 32, Bins = ByteBins + WordBins;

static bool isLetter(unsigned char C) {
  return (C | 32) >= 'a' && (C | 32) <= 'z';
}

static void countBlock(const unsigned char *Text, int Length, int Block,
                       int Blocks, int Threads, unsigned *Totals) {
  unsigned Counts[Bins];
  for (int Tid = 0; Tid < Threads; ++Tid)
    for (int Bin = Tid; Bin < Bins; Bin += Threads)
      Counts[Bin] = 0;
  for (int Base = Block * Threads; Base < Length; Base += Blocks * Threads)
    for (int Tid = 0; Tid < Threads; ++Tid) {
      const int At = Base + Tid;
      if (At >= Length)
        break;
      const unsigned char C = Text[At];
      ++Counts[C];
      if (isLetter(C) && (At == 0 || !isLetter(Text[At - 1]))) {
        int End = At + 1;
        while (End < Length && isLetter(Text[End]))
          ++End;
        ++Counts[ByteBins + std::min(End - At, WordBins - 1)];
      }
    }
  for (int Tid = 0; Tid < Threads; ++Tid)
    for (int Bin = Tid; Bin < Bins; Bin += Threads)
      if (Counts[Bin] != 0)
        Totals[Bin] += Counts[Bin];
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Length = Args.integer("bytes", 2000000, 1, 1 << 30);
  const int Blocks = int(Args.integer("blocks", 64, 1, 65535));
  const int Threads = int(Args.integer("block", 256, 1, 1024));
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  Args.done();

  const std::vector<unsigned char> Text = makeText(Length, Seed);
  std::vector<unsigned> Totals(Bins);
  Stopwatch Watch;
  Watch.start();
  for (int Block = 0; Block < Blocks; ++Block)
    countBlock(Text.data(), int(Length), Block, Blocks, Threads, Totals.data());
  Watch.stop();
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(Totals)));
  Watch.print();
}
