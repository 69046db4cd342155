// REQUIRES: reconverge
// RUN: %reconverge cc -O2 -g %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t 0 2>&1 | FileCheck %s --check-prefix=VARIABLE
// RUN: env RECONVERGE_DEVICE=cpu %t 1 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: env RECONVERGE_DEVICE=cpu %t 2 2>&1 | FileCheck %s --check-prefix=ONCE

// What the VM cannot run is named, with its place, at the launch; nothing runs.

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__device__ __noinline__ int sum(volatile int *P, int N) {
  int Sum = 0;
  for (int I = 0; I < N; ++I)
    Sum += P[I];
  return Sum;
}

// VARIABLE: refusals.cu:[[#@LINE+4]]: {{.*}}an allocation of variable size on the stack
// VARIABLE: cudaErrorNotSupported
__global__ void variable(int *Out, int N) {
  volatile int *P =
      static_cast<volatile int *>(__builtin_alloca(N * sizeof(int)));
  for (int I = 0; I < N; ++I)
    P[I] = I;
  *Out = sum(P, N);
}

// LOOP: refusals.cu:[[#@LINE+5]]: {{.*}}an allocation on the stack in a loop (alloca)
// LOOP: cudaErrorNotSupported
__global__ void loop(int *Out, int N) {
  volatile int *Last = nullptr;
  for (int I = 0; I < N; ++I) {
    auto *P = static_cast<volatile int *>(__builtin_alloca(8));
    P[0] = I;
    P[1] = Last ? Last[0] : 0;
    Last = P;
  }
  *Out = Last ? Last[1] : 0;
}

// One that runs at most once is a local variable like any other.
// ONCE: cudaSuccess
// ONCE: 3
__global__ void once(int *Out, int N) {
  if (N > 1) {
    auto *P = static_cast<volatile int *>(__builtin_alloca(8));
    P[0] = N;
    P[1] = 1;
    *Out = sum(P, 2);
  }
}

int main(int, char **Arguments) {
  int *D, H = 0;
  cudaMalloc(&D, 4);
  cudaMemset(D, 0, 4);
  switch (std::atoi(Arguments[1])) {
  case 0:
    variable<<<1, 1>>>(D, 2);
    break;
  case 1:
    loop<<<1, 1>>>(D, 2);
    break;
  default:
    once<<<1, 1>>>(D, 2);
  }
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  cudaMemcpy(&H, D, 4, cudaMemcpyDeviceToHost);
  std::printf("%d\n", H);
}
