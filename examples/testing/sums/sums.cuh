// The sum of each thread block's numbers.
#pragma once

constexpr int Threads = 128;

__global__ void sumBlocks(const int *Numbers, int Count, int *Sums) {
  __shared__ int Part[Threads];
  const int I = blockIdx.x * Threads + threadIdx.x;
  Part[threadIdx.x] = I < Count ? Numbers[I] : 0;
  for (int Half = Threads / 2; Half; Half /= 2) {
    __syncthreads();
    if (threadIdx.x < Half)
      Part[threadIdx.x] += Part[threadIdx.x + Half];
  }
  if (threadIdx.x == 0)
    Sums[blockIdx.x] = Part[0];
}
