// REQUIRES: reconverge
//
// The kernel's condition stays where all that it asks for is computed again behind
// the round; elsewhere the path is asked for. The bytes are the same.
// RUN: %reconverge rewrite -I %source/include %s -o %t.cu 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: grep -v '^//' %t.cu | FileCheck %s
// RUN: %reconverge cc -std=c++17 -O1 -I %source/include %s -o %t.before
// RUN: %reconverge cc -std=c++17 -O1 -I %source/include -Wall -Wextra -Werror %t.cu -o %t.after
// RUN: env RECONVERGE_DEVICE=cpu %t.before > %t.before.txt
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=check=on %t.after > %t.after.txt
// RUN: diff %t.before.txt %t.after.txt
//
// SAID-COUNT-7: has a round of remap now
#include <cstdio>
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

/// A place in an image of 40 columns.
struct Place {
  int x, y;
  __device__ explicit Place(int i) : x(i % 40 - 3), y(i / 40) {}
  __device__ Place(const float *in, int i) : x(int(in[i] * 40)), y(i / 40) {}
  __device__ bool leaves() const { return x < 0 || x >= 34 || y < 5; }
  __device__ bool is_far() const {
    int sum = 0;
    for (int k = 0; k < x; ++k)
      sum += k * y % 7;
    return sum & 1;
  }
};

// An object of the thread's number: what holds on each side, a compiler sees.
// CHECK-LABEL: void asked(
// CHECK: return p.leaves();
// CHECK: const auto remapped = remap(path_of());
// CHECK: const Place p(i);
// CHECK-NEXT: if (p.leaves())
__global__ void asked(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const Place p(i);
#pragma reconverge remap
  if (p.leaves())
    out[i] = one(in[i], p.y + 9);
  else
    out[i] = other(in[i], p.x + 9);
}

// Two variables, and what is the same in all threads.
// CHECK-LABEL: void numbers(
// CHECK: {{^ *}}i = blockIdx.x * blockDim.x + remapped.id;
// CHECK: if (x < n / 3)
__global__ void numbers(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int x = i % 40;
#pragma reconverge remap
  if (x < n / 3)
    out[i] = one(in[i], x + 9);
  else
    out[i] = other(in[i], x + 9);
}

// The sides do not need it.
// CHECK-LABEL: void alone(
// CHECK: if (remapped.path)
__global__ void alone(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int x = i % 40 * 7 % 33;
#pragma reconverge remap
  if (x < n / 3)
    out[i] = one(in[i], 9);
  else
    out[i] = other(in[i], 9);
}

// It is made of what is in memory.
// CHECK-LABEL: void of_memory(
// CHECK: if (remapped.path)
__global__ void of_memory(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Place p(in, i);
#pragma reconverge remap
  if (p.leaves())
    out[i] = one(p.x, p.y + n);
  else
    out[i] = other(p.y, 9 + n);
}

// The condition itself reads.
// CHECK-LABEL: void reads(
// CHECK: if (remapped.path)
__global__ void reads(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Place p(i);
#pragma reconverge remap
  if (in[i] > p.y * 0.01f)
    out[i] = one(in[i], p.x + n);
  else
    out[i] = other(in[i], 9 + n);
}

// It is dear.
// CHECK-LABEL: void dear(
// CHECK: if (remapped.path)
__global__ void dear(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Place p(i);
#pragma reconverge remap
  if (p.is_far())
    out[i] = one(in[i], p.y + n);
  else
    out[i] = other(in[i], 9 + n);
}

// A value that has been exchanged.
// CHECK-LABEL: void exchanged(
// CHECK: if (remapped.path)
__global__ void exchanged(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = sqrtf(in[i] + 1);
#pragma reconverge remap
  if (x > 1)
    out[i] = one(x, 9 + n);
  else
    out[i] = other(x, 9 + n);
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
  asked<<<10, 128>>>(in, out, n - 100);
  print("asked");
  numbers<<<10, 128>>>(in, out, 50);
  print("numbers");
  alone<<<10, 128>>>(in, out, 50);
  print("alone");
  of_memory<<<10, 128>>>(in, out, 9);
  print("of_memory");
  reads<<<10, 128>>>(in, out, 9);
  print("reads");
  dear<<<10, 128>>>(in, out, 9);
  print("dear");
  exchanged<<<10, 128>>>(in, out, 9);
  print("exchanged");
}
