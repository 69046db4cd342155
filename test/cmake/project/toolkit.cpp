// C++ that calls CUDA's runtime by itself.
#include "lanes.h"

#include <cstdio>
#include <cuda_runtime.h>

int main() {
  int devices = 0;
  cudaError_t status = cudaGetDeviceCount(&devices);
  std::printf("%s, steps %ld\n", cudaGetErrorName(status), sumOfSteps());
  return devices == 0;
}
