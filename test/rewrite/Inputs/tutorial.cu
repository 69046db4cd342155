// The kernel of docs/rewrite.md, and a project around it that nvcc builds.
#include <cstdio>
#include <cstdlib>
#include <vector>

__device__ float long_way(float x) {
  for (int k = 0; k < 60; ++k)
    x = x * x / 3 + 0.25f + k;
  return x;
}
__device__ float other_way(float x) {
  for (int k = 0; k < 60; ++k)
    x = x * 0.75f - k;
  return x;
}

__global__ void step(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const float x = in[i]; // read once
  if (x > 0)
    out[i] = long_way(x);
  else
    out[i] = other_way(x);
}

int main() {
  const int n = 100000, block = 256;
  std::vector<float> host(n);
  unsigned state = 1;
  for (float &x : host) {
    state = state * 1664525u + 1013904223u;
    x = float(int(state >> 16)) / 32768.f - 1;
  }
  float *in, *out;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  step<<<(n + block - 1) / block, block>>>(in, out, n);
  if (cudaMemcpy(host.data(), out, n * sizeof(float),
                 cudaMemcpyDeviceToHost) != cudaSuccess)
    return 1;
  unsigned long long sum = 0;
  for (float x : host)
    sum = sum * 31 + (unsigned &)x;
  std::printf("%016llx\n", sum);
}
