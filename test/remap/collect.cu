// REQUIRES: reconverge
// RUN: %reconverge cc -O2 -std=c++17 -DRECONVERGE_CHECK -I%source/include %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s
// CHECK: 0 wrong of

//===- test/remap/collect.cu - block_collect against its contract ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Block sizes 1 to 1024, 1 to 32 paths, 1 to 8 items a thread, two sizes of
// chunks, counts of items from none to all, and every kind of distribution:
// each block of a launch has another one, each round the next one. A kernel
// makes its rounds without a barrier between them; each item writes down which
// path it was given, how often, in which order, and who had it; the host holds
// that against the contract.
//
// The same source runs on the warp VM (`make test`) and, by nvcc, on a GPU
// (test/remap/on-gpu.py), there with RECONVERGE_EVERY_SIZE.
//
//===----------------------------------------------------------------------===//
#include "../vm/Inputs/check.h"
#include <algorithm>
#include <reconverge/block/block_collect.cuh>
#include <vector>

using reconverge::block_collect;

// What docs/collect.md says of shared memory, 256 threads.
template <int Paths, int V>
constexpr int Bytes =
    sizeof(typename block_collect<256, Paths, V>::temp_storage);
static_assert(Bytes<2, 4> == 2224 && Bytes<8, 4> == 2688);
static_assert(Bytes<2, 8> == 4272 && Bytes<8, 8> == 4736);

static constexpr int Rounds = 4, Most = 8 * 1024, Blocks = 12;

/// What is written down of an item.
struct Note {
  int Path, Times, Turn; ///< Turn: how many of its warp's turns came before
  short Thread, Asked;   ///< who had it; how often its path was asked for
};

/// Items of the block in a round: all, none, one, an odd number, more than fit.
__host__ __device__ static int countOf(int Items, int Round, int Block) {
  switch ((Round + Block) % 6) {
  case 0:
    return 0;
  case 1:
    return 1;
  case 2:
    return Items * 2 / 3 | 1;
  case 3:
    return Items + 1000;
  default:
    return Items;
  }
}

template <typename Collect>
__device__ static void round(Collect &C, int Count, const signed char *Path,
                             Note *Notes, bool Halves, int Thread) {
  int Turn = 0;
  const auto PathOf = [&](int I) {
    ++Notes[I].Asked;
    return int(Path[I]);
  };
  const auto Work = [&](int I, int P) {
    Notes[I].Path = P;
    ++Notes[I].Times;
    Notes[I].Turn = Turn++;
    Notes[I].Thread = short(Thread);
  };
  if (!Halves) {
    C(Count, PathOf, Work);
    return;
  }
  C.sort(Count, PathOf);
  reconverge::collect_result R;
  while (C.next(R))
    if (R)
      Work(R.id, R.path);
}

template <int Threads, int Paths, int V, int Chunk, bool Exact>
__global__ void __launch_bounds__(Threads)
    rounds(const signed char *Path, Note *Notes) {
  using Collect = block_collect<Threads, Paths, V, Chunk>;
  __shared__ typename Collect::temp_storage Storage;
  const int Count = blockDim.x * blockDim.y * blockDim.z;
  const int Thread =
      (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  Collect C = Exact ? Collect(Storage) : Collect(Storage, Thread, Count);
#pragma unroll 1
  for (int I = 0; I < Rounds; ++I) {
    const int At = (I * Blocks + blockIdx.x) * Most;
    round(C, countOf(Count * V, I, blockIdx.x), Path + At, Notes + At, I % 2,
          Thread);
  }
}

enum Kind {
  AllFirst,
  AllLast,
  OneDifferent,
  Random,
  Sorted,
  Backward,
  Alternating,
  Skewed,
  SomeDropped,
  AllDropped,
  Kinds
};

static int pathOf(int Kind, int Item, int Items, int Paths) {
  const int Last = Paths - 1;
  switch (Kind) {
  case AllFirst:
    return 0;
  case AllLast:
    return Last;
  case OneDifferent:
    return Item == Items * 2 / 3 ? Last : 0;
  case Random:
    return next() % Paths;
  case Sorted:
    return int(long(Item) * Paths / Items);
  case Backward:
    return Last - int(long(Item) * Paths / Items);
  case Alternating:
    return Item % Paths;
  case Skewed:
    return std::min<int>(next() % 16 ? 0 : next() % Paths, Last);
  case SomeDropped:
    return int(next() % (Paths + 1)) - 1;
  default:
    return -1;
  }
}

static signed char *Path;
static Note *Notes;

/// One round of one block against what must hold.
static bool isRight(const signed char *Path, const Note *Notes, int Count,
                    int Threads) {
  bool Right = true;
  // Of each warp and turn: who was there.
  std::vector<std::vector<std::pair<int, int>>> Turns(1024 / 32);
  std::vector<int> Lanes(1024);
  for (int I = 0; I < Most; ++I) {
    const Note &N = Notes[I];
    const bool Is = I < Count, Works = Is && Path[I] >= 0;
    Right &= N.Asked == Is && N.Times == Works;
    if (!Works)
      continue;
    Right &= N.Path == Path[I] && N.Thread >= 0 && N.Thread < Threads;
    if (!Right)
      return false;
    Turns[N.Thread / 32].push_back({N.Thread % 32, I});
  }
  // A lane's items, in the order in which it had them, rise by path; those of
  // one path by number.
  for (auto &Warp : Turns) {
    std::sort(Warp.begin(), Warp.end(), [&](auto A, auto B) {
      return std::make_pair(A.first, Notes[A.second].Turn) <
             std::make_pair(B.first, Notes[B.second].Turn);
    });
    for (size_t K = 1; K < Warp.size(); ++K) {
      const int A = Warp[K - 1].second, B = Warp[K].second;
      if (Warp[K - 1].first == Warp[K].first)
        Right &= Path[A] < Path[B] || (Path[A] == Path[B] && A < B);
    }
  }
  return Right;
}

/// How many lanes of whole warps had an item beside one of another path, which
/// the kernel `mixes` found.
static int *Mixed;

template <int Threads, int Paths, int V, int Chunk>
__global__ void __launch_bounds__(Threads)
    mixes(const signed char *Path, int *Mixed, int Count) {
  using Collect = block_collect<Threads, Paths, V, Chunk>;
  __shared__ typename Collect::temp_storage Storage;
  Collect C(Storage, threadIdx.x, blockDim.x);
  C.sort(Count, [&](int I) { return int(Path[I]); });
  const int Left = blockDim.x - threadIdx.x / 32 * 32;
  const unsigned Members = Left < 32 ? (1u << Left) - 1 : 0xffffffffu;
  reconverge::collect_result R;
  while (C.next(R)) {
    const unsigned Some = __ballot_sync(Members, bool(R));
    const int First = __shfl_sync(Members, R.path, Some ? __ffs(Some) - 1 : 0);
    if (R && R.path != First)
      atomicAdd(Mixed, 1);
  }
}

template <int Threads, int Paths, int V, int Chunk, bool Exact>
static void check(dim3 Shape) {
  const int Count = Shape.x * Shape.y * Shape.z, Items = Count * V;
  for (int R = 0; R < Rounds; ++R)
    for (int B = 0; B < Blocks; ++B)
      for (int I = 0; I < Items; ++I)
        Path[(R * Blocks + B) * Most + I] =
            pathOf((R * 3 + B) % Kinds, I, Items, Paths);
  std::fill(Notes, Notes + Rounds * Blocks * Most, Note{-1, 0, 0, -1, 0});
  rounds<Threads, Paths, V, Chunk, Exact><<<Blocks, Shape>>>(Path, Notes);
  finish();
  for (int R = 0; R < Rounds; ++R)
    for (int B = 0; B < Blocks; ++B) {
      const int At = (R * Blocks + B) * Most;
      const bool Right = isRight(Path + At, Notes + At,
                                 std::min(countOf(Items, R, B), Items), Count);
      expect("round", R, Right, true);
      if (!Right && Wrong <= 10)
        std::printf("  %d threads, %d paths, %d items each, chunks of %d, "
                    "block %d\n",
                    Count, Paths, V, Chunk, B);
    }
  *Mixed = 0;
  for (int B = 0; B < Blocks; ++B)
    mixes<Threads, Paths, V, Chunk>
        <<<1, Count>>>(Path + B * Most, Mixed, Items);
  finish();
  expect("mixed", Count, *Mixed, 0);
}

/// Blocks of sizes that only the launch knows.
template <int Paths, int V, int Chunk> static void anySize() {
  for (int Threads : {1, 2, 31, 33, 64, 100, 256, 257, 1000, 1023, 1024})
    check<1024, Paths, V, Chunk, false>(Threads);
}

/// All numbers of items and sizes of chunks.
template <int Threads, int Paths> static void anyItems(dim3 Shape) {
  check<Threads, Paths, 1, 32, true>(Shape);
  check<Threads, Paths, 2, 32, true>(Shape);
  check<Threads, Paths, 4, 64, true>(Shape);
  check<Threads, Paths, 8, 128, true>(Shape);
}

int main() {
  Path = managed<signed char>(Rounds * Blocks * Most);
  Notes = managed<Note>(Rounds * Blocks * Most);
  Mixed = managed<int>(1);
  anySize<2, 4, 32>();
  anySize<7, 8, 64>();
  check<33, 2, 2, 32, true>(33);
  check<100, 5, 3, 32, true>(dim3(5, 20));
  check<192, 4, 4, 32, true>(dim3(16, 4, 3));
  check<256, 6, 4, 32, true>(256);
  check<256, 32, 8, 32, true>(256); // entries of 32 bits
  check<31, 1, 8, 32, true>(31);
#ifdef RECONVERGE_EVERY_SIZE
  anySize<1, 1, 32>();
  anySize<32, 8, 32>();
  anySize<3, 2, 128>();
  anyItems<32, 2>(32);
  anyItems<61, 9>(61);
  anyItems<64, 32>(64);
  anyItems<128, 3>(128);
  anyItems<256, 6>(256);
  anyItems<512, 2>(512);
  anyItems<1023, 2>(1023);
  anyItems<1024, 4>(1024);
#endif
  return summary();
}
