// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast,tier=blocks %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=warp=64 %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=isa=avx2 %t | FileCheck %s
// CHECK: 0 wrong of 1152

// Warp collectives as CUDA spells them, in divergent code and in tiles.

#include "Inputs/check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

constexpr int Rows = 9;

__global__ void exchange(const int *In, int *Out) {
  const int Tid = threadIdx.x, Lane = Tid % 32;
  const int X = In[Tid];
  int *Row = Out + Tid;
  // A warp's sum by butterfly.
  int Sum = X;
  for (int D = 16; D; D /= 2)
    Sum += __shfl_xor_sync(~0u, Sum, D);
  Row[0 * 128] = Sum;
  // An inclusive scan, in segments of eight.
  int Scan = X;
  for (int D = 1; D < 8; D *= 2) {
    int Other = __shfl_up_sync(~0u, Scan, D, 8);
    if (Lane % 8 >= D)
      Scan += Other;
  }
  Row[1 * 128] = Scan;
  // Only the odd values take part: one of them speaks for all.
  const unsigned Odd = __ballot_sync(~0u, X & 1);
  int Leader = -1;
  if (X & 1) {
    const int First = __ffs(Odd) - 1;
    Leader = __shfl_sync(Odd, Tid, First);
    Row[2 * 128] = __popc(__activemask());
  } else {
    Row[2 * 128] = __all_sync(~Odd, (X & 1) == 0);
  }
  Row[3 * 128] = Leader;
  // Who else has my value (mod 4)?
  Row[4 * 128] = __popc(__match_any_sync(~0u, X & 3));
  Row[5 * 128] = __reduce_max_sync(~0u, unsigned(X));
  // Tiles of four name only themselves.
  auto Tile = cg::tiled_partition<4>(cg::this_thread_block());
  Row[6 * 128] = Tile.any(X % 5 == 0) * 100 + Tile.shfl(X, 3);
  Row[7 * 128] = cg::reduce(Tile, X, cg::plus<int>());
  // Those that took the same side of a branch.
  if (X % 3 == 0) {
    auto Same = cg::coalesced_threads();
    Row[8 * 128] = Same.size() * 100 + Same.thread_rank();
  } else {
    Row[8 * 128] = -1;
  }
}

int main() {
  int In[128], Got[Rows * 128], *DIn, *DOut;
  for (int I = 0; I < 128; ++I)
    In[I] = (I * 37 + I / 7) % 101;
  CALL(cudaMalloc(&DIn, sizeof In));
  CALL(cudaMalloc(&DOut, sizeof Got));
  CALL(cudaMemcpy(DIn, In, sizeof In, cudaMemcpyHostToDevice));
  exchange<<<1, 128>>>(DIn, DOut);
  CALL(cudaDeviceSynchronize());
  CALL(cudaMemcpy(Got, DOut, sizeof Got, cudaMemcpyDeviceToHost));
  for (int T = 0; T < 128; ++T) {
    const int W = T / 32 * 32, X = In[T];
    int Sum = 0, Odd = 0, First = -1, Match = 0, Max = 0, Third = 0, Rank = 0;
    for (int L = W; L < W + 32; ++L) {
      Sum += In[L];
      Odd += In[L] & 1;
      if ((In[L] & 1) && First < 0)
        First = L;
      Match += (In[L] & 3) == (X & 3);
      Max = In[L] > Max ? In[L] : Max;
      Third += In[L] % 3 == 0;
      Rank += In[L] % 3 == 0 && L < T;
    }
    int Scan = 0, Any = 0, Four = 0;
    for (int L = T / 8 * 8; L <= T; ++L)
      Scan += In[L];
    for (int L = T / 4 * 4; L < T / 4 * 4 + 4; ++L) {
      Any |= In[L] % 5 == 0;
      Four += In[L];
    }
    const int Want[Rows] = {
        Sum,   Scan, X & 1 ? Odd : 1,                   X & 1 ? First : -1,
        Match, Max,  Any * 100 + In[T / 4 * 4 + 3],     Four,
        X % 3 ? -1 : Third * 100 + Rank};
    for (int R = 0; R < Rows; ++R)
      expect("row", R * 128 + T, Got[R * 128 + T], Want[R]);
  }
  return summary();
}
