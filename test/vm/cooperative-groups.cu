// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast,tier=blocks %t | FileCheck %s

// Cooperative groups: tiles within a warp and above it, groups of the lanes
// that happen to be there, groups by label; collectives over all of them.

#include "Inputs/check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

template <int Size> __global__ void tiles(int *Out) {
  auto Tile = cg::tiled_partition<Size>(cg::this_thread_block());
  const int T = threadIdx.x;
  const int Sum = cg::reduce(Tile, T, cg::plus<int>());
  const int Max = cg::reduce(Tile, T ^ 5, cg::greater<int>());
  const int Scan = cg::inclusive_scan(Tile, T);
  const int Before = cg::exclusive_scan(Tile, T);
  Out[T] = Sum + 3 * Scan + 7 * Before + 11 * Max +
           100000 * Tile.thread_rank() + 1000000 * Tile.meta_group_rank() +
           13 * Tile.shfl(T, 0);
}

template <int Size> static void checkTiles(int *Out) {
  tiles<Size><<<1, 96>>>(Out);
  finish();
  for (int T = 0; T < 96; ++T) {
    const int First = T / Size * Size;
    int Sum = 0, Scan = 0, Before = 0, Max = 0;
    for (int J = First; J < First + Size; ++J) {
      Sum += J;
      Scan += J <= T ? J : 0;
      Before += J < T ? J : 0;
      Max = (J ^ 5) > Max ? (J ^ 5) : Max;
    }
    expect("tile", 1000 * Size + T, Out[T],
           Sum + 3 * Scan + 7 * Before + 11 * Max + 100000 * (T % Size) +
               1000000 * (T / Size) + 13 * First);
  }
}

// Tiles of several warps talk through shared memory that is theirs alone.
__global__ void largeTiles(int *Out) {
  auto Block = cg::this_thread_block();
  const int T = threadIdx.x;
  auto Tile = cg::tiled_partition<64>(Block);
  Out[T] = cg::reduce(Tile, T, cg::plus<int>()) + Tile.meta_group_rank();
  auto Larger = cg::tiled_partition<128>(Block);
  Out[256 + T] = cg::inclusive_scan(Larger, T) + Larger.shfl(T, 3);
}

__global__ void present(int *Out) {
  const int T = threadIdx.x;
  Out[T] = -1;
  if (T % 3 == 1) {
    auto Here = cg::coalesced_threads();
    Out[T] = Here.thread_rank() + 100 * Here.size() +
             10000 * cg::reduce(Here, 1, cg::plus<int>()) +
             1000000 * Here.shfl(T, 0);
  }
}

__global__ void labels(int *Out) {
  const int T = threadIdx.x;
  auto Warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto Fifth = cg::labeled_partition(Warp, T % 5);
  auto Half = cg::binary_partition(Warp, T % 7 < 2);
  Out[T] = 100 * cg::reduce(Fifth, T, cg::plus<int>()) + Fifth.thread_rank();
  Out[64 + T] = 100 * cg::reduce(Half, T, cg::plus<int>()) + Half.thread_rank();
  Out[128 + T] =
      cg::inclusive_scan(Fifth, T) + 1000 * cg::exclusive_scan(Half, T);
}

__global__ void copies(const int *In, int *Out) {
  __shared__ int S[256];
  auto Block = cg::this_thread_block();
  cg::memcpy_async(Block, S, In, sizeof(int) * 200);
  cg::wait(Block);
  for (int I = Block.thread_rank(); I < 200; I += Block.size())
    Out[I] = S[199 - I];
  Block.sync();
  auto Warp = cg::tiled_partition<32>(Block);
  const int First = 32 * Warp.meta_group_rank();
  cg::memcpy_async(Warp, S + First, In + 500 + First, sizeof(int) * 32);
  cg::wait(Warp);
  Out[256 + Block.thread_rank()] = S[Block.thread_rank()];
}

__global__ void shapes(int *Out) {
  auto Block = cg::this_thread_block();
  auto Grid = cg::this_grid();
  Out[Grid.thread_rank()] = Block.thread_rank() + 1000 * Block.group_index().x +
                            100000 * Block.dim_threads().x +
                            10000000 * Block.thread_index().y;
  if (Grid.thread_rank() == 0)
    Out[512] = Grid.size() + 10000 * Grid.num_blocks();
  cg::invoke_one(Block, [&] { atomicAdd(Out + 513, 1); });
}

/// Sum and count of the lanes of T's warp below \p Limit that \p In takes.
template <typename F> static int over(int T, int Limit, F In, bool Count) {
  int Sum = 0;
  for (int J = T / 32 * 32; J < Limit && J < T / 32 * 32 + 32; ++J)
    Sum += In(J) ? (Count ? 1 : J) : 0;
  return Sum;
}

// CHECK: 0 wrong of
int main() {
  int *Out = managed<int>(1024), *In = managed<int>(1000);
  checkTiles<1>(Out);
  checkTiles<2>(Out);
  checkTiles<4>(Out);
  checkTiles<8>(Out);
  checkTiles<16>(Out);
  checkTiles<32>(Out);

  largeTiles<<<1, 256>>>(Out);
  finish();
  for (int T = 0; T < 256; ++T) {
    const int First = T / 64 * 64, Larger = T / 128 * 128;
    expect("64", T, Out[T], 64 * First + 63 * 32 + T / 64);
    expect("128", T, Out[256 + T],
           T * (T + 1) / 2 - Larger * (Larger - 1) / 2 + Larger + 3);
  }

  present<<<1, 50>>>(Out);
  finish();
  for (int T = 0; T < 50; ++T) {
    auto Taken = [](int J) { return J % 3 == 1; };
    const int N = over(T, 50, Taken, true);
    const int First = T < 32 ? 1 : 34;
    expect("coalesced", T, Out[T],
           Taken(T) ? over(T, T, Taken, true) + 10100 * N + 1000000 * First
                    : -1);
  }

  labels<<<1, 64>>>(Out);
  finish();
  for (int T = 0; T < 64; ++T) {
    auto Fifth = [=](int J) { return J % 5 == T % 5; };
    auto Half = [=](int J) { return (J % 7 < 2) == (T % 7 < 2); };
    expect("labeled", T, Out[T],
           100 * over(T, 64, Fifth, false) + over(T, T, Fifth, true));
    expect("binary", T, Out[64 + T],
           100 * over(T, 64, Half, false) + over(T, T, Half, true));
    expect("scans", T, Out[128 + T],
           over(T, T + 1, Fifth, false) + 1000 * over(T, T, Half, false));
  }

  for (int I = 0; I < 1000; ++I)
    In[I] = 3 * I;
  copies<<<1, 96>>>(In, Out);
  finish();
  for (int I = 0; I < 200; ++I)
    expect("copy", I, Out[I], 3 * (199 - I));
  for (int I = 0; I < 96; ++I)
    expect("warp's copy", I, Out[256 + I], 3 * (500 + I));

  Out[513] = 0;
  shapes<<<4, dim3(8, 4)>>>(Out);
  finish();
  for (int T = 0; T < 128; ++T)
    expect("shape", T, Out[T],
           T % 32 + 1000 * (T / 32) + 800000 + 10000000 * (T % 32 / 8));
  expect("grid", 0, Out[512], 128 + 40000);
  expect("once a block", 0, Out[513], 4);
  return summary();
}
