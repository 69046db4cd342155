//===- examples/bitonic/bitonic.cu - Lesson 1: bitonic sort ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread block sorts one tile of as many keys as it has threads, in shared
// memory (K. Batcher, "Sorting networks and their applications", 1968). The
// last tile is padded with the largest key.
//
// In every step a thread meets the partner whose number differs in one bit;
// the lower of the two compares and swaps:
//
//   run 2      run 4             ...   tid & stride decides who works,
//   ><><       >> <<  ><><             tid & run which way it sorts,
//                                      the keys whether they swap
//
// Each of these three questions is a branch, and while stride and run are
// below the warp size, each splits the warp. No key is needed to know that for
// the first two: docs/by-hand.md derives the table.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"
#include "../common/random.h"

#include <algorithm>
#include <vector>

static constexpr unsigned Largest = 0xffffffffu;

__global__ void bitonicSort(unsigned *Keys, int Count) {
  extern __shared__ unsigned Tile[];
  const unsigned Tid = threadIdx.x;
  const int At = int(blockIdx.x * blockDim.x + Tid);
  Tile[Tid] = At < Count ? Keys[At] : Largest;
  __syncthreads();

  for (unsigned Run = 2; Run <= blockDim.x; Run *= 2) {
    for (unsigned Stride = Run / 2; Stride > 0; Stride /= 2) {
      const unsigned Partner = Tid ^ Stride;
      if (Partner > Tid) {
        const unsigned Mine = Tile[Tid], Theirs = Tile[Partner];
        if ((Tid & Run) == 0) { // this run ascends
          if (Mine > Theirs) {
            Tile[Tid] = Theirs;
            Tile[Partner] = Mine;
          }
        } else { // this run descends
          if (Mine < Theirs) {
            Tile[Tid] = Theirs;
            Tile[Partner] = Mine;
          }
        }
      }
      __syncthreads();
    }
  }

  if (At < Count)
    Keys[At] = Tile[Tid];
}

/// Sorts the tiles of \p Input on the device; returns the keys.
static std::vector<unsigned> sortTiles(const std::vector<unsigned> &Input,
                                       unsigned Threads) {
  const int Count = int(Input.size());
  const size_t Bytes = Input.size() * sizeof(unsigned);
  unsigned *Keys = nullptr;
  CHECK_CUDA(cudaMalloc(&Keys, Bytes));
  CHECK_CUDA(cudaMemcpy(Keys, Input.data(), Bytes, cudaMemcpyHostToDevice));

  const unsigned Blocks = (Count + Threads - 1) / Threads;
  bitonicSort<<<Blocks, Threads, Threads * sizeof(unsigned)>>>(Keys, Count);
  CHECK_LAUNCH();
  CHECK_CUDA(cudaDeviceSynchronize());

  std::vector<unsigned> Sorted(Input.size());
  CHECK_CUDA(cudaMemcpy(Sorted.data(), Keys, Bytes, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(Keys));
  return Sorted;
}

/// The reference: every tile sorted by the standard library.
static std::vector<unsigned> sortTilesOnHost(std::vector<unsigned> Keys,
                                             size_t Tile) {
  for (size_t From = 0; From < Keys.size(); From += Tile)
    std::sort(Keys.begin() + From,
              Keys.begin() + std::min(From + Tile, Keys.size()));
  return Keys;
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Count = Args.integer("count", 150003, 1, 1 << 28);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Sorted = Args.integer("sorted", 0, 0, 1); // keys in order already
  const long Only = Args.integer("block", 0, 0, 1024); // 0: several sizes
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();
  if (Only & (Only - 1)) {
    std::fprintf(stderr, "bitonic: block=%ld: give a power of two\n", Only);
    return 2;
  }

  std::vector<unsigned> Keys(Count);
  Random Draw(Seed, 0);
  for (unsigned &Key : Keys)
    Key = Draw.bits();
  if (Sorted)
    std::sort(Keys.begin(), Keys.end());

  std::vector<unsigned> Sizes = {64, 128, 256, 512};
  if (Only)
    Sizes = {unsigned(Only)};

  uint64_t Sum = ChecksumSeed;
  bool Right = true;
  for (unsigned Threads : Sizes) {
    std::vector<unsigned> Result = sortTiles(Keys, Threads);
    Sum = checksum(Result, Sum);
    const bool Same = !Check || Result == sortTilesOnHost(Keys, Threads);
    std::printf("bitonic: %ld keys in tiles of %u: %s\n", Count, Threads,
                Check ? Same ? "sorted" : "WRONG" : "not checked");
    Right &= Same;
  }
  std::printf("checksum: %016llx\n", static_cast<unsigned long long>(Sum));
  return Right ? 0 : 1;
}
