// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Threads that are dropped are counted once each, wherever that was, in whole
// warps and in others. Blocks have 40 threads: a warp of 32 and one of 8.
// RUN: %reconverge cc '--herd=every=1;least=1;stop=1' %s -o app
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./app 2>&1 | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=ipdom RECONVERGE_VERBOSE=1 ./app 2>&1 | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=seed=3,tier=blocks RECONVERGE_VERBOSE=1 ./app 2>&1 | FileCheck %s
// RUN: %reconverge cc '--herd=every=3;least=1;stop=1' %s -o three
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./three 2>&1 | FileCheck %s

#include <cstdio>
#include <cuda_runtime.h>

__device__ unsigned heavy(unsigned x) {
#pragma unroll
  for (int k = 0; k < 9; ++k)
    x = (x ^ x >> 7) * 2654435761u + k;
  return x;
}

// 8 of 32 lanes want the arm, and all of the second warp's 8 do: of 40 threads, 8.
// CHECK: reconverge: arm({{.*}}): a launch may drop 100 % of its threads, and dropped 20 % at most
__global__ void arm(const unsigned *in, unsigned *out) {
  const unsigned i = threadIdx.x;
  if (in[i] == 0)
    out[i] = heavy(i);
}

// Half of each warp want each side. A tie is too few: all are dropped.
// CHECK: reconverge: sides({{.*}}): a launch may drop 100 % of its threads, and dropped 100 % at most
__global__ void sides(const unsigned *in, unsigned *out) {
  const unsigned i = threadIdx.x;
  if (in[64 + i] & 1)
    out[i] = heavy(i);
  else
    out[40 + i] = heavy(i + 1);
}

// The same 8 lanes at two branches: 8 of 40, not 16.
// CHECK: reconverge: twice({{.*}}): a launch may drop 100 % of its threads, and dropped 20 % at most
__global__ void twice(const unsigned *in, unsigned *out) {
  const unsigned i = threadIdx.x;
  if (in[i] == 0)
    out[i] = heavy(i);
  if (in[i] + 5 == 5)
    out[40 + i] = heavy(i + 1);
}

// 12 of 32 and 3 of 8 want the first side, and are sent to the second: 15 of 40.
// CHECK: reconverge: sent({{.*}}): a launch may drop 100 % of its threads, and dropped 37.5 % at most
__global__ void sent(const unsigned *in, unsigned *out) {
  const unsigned i = threadIdx.x;
  unsigned x;
#pragma reconverge herd ways(two)
  if (in[128 + i])
    x = heavy(i);
  else
    x = heavy(i + 1);
  out[i] = x;
}

// Those from 36 on end before the others. Lane 5 of 32 is too few to stay in the
// loop, and so are lanes 33 and 34 of the 4 there are, a tie: 3 of 40.
// CHECK: reconverge: early({{.*}}): a launch may drop 100 % of its threads, and dropped 7.5 % at most
__global__ void early(const unsigned *in, unsigned *out) {
  const unsigned i = threadIdx.x;
  if (i >= 36)
    return;
  unsigned x = i;
#pragma unroll 1
  for (unsigned k = in[192 + i]; k; --k)
    x = (x ^ x >> 7) * 2654435761u + k;
  out[i] = x;
}

// The same with the way out in the midst of a round.
// CHECK: reconverge: midst({{.*}}): a launch may drop 100 % of its threads, and dropped 7.5 % at most
__global__ void midst(const unsigned *in, unsigned *out) {
  const unsigned i = threadIdx.x;
  if (i >= 36)
    return;
  unsigned x = i, k = in[192 + i];
#pragma unroll 1
  while (true) {
    x = (x ^ x >> 7) * 2654435761u + k;
    if (k-- == 0)
      break;
    out[40 + i] = x;
  }
  out[i] = x;
}

// Nobody is dropped.
// CHECK: reconverge: none({{.*}}): a launch may drop 100 % of its threads, and dropped 0 % at most
__global__ void none(const unsigned *in, unsigned *out) {
  const unsigned i = threadIdx.x;
  if (in[i] != 0)
    out[i] = heavy(i);
}

int main() {
  unsigned host[256] = {}, *in, *out;
  for (int i = 0; i < 40; ++i) {
    host[i] = i % 4 != 0 && i < 32;
    host[64 + i] = i;
    host[128 + i] = i < 12 || (i >= 32 && i < 35);
    host[192 + i] = i == 5 || i == 33 || i == 34 ? 90 : 3;
  }
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  for (auto *kernel : {arm, sides, twice, sent, early, midst, none})
    kernel<<<1, 40>>>(in, out);
  return cudaDeviceSynchronize();
}
