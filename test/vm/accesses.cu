// REQUIRES: reconverge
// RUN: env COLUMNS=100 %reconverge profile %s -o %t.json 2>%t.txt \
// RUN:   | FileCheck %s --check-prefix=OUT
// RUN: FileCheck %s --check-prefix=ROWS < %t.txt
// RUN: FileCheck %s < %t.json
// RUN: %reconverge cc %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_PROFILE=%t.off.json \
// RUN:   RECONVERGE_VM=accesses=off %t > /dev/null
// RUN: FileCheck %s --check-prefix=OFF < %t.off.json
// OFF-NOT: "accesses"

// ROWS: Requests to memory that take more than they must
// ROWS-NEXT: of kernel's access
// ROWS-DAG: 94.1% accesses.cu:{{[0-9]+}} atomics on one address: 32.0 turns
// ROWS-DAG: in sharedMemory; an atomic on global memory, 4 bytes a lane, 8 requests
// ROWS-DAG: 78.0% accesses.cu:{{[0-9]+}} bank conflicts: 32.0 of 1.0 wavefronts
// ROWS-DAG: in sharedMemory; a store to shared memory, 4 bytes a lane, 8 requests
// ROWS-DAG: 80.0% accesses.cu:{{[0-9]+}} uncoalesced: 32.0 of 4.0 sectors
// ROWS-DAG: in globalMemory; a load from global memory, 4 bytes a lane, 8 requests
// ROWS: docs/memory.md

// Requests to memory, counted by hand: docs/memory.md has the rules. 4 thread
// blocks of 64 threads are 8 warps.

#include <cstdio>
#include <cuda_runtime.h>

constexpr int Blocks = 4, Threads = 64, N = Blocks * Threads;

// Side by side: 4 sectors and a line a request. Every 8th word: 32 sectors, 8
// lines.
__global__ void globalMemory(const int *In, int *Out) {
  const int T = blockIdx.x * Threads + threadIdx.x;
  // CHECK-LABEL: "name": "_Z12globalMemoryPKiPi"
  // CHECK: "use":"load","space":"global","bytes":4,"requests":8,"lanes":256,"sectors":32,"leastSectors":32,"wavefronts":8,"leastWavefronts":8,"turns":0,"where":[{"file":"{{.*}}accesses.cu","line":[[@LINE+1]],
  const int Coalesced = In[T];
  // CHECK: "use":"load","space":"global","bytes":4,"requests":8,"lanes":256,"sectors":256,"leastSectors":32,"wavefronts":64,"leastWavefronts":8,"turns":0,"where":[{"file":"{{.*}}accesses.cu","line":[[@LINE+1]],
  const int Strided = In[8 * T];
  // CHECK: "use":"store","space":"global","bytes":4,"requests":8,"lanes":256,"sectors":32,"leastSectors":32,"wavefronts":8,
  Out[T] = Coalesced + Strided;
  // Block b loads 8 sectors of its own, from 8 b on, and one a thread, from 64 b
  // on. Those of block 0 are the same: 64 + 3 x (64 + 8). All of them are among
  // the strided ones, 256.
  // CHECK: "touched": {"threadBlocks":4,"blockLoads":280,"gridLoads":256,"gridStores":32}
}

// A column of 32 words has one bank, a padded one has all; halves of a warp
// take 8 bytes each in a wavefront; two lanes update each bin.
__global__ void sharedMemory(int *Out) {
  __shared__ int Tile[32 * 33];
  __shared__ double Wide[Threads];
  __shared__ int Bins[32];
  const int T = threadIdx.x % 32;
  // CHECK-LABEL: "name": "_Z12sharedMemoryPi"
  // CHECK: "use":"store","space":"shared","bytes":4,"requests":8,"lanes":256,"sectors":0,"leastSectors":0,"wavefronts":256,"leastWavefronts":8,"turns":0,"where":[{"file":"{{.*}}accesses.cu","line":[[@LINE+1]],
  Tile[T * 32] = T;
  __syncthreads();
  // CHECK: "use":"store","space":"shared","bytes":4,"requests":8,"lanes":256,"sectors":0,"leastSectors":0,"wavefronts":8,"leastWavefronts":8,"turns":0,"where":[{"file":"{{.*}}accesses.cu","line":[[@LINE+1]],
  Tile[T * 33] = T;
  // CHECK: "use":"store","space":"shared","bytes":8,"requests":8,"lanes":256,"sectors":0,"leastSectors":0,"wavefronts":16,"leastWavefronts":16,
  Wide[threadIdx.x] = T;
  // CHECK: "use":"atomic","space":"shared","bytes":4,"requests":8,"lanes":256,"sectors":0,"leastSectors":0,"wavefronts":16,"leastWavefronts":8,"turns":16,
  atomicAdd(&Bins[T / 2], 1);
  __syncthreads();
  // CHECK: "use":"atomic","space":"global","bytes":4,"requests":8,"lanes":256,"sectors":8,"leastSectors":32,"wavefronts":8,"leastWavefronts":8,"turns":256,
  atomicAdd(Out, Tile[T] + int(Wide[T ^ 1]) + Bins[T]);
}

int main() {
  int *In, *Out;
  cudaMalloc(&In, 8 * N * sizeof(int));
  cudaMalloc(&Out, N * sizeof(int));
  cudaMemset(In, 0, 8 * N * sizeof(int));
  globalMemory<<<Blocks, Threads>>>(In, Out);
  sharedMemory<<<Blocks, Threads>>>(Out);
  // OUT: no error
  std::puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
