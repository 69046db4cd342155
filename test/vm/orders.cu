// REQUIRES: reconverge
// By one thread: with more, other blocks may come before the first in any order.
// RUN: %reconverge profile --shuffle 6 --threads 1 %s -o %t.json 2>%t.txt
// RUN: FileCheck %s < %t.txt
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: %reconverge report %t.json 2>&1 | FileCheck %s
// RUN: not %reconverge profile --shuffle x %s 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not %reconverge profile --shuffle 2 --device gpu %s 2>&1 | FileCheck %s --check-prefix=GPU

// Kernels whose results depend on the order of blocks, warps or lanes, each in
// its own way, and kernels whose do not. The program itself must not notice
// that its launches are repeated.

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__device__ int Slots, Done, Flag;
__device__ float Sum;

constexpr int N = 4096;

// WORD: 'x' is no value of --shuffle
// GPU: --shuffle: a GPU's order cannot be chosen

// CHECK: Order of blocks, warps and lanes

// Everybody gets a slot of his own; which one hangs on the order.
// CHECK: compact: depends on the order. Up to {{.*}} bytes differ in 1 of 1 launch. First in launch 1
__global__ void compact(int *Out) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I % 3 == 0)
    Out[atomicAdd(&Slots, 1)] = I;
}

// The last bits of a sum of floats.
// CHECK: tally: depends on the order.
__global__ void tally(const float *In) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&Sum, In[I]);
}

// __syncthreads() forgotten between writing and reading.
// CHECK: noBarrier: depends on the order.
__global__ void noBarrier(int *Out) {
  __shared__ int Tile[128];
  Tile[threadIdx.x] = threadIdx.x;
  Out[blockIdx.x * 128 + threadIdx.x] = Tile[127 - threadIdx.x];
}

// __syncwarp() forgotten behind a branch.
// CHECK: noSyncwarp: depends on the order.
__global__ void noSyncwarp(int *Out) {
  __shared__ volatile int First;
  if (threadIdx.x == 0)
    First = Out[0] + 1;
  Out[threadIdx.x] = First;
}

// Different values for one address.
// CHECK: lastWins: depends on the order.
__global__ void lastWins(int *Out) {
  Out[threadIdx.x / 8] = blockIdx.x * blockDim.x + threadIdx.x;
}

// Who comes last says who he is.
// CHECK: lastBlock: depends on the order.
__global__ void lastBlock(int *Out) {
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&Done, 1) == gridDim.x - 1)
      Out[0] = blockIdx.x;
  }
}

// Goes wrong only if somebody else comes first.
// CHECK: mustBeFirst: faults in {{[1-6]}} of 6 runs in other orders. First in launch 1, order 1
__global__ void mustBeFirst() {
  if (blockIdx.x + threadIdx.x == 0)
    atomicExch(&Flag, 1);
  else if (threadIdx.x == 0 && blockIdx.x == 1 && !atomicAdd(&Flag, 0))
    __trap();
}

// CHECK: histogram: no difference in 6 other orders of 3 launches.
__global__ void histogram(const float *In, unsigned *Bins) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&Bins[int(In[I]) & 15], 1u);
}

// CHECK: reduce: no difference in 6 other orders of 1 launch.
__global__ void reduce(const float *In, float *Out) {
  __shared__ float Tile[128];
  Tile[threadIdx.x] = In[blockIdx.x * 128 + threadIdx.x];
  for (int Half = 64; Half; Half /= 2) {
    __syncthreads();
    if (threadIdx.x < Half)
      Tile[threadIdx.x] += Tile[threadIdx.x + Half];
  }
  if (threadIdx.x == 0)
    Out[blockIdx.x] = Tile[0];
}

// CHECK: warpSum: no difference in 6 other orders of 1 launch.
__global__ void warpSum(const float *In, float *Out) {
  float X = In[blockIdx.x * 128 + threadIdx.x];
  if (threadIdx.x % 3 == 0)
    X *= 2;
  for (int Step = 16; Step; Step /= 2)
    X += __shfl_xor_sync(~0u, X, Step);
  if (threadIdx.x % 32 == 0)
    Out[(blockIdx.x * 128 + threadIdx.x) / 32] = X;
}

// JSON: "name": "_Z7compactPi"
// JSON: "orders": {
// JSON-NEXT: "tried": 6,
// JSON-NEXT: "launches": 1,
// JSON-NEXT: "untried": 0,
// JSON-NEXT: "differing": 1,
// JSON: "first": {"launch":1,"order":1,"memory":"an allocation of 16384 bytes by call 1 of cudaMalloc","offset":0,"type":"int","natural":"{{[0-9]+}}","other":"{{[0-9]+}}"}
// JSON-NEXT: "faults": []
// JSON: "name": "_Z5tallyPKf"
// JSON: "first": {"launch":1,"order":{{[1-6]}},"memory":"the __device__ variable {{.*}}of 4 bytes","offset":0,"type":"float","natural":"19579{{.*}}","other":"1957{{.*}}"}
// JSON: "name": "_Z11mustBeFirstv"
// JSON: "bytes": 0,
// JSON-NEXT: "faultyRuns": {{[1-6]}},
// JSON-NEXT: "faults": [
// JSON-NEXT: {"launch":1,"order":1,"message":"kernel mustBeFirst(){{.*}}trap

int main() {
  int *Out;
  float *In, *Sums;
  unsigned *Bins, Host[16] = {};
  cudaMalloc(&Out, N * sizeof(int));
  cudaMallocManaged(&In, N * sizeof(float));
  cudaMalloc(&Sums, N * sizeof(float));
  cudaMalloc(&Bins, sizeof(Host));
  cudaMemset(Bins, 0, sizeof(Host));
  cudaMemset(Out, 0, N * sizeof(int));
  for (int I = 0; I < N; ++I)
    In[I] = float(I % 97) + 1.0f / float(I + 1);
  compact<<<N / 128, 128>>>(Out);
  tally<<<N / 128, 128>>>(In);
  noBarrier<<<N / 128, 128>>>(Out);
  noSyncwarp<<<1, 32>>>(Out);
  lastWins<<<4, 64>>>(Out);
  lastBlock<<<32, 32>>>(Out);
  mustBeFirst<<<2, 32>>>();
  for (int I = 0; I < 3; ++I)
    histogram<<<N / 128, 128>>>(In, Bins);
  reduce<<<N / 128, 128>>>(In, Sums);
  warpSum<<<N / 128, 128>>>(In, Sums);
  // What repeated launches did must be gone: each ran once.
  cudaMemcpy(Host, Bins, sizeof(Host), cudaMemcpyDeviceToHost);
  unsigned Counted = 0;
  for (unsigned Bin : Host)
    Counted += Bin;
  int Taken;
  cudaMemcpyFromSymbol(&Taken, Slots, sizeof(int));
  if (Counted != 3 * N || Taken != (N + 2) / 3 ||
      cudaDeviceSynchronize() != cudaSuccess) {
    std::printf("repeated launches left traces: %u %d\n", Counted, Taken);
    return 1;
  }
  return 0;
}
