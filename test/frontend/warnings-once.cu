// A loop that is not unrolled as asked for is told of once, not for each
// instance of its function.
//
// REQUIRES: reconverge
// RUN: %clangxx -c %s -o %t.o 2>&1 | FileCheck %s

template <int n> __device__ void steps(float *p, int count) {
// CHECK-COUNT-1: warnings-once.cu:[[#@LINE+2]]:{{.*}} loop not unrolled
#pragma unroll 2
  for (int i = 0; i < count; ++i) {
    p[threadIdx.x] += p[threadIdx.x + n];
    __syncthreads();
  }
}
// CHECK-NOT: loop not unrolled

template <int n> __global__ void kernel(float *p, int count) {
  steps<n>(p, count);
  steps<n + 1>(p, count + n);
}
template __global__ void kernel<1>(float *, int);
template __global__ void kernel<4>(float *, int);
