// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Where nvcc's code of one kernel is kept, clang's of another and ours of a
// third, the program has all in one module: each machine code is what it is in
// its own compiler's module, and what they share is one variable.
// RUN: %reconverge optimize --device cpu --no-cache %s --decisions d.json
// RUN: python3 %S/Inputs/keep.py d.json _Z5firstPfi=nvcc _Z5thirdPfi=clang \
// RUN:   >mixed.json
// RUN: %reconverge cc --runtime=nvidia --decisions mixed.json --keep=mixed \
// RUN:   %s -o app
// RUN: %reconverge cc --runtime=nvidia --decisions d.json --keep=ours %s -o o
// RUN: %reconverge cc --runtime=nvidia --device-code=nvcc --keep=nvcc %s -o n
// RUN: %reconverge cc --runtime=nvidia --device-code=clang --keep=clang %s -o l
// RUN: FileCheck %s <mixed/decisions-foreign.ptx
// RUN: python3 %S/Inputs/same_code.py mixed/decisions-foreign.cubin \
// RUN:   _Z5firstPfi=nvcc/decisions-foreign.cubin \
// RUN:   _Z6secondPfi=ours/decisions-foreign.cubin \
// RUN:   _Z5thirdPfi=clang/decisions-foreign.cubin

// Over our runtime the same is in the container, and the CPU runs our bitcode.
// RUN: %reconverge cc --fatbin --decisions mixed.json --keep=inside %s -o fat
// RUN: cmp inside/decisions-foreign.fatbin mixed/decisions-foreign.fatbin
// RUN: env RECONVERGE_DEVICE=cpu ./fat

// All of clang's is clang's module.
// RUN: python3 %S/Inputs/keep.py mixed.json _Z5firstPfi=clang \
// RUN:   _Z6secondPfi=clang >all.json
// RUN: %reconverge cc --runtime=nvidia --decisions all.json --keep=all %s -o a
// RUN: cmp all/decisions-foreign.cubin clang/decisions-foreign.cubin

// A variable that only kernels know would be two, also without code of ours.
// RUN: %reconverge optimize --device cpu --no-cache -DHIDDEN %s \
// RUN:   --decisions h.json
// RUN: python3 %S/Inputs/keep.py h.json _Z5firstPfi=nvcc _Z6secondPfi=clang \
// RUN:   _Z5thirdPfi=clang >hidden.json
// RUN: %reconverge cc --fatbin --decisions hidden.json --keep=hidden -DHIDDEN \
// RUN:   %s -o h 2>&1 | FileCheck %s --check-prefix=HIDDEN
// RUN: not grep -E '[a-z0-9]__(nvcc|clang)' hidden/decisions-foreign.ptx

// A kernel that has changed since.
// RUN: %reconverge cc --fatbin --decisions mixed.json -DCHANGED %s -o c 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STALE

// CHECK: .global {{.*}} Total[16];
// CHECK-NOT: Total
// CHECK: .entry _Z6secondPfi(
// CHECK: [Total
// CHECK: $str__nvcc[
// CHECK: .entry _Z5firstPfi(
// CHECK: [Total
// CHECK-NOT: Total[
// CHECK: _Z6helperfi__clang(
// CHECK: .entry _Z5thirdPfi(
// CHECK: [Total
// HIDDEN: variable 'Apart' is unknown to the host{{.*}}ours is built
// STALE: warning: mixed.json: {{.*}} not used; code that has changed since: {{(first, third|third, first)}}

#include <cstdio>

__device__ int Total[4];
__constant__ float Table[3] = {1, 2, 3};
extern __shared__ float Tile[];
#ifdef HIDDEN
static __device__ int Apart;
#endif
#ifdef CHANGED
constexpr float More = 2;
#else
constexpr float More = 1;
#endif

__device__ __noinline__ float helper(float X, int N) {
  float Sum = 0;
  for (int I = 0; I < N; ++I)
    Sum += sinf(X * I + More);
  return Sum;
}

__global__ void first(float *X, int N) {
  __shared__ float Swap[64];
  Swap[threadIdx.x] = helper(X[threadIdx.x], N) * Table[N % 3];
  __syncthreads();
  X[threadIdx.x] = Swap[63 - threadIdx.x];
  Total[1] += N;
#ifdef HIDDEN
  Apart += N;
#endif
  if (N == 77)
    printf("first %d\n", N);
}

__global__ void second(float *X, int N) {
  Tile[threadIdx.x] = X[threadIdx.x];
  __syncthreads();
  X[threadIdx.x] = helper(Tile[N], N);
  Total[2] += N;
#ifdef HIDDEN
  Apart -= N;
#endif
  if (N == 78)
    printf("second %d\n", N);
}

__global__ void third(float *X, int N) {
  __shared__ float Swap[64];
  Swap[threadIdx.x] = Tile[threadIdx.x] = X[threadIdx.x];
  __syncthreads();
  X[threadIdx.x] = helper(Tile[N], N) / sqrtf(Swap[N] + Table[N % 3]);
  Total[3] += N;
  if (N == 79)
    printf("third %d\n", N);
}

int main() {
  float *X;
  cudaMalloc(&X, 64 * sizeof(float));
  cudaMemset(X, 0, 64 * sizeof(float));
  first<<<1, 64>>>(X, 5);
  second<<<1, 64, 256>>>(X, 5);
  third<<<1, 64, 256>>>(X, 5);
  int Sums[4];
  cudaMemcpyFromSymbol(Sums, Total, sizeof(Sums));
  return cudaDeviceSynchronize() != cudaSuccess;
}
