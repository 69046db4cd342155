// Kernels that get a round each, and what they come to as they are: the same
// sum must be printed afterwards.
#include <cstdio>
#include <cstdlib>
#include <reconverge/attributes.cuh>
#include <vector>

__device__ float one(float x, int n) {
  for (int k = 0; k < n; ++k)
    x = sqrtf(x + k) + 0.25f;
  return x;
}
__device__ float other(float x, int n) {
  for (int k = 0; k < n; ++k)
    x = x * 0.75f - k;
  return x;
}

// The index is computed again.
__global__ void straight(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // Those above zero take long.
#pragma reconverge remap
  if (in[i] > 0)
    out[i] = one(in[i], n); // the long way
  else
    out[i] = other(in[i], n);
}

// Threads leave before; what was read moves, by whatever type it has.
__global__ void exits(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const auto x = in[i]; // read once
  float sum = x * x / 3;
#pragma reconverge remap
  if (x > 0)
    sum += one(x, 9);
  else
    sum -= other(x, 9);
  out[i] = sum;
}

// The rest of the kernel is under the condition.
__global__ void __launch_bounds__(256) wrapped(const float *in, float *out, int n) {
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		const float x = in[i];
		// A tab is a tab.
#pragma reconverge remap
		if (x > 0)
			out[i] = one(x, 8);
		else
			out[i] = other(x, 8);
	}
}

// A branch of three ways, in a function, by a rule that is worth its name.
__device__ int rule_of(const float *in, int i) {
  return in[i] > 0.5f ? 2 : in[i] > 0;
}
__device__ float ruled(const float *in, int i, int rule) {
  switch (rule) {
  case 0:
    return one(in[i], 7);
  case 1:
    return other(in[i], 7);
  default:
    return one(other(in[i], 3), 3);
  }
}
RECONVERGE_REMAP __global__ void by_rule(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = ruled(in, i, rule_of(in, i));
}

// Two dimensions; every instance of a template alike.
template <int Rounds>
__global__ void flat(const float *in, float *out, int width) {
  int x = blockIdx.x * 16 + threadIdx.x, y = threadIdx.y;
  const float v = in[y * width + x];
#pragma reconverge remap
  if (v > 0)
    out[y * width + x] = one(v, Rounds);
  else
    out[y * width + x] = other(v, Rounds);
}

// All that the branch needs moves.
__device__ void count(unsigned *counts, unsigned value, bool high) {
  if (high)
    for (unsigned k = 0; k < value; ++k)
      atomicAdd(&counts[(value - k) & 7], k);
  else
    atomicAdd(&counts[8 + value % 7], value);
}
RECONVERGE_REMAP __global__ void counts(const float *in, float *out) {
  const unsigned value = unsigned(in[threadIdx.x] * 9) & 15;
  count((unsigned *)out, value, value > 8);
}

// In a loop each thread is itself at the end of a trip; names like ours are taken.
__global__ void trips(const float *in, float *out, int n) {
  __shared__ float remap[8];
  static __shared__ float remap_storage[8];
  if (threadIdx.x < 8) {
    remap[threadIdx.x] = in[threadIdx.x];
    remap_storage[threadIdx.x] = in[threadIdx.x + 8];
  }
  __syncthreads();
#pragma unroll 1
  for (int t = 0; t < n; ++t) {
    const int i = (blockIdx.x * n + t) * blockDim.x + threadIdx.x;
    const float x = in[i] + remap[i % 8];
#pragma reconverge remap
    if (x > 0)
      out[i] = one(x, 6) + remap_storage[i % 8];
    else
      out[i] = other(x, 6) + threadIdx.x;
  }
}

int main() {
  const int n = 8 * 256;
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
  const auto print = [&](const char *name) {
    const cudaError_t error = cudaDeviceSynchronize();
    std::vector<unsigned> bits(n);
    cudaMemcpy(bits.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
    unsigned long long sum = 0;
    for (unsigned b : bits)
      sum = sum * 31 + b;
    std::printf("%s %016llx %d\n", name, sum, int(error));
    cudaMemset(out, 0, n * sizeof(float));
  };
  cudaMemset(out, 0, n * sizeof(float));
  straight<<<8, 256>>>(in, out, 5);
  print("straight");
  exits<<<20, 96>>>(in, out, n - 200);
  print("exits");
  wrapped<<<8, 256>>>(in, out, n - 100);
  print("wrapped");
  by_rule<<<16, 128>>>(in, out, n - 77);
  print("by_rule");
  flat<4><<<8, dim3(16, 16)>>>(in, out, 128);
  flat<6><<<8, dim3(16, 8)>>>(in, out, 128);
  print("flat");
  counts<<<1, 256>>>(in, out);
  print("counts");
  trips<<<2, 256>>>(in, out, 4);
  print("trips");
}
