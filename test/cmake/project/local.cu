#include "lanes.h"

__global__ void writeHalves(int *values) {
  int lane = threadIdx.x;
  if (lane % 2 == 0)
    values[lane] = lane;
}

int sumOfHalves() {
  int *values;
  cudaMallocManaged(&values, threads * sizeof(int));
  for (int i = 0; i < threads; ++i)
    values[i] = 0;
  writeHalves<<<1, threads>>>(values);
  cudaDeviceSynchronize();
  int sum = 0;
  for (int i = 0; i < threads; ++i)
    sum += values[i];
  cudaFree(values);
  return sum;
}
