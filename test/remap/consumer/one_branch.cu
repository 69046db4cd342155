// One branch remapped with the library: the example of docs/remap.md, whole.
#include <reconverge/reconverge.cuh>

#include <cstdio>
#include <vector>

constexpr int threads = 256;

__host__ __device__ float long_way(float x) {
  for (int i = 0; i < 40; ++i)
    x = x * 0.97f + 0.5f;
  return x;
}
__host__ __device__ float other_way(float x) {
  for (int i = 0; i < 40; ++i)
    x = x * 0.5f - 0.97f;
  return x;
}

// begin example
__global__ void step(const float *in, float *out) {
  using remap_t = reconverge::block_remap<threads>;
  __shared__ remap_t::temp_storage storage;
  remap_t remap(storage);

  const int block = blockIdx.x * threads;
  const auto r = remap(in[block + threadIdx.x] > 0);
  const int i = block + r.id; // was: block + threadIdx.x
  if (r.path)                 // was: in[i] > 0
    out[i] = long_way(in[i]);
  else
    out[i] = other_way(in[i]);
}
// end example

int main() {
  constexpr int blocks = 20, count = blocks * threads;
  std::vector<float> values(count);
  unsigned state = 1;
  for (float &v : values)
    v = float(int(state = state * 1664525 + 1013904223) >> 8);
  float *in, *out;
  cudaMalloc(&in, count * sizeof(float));
  cudaMalloc(&out, count * sizeof(float));
  cudaMemcpy(in, values.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  step<<<blocks, threads>>>(in, out);
  std::vector<float> got(count);
  cudaError_t status = cudaMemcpy(got.data(), out, count * sizeof(float),
                                  cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const float want =
        values[i] > 0 ? long_way(values[i]) : other_way(values[i]);
    // The device rounds once where the host may round twice.
    const float apart = got[i] - want;
    wrong += !(apart * apart <= 1e-6f * (1 + want * want));
  }
  std::printf("version %d, %s, %d of %d wrong\n", RECONVERGE_VERSION,
              cudaGetErrorName(status), wrong, count);
  return status != cudaSuccess || wrong;
}
