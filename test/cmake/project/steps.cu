#include "collatz.cuh"
#include "lanes.h"

__constant__ unsigned long firstValue;
__device__ unsigned long long total;

__global__ void countSteps() {
  int steps = collatzSteps(firstValue + threadIdx.x);
  atomicAdd(&total, static_cast<unsigned long long>(steps));
}

long sumOfSteps() {
  unsigned long first = 1;
  unsigned long long sum = 0;
  cudaMemcpyToSymbol(firstValue, &first, sizeof(first));
  cudaMemcpyToSymbol(total, &sum, sizeof(sum));
  countSteps<<<1, threads>>>();
  cudaMemcpyFromSymbol(&sum, total, sizeof(sum));
  return static_cast<long>(sum);
}
