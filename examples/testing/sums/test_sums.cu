#include "sums.cuh"

#include <cstdio>
#include <numeric>
#include <vector>

int main() {
  const int Count = 1000, Blocks = (Count + Threads - 1) / Threads;
  std::vector<int> Numbers(Count), Sums(Blocks);
  std::iota(Numbers.begin(), Numbers.end(), 1);
  int *OfNumbers, *OfSums;
  cudaMalloc(&OfNumbers, Count * sizeof(int));
  cudaMalloc(&OfSums, Blocks * sizeof(int));
  cudaMemcpy(OfNumbers, Numbers.data(), Count * sizeof(int),
             cudaMemcpyHostToDevice);
  sumBlocks<<<Blocks, Threads>>>(OfNumbers, Count, OfSums);
  cudaMemcpy(Sums.data(), OfSums, Blocks * sizeof(int), cudaMemcpyDeviceToHost);
  const int Sum = std::accumulate(Sums.begin(), Sums.end(), 0);
  std::printf("%d, %s\n", Sum, cudaGetErrorString(cudaGetLastError()));
  return Sum != Count * (Count + 1) / 2;
}
