// REQUIRES: reconverge
//
// Kernels whose threads do not become items in the source, by name and place, and
// nothing else is touched.
// RUN: %reconverge rewrite -I %source/include -std=c++17 %s -o %t.cu 2>&1 | FileCheck %s
// RUN: diff %s %t.cu
//
// CHECK-NOT: is collected now
#include <reconverge/attributes.cuh>

__device__ float one(float x) {
  for (int k = 0; k < 100; ++k)
    x = sqrtf(x) / 3 + x * x;
  return x;
}
__device__ float other(float x) {
  for (int k = 0; k < 100; ++k)
    x = x / 7 - sqrtf(x) * x;
  return x;
}
#define WORK(i)                                                                \
  if (in[i] > 0)                                                               \
    out[i] = one(in[i]);                                                       \
  else                                                                         \
    out[i] = other(in[i]);

// The pass's own.
// CHECK-DAG: not-collected.cu:[[#@LINE+4]]:{{[0-9]+}}: not rewritten: it uses shared memory [RC311]
RECONVERGE_COLLECT __global__ void shares(const float *in, float *out, int n) {
  __shared__ float sum;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sum = in[i];
  __syncthreads();
  if (in[i] > sum)
    out[i] = one(in[i]);
  else
    out[i] = other(in[i]);
}

// CHECK-DAG: not-collected.cu:[[#@LINE+5]]:{{[0-9]+}}: not rewritten: the branch is in a loop, or comes after one [RC502]
RECONVERGE_COLLECT __global__ void sums(const float *in, float *out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x) {
    if (in[i] > 0)
      sum += one(in[i]);
    else
      sum += other(in[i]);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// A loop over the grid without braces.
// CHECK-DAG: not-collected.cu:[[#@LINE+2]]:{{[0-9]+}}: not rewritten: the loop over the grid is not all that the kernel is [RC1145]
RECONVERGE_COLLECT __global__ void over_the_grid(const float *in, float *out,
                                                 int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    if (in[i] > 0)
      out[i] = one(in[i]);
    else
      out[i] = other(in[i]);
}

// CHECK-DAG: not-collected.cu:[[#@LINE+4]]:{{[0-9]+}}: not rewritten: the kernel does more than read before the branch [RC503]
__global__ void writes(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = 1;
#pragma reconverge collect
    if (in[i] > 0)
      out[i] += one(in[i]);
    else
      out[i] -= other(in[i]);
  }
}

// The text's.
// CHECK-DAG: not-collected.cu:[[#@LINE+3]]:{{[0-9]+}}: not rewritten: what a thread works on is not blockIdx.x * blockDim.x + threadIdx.x alone [RC1141]
__global__ void flat(const float *in, float *out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x,
            i = blockIdx.y * n + x;
  if (x >= n)
    return;
#pragma reconverge collect
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = other(in[i]);
}

// A stride that is not how large blocks are.
// CHECK-DAG: not-collected.cu:[[#@LINE+3]]:{{[0-9]+}}: not rewritten: what a thread works on is not blockIdx.x * blockDim.x + threadIdx.x alone [RC1141]
__global__ __launch_bounds__(128) void strides(const float *in, float *out,
                                               int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n)
    return;
#pragma reconverge collect
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = other(in[i]);
}

// CHECK-DAG: not-collected.cu:[[#@LINE+4]]:{{[0-9]+}}: not rewritten: a function called after the branch asks which thread it is (where) [RC1127]
__device__ int where() { return blockIdx.x % 2; }
__global__ void asks(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || where())
    return;
#pragma reconverge collect
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = other(in[i]);
}

// CHECK-DAG: not-collected.cu:[[#@LINE+1]]:{{[0-9]+}}: not rewritten: the source does not say how many items there are [RC1142]
__global__ void whole(const float *in, float *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma reconverge collect
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = other(in[i]);
}

// What is counted to changes, or is read from memory.
// CHECK-DAG: not-collected.cu:[[#@LINE+1]]:{{[0-9]+}}: not rewritten: the source does not say how many items there are [RC1142]
__global__ void counts(const float *in, float *out, const int *n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= *n)
    return;
#pragma reconverge collect
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = other(in[i]);
}

// CHECK-DAG: not-collected.cu:[[#@LINE+4]]:{{[0-9]+}}: not rewritten: before the branch there is more than declarations and early returns [RC1143]
__global__ void changes(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = 0;
  x += n;
  if (i >= n)
    return;
#pragma reconverge collect
  if (in[i] > x)
    out[i] = one(in[i]);
  else
    out[i] = other(in[i]);
}

// A variable changes in a condition, or in another's declaration.
// CHECK-DAG: not-collected.cu:[[#@LINE+7]]:{{[0-9]+}}: not rewritten: before the branch there is more than declarations and early returns (k) [RC1143]
__global__ void asks_and_changes(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int k = int(in[i]);
#pragma reconverge collect
  if (k++ > 0)
    out[i] = one(k);
  else
    out[i] = other(k);
}
// CHECK-DAG: not-collected.cu:[[#@LINE+6]]:{{[0-9]+}}: not rewritten: before the branch there is more than declarations and early returns (k) [RC1143]
__global__ void declares_and_changes(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int k = int(in[i]);
  const int before = k++;
#pragma reconverge collect
  if (before > 0)
    out[i] = one(k);
  else
    out[i] = other(k);
}

// CHECK-DAG: not-collected.cu:[[#@LINE+1]]:{{[0-9]+}}: not rewritten: the kernel changes one of its parameters (trips) [RC1144]
__global__ void counts_down(const float *in, float *out, int n, int trips) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float x = in[i];
#pragma reconverge collect
  if (x > 0)
    while (trips-- > 0)
      x = one(x);
  else
    x = other(x);
  out[i] = x;
}

// CHECK-DAG: not-collected.cu:[[#@LINE+5]]:{{[0-9]+}}: not rewritten: the code to change is written in a macro [RC1101]
RECONVERGE_COLLECT __global__ void in_macro(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  WORK(i)
}

// CHECK-DAG: not-collected.cu:[[#@LINE+1]]:{{[0-9]+}}: not rewritten: the kernel has code under #if [RC1103]
__global__ void by_architecture(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
#if __CUDA_ARCH__ >= 900
  const float x = in[i];
#else
  const float x = in[i] + 0;
#endif
#pragma reconverge collect
  if (x > 0)
    out[i] = one(x);
  else
    out[i] = other(x);
}
