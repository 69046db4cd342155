//===- benchmarks/kernels/predict_micro/batches.h - Both kernels -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of predict_micro: what is done to a batch, what foretells the next one's classes,
// and one kernel that does both.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_BATCHES_H
#define RECONVERGE_BENCHMARKS_BATCHES_H

#include "../gdt/market.h"

#include "../../../include/reconverge/warp/warp_net.cuh"
#include "net.cuh"

static constexpr int Inputs = 9;

/// What decides, in the order of the net's inputs: in which gdt's kernel loads it.
HD static void inputsOf(const Market &M, int At, float (&X)[Inputs]) {
  X[0] = float(M.Price[At]);
  X[1] = float(M.Price[At - 1]);
  X[2] = float(M.Price[At - 2]);
  X[3] = float(M.Price[At - 3]);
  X[4] = float(M.Price[At - 6]);
  X[5] = float(M.Price[At - 9]);
  X[6] = float(M.Price[At - 4]);
  X[7] = float(M.Volume[At]);
  X[8] = float(M.Volume[At - 1]);
}

//===----------------------------------------------------------------------===//
// The user's kernel
//===----------------------------------------------------------------------===//

struct OfBlock {
  __device__ static void meet() { __syncthreads(); }
};
/// The first Block threads of a larger block alone.
struct OfPart {
  __device__ static void meet() {
    asm volatile("bar.sync 1, %0;" ::"n"(Block) : "memory");
  }
};

/// What a batch's days ask for, in which order they are taken (null: their own),
/// and how many of them want to buy.
struct Batch {
  Market M;
  int Count;
  const int *Ids;
  int *Orders;
  unsigned *Buys;
};

struct Partial {
  unsigned OfWarp[Block / 32];
};

/// Block number \p B of the user's kernel.
template <typename Barrier>
__device__ static void trade(const Batch &Now, int B, Partial &Sums) {
  const int T = B * Block + int(threadIdx.x);
  bool Buys = false;
  if (T < Now.Count) {
    const int I = Now.Ids ? Now.Ids[T] : T, At = dayOf(Now.M, I);
    const int Order = order(Now.M, At, ruleOf(Now.M, At));
    Now.Orders[I] = Order;
    Buys = Order > 0;
  }
  const unsigned Votes = __ballot_sync(~0u, Buys);
  if (threadIdx.x % 32 == 0)
    Sums.OfWarp[threadIdx.x / 32] = __popc(Votes);
  Barrier::meet();
  if (threadIdx.x == 0) {
    unsigned Sum = 0;
    for (unsigned S : Sums.OfWarp)
      Sum += S;
    atomicAdd(Now.Buys, Sum);
  }
  Barrier::meet();
}

/// As it was written: a thread a day. Late: launched while what is before it in the
/// stream runs; over when that is.
template <bool Late> __global__ void plain(Batch Now) {
  __shared__ Partial Sums;
  trade<OfBlock>(Now, int(blockIdx.x), Sums);
  if (Late)
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

//===----------------------------------------------------------------------===//
// What foretells
//===----------------------------------------------------------------------===//

struct ByTiles {
  decltype(reconverge::warp_net(plain_tiles)) Net{plain_tiles};
  __device__ int operator()(const Market &M, int At) const {
    float X[Inputs];
    inputsOf(M, At, X);
    return Net(X);
  }
};
struct ByFma {
  __device__ int operator()(const Market &M, int At) const {
    float X[Inputs];
    inputsOf(M, At, X);
    return reconverge::net_class(plain_net, X);
  }
};
struct ByCondition {
  __device__ int operator()(const Market &M, int At) const {
    return ruleOf(M, At);
  }
};

struct Ahead {
  Market M;
  int Count;
  unsigned char *Class;
};

/// Of \p Warps in all, warp \p Warp's part.
template <typename Source>
__device__ static void foretell(const Ahead &Next, int Warp, int Warps) {
  const Source ClassOf{};
  const int Lane = int(threadIdx.x % 32);
  for (int First = 32 * Warp; First < Next.Count; First += 32 * Warps) {
    const int I = First + Lane;
    const int C = ClassOf(Next.M, dayOf(Next.M, min(I, Next.Count - 1)));
    if (I < Next.Count)
      Next.Class[I] = static_cast<unsigned char>(C);
  }
}

/// Early: what comes behind it in the stream may begin at once.
template <typename Source, bool Early> __global__ void foretold(Ahead Next) {
  if (Early)
    asm volatile("griddepcontrol.launch_dependents;");
  const int Each = int(blockDim.x / 32);
  foretell<Source>(Next, int(blockIdx.x) * Each + int(threadIdx.x / 32),
                   int(gridDim.x) * Each);
}

template <typename Source, int NetWarps>
__global__ void __launch_bounds__(Block + 32 * NetWarps)
    fused(Batch Now, Ahead Next) {
  __shared__ Partial Sums;
  if (threadIdx.x >= Block) {
    foretell<Source>(Next,
                     int(blockIdx.x) * NetWarps + int(threadIdx.x - Block) / 32,
                     int(gridDim.x) * NetWarps);
    return;
  }
  const int Blocks = (Now.Count + Block - 1) / Block;
  for (int B = int(blockIdx.x); B < Blocks; B += int(gridDim.x))
    trade<OfPart>(Now, B, Sums);
}

#endif
