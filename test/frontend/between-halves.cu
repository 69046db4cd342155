// From one 16-bit float to the other, which from sm_90 on is an instruction of
// its own: each value is rounded once.
//
// REQUIRES: reconverge
// RUN: %clangxx -arch=sm_90 -std=c++17 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s
// CHECK: 65536 and 65536 agree
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class To, class From> __device__ To as(From x) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &x, sizeof(to));
  return to;
}
template <class T> __device__ bool alike(T a, T b) {
  return __hisnan(a) ? __hisnan(b)
                     : as<unsigned short>(a) == as<unsigned short>(b);
}

__global__ void compare(int *equal) {
  const auto bits = (unsigned short)(blockIdx.x * blockDim.x + threadIdx.x);
  const auto h = as<__half>(bits);
  const auto b = as<__nv_bfloat16>(bits);
  if (alike(__half(b), __float2half_rn(__bfloat162float(b))))
    atomicAdd(&equal[0], 1);
  if (alike(__nv_bfloat16(h), __float2bfloat16_rn(__half2float(h))))
    atomicAdd(&equal[1], 1);
}

int main() {
  int *equal;
  cudaMallocManaged(&equal, 2 * sizeof(int));
  equal[0] = equal[1] = 0;
  compare<<<256, 256>>>(equal);
  if (cudaDeviceSynchronize() != cudaSuccess)
    return 1;
  printf("%d and %d agree\n", equal[0], equal[1]);
}
