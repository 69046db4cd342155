// Kernels of the shapes that people write: what stands between the first way out
// and the branch, what variables are made of, and what is launched. The same sums
// must be printed afterwards.
#include "shapes.cuh"
#include <cstdio>
#include <reconverge/attributes.cuh>
#include <vector>

// Names of ours.
#define path_of -1
#define NOTE(at) notes[(at) & 7] = 1;

struct Pair {
  float first, second;
  Pair() = default;
  __device__ Pair(float a, float b) : first(a), second(b) {}
};
struct Wide {
  float of[5];
};

template <typename T> __device__ T one(T x, int n) {
  for (int k = 0; k < n; ++k)
    x = x * x / 3 + T(0.25) + k;
  return x;
}
template <typename T> __device__ T other(T x, int n) {
  for (int k = 0; k < n; ++k)
    x = x * T(0.75) - k;
  return x;
}

// What stands behind the first way out is done once, before the round.
__global__ void works(const float *in, float *out, int *notes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  // Some have little to do.
  switch (int(in[i] * 4)) {
  case -3:
    return;
  }
  NOTE(i)
  float x = in[i], y; // y comes later
  Pair both(x, 2);
  for (int k = 0; k < 3; ++k)
    x += in[(i + k) % n];
  both.second += x;
  out[i] = x;
#pragma reconverge remap
  if (x > 0)
    y = one(x, 9);
  else
    y = other(both.second, 9);
  out[i] += y + both.first;
}

// Types, constants and shared memory are declared in front.
__global__ void declares(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  using real = float;
  constexpr real half = 0.5f;
  __shared__ real own[128];
  const real x = in[i];
  own[threadIdx.x] = x + 1;
#pragma reconverge remap
  if (x > 0)
    out[i] = one(x, 9) * half;
  else
    out[i] = other(own[threadIdx.x], 9);
}

// A closure by reference stays; what has copies is made again.
__global__ void closures(const float *in, float *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  const auto put = [&](float y) { out[i] = y + x; };
  const auto less = [x](float y) { return y - x; };
#pragma reconverge remap
  if (x > 0)
    put(one(x, 9));
  else
    put(less(other(x, 9)));
}

// An index, a reference and a pointer of what changes afterwards.
__global__ void changes(const Wide *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int twice = 2 * i;
  const Wide &all = in[blockIdx.x * blockDim.x + threadIdx.x];
  float *to = &out[twice];
  i += n;
#pragma reconverge remap
  if (all.of[1] > 0)
    *to = one(all.of[2], 9) + i;
  else
    out[twice + 1] = other(all.of[3], 9) - i;
}

// The text of a template names the types of its parameters.
template <typename T, typename Index>
__global__ void generic(const T *in, T *out, Index n) {
  const Index i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const auto x = in[i];
  T sum = 0;
  sum += x * x;
#pragma reconverge remap
  if (x > 0)
    sum += one(x, 9);
  else
    sum -= other(x, 9);
  out[i] = sum;
}

// A binding is made again.
__global__ void binds(const Pair *in, float *reconverge, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const auto [x, y] = in[i];
#pragma reconverge remap
  if (x > 0)
    reconverge[i] = one(y, 9);
  else
    reconverge[i] = other(y, 9);
}

// One round serves the second branch as well, whose condition is known.
RECONVERGE_REMAP __global__ void twice(const float *in, float *out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const float v = in[y * width + x], w = in[x * 16 + y];
  float sum;
  if (v > 0)
    sum = one(v, 40);
  else
    sum = other(v, 40);
  if (w > v)
    sum += one(w, 40);
  else
    sum += other(w, 40);
  out[y * width + x] = sum;
}

// Some do a little before they leave.
__global__ void misses(const float *in, float *out, int *notes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const float x = in[i];
  if (x < -0.7f) {
    atomicAdd(&notes[i & 7], 2);
    return;
  }
#pragma reconverge remap
  if (x > 0)
    out[i] = one(x, 9);
  else
    out[i] = other(x, 9);
}

// The branch stands in another file: here is what its path is.
RECONVERGE_REMAP __global__ void elsewhere(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = way_of(in[i], in[i] > 0.25f);
}

// The second condition is not known before the first: a round each.
RECONVERGE_REMAP __global__ void again(const Pair *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const Pair p = in[i];
  float sum;
  // First.
  if (p.first > 0)
    sum = one(p.first, 40);
  else
    sum = other(p.second, 40);
  // Second.
  if (sum > p.second)
    sum += one(p.second, 40);
  else
    sum += other(p.first, 40) + threadIdx.x;
  out[i] = sum;
}

int main() {
  constexpr int n = 8 * 128;
  std::vector<float> host(6 * n);
  unsigned state = 1;
  for (float &x : host) {
    state = state * 1664525u + 1013904223u;
    x = float(int(state >> 16)) / 32768.f - 1;
  }
  std::vector<double> wide(host.begin(), host.begin() + n);
  float *in, *out;
  double *wider;
  int *notes;
  cudaMalloc(&in, 6 * n * sizeof(float));
  cudaMalloc(&out, 2 * n * sizeof(float));
  cudaMalloc(&wider, 2 * n * sizeof(double));
  cudaMalloc(&notes, 8 * sizeof(int));
  cudaMemcpy(in, host.data(), 6 * n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(wider, wide.data(), n * sizeof(double), cudaMemcpyHostToDevice);
  const auto print = [&](const char *name, const void *from, int bytes) {
    const cudaError_t error = cudaDeviceSynchronize();
    std::vector<unsigned> bits(bytes / 4);
    cudaMemcpy(bits.data(), from, bytes, cudaMemcpyDeviceToHost);
    unsigned long long sum = 0;
    for (unsigned b : bits)
      sum = sum * 31 + b;
    std::printf("%s %016llx %d\n", name, sum, int(error));
    cudaMemset(out, 0, 2 * n * sizeof(float));
  };
  cudaMemset(out, 0, 2 * n * sizeof(float));
  cudaMemset(notes, 0, 8 * sizeof(int));
  const int block = 64 * 2;
  works<<<n / block, block>>>(in, out, notes, n - 77);
  print("works", out, 2 * n * sizeof(float));
  print("notes", notes, 8 * sizeof(int));
  declares<<<8, block>>>(in, out, n - 77);
  print("declares", out, 2 * n * sizeof(float));
  closures<<<16, 64>>>(in, out);
  print("closures", out, 2 * n * sizeof(float));
  changes<<<8, 128>>>((const Wide *)in, out, 7);
  print("changes", out, 2 * n * sizeof(float));
  generic<<<8, 128>>>(in, out, n - 77);
  print("generic", out, 2 * n * sizeof(float));
  generic<<<16, 64>>>(wider, wider + n, n - 77u);
  print("generic", wider, 2 * n * sizeof(double));
  binds<<<8, 128>>>((const Pair *)in, out, n - 77);
  print("binds", out, 2 * n * sizeof(float));
  again<<<8, 128>>>((const Pair *)in, out, n - 77);
  print("again", out, 2 * n * sizeof(float));
  misses<<<8, 128>>>(in, out, notes, n - 77);
  print("misses", out, 2 * n * sizeof(float));
  print("notes", notes, 8 * sizeof(int));
  elsewhere<<<8, 128>>>(in, out, n - 77);
  print("elsewhere", out, 2 * n * sizeof(float));
  const dim3 grid(4, 2), square(16, 8);
  twice<<<grid, square>>>(in, out, 64);
  print("twice", out, 2 * n * sizeof(float));
}
