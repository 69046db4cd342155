//===- test/install/consumer/app.cu - A program of a user's ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the odd numbers below its argument.
//
//===----------------------------------------------------------------------===//
#include <reconverge/attributes.cuh>

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void countOdd(int *Odd, int Count) {
  const int Value = blockIdx.x * blockDim.x + threadIdx.x;
  if (Value < Count)
    if (Value % 2)
      atomicAdd(Odd, 1);
}

int main(int, char **Arguments) {
  const int Count = std::atoi(Arguments[1]);
  int *Odd, Result = 0;
  cudaMalloc(&Odd, sizeof(int));
  cudaMemset(Odd, 0, sizeof(int));
  countOdd<<<(Count + 127) / 128, 128>>>(Odd, Count);
  cudaMemcpy(&Result, Odd, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("odd: %d\n", Result);
  return Result == Count / 2 ? 0 : 1;
}
