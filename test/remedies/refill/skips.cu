// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Few lanes have work in a round. Their branch skips it, and no thread is like
// another for long; optimize finds that, and the program prints the same.
// RUN: %reconverge cc %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: FileCheck %s <expected
// CHECK: sum {{[1-9][0-9]*}}
// RUN: %reconverge optimize --device cpu %s -o faster >out 2>table
// RUN: FileCheck %s --check-prefix=KEPT <table
// KEPT: shots refill (threshold=24;{{.*}} {{[2-9]\.[0-9]+}}x - identical kept
// RUN: env RECONVERGE_DEVICE=cpu ./faster >out
// RUN: diff expected out

#include <cstdint>
#include <cstdio>

__global__ void shots(uint32_t *out, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  uint32_t x = i * 2654435761u + 1;
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    if (x % 16 == 0) {
      float t = (x >> 8) * 1e-7f;
      for (int k = 0; k < 40; ++k)
        t = t * 0.99f + sqrtf(fabsf(t) + 1);
      sum += t;
    }
  }
  out[i] = x ^ __float_as_uint(sum);
}

int main() {
  const int n = 20000;
  static uint32_t h[n];
  uint32_t *d, sum = 0;
  cudaMalloc(&d, sizeof h);
  shots<<<(n + 255) / 256, 256>>>(d, n, 60);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  for (uint32_t v : h)
    sum = sum * 31 + v;
  printf("sum %u\n", sum);
  return cudaGetLastError();
}
