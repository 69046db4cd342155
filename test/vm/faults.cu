// REQUIRES: reconverge
// RUN: %reconverge cc -O1 -g %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t wild 2>&1 | FileCheck %s --check-prefix=WILD
// RUN: env RECONVERGE_DEVICE=cpu %t past 2>&1 | FileCheck %s --check-prefix=PAST
// RUN: env RECONVERGE_DEVICE=cpu %t assert 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: env RECONVERGE_DEVICE=cpu %t trap 2>&1 | FileCheck %s --check-prefix=TRAP
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=steps=100000 %t endless 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ENDLESS

// What a kernel does wrong comes back as CUDA's error, and is said with kernel,
// block and, where there is one, a line.

#include <cassert>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__global__ void store(int *P, long At) {
  if (blockIdx.x == 1)
    P[At + threadIdx.x] = 1;
}

__global__ void check(int N) { assert(int(threadIdx.x) < N && "too many"); }

__global__ void stop() {
  if (threadIdx.x == 40)
    __trap();
}

__global__ void endless(volatile int *Flag) {
  while (*Flag == 0)
    ;
}

int main(int, char **Arguments) {
  const char *What = Arguments[1];
  int *Device;
  cudaMalloc(&Device, 4096);
  cudaMemset(Device, 0, 4096);
  if (!std::strcmp(What, "wild"))
    store<<<2, 32>>>(nullptr, 4);
  if (!std::strcmp(What, "past")) // far behind the end of 4096 bytes
    store<<<2, 32>>>(Device, 1l << 24);
  if (!std::strcmp(What, "assert"))
    check<<<1, 64>>>(50);
  if (!std::strcmp(What, "trap"))
    stop<<<1, 64>>>();
  if (!std::strcmp(What, "endless"))
    endless<<<1, 32>>>(Device);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("%s\n", cudaGetErrorName(cudaMalloc(&Device, 16)));
}

// WILD-DAG: {{store.*0x10|0x10.*store}}
// WILD-DAG: block (1,0,0)
// WILD-DAG: cudaErrorIllegalAddress

// PAST-DAG: kernel store
// PAST-DAG: cudaErrorIllegalAddress

// ASSERT-DAG: faults.cu:[[#]]
// ASSERT-DAG: int(threadIdx.x) < N && "too many"
// ASSERT-DAG: cudaErrorAssert

// TRAP-DAG: trap
// TRAP-DAG: cudaErrorLaunchFailure

// ENDLESS-DAG: step limit
// ENDLESS-DAG: cudaErrorLaunchTimeout
