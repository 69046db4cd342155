// What block_remap's contract forbids, for RECONVERGE_CHECK to find.
#include <cstdio>
#include <reconverge/block/block_remap.cuh>

__global__ void call(int *ids, int path) {
  using remap_t = reconverge::block_remap<64>;
  __shared__ remap_t::temp_storage storage;
  remap_t remap(storage);
  ids[threadIdx.x] = remap(threadIdx.x % 2 + path).id;
}

int main(int, char **arguments) {
  int *ids;
  cudaMalloc(&ids, 1024);
  const bool size = arguments[1][0] == '1';
  call<<<1, size ? 32 : 64>>>(ids, size ? 0 : 1);
  const cudaError_t status = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(status));
  return status != cudaSuccess;
}
