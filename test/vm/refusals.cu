// REQUIRES: reconverge
// RUN: %reconverge cc -O2 -g %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t 0 2>&1 | FileCheck %s --check-prefix=RECURSION
// RUN: env RECONVERGE_DEVICE=cpu %t 1 2>&1 | FileCheck %s --check-prefix=POINTER

// What the VM cannot run is named, with its place, at the launch; nothing runs.

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__device__ __noinline__ int ackermann(int M, int N) {
  if (M == 0)
    return N + 1;
  return ackermann(M - 1, N == 0 ? 1 : ackermann(M, N - 1));
}

// RECURSION: {{ackermann.*calls itself}}
// RECURSION: cudaError
__global__ void recursive(int *Out) { *Out = ackermann(2, *Out); }

__device__ __noinline__ int one(int X) { return X * 3; }
__device__ __noinline__ int two(int X) { return X ^ 5; }
__device__ int (*Chosen[2])(int) = {one, two};

// POINTER: {{call through a pointer}}
// POINTER: cudaError
__global__ void pointer(int *Out) { *Out = Chosen[*Out & 1](*Out); }

int main(int, char **Arguments) {
  int *D;
  cudaMalloc(&D, 4);
  cudaMemset(D, 0, 4);
  if (std::atoi(Arguments[1]) == 0)
    recursive<<<1, 1>>>(D);
  else
    pointer<<<1, 1>>>(D);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
