// REQUIRES: reconverge
// RUN: env COLUMNS=300 %reconverge profile --races %s -o %t.json 2>%t.txt
// RUN: FileCheck %s < %t.txt
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: env COLUMNS=300 %reconverge report %t.json 2>&1 | FileCheck %s
// RUN: not %reconverge profile --races --fail-if races %s -o %t.json 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FAIL
// RUN: not %reconverge profile --races --device gpu %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=GPU
// RUN: env COLUMNS=300 %reconverge profile --races --shuffle 2 %s -o %t.both 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BOTH
// RUN: %reconverge cc -O3 -g %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=races=on %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=HAND

// A kernel with a race of each kind, and its twin without. The twins differ in
// what orders their threads.

#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda_runtime.h>

// GPU: error: --races: a GPU does not say who accesses what
// BOTH: Order
// BOTH: Races
// BOTH: missingBarrier: 1 race in 1 launch.
// FAIL: reconverge: --fail-if 'races': missingBarrier has a race
// CHECK: Races

constexpr int N = 128;

__device__ int Words[4 * N], Partial[8], Total, Count, Flag, Data;
__device__ unsigned char Bytes[N];

// Shared memory, two warps.

template <bool Sync> __device__ int reversed() {
  __shared__ int Tile[N];
  Tile[threadIdx.x] = threadIdx.x;
  if (Sync)
    __syncthreads();
  return Tile[N - 1 - threadIdx.x];
}
__global__ void missingBarrier() { Words[threadIdx.x] = reversed<false>(); }
__global__ void withBarrier() { Words[threadIdx.x] = reversed<true>(); }
// CHECK: missingBarrier: 1 race in 1 launch.
// CHECK-NEXT: write at races.cu:[[#@LINE-8]] (inlined at races.cu:
// CHECK-SAME: by thread ({{[0-9]+}},0,0) of block (0,0,0), and
// CHECK-SAME: read at races.cu:[[#@LINE-7]]
// CHECK-SAME: shared memory, byte {{[0-9]+}} of the shared
// CHECK-SAME: variable 'Tile'; 128 times.
// CHECK: withBarrier: no race in 1 launch.

// One warp: lockstep is no order.

template <bool Sync> __device__ int neighbours() {
  __shared__ int Lanes[32];
  Lanes[threadIdx.x] = threadIdx.x;
  if (Sync)
    __syncwarp();
  return Lanes[threadIdx.x ^ 1];
}
__global__ void missingSyncwarp() { Words[threadIdx.x] = neighbours<false>(); }
__global__ void withSyncwarp() { Words[threadIdx.x] = neighbours<true>(); }
// CHECK: missingSyncwarp: 1 race
// CHECK: withSyncwarp: no race

__global__ void withShuffle() {
  int X = threadIdx.x;
  for (int D = 16; D; D /= 2)
    X += __shfl_xor_sync(~0u, X, D);
  Words[threadIdx.x] = X;
}
// CHECK: withShuffle: no race

// Global memory, between the blocks of a grid.

__global__ void betweenBlocks(int Step) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  Words[I] = I;
  __syncthreads();
  Partial[threadIdx.x % 8] = Words[(I + Step) % (2 * N)]; // both at this line
}
// CHECK: betweenBlocks: 2 races in 1 launch.
// CHECK-NEXT: write at races.cu:[[#@LINE-5]] {{.*}} read at races.cu:[[#@LINE-3]]
// CHECK-SAME: global memory, byte {{[0-9]+}} of the {{.*}}variable 'Words'

__global__ void withinBlock(int Step) {
  const int First = blockIdx.x * blockDim.x;
  Words[First + threadIdx.x] = threadIdx.x;
  __syncthreads();
  atomicAdd(&Count, Words[First + (threadIdx.x + Step) % N]);
}
// CHECK: withinBlock: no race

// Writes by the lanes of one instruction.

__global__ void manyValues() { Data = threadIdx.x; }
__global__ void sameValue() { Data = 7; }
// CHECK: manyValues: 1 race
// CHECK-NEXT: write at races.cu:[[#@LINE-3]]
// CHECK: sameValue: no race in 1 launch.
// CHECK-NEXT: write at races.cu:[[#@LINE-4]]
// CHECK-SAME: the same value; {{[0-9]+}} times.

__global__ void bytes() { Bytes[threadIdx.x] = threadIdx.x; }
// CHECK: bytes: no race in 1 launch.

// Atomics.

__global__ void atomicAndPlain() {
  atomicAdd(&Total, 1);
  Words[threadIdx.x] = Total;
}
__global__ void atomics() { atomicAdd(&Total, 1); }
__global__ void ofTheBlock() { atomicAdd_block(&Total, 1); }
// CHECK: atomicAndPlain: 1 race
// CHECK-NEXT: atomic at races.cu:[[#@LINE-6]]
// CHECK-SAME: read at races.cu:[[#@LINE-6]]
// CHECK: atomics: no race
// CHECK: ofTheBlock: 1 race

// The last block sums up what all have left.

template <bool Fence> __device__ void sumUp() {
  __shared__ bool Last;
  if (threadIdx.x == 0) {
    Partial[blockIdx.x] = blockIdx.x;
    if (Fence)
      __threadfence();
    Last = atomicAdd(&Count, 1) % gridDim.x == gridDim.x - 1;
  }
  __syncthreads();
  if (Last && threadIdx.x < gridDim.x)
    atomicAdd(&Total, Partial[threadIdx.x]);
}
__global__ void lastBlock() { sumUp<true>(); }
__global__ void lastBlockUnfenced() { sumUp<false>(); }
// CHECK: lastBlock: no race
// CHECK: lastBlockUnfenced: 1 race

// Each block waits for the one before it.

__global__ void chained() {
  cuda::atomic_ref<int, cuda::thread_scope_device> Turn(Flag);
  if (threadIdx.x == 0)
    while (Turn.load(cuda::memory_order_acquire) != blockIdx.x)
      ;
  __syncthreads();
  Words[threadIdx.x] += blockIdx.x;
  __syncthreads();
  if (threadIdx.x == 0)
    Turn.store(blockIdx.x + 1, cuda::memory_order_release);
}
// CHECK: chained: no race

__global__ void locked() {
  if (threadIdx.x % 32)
    return;
  while (atomicCAS(&Flag, 0, 1))
    ;
  __threadfence();
  Data += 1;
  __threadfence();
  atomicExch(&Flag, 0);
}
// CHECK: locked: no race

__global__ void wholeGrid() {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  const int Threads = gridDim.x * blockDim.x;
  for (int Round = 0; Round < 3; ++Round) {
    Words[I] = Words[I] + Round;
    cooperative_groups::this_grid().sync();
    const int X = Words[Threads - 1 - I];
    cooperative_groups::this_grid().sync();
    Words[I] = X;
  }
}
// CHECK: wholeGrid: no race

// Half of the block fills a tile, the other half takes it.

__global__ void namedBarriers() {
  __shared__ int Tile[N / 2];
  const int T = threadIdx.x % (N / 2);
  for (int Round = 0; Round < 3; ++Round)
    if (threadIdx.x < N / 2) {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      Tile[T] = Round;
      asm volatile("bar.arrive 2, 128;" ::: "memory");
    } else {
      asm volatile("bar.arrive 1, 128;" ::: "memory");
      asm volatile("bar.sync 2, 128;" ::: "memory");
      Words[T] += Tile[N / 2 - 1 - T];
    }
}
// CHECK: namedBarriers: no race

__global__ void barrierObject() {
  __shared__ int Tile[N];
  __shared__ cuda::barrier<cuda::thread_scope_block> Bar;
  if (threadIdx.x == 0)
    init(&Bar, blockDim.x);
  __syncthreads();
  Tile[threadIdx.x] = threadIdx.x;
  Bar.arrive_and_wait();
  Words[threadIdx.x] = Tile[N - 1 - threadIdx.x];
}
// CHECK: barrierObject: no race

// Memory that one thread frees is another's afterwards.

__global__ void heap() {
  int *P = static_cast<int *>(malloc(64));
  P[threadIdx.x % 16] = threadIdx.x;
  Words[threadIdx.x] = P[threadIdx.x % 16];
  free(P);
}
// CHECK: heap: no race
// CHECK: docs/races.md has the rules

int main() {
  missingBarrier<<<1, N>>>();
  withBarrier<<<1, N>>>();
  missingSyncwarp<<<1, 32>>>();
  withSyncwarp<<<1, 32>>>();
  withShuffle<<<1, 32>>>();
  betweenBlocks<<<2, N>>>(N);
  withinBlock<<<2, N>>>(32);
  manyValues<<<1, 32>>>();
  sameValue<<<2, 32>>>();
  bytes<<<1, N>>>();
  atomicAndPlain<<<1, N>>>();
  atomics<<<4, N>>>();
  ofTheBlock<<<2, N>>>();
  lastBlock<<<4, N>>>();
  lastBlockUnfenced<<<4, N>>>();
  int Zero = 0;
  cudaMemcpyToSymbol(Flag, &Zero, sizeof(Zero));
  chained<<<4, N>>>();
  cudaMemcpyToSymbol(Flag, &Zero, sizeof(Zero));
  locked<<<4, N>>>();
  cudaLaunchCooperativeKernel((void *)wholeGrid, 4, N, nullptr, 0, nullptr);
  namedBarriers<<<1, N>>>();
  barrierObject<<<1, N>>>();
  heap<<<1, N>>>();
  const cudaError_t E = cudaDeviceSynchronize();
  std::printf("exit %d %s\n", int(E), cudaGetErrorName(E));
  return int(E) & 255;
}

// HAND: kernel missingBarrier(): a race: write at {{.*}}races.cu:
// HAND-NOT: a race: {{.*}}withBarrier
// HAND: exit 0 cudaSuccess

// JSON: "races": {
// JSON: "launches": 1,
// JSON: "complete": true
// JSON: "space":"shared","sameValue":false,"memory":"the shared variable 'Tile'"
// JSON-SAME: "accesses":[{"access":"write","volatile":false,"block":[0,0,0],
