//===- benchmarks/vm/scalar/bitonic.cpp - Bitonic sort, scalar ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of examples/bitonic/bitonic.cu; stopwatch.h says how and why.
//
//===----------------------------------------------------------------------===//
#include "common/checksum.h"
#include "common/options.h"
#include "common/random.h"
#include "stopwatch.h"

#include <vector>

static void sortTile(unsigned *Keys, int Count, unsigned Block,
                     unsigned Threads, unsigned *Tile) {
  for (unsigned Tid = 0; Tid < Threads; ++Tid) {
    const int At = int(Block * Threads + Tid);
    Tile[Tid] = At < Count ? Keys[At] : 0xffffffffu;
  }
  for (unsigned Run = 2; Run <= Threads; Run *= 2)
    for (unsigned Stride = Run / 2; Stride > 0; Stride /= 2)
      for (unsigned Tid = 0; Tid < Threads; ++Tid) {
        const unsigned Partner = Tid ^ Stride;
        if (Partner > Tid) {
          const unsigned Mine = Tile[Tid], Theirs = Tile[Partner];
          if ((Tid & Run) == 0) {
            if (Mine > Theirs) {
              Tile[Tid] = Theirs;
              Tile[Partner] = Mine;
            }
          } else {
            if (Mine < Theirs) {
              Tile[Tid] = Theirs;
              Tile[Partner] = Mine;
            }
          }
        }
      }
  for (unsigned Tid = 0; Tid < Threads; ++Tid) {
    const int At = int(Block * Threads + Tid);
    if (At < Count)
      Keys[At] = Tile[Tid];
  }
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Count = Args.integer("count", 150003, 1, 1 << 28);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Only = Args.integer("block", 0, 0, 1024);
  Args.done();

  std::vector<unsigned> Keys(Count), Tile(1024);
  Random Draw(Seed, 0);
  for (unsigned &Key : Keys)
    Key = Draw.bits();
  std::vector<unsigned> Sizes = {64, 128, 256, 512};
  if (Only)
    Sizes = {unsigned(Only)};

  Stopwatch Watch;
  uint64_t Sum = ChecksumSeed;
  for (unsigned Threads : Sizes) {
    std::vector<unsigned> Sorted = Keys;
    const unsigned Blocks = unsigned(Count + Threads - 1) / Threads;
    Watch.start();
    for (unsigned Block = 0; Block < Blocks; ++Block)
      sortTile(Sorted.data(), int(Count), Block, Threads, Tile.data());
    Watch.stop();
    Sum = checksum(Sorted, Sum);
  }
  std::printf("checksum: %016llx\n", static_cast<unsigned long long>(Sum));
  Watch.print();
}
