#include "lanes.h"

#ifdef __CUDA_ARCH__
#include "device_only.cuh"
#endif

__global__ void vote(int *result) {
#ifdef __CUDA_ARCH__
  int thread = threadIdx.x;
  bool yes = isFirstHalf(thread) && thread % 3 == 0;
  if (__any_sync(0xffffffff, yes))
    atomicAdd(result, 1);
#endif
}

int votesForYes() {
  int *device, host = 0;
  cudaMalloc(&device, sizeof(int));
  cudaMemset(device, 0, sizeof(int));
  vote<<<1, threads>>>(device);
  cudaMemcpy(&host, device, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device);
  return host;
}
