//===- benchmarks/vm/scalar/reduction.cpp - Shuffles and votes, scalar ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of examples/reduction/reduction.cu; stopwatch.h says how and why.
//
//===----------------------------------------------------------------------===//
#include "common/checksum.h"
#include "common/options.h"
#include "common/random.h"
#include "stopwatch.h"

#include <algorithm>
#include <climits>
#include <vector>

static constexpr int Missing = INT_MIN, Spike = 1 << 20, OldestRepair = 12;

struct Summary {
  unsigned long long Sum;
  unsigned Count;
  int Most;
};

static int cleanSample(const int *Log, int At) {
  if (Log[At] < Spike)
    return Log[At];
  for (int Back = 1; Back <= OldestRepair && Back <= At; ++Back) {
    const int Value = Log[At - Back];
    if (Value != Missing && Value < Spike)
      return Value;
  }
  return Missing;
}

/// What the shuffles of a warp do, for 32 lanes.
static Summary reduceWarp(Summary *Lanes) {
  for (int Distance = 16; Distance > 0; Distance /= 2)
    for (int Lane = 0; Lane < Distance; ++Lane) {
      Lanes[Lane].Sum += Lanes[Lane + Distance].Sum;
      Lanes[Lane].Count += Lanes[Lane + Distance].Count;
      Lanes[Lane].Most =
          std::max(Lanes[Lane].Most, Lanes[Lane + Distance].Most);
    }
  return Lanes[0];
}

static void summarizeBlock(const int *Log, int Length, int Block, int Blocks,
                           int Threads, Summary &Out) {
  Summary Of[1024];
  Summary OfWarp[32];
  for (int Tid = 0; Tid < Threads; ++Tid) {
    Summary S = {0, 0, INT_MIN};
    for (int Base = Block * Threads; Base < Length; Base += Blocks * Threads) {
      const int At = Base + Tid;
      if (At >= Length || Log[At] == Missing)
        continue;
      const int Value = cleanSample(Log, At);
      if (Value != Missing) {
        S.Sum += (unsigned long long)(long long)Value;
        ++S.Count;
        S.Most = std::max(S.Most, Value);
      }
    }
    Of[Tid] = S;
  }
  for (int Warp = 0; Warp < 32; ++Warp)
    OfWarp[Warp] = Warp < Threads / 32 ? reduceWarp(Of + 32 * Warp)
                                       : Summary{0, 0, INT_MIN};
  const Summary S = reduceWarp(OfWarp);
  Out.Sum += S.Sum;
  Out.Count += S.Count;
  Out.Most = std::max(Out.Most, S.Most);
}

static std::vector<int> makeLog(long Length, long Seed) {
  std::vector<int> Log(Length);
  Random Draw(uint64_t(Seed), 0);
  uint32_t Gap = 0;
  for (long I = 0; I < Length; ++I) {
    if (Gap == 0 && Draw.below(1000) == 0)
      Gap = 40 + Draw.below(360);
    const int Wave = int((I >> 4) & 1023) - 512;
    Log[I] = Wave * 100 + int(Draw.below(2000)) - 1000;
    if (Draw.below(100) == 0)
      Log[I] += Spike + 100000;
    if (Gap > 0) {
      Log[I] = Missing;
      --Gap;
    }
  }
  return Log;
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Length = Args.integer("samples", 3000000, 1, 1 << 28);
  const int Blocks = int(Args.integer("blocks", 128, 1, 65535));
  const int Threads = int(Args.integer("block", 256, 32, 1024));
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  Args.done();

  const std::vector<int> Log = makeLog(Length, Seed);
  std::vector<Summary> Result = {{0, 0, INT_MIN}};
  Stopwatch Watch;
  Watch.start();
  for (int Block = 0; Block < Blocks; ++Block)
    summarizeBlock(Log.data(), int(Length), Block, Blocks, Threads, Result[0]);
  Watch.stop();
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(Result)));
  Watch.print();
}
