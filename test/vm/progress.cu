// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=threads=1,seed=7 %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=tier=blocks %t | FileCheck %s
// CHECK: 0 wrong of 133

// Threads that spin until others have done something: lanes of one warp, warps
// of one block, blocks of one grid.

#include "Inputs/check.h"

// Every lane takes the lock in turn; afterwards the warp is whole again.
__global__ void lockEach(int *Lock, volatile int *Count, int *Out) {
  while (atomicCAS(Lock, 0, 1) != 0)
    ;
  __threadfence();
  *Count = *Count + 1;
  __threadfence();
  atomicExch(Lock, 0);
  __syncwarp();
  Out[threadIdx.x] = __shfl_xor_sync(~0u, int(threadIdx.x), 1);
}

// Warp 1 makes, warp 0 takes, one value at a time.
__global__ void pipe(int *Out) {
  __shared__ volatile int Full, Value;
  if (threadIdx.x == 0)
    Full = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    for (int I = 1; I <= 100; ++I) {
      while (Full)
        ;
      Value = I;
      __threadfence_block();
      Full = 1;
    }
  } else if (threadIdx.x == 0) {
    int Sum = 0;
    for (int I = 0; I < 100; ++I) {
      while (!Full)
        ;
      __threadfence_block();
      Sum += Value;
      Full = 0;
    }
    *Out = Sum;
  }
}

// A scan over blocks in one pass: each looks back until it meets a sum.
__global__ void lookBack(volatile int *Sums, int *Out) {
  __shared__ int Before;
  if (threadIdx.x == 0) {
    int Sum = 0;
    if (blockIdx.x > 0) {
      int S;
      while ((S = Sums[blockIdx.x - 1]) == 0)
        ;
      Sum = S;
    }
    Before = Sum;
    __threadfence();
    Sums[blockIdx.x] = Sum + 1;
  }
  __syncthreads();
  if (threadIdx.x == 1)
    Out[blockIdx.x] = Before;
}

// The first block waits for all others.
__global__ void waitForAll(int *Arrived, int *Out) {
  if (threadIdx.x == 0) {
    if (blockIdx.x != 0) {
      atomicAdd(Arrived, 1);
    } else {
      while (atomicAdd(Arrived, 0) != int(gridDim.x) - 1)
        ;
      *Out = 1;
    }
  }
}

int main() {
  int *D;
  CALL(cudaMalloc(&D, 4096));
  CALL(cudaMemset(D, 0, 4096));
  int Got[256];

  lockEach<<<1, 64>>>(D, D + 1, D + 2);
  CALL(cudaMemcpy(Got, D, sizeof Got, cudaMemcpyDeviceToHost));
  expect("lock count", 0, Got[1], 64);
  for (int I = 0; I < 64; ++I)
    expect("lock", I, Got[2 + I], I ^ 1);

  pipe<<<1, 64>>>(D);
  CALL(cudaMemcpy(Got, D, sizeof Got, cudaMemcpyDeviceToHost));
  expect("pipe", 0, Got[0], 5050);

  CALL(cudaMemset(D, 0, 4096));
  lookBack<<<66, 32>>>(D, D + 128);
  CALL(cudaMemcpy(Got, D + 128, sizeof Got, cudaMemcpyDeviceToHost));
  for (int I = 0; I < 66; ++I)
    expect("look-back", I, Got[I], I);

  CALL(cudaMemset(D, 0, 4096));
  waitForAll<<<40, 32>>>(D, D + 1);
  CALL(cudaMemcpy(Got, D, sizeof Got, cudaMemcpyDeviceToHost));
  expect("all", 0, Got[1], 1);
  return summary();
}
