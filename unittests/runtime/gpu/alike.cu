// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Thread blocks that all do the same: counted in a sample of them and scaled,
// the counts are exact. 1001 of them, in three dimensions, so that no power of
// two fits; 100 threads, so that each has a partial warp.

//
//   alike [calls]

#include <cstdio>

__device__ __noinline__ int collatz(int N) {
  int Steps = 0;
  for (; N > 1; ++Steps)
    N = N % 2 ? 3 * N + 1 : N / 2;
  return Steps;
}

__global__ void alike(int *Out) {
  __shared__ int Sum;
  int Local[4] = {};
  if (threadIdx.x == 0)
    Sum = 0;
  __syncthreads();
  if (threadIdx.x % 3 == 1)
    return;
  for (unsigned I = 0; I < threadIdx.x % 7; ++I)
    Local[(I + threadIdx.x) % 4] += I;
  if (threadIdx.x > 40)
    atomicAdd(&Sum, Local[threadIdx.x % 4]);
  atomicAdd(Out, Local[1] + Sum % 1);
}

/// With a call, so without block vectors.
__global__ void calls(int *Out) {
  if (threadIdx.x < 50)
    atomicAdd(Out, collatz(threadIdx.x));
}

int main(int argc, char **) {
  int *Out, Sum = 0;
  cudaMalloc(&Out, sizeof(int));
  cudaMemset(Out, 0, sizeof(int));
  for (int Launch = 0; Launch != 2; ++Launch) {
    if (argc == 1)
      alike<<<dim3(7, 11, 13), 100>>>(Out);
    else
      calls<<<1001, 64>>>(Out);
  }
  if (cudaMemcpy(&Sum, Out, sizeof(int), cudaMemcpyDeviceToHost))
    return 1;
  std::printf("%d\n", Sum);
  return 0;
}
