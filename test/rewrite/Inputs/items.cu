// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels whose threads become items, and what they leave.
#include <cstdio>
#include <cstdlib>
#include <reconverge/attributes.cuh>

__device__ float one(float x) {
  for (int k = 0; k < 40; ++k)
    x = sqrtf(x) / 3 + x * x;
  return x;
}
__device__ float other(float x) {
  for (int k = 0; k < 40; ++k)
    x = x / 7 - x * x + 1;
  return x;
}
__device__ float third(float x) {
  for (int k = 0; k < 40; ++k)
    x = (x + 3) / (x * x + 1);
  return x;
}

// How many there are is said by an early return.
__global__ void returns(const float *in, float *out, int n) {
  // The number of
  // a thread.
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // Behind the end.
  if (i >= n)
    return;

  const float x = in[i]; // read once
  const float twice = 2 * x;
  // Which way?
  {
#pragma reconverge collect
    if (x > 0)
      out[i] = one(twice); // long
    else
      out[i] = other(twice);
  }
  if (out[i] > 100)
    return; // enough
  out[i] += 1;
  // Done.
}

// By an if around the rest, as unsigned; blocks are of 64 for their bounds.
__global__ __launch_bounds__(64) void around(const float *in, float *out,
                                             unsigned n) {
  const unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) {
    // What is asked for.
    const int kind = int(in[i]) & 3;
    // By kind.
#pragma reconverge collect items(8) chunk(64)
    switch (kind) {
    case 0:
      out[i] = one(in[i]);
      break;
    case 1:
    case 2:
      out[i] = other(in[i]);
      break;
    default:
      out[i] = third(in[i]);
    }
    out[i] *= kind;
  }
}

// By a wide number; an if without an else is all there is.
RECONVERGE_COLLECT __global__ void last(const float *in, float *out, size_t n,
                                        size_t collect) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / collect)
    return;
  using real = float;
  const real x = in[i * collect], limit = 0.5f;
  // Some have much to do.
  if (x > limit) {
    real y = one(x);

    // The rest.
    out[i] = other(y);
  }
}

// Threads also leave by what they read; the number is asked for in place.
template <int Block, typename T>
__global__ void leaves(const T *in, T *out, int n) {
  if (blockIdx.x * Block + threadIdx.x >= n) return;
  const T x = in[blockIdx.x * Block + threadIdx.x];
  // Not these.
  if (x < -1)
    return;
#pragma reconverge collect
  if (x > 0)
    out[blockIdx.x * Block + threadIdx.x] = one(x);
  else if (x > T(-0.5))
    out[blockIdx.x * Block + threadIdx.x] = other(x);
  else
    out[blockIdx.x * Block + threadIdx.x] = third(x);
}

// The branch is in a function, behind a condition around all.
__device__ float either(float x, int way) {
  if (way & 1)
    return one(x);
  return other(x);
}
RECONVERGE_COLLECT __global__ void called(const float *in, float *out, const int n) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (n > i && in[i] != 7)
    out[i] = either(in[i], int(in[i] * 8));
}

// The number is in the condition, and all is one statement.
RECONVERGE_COLLECT __global__ void direct(const float *in, float *out, int n) {
  if (int(blockIdx.x * blockDim.x + threadIdx.x) < n)
    if (in[blockIdx.x * blockDim.x + threadIdx.x] > 0.25f)
      for (int k = 0; k < 9; ++k)
        out[blockIdx.x * blockDim.x + threadIdx.x] += one(k);
}

// A loop over the grid, whose trips end early.
__global__ void over_the_grid(const float *in, float *out, int n,
                              const float *least) {
  const int step = gridDim.x * blockDim.x;
  const float most = -least[0];
  // Each of them.
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    const float x = in[i]; // read once
    // Not these.
    if (x > most)
      continue;
    // Which?
#pragma reconverge collect
    if (x > 0)
      out[i] = one(x);
    else
      out[i] = other(x);
    for (int k = 0; k < 4; ++k) {
      if (k == 2)
        continue;
      out[i] += k;
    }
    if (x > 0.5f)
      continue; // enough
    out[i] += 1;
  }
}

// With an argument, so many blocks are launched as one.
int main(int argc, char **argv) {
  const int fewer = argc > 1 ? std::atoi(argv[1]) : 1;
  const auto blocks = [&](int n) { return (n + fewer - 1) / fewer; };
  constexpr int n = 1000;
  float *in, *out;
  cudaMallocManaged(&in, n * sizeof(float));
  cudaMallocManaged(&out, 7 * n * sizeof(float));
  for (int i = 0; i < n; ++i)
    in[i] = float(i * 37 % 101) / 25 - 2;
  for (int i = 0; i < 7 * n; ++i)
    out[i] = 0;
  returns<<<blocks(8), 128>>>(in, out, n);
  around<<<blocks(16), 64>>>(in, out + n, n);
  last<<<blocks(9), 64>>>(in, out + 2 * n, n, 2);
  leaves<128><<<blocks(8), 128>>>(in, out + 3 * n, n);
  called<<<blocks(21), 50>>>(in, out + 4 * n, n);
  direct<<<blocks(8), 128>>>(in, out + 5 * n, n);
  over_the_grid<<<blocks(5), 96>>>(in, out + 6 * n, n, in);
  if (cudaDeviceSynchronize() != cudaSuccess)
    return 1;
  for (int i = 0; i < 7 * n; ++i)
    std::printf("%a\n", out[i]);
}
