// REQUIRES: reconverge
// RUN: %reconverge cc -O2 -std=c++17 -I%source/include %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s
// CHECK: 0 wrong of 5840

//===- test/remap/block.cu - block_remap against its contract -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every algorithm, for block sizes 1 to 1024, 1 to 32 paths and every kind of
// path distribution: each block of a launch has another one, each round the
// next one. A kernel makes its rounds without a barrier between them, moves
// state in each way, and writes down what it got; the host holds that against
// the contract.
//
// The same source runs on the warp VM (`make test`) and, by nvcc, on a GPU
// (test/remap/on-gpu.py), there with RECONVERGE_EVERY_SIZE: what takes minutes
// to compile.
//
//===----------------------------------------------------------------------===//
#include "../vm/Inputs/check.h"
#include <algorithm>
#include <reconverge/block/block_remap.cuh>
#include <vector>

using reconverge::block_remap;
using reconverge::remap_algorithm;
using reconverge::remap_result;

// What docs/remap.md says of shared memory, 256 threads.
template <int Paths, remap_algorithm A>
constexpr int Bytes = sizeof(typename block_remap<256, Paths, A>::temp_storage);
static_assert(Bytes<2, remap_algorithm::automatic> == 520 &&
              Bytes<8, remap_algorithm::automatic> == 576);
static_assert(Bytes<2, remap_algorithm::warp_aggregated> == 528 &&
              Bytes<8, remap_algorithm::warp_aggregated> == 640);
static_assert(Bytes<2, remap_algorithm::head_or_tail> == 520);
static_assert(Bytes<2, remap_algorithm::data_group_indexing> == 384 &&
              Bytes<8, remap_algorithm::data_group_indexing> == 768);

static constexpr int Rounds = 8, Most = 1024, Blocks = 10;

/// What a thread writes down after a round.
struct Note {
  double Value;
  int Id, Path, Identity, Home;
  short Small;
  char Byte;
};

/// A thread's private state, by its number, round and block.
static __host__ __device__ double valueOf(int Id, int Round, int Block) {
  return Id * 1.25 + Round * 4096 + Block * 65536.0;
}

template <int Threads, int Paths, remap_algorithm A, bool Exact>
__global__ void rounds(const unsigned char *Path, Note *Notes) {
  using Remap = block_remap<Threads, Paths, A, 11>;
  __shared__ typename Remap::temp_storage Storage;
  const int Count = blockDim.x * blockDim.y * blockDim.z;
  const int Thread =
      (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  Remap R = Exact ? Remap(Storage) : Remap(Storage, Thread, Count);
  Path += blockIdx.x * Most;
  Notes += blockIdx.x * Most;
#pragma unroll 1
  for (int I = 0; I < Rounds; ++I) {
    const int At = I * Blocks * Most + Thread;
    double Value = valueOf(Thread, I, blockIdx.x);
    short Small = Thread + I;
    char Byte = Thread % 128;
    remap_result Got;
    if (I % 4 < 2) {
      Got = R(Path[At], Byte, Value, Small);
    } else {
      Got = R(Path[At]);
      R.exchange(Got, Byte, Value, Small);
    }
    int Home = Got.id;
    if (I % 3 != 1)
      R.exchange_back(Got, Home);
    else
      Home = Thread;
    Notes[At] = {Value,          Got.id, Got.path, Got.is_identity,
                 Home == Thread, Small,  Byte};
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
  PureWarps,
  OneMixedWarp,
  TwoValues,
  Kinds
};

static int pathOf(int Kind, int Thread, int Threads, int Paths) {
  const int Last = Paths - 1;
  switch (Kind) {
  case AllFirst:
    return 0;
  case AllLast:
    return Last;
  case OneDifferent:
    return Thread == Threads * 2 / 3 ? Last : 0;
  case Random:
    return next() % Paths;
  case Sorted:
    return Thread * Paths / Threads;
  case Backward:
    return Last - Thread * Paths / Threads;
  case Alternating:
    return Thread % Paths;
  case PureWarps:
    return (Thread / 32 * 7 + 1) % Paths;
  case OneMixedWarp:
    return Thread / 32 == 1 ? Thread % Paths : Last / 2;
  default:
    return next() % 2 * Last;
  }
}

static int mixedWarps(const unsigned char *Path, int Threads) {
  int Mixed = 0;
  for (int From = 0; From < Threads; From += 32) {
    const int To = std::min(From + 32, Threads);
    Mixed += std::count(Path + From, Path + To, Path[From]) != To - From;
  }
  return Mixed;
}

static unsigned char *Path;
static Note *Notes;

/// One round of one block against what must hold.
static void judge(const unsigned char *Path, const Note *Notes, int Threads,
                  remap_algorithm A, int Round, int Block) {
  const bool OnePath = std::count(Path, Path + Threads, Path[0]) == Threads;
  const bool Stays = A == remap_algorithm::automatic
                         ? mixedWarps(Path, Threads) <= 1
                         : OnePath;
  std::vector<int> Order, Taken(Threads);
  for (int P = 0; P < 32; ++P)
    for (int T = 0; T < Threads; ++T)
      if (Stays ? P == 0 : Path[T] == P)
        Order.push_back(T);
  bool Right = true;
  for (int T = 0; T < Threads; ++T) {
    const Note &N = Notes[T];
    if (N.Id < 0 || N.Id >= Threads) {
      Right = false;
      break;
    }
    Right &= !Taken[N.Id]++ && N.Path == Path[N.Id] && N.Path == Path[Order[T]];
    if (A != remap_algorithm::head_or_tail)
      Right &= N.Id == Order[T];
    Right &= bool(N.Identity) == Stays && N.Home &&
             N.Value == valueOf(N.Id, Round, Block) &&
             N.Small == short(N.Id + Round) && N.Byte == char(N.Id % 128);
  }
  expect("round", Round, Right, true);
  if (!Right && Wrong <= 10)
    std::printf("  algorithm %d, %d threads, block %d\n", int(A), Threads,
                Block);
}

template <int Threads, int Paths, remap_algorithm A, bool Exact>
static void check(dim3 Shape) {
  const int Count = Shape.x * Shape.y * Shape.z;
  for (int R = 0; R < Rounds; ++R)
    for (int B = 0; B < Blocks; ++B)
      for (int T = 0; T < Count; ++T)
        Path[(R * Blocks + B) * Most + T] =
            pathOf((R * 3 + B) % Kinds, T, Count, Paths);
  rounds<Threads, Paths, A, Exact><<<Blocks, Shape>>>(Path, Notes);
  finish();
  for (int R = 0; R < Rounds; ++R)
    for (int B = 0; B < Blocks; ++B) {
      const int At = (R * Blocks + B) * Most;
      // Known without looking: nothing moves.
      const bool Never =
          Paths == 1 || (A == remap_algorithm::automatic && Threads <= 32);
      judge(Path + At, Notes + At, Count,
            Never ? remap_algorithm::automatic : A, R, B);
    }
}

/// The algorithms that take so many paths, in blocks of one size.
template <int Threads, int Paths, bool Exact> static void checkAll(dim3 Shape) {
  using A = remap_algorithm;
  if constexpr (Paths <= 2)
    check<Threads, Paths, A::head_or_tail, Exact>(Shape);
  check<Threads, Paths, A::data_group_indexing, Exact>(Shape);
  check<Threads, Paths, A::warp_aggregated, Exact>(Shape);
  check<Threads, Paths, A::automatic, Exact>(Shape);
}

/// Blocks of sizes that only the launch knows.
template <int Paths> static void anySize() {
  for (int Threads : {1, 33, 64, 100, 256, 257, 1000, 1023, 1024})
    checkAll<Most, Paths, false>(Threads);
}

/// One algorithm for all numbers of paths.
template <int Paths> static void upTo() {
  for (int Threads : {32, 100, 1024})
    check<Most, Paths, remap_algorithm::warp_aggregated, false>(Threads);
  if constexpr (Paths > 1)
    upTo<Paths - 1>();
}

int main() {
  using A = remap_algorithm;
  Path = managed<unsigned char>(Rounds * Blocks * Most);
  Notes = managed<Note>(Rounds * Blocks * Most);
  anySize<2>();
  anySize<32>();
  check<33, 2, A::warp_aggregated, true>(33);
  check<256, 2, A::head_or_tail, true>(256);
  check<256, 2, A::automatic, true>(256);
  check<100, 5, A::warp_aggregated, true>(dim3(5, 20));
  check<192, 4, A::data_group_indexing, true>(dim3(16, 4, 3));
  check<256, 4, A::automatic, true>(256);
  check<1000, 3, A::automatic, true>(1000);
  check<100, 4, A::warp_aggregated, true>(100);
  check<31, 2, A::automatic, true>(31);
  check<100, 1, A::head_or_tail, true>(100);
#ifdef RECONVERGE_EVERY_SIZE
  anySize<1>();
  anySize<5>();
  upTo<32>();
  checkAll<32, 2, true>(32);
  checkAll<61, 2, true>(61);
  checkAll<128, 3, true>(128);
  checkAll<1023, 2, true>(1023);
  checkAll<1024, 4, true>(1024);
#endif
  return summary();
}
