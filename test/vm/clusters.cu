// Thread block clusters: their barrier, each other's shared memory, numbers of
// blocks, launches that say their size in each way, and those that are refused.
//
// REQUIRES: reconverge
// RUN: %reconverge cc -Werror -O2 -g -std=c++17 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not=error
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast,tier=blocks,policy=ipdom,threads=3 \
// RUN:   %t 2>&1 | FileCheck %s --implicit-check-not=error
// RUN: env RECONVERGE_DEVICE=cpu %t refused 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REFUSED
// RUN: env COLUMNS=300 %reconverge test --check=all --shuffle 2 -- %t > %t.out 2> %t.test
// RUN: FileCheck %s --check-prefix=CLEAN < %t.test
// RUN: not env COLUMNS=300 %reconverge test --check=bounds -- %t past > %t.out 2> %t.test
// RUN: FileCheck %s --check-prefix=PAST < %t.test
// RUN: not env COLUMNS=300 %reconverge test --check=none -- %t past > %t.out 2> %t.test
// RUN: FileCheck %s --check-prefix=PAST < %t.test
// RUN: not env COLUMNS=300 %reconverge test --check=init -- %t unwritten > %t.out 2> %t.test
// RUN: FileCheck %s --check-prefix=UNWRITTEN < %t.test
// RUN: not env COLUMNS=300 %reconverge test --check=races -- %t racy > %t.out 2> %t.test
// RUN: FileCheck %s --check-prefix=RACY < %t.test
// RUN: not env COLUMNS=300 %reconverge test -- %t half > %t.out 2> %t.test
// RUN: FileCheck %s --check-prefix=HALF < %t.test
// CLEAN: 7 kernels, 11 launches: no finding

#include "Inputs/check.h"
#include <cooperative_groups.h>
#include <cstring>

namespace cg = cooperative_groups;

constexpr int Threads = 96, Bins = 64;

/// Counts over a cluster, whose blocks have a part of the bins each.
__global__ void histogram(const int *Data, int N, int *Out) {
  __shared__ int Part[Bins];
  auto Cluster = cg::this_cluster();
  const int Blocks = Cluster.num_blocks(), Each = Bins / Blocks;
  for (int B = threadIdx.x; B < Each; B += blockDim.x)
    Part[B] = 0;
  Cluster.sync();
  for (int I = Cluster.thread_rank(); I < N; I += Cluster.num_threads()) {
    const int B = Data[I + blockIdx.x / Blocks * N] % Bins;
    atomicAdd(Cluster.map_shared_rank(Part, B / Each) + B % Each, 1);
  }
  Cluster.sync();
  for (int B = threadIdx.x; B < Each; B += blockDim.x)
    Out[blockIdx.x / Blocks * Bins + Cluster.block_rank() * Each + B] = Part[B];
}

static __device__ unsigned shared(const void *P) {
  return unsigned(__cvta_generic_to_shared(P));
}

static __device__ unsigned sharedAt(const void *P, unsigned Rank) {
  unsigned There;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(There)
      : "r"(shared(P)), "r"(Rank));
  return There;
}

/// By PTX: each thread gives its number to the next block.
__global__ void __cluster_dims__(4, 1, 1) byPtx(int *Out) {
  __shared__ int Given[Threads];
  unsigned Rank, Blocks;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(Rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(Blocks));
  const unsigned Mine = shared(Given);
  const unsigned There = sharedAt(Given, (Rank + 1) % Blocks);
  const int Value = blockIdx.x * Threads + threadIdx.x;
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(There + 4 * threadIdx.x),
               "r"(Value)
               : "memory");
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  int Got, Again;
  asm volatile("ld.shared::cluster.u32 %0, [%1];"
               : "=r"(Got)
               : "r"(Mine + 4 * threadIdx.x)
               : "memory");
  // Where the thread's own number is now.
  asm volatile("ld.shared::cluster.u32 %0, [%1];"
               : "=r"(Again)
               : "r"(There + 4 * threadIdx.x)
               : "memory");
  Out[Value] = Again == Value ? Got : -1;
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

static __device__ void waitFor(unsigned Barrier) {
  unsigned Over = 0;
  while (!Over)
    asm volatile("{ .reg .pred p;\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, "
                 "[%1], 0;\n"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(Over)
                 : "r"(Barrier)
                 : "memory");
}

/// Bulk copies from block to block, and arrivals at the other's barrier.
__global__ void __cluster_dims__(2, 1, 1) passes(int *Out) {
  __shared__ alignas(16) int From[Threads], To[Threads];
  __shared__ unsigned long long Full, Ready;
  auto Cluster = cg::this_cluster();
  const unsigned Other = Cluster.block_rank() ^ 1;
  if (threadIdx.x == 0)
    for (unsigned long long *Barrier : {&Full, &Ready})
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared(Barrier))
                   : "memory");
  From[threadIdx.x] = 1000 * blockIdx.x + threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  Cluster.sync();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::
                     "r"(sharedAt(&Ready, Other))
                 : "memory");
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0],"
                 " %1;" ::"r"(shared(&Full)),
                 "n"(sizeof(From))
                 : "memory");
    waitFor(shared(&Ready));
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx"
                 "::bytes [%0], [%1], %2, [%3];" ::"r"(sharedAt(To, Other)),
                 "r"(shared(From)), "n"(sizeof(From)),
                 "r"(sharedAt(&Full, Other))
                 : "memory");
  }
  waitFor(shared(&Full));
  Out[blockIdx.x * Threads + threadIdx.x] = To[threadIdx.x];
  Cluster.sync();
}

/// By PTX: all threads of a cluster count, add up and draw tickets in its first
/// block, and one of each block shuts a lock there.
__global__ void __cluster_dims__(4, 1, 1) together(unsigned *Out) {
  __shared__ unsigned Count, Most, Lock, Opened;
  __shared__ float Sum;
  auto Cluster = cg::this_cluster();
  if (threadIdx.x == 0)
    Count = Most = Lock = Opened = 0, Sum = 0;
  Cluster.sync();
  unsigned Ticket;
  asm volatile("atom.relaxed.cluster.shared::cluster.add.u32 %0, [%1], 1;"
               : "=r"(Ticket)
               : "r"(sharedAt(&Count, 0))
               : "memory");
  asm volatile("red.relaxed.cluster.shared::cluster.max.u32 [%0], %1;" ::"r"(
                   sharedAt(&Most, 0)),
               "r"(Ticket)
               : "memory");
  asm volatile("red.shared::cluster.add.f32 [%0], %1;" ::"r"(sharedAt(&Sum, 0)),
               "f"(0.5f)
               : "memory");
  if (threadIdx.x == 0) {
    unsigned Old = 1;
    while (Old)
      asm volatile("atom.acquire.cluster.shared::cluster.cas.b32 %0, [%1], 0, 1;"
                   : "=r"(Old)
                   : "r"(sharedAt(&Lock, 0))
                   : "memory");
    unsigned &Guarded = *Cluster.map_shared_rank(&Opened, 0);
    Guarded = Guarded + 1;
    asm volatile("atom.release.cluster.shared::cluster.exch.b32 %0, [%1], 0;"
                 : "=r"(Old)
                 : "r"(sharedAt(&Lock, 0))
                 : "memory");
  }
  Cluster.sync();
  if (threadIdx.x == 0 && Cluster.block_rank() == 0) {
    Out[blockIdx.x] = Count;
    Out[blockIdx.x + 1] = Most;
    Out[blockIdx.x + 2] = Sum;
    Out[blockIdx.x + 3] = Opened;
  }
  Cluster.sync();
}

/// Words, pairs of them and sums that tell the next block's barrier when they are
/// there.
__global__ void __cluster_dims__(2, 1, 1) sends(int *Out) {
  __shared__ alignas(16) int Words[Threads], Pairs[2 * Threads];
  __shared__ int Sum;
  __shared__ unsigned long long Full;
  auto Cluster = cg::this_cluster();
  const unsigned Other = Cluster.block_rank() ^ 1;
  if (threadIdx.x == 0) {
    Sum = 0;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared(&Full))
                 : "memory");
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0],"
                 " %1;" ::"r"(shared(&Full)),
                 "n"(4 * Threads * sizeof(int))
                 : "memory");
  }
  Cluster.sync();
  const unsigned Barrier = sharedAt(&Full, Other);
  const int Value = 1000 * blockIdx.x + threadIdx.x;
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 "
               "[%0], %1, [%2];" ::"r"(sharedAt(&Words[threadIdx.x], Other)),
               "r"(Value), "r"(Barrier)
               : "memory");
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.s32 "
               "[%0], {%1, %2}, [%3];" ::"r"(
                   sharedAt(&Pairs[2 * threadIdx.x], Other)),
               "r"(Value), "r"(-Value), "r"(Barrier)
               : "memory");
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::"
               "bytes.add.s32 [%0], %1, [%2];" ::"r"(sharedAt(&Sum, Other)),
               "r"(threadIdx.x), "r"(Barrier)
               : "memory");
  waitFor(shared(&Full));
  Out[blockIdx.x * Threads + threadIdx.x] = Words[threadIdx.x] +
                                            Pairs[2 * threadIdx.x] +
                                            Pairs[2 * threadIdx.x + 1] + Sum;
  Cluster.sync();
}

/// What a thread knows of its cluster, in two dimensions.
__global__ void __cluster_dims__(2, 3, 1) places(int *Out) {
  auto Cluster = cg::this_cluster();
  const dim3 At = Cluster.block_index(), Of = Cluster.dim_blocks();
  const int Block = blockIdx.y * gridDim.x + blockIdx.x;
  if (threadIdx.x == 0)
    Out[Block] = At.x + 10 * At.y + 100 * Of.x + 1000 * Of.y +
                 10000 * Cluster.block_rank() + 100000 * Cluster.num_blocks();
}

/// Work of its own between a block's arrival and its wait.
__global__ void split(int *Out) {
  extern __shared__ int Value[];
  auto Cluster = cg::this_cluster();
  Value[threadIdx.x] = blockIdx.x + 1;
  auto Token = Cluster.barrier_arrive();
  int Sum = 0;
  for (unsigned I = 0; I <= threadIdx.x; ++I)
    Sum += I;
  Cluster.barrier_wait(std::move(Token));
  for (unsigned R = 0; R < Cluster.num_blocks(); ++R)
    Sum += Cluster.map_shared_rank(Value, R)[threadIdx.x];
  Cluster.sync();
  Out[blockIdx.x * blockDim.x + threadIdx.x] = Sum;
}

__global__ void __cluster_dims__(2, 1, 1) past(int *Out) {
  __shared__ int Tile[32];
  auto Cluster = cg::this_cluster();
  Tile[threadIdx.x] = 1;
  Cluster.sync();
  int *There = Cluster.map_shared_rank(Tile, 0);
  // PAST: 0 bytes past the end of the 128 bytes of shared memory of a block of
  // PAST-SAME: the cluster
  // PAST-NEXT: clusters.cu:[[#@LINE+1]] by thread (31,0,0) of block (1,0,0)
  Out[threadIdx.x] = There[threadIdx.x + Cluster.block_rank()];
  Cluster.sync();
}

__global__ void __cluster_dims__(2, 1, 1) unwritten(int *Out) {
  __shared__ int Tile[32];
  auto Cluster = cg::this_cluster();
  if (Cluster.block_rank() == 1)
    Tile[threadIdx.x] = 1;
  Cluster.sync();
  // UNWRITTEN: shared memory of another block of the cluster
  // UNWRITTEN: clusters.cu:[[#@LINE+1]] by thread (0,0,0) of block (1,0,0)
  int V = Cluster.map_shared_rank(Tile, Cluster.block_rank() ^ 1)[threadIdx.x];
  Out[threadIdx.x] = V;
  Cluster.sync();
}

/// Nothing says that the other block has written what this one reads; that it has
/// read before it is written anew, the second barrier does say.
__global__ void __cluster_dims__(2, 1, 1) racy(int *Out) {
  __shared__ int Tile[32];
  auto Cluster = cg::this_cluster();
  int *There = Cluster.map_shared_rank(Tile, Cluster.block_rank() ^ 1);
  Cluster.sync();
  // RACY: race: racy: nothing orders two accesses of byte {{[0-9]+}} of
  // RACY-NEXT: write {{.*}}clusters.cu:[[#@LINE+2]] by thread
  // RACY-NEXT: read {{.*}}clusters.cu:[[#@LINE+2]] by thread
  There[threadIdx.x] = threadIdx.x;
  Out[blockIdx.x * 32 + threadIdx.x] = Tile[threadIdx.x];
  Cluster.sync();
  Tile[threadIdx.x] = 0;
  // RACY: found: race (1)
}

__global__ void __cluster_dims__(2, 1, 1) halfway(int *Out) {
  auto Cluster = cg::this_cluster();
  if (Cluster.block_rank() == 0 || threadIdx.x < 32)
    Cluster.barrier_arrive();
  else
    while (atomicAdd(Out, 0) == 0)
      ;
  // HALF: deadlock
  Cluster.barrier_wait();
}

struct Launch {
  cudaLaunchAttribute Attribute = {};
  cudaLaunchConfig_t Config = {};
  Launch(dim3 Grid, int Block, dim3 Cluster, size_t Shared = 0) {
    Attribute.id = cudaLaunchAttributeClusterDimension;
    Attribute.val.clusterDim = {Cluster.x, Cluster.y, Cluster.z};
    Config.gridDim = Grid;
    Config.blockDim = Block;
    Config.dynamicSmemBytes = Shared;
    Config.attrs = &Attribute;
    Config.numAttrs = 1;
  }
};

static void checkHistogram(unsigned Size) {
  constexpr int N = 1000, Clusters = 5;
  int *Data = managed<int>(N * Clusters), *Out = managed<int>(Bins * Clusters);
  int Want[Bins * Clusters] = {};
  for (int I = 0; I < N * Clusters; ++I) {
    Data[I] = int(next() % 1000);
    ++Want[I / N * Bins + Data[I] % Bins];
  }
  Launch L(Clusters * Size, Threads, Size);
  if (Size > 8) {
    int Most = 0;
    CALL(cudaOccupancyMaxPotentialClusterSize(&Most, histogram, &L.Config));
    expect("portable size", 0, Most, 8);
    CALL(cudaFuncSetAttribute(
        histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
  CALL(cudaLaunchKernelEx(&L.Config, histogram, (const int *)Data, N, Out));
  finish();
  for (int B = 0; B < Bins * Clusters; ++B)
    expect("histogram", B, Out[B], Want[B]);
}

static void refusals(int *Out) {
  auto Refused = [&](const char *What, cudaError_t Code) {
    std::printf("%s: %s\n", What, cudaGetErrorName(Code));
    std::fflush(stdout);
  };
  // REFUSED: kernel 'split(int*)' is not launched: a grid of (8,1,1)
  // REFUSED-SAME: blocks cannot be cut into clusters of (3,1,1)
  // REFUSED: in threes: cudaErrorInvalidClusterSize
  Launch Threes(8, 32, 3);
  Refused("in threes", cudaLaunchKernelEx(&Threes.Config, split, Out));
  // REFUSED: a cluster of 16 blocks, and it may have 8: cudaFuncSetAttribute()
  // REFUSED: of 16: cudaErrorInvalidClusterSize
  Launch Large(16, 32, 16);
  Refused("of 16", cudaLaunchKernelEx(&Large.Config, split, Out));
  // REFUSED: kernel 'byPtx(int*)' is not launched: clusters of (2,1,1) blocks,
  // REFUSED-SAME: and its __cluster_dims__ are (4,1,1)
  // REFUSED: other: cudaErrorInvalidClusterSize
  Launch Other(8, 32, 2);
  Refused("other", cudaLaunchKernelEx(&Other.Config, byPtx, Out));
}

int main(int Count, char **Args) {
  if (Count > 1) {
    int *Out;
    CALL(cudaMalloc(&Out, 64 * sizeof(int)));
    CALL(cudaMemset(Out, 0, 64 * sizeof(int)));
    if (!std::strcmp(Args[1], "past"))
      past<<<2, 32>>>(Out);
    else if (!std::strcmp(Args[1], "half"))
      halfway<<<2, 64>>>(Out);
    else if (!std::strcmp(Args[1], "racy"))
      racy<<<2, 32>>>(Out);
    else if (!std::strcmp(Args[1], "refused"))
      return refusals(Out), 0;
    else
      unwritten<<<2, 32>>>(Out);
    return cudaDeviceSynchronize() != cudaSuccess;
  }
  for (unsigned Size : {1, 2, 4, 8, 16})
    checkHistogram(Size);

  int *Out = managed<int>(12 * Threads);
  byPtx<<<12, Threads>>>(Out);
  finish();
  for (int I = 0; I < 12 * Threads; ++I) {
    const int Block = I / Threads, From = Block / 4 * 4 + (Block + 3) % 4;
    expect("given", I, Out[I], From * Threads + I % Threads);
  }

  passes<<<6, Threads>>>(Out);
  finish();
  for (int I = 0; I < 6 * Threads; ++I)
    expect("passed", I, Out[I], 1000 * (I / Threads ^ 1) + I % Threads);

  unsigned *Counted = managed<unsigned>(12);
  together<<<12, Threads>>>(Counted);
  finish();
  for (int B = 0; B < 12; B += 4) {
    expect("count", B, Counted[B], 4 * Threads);
    expect("most", B, Counted[B + 1], 4 * Threads - 1);
    expect("sum", B, Counted[B + 2], 2 * Threads);
    expect("opened", B, Counted[B + 3], 4);
  }

  sends<<<6, Threads>>>(Out);
  finish();
  for (int I = 0; I < 6 * Threads; ++I)
    expect("sent", I, Out[I],
           1000 * (I / Threads ^ 1) + I % Threads + Threads * (Threads - 1) / 2);

  places<<<dim3(4, 3), 32>>>(Out);
  finish();
  for (int B = 0; B < 12; ++B) {
    const int X = B % 4 % 2, Y = B / 4;
    expect("place", B, Out[B],
           X + 10 * Y + 100 * 2 + 1000 * 3 + 10000 * (X + 2 * Y) + 600000);
  }

  cudaFuncAttributes Known;
  CALL(cudaFuncGetAttributes(&Known, places));
  expect("must be set", 0, Known.clusterDimMustBeSet, 1);
  expect("width", 0, Known.requiredClusterWidth, 2);
  expect("height", 0, Known.requiredClusterHeight, 3);
  CALL(cudaFuncGetAttributes(&Known, histogram));
  expect("opted in", 0, Known.nonPortableClusterSizeAllowed, 1);
  expect("of any size", 0, Known.requiredClusterWidth, 0);

  Launch L(6, Threads, 3, Threads * sizeof(int));
  CALL(cudaLaunchKernelEx(&L.Config, split, Out));
  finish();
  for (int I = 0; I < 6 * Threads; ++I) {
    const int T = I % Threads, First = I / Threads / 3 * 3;
    expect("split", I, Out[I], T * (T + 1) / 2 + 3 * First + 6);
  }
  // CHECK: 0 wrong of
  return summary();
}
