// REQUIRES: reconverge
//
// What a request says of the round is said in the text; `off` keeps a branch as it
// is; what has asked goes. The bytes are the same.
// RUN: %reconverge rewrite '--remap=algorithm=data_group_indexing;neighbours=32' -I %source/include %s -o %t.cu 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: grep -v '^//' %t.cu | FileCheck %s
// RUN: %reconverge cc -std=c++17 -O1 -I %source/include %s -o %t.before
// RUN: %reconverge cc -std=c++17 -O1 -I %source/include -Wall -Wextra -Werror %t.cu -o %t.after
// RUN: env RECONVERGE_DEVICE=cpu %t.before > %t.before.txt
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=check=on %t.after > %t.after.txt
// RUN: diff %t.before.txt %t.after.txt
//
// SAID: algorithms.cu:{{[0-9]+}}:7: not rewritten: the source forbids it [RC231]
// SAID-NOT: left(
#include <cstdio>
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

// CHECK-LABEL: void ends(
// CHECK: block_remap<128, 2,
// CHECK-NEXT: reconverge::remap_algorithm::head_or_tail>;
// CHECK-NOT: #pragma
// CHECK: const auto remapped = remap(in[i] > 0);
__global__ void ends(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma reconverge remap algorithm(head_or_tail)
  if (in[i] > 0)
    out[i] = one(in[i], n);
  else
    out[i] = other(in[i], n);
}

// CHECK-LABEL: void whole(
// CHECK: block_remap<128, 3,
// CHECK-NEXT: reconverge::remap_algorithm::warp_aggregated,
// CHECK-NEXT: sizeof(float)>;
// CHECK-NOT: #pragma
// CHECK: remap(path_of(), x);
__global__ void whole(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const float x = in[i];
#pragma reconverge remap algorithm(warp_aggregated)
  if (x > 0)
    out[i] = one(x, 40);
  else
    out[i] = other(x, 40);
}

// As the option says.
// CHECK-LABEL: void groups(
// CHECK: block_remap<128, 2,
// CHECK-NEXT: reconverge::remap_algorithm::data_group_indexing,
// CHECK-NEXT: 0, 32>;
__global__ void groups(const float *in, float *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 0)
    out[i] = one(in[i], 41);
  else
    out[i] = other(in[i], 42);
}

// CHECK-LABEL: void marked(
// CHECK-NOT: RECONVERGE_REMAP
// CHECK: block_remap<
RECONVERGE_REMAP __global__ void marked(const float *in, float *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 0)
    out[i] = one(in[i], 31);
  else
    out[i] = other(in[i], 32);
}

// CHECK-LABEL: void left(
// CHECK-NEXT: const int i
// CHECK-NEXT: #pragma reconverge remap off
// CHECK-NEXT: if (in[i] > 0)
__global__ void left(const float *in, float *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma reconverge remap off
  if (in[i] > 0)
    out[i] = one(in[i], 41);
  else
    out[i] = other(in[i], 42);
}

int main() {
  const int n = 1280;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i)
    host[i] = i * 37 % 101 / 50.0f - 1;
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
  ends<<<10, 128>>>(in, out, 40);
  print("ends");
  whole<<<10, 128>>>(in, out, n - 100);
  print("whole");
  groups<<<10, 128>>>(in, out);
  print("groups");
  marked<<<10, 128>>>(in, out);
  print("marked");
  left<<<10, 128>>>(in, out);
  print("left");
}
