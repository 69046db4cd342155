//===- benchmarks/kernels/predict_micro/batches.h - Both kernels -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of predict_micro: what is done to a batch, what foretells the next one's classes,
// and kernels that do both.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_BATCHES_H
#define RECONVERGE_BENCHMARKS_BATCHES_H

#include "tasks.h"

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

/// A batch, in which order its items are taken (null: their own), what comes of
/// each, and how many of those are above 0.
template <typename Task> struct Batch {
  Task On;
  int Count;
  const int *Ids;
  int *Results;
  unsigned *Above;
};

struct Partial {
  unsigned OfWarp[Block / 32];
};

/// Block number \p B of the user's kernel.
template <typename Barrier, typename Task>
__device__ static void work(const Batch<Task> &Now, int B, Partial &Sums) {
  const int T = B * Block + int(threadIdx.x);
  bool IsAbove = false;
  if (T < Now.Count) {
    const int I = Now.Ids ? Now.Ids[T] : T;
    Now.On.mark(I);
    const int Result = Now.On.result(I);
    Now.Results[I] = Result;
    IsAbove = Result > 0;
  }
  const unsigned Votes = __ballot_sync(~0u, IsAbove);
  if (threadIdx.x % 32 == 0)
    Sums.OfWarp[threadIdx.x / 32] = __popc(Votes);
  Barrier::meet();
  if (threadIdx.x == 0) {
    unsigned Sum = 0;
    for (unsigned S : Sums.OfWarp)
      Sum += S;
    atomicAdd(Now.Above, Sum);
  }
  Barrier::meet();
}

/// As it was written: a thread an item. Late: launched while what is before it in
/// the stream runs; over when that is.
template <typename Task, bool Late> __global__ void plain(Batch<Task> Now) {
  __shared__ Partial Sums;
  work<OfBlock>(Now, int(blockIdx.x), Sums);
  if (Late)
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

//===----------------------------------------------------------------------===//
// What foretells
//===----------------------------------------------------------------------===//

template <typename Task> struct ByTiles {
  decltype(reconverge::warp_net(Task::tiles())) Net{Task::tiles()};
  __device__ int operator()(const Task &On, int I) const {
    float X[Task::Inputs];
    On.inputs(I, X);
    return Net(X);
  }
};
template <typename Task> struct ByFma {
  __device__ int operator()(const Task &On, int I) const {
    float X[Task::Inputs];
    On.inputs(I, X);
    return reconverge::net_class(Task::net(), X);
  }
};
template <typename Task> struct ByCondition {
  __device__ int operator()(const Task &On, int I) const { return On.path(I); }
};

template <typename Task> struct Ahead {
  Task On;
  int Count;
  unsigned char *Class;
};

/// The 32 items from \p First on, which a warp has.
template <typename Task, typename Source>
__device__ static void foretellFrom(const Ahead<Task> &Next,
                                    const Source &ClassOf, int First) {
  const int I = First + int(threadIdx.x % 32);
  const int C = ClassOf(Next.On, min(I, Next.Count - 1));
  if (I < Next.Count)
    Next.Class[I] = static_cast<unsigned char>(C);
}

/// Of \p Warps in all, warp \p Warp's part.
template <typename Source, typename Task>
__device__ static void foretell(const Ahead<Task> &Next, int Warp, int Warps) {
  const Source ClassOf{};
  for (int First = 32 * Warp; First < Next.Count; First += 32 * Warps)
    foretellFrom(Next, ClassOf, First);
}

/// Early: what comes behind it in the stream may begin at once.
template <typename Task, typename Source, bool Early>
__global__ void foretold(Ahead<Task> Next) {
  if (Early)
    asm volatile("griddepcontrol.launch_dependents;");
  const int Each = int(blockDim.x / 32);
  foretell<Source>(Next, int(blockIdx.x) * Each + int(threadIdx.x / 32),
                   int(gridDim.x) * Each);
}

//===----------------------------------------------------------------------===//
// Both in one kernel
//===----------------------------------------------------------------------===//

/// Eight warps of a block work, NetWarps foretell; as many blocks run as fit.
template <typename Task, typename Source, int NetWarps>
__global__ void __launch_bounds__(Block + 32 * NetWarps)
    fused(Batch<Task> Now, Ahead<Task> Next) {
  __shared__ Partial Sums;
  if (threadIdx.x >= Block) {
    foretell<Source>(Next,
                     int(blockIdx.x) * NetWarps + int(threadIdx.x - Block) / 32,
                     int(gridDim.x) * NetWarps);
    return;
  }
  const int Blocks = (Now.Count + Block - 1) / Block;
  for (int B = int(blockIdx.x); B < Blocks; B += int(gridDim.x))
    work<OfPart>(Now, B, Sums);
}

/// Each thread foretells an item, then works on one: of the warps on a
/// multiprocessor some do the one and some the other. At least Least blocks fit
/// there: registers are kept to what lets them.
template <typename Task, typename Source, int Least>
__global__ void __launch_bounds__(Block, Least)
    both(Batch<Task> Now, Ahead<Task> Next) {
  __shared__ Partial Sums;
  foretellFrom(Next, Source{},
               int(blockIdx.x) * Block + int(threadIdx.x) / 32 * 32);
  work<OfBlock>(Now, int(blockIdx.x), Sums);
}

/// Blocks foretell and work by turns.
template <typename Task, typename Source, int Least>
__global__ void __launch_bounds__(Block, Least)
    mixed(Batch<Task> Now, Ahead<Task> Next) {
  __shared__ Partial Sums;
  const int B = int(blockIdx.x) / 2;
  if (blockIdx.x % 2)
    foretellFrom(Next, Source{}, B * Block + int(threadIdx.x) / 32 * 32);
  else
    work<OfBlock>(Now, B, Sums);
}

#endif
