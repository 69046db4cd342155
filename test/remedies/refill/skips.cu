// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Few lanes have work in a round. Their branch skips it, and no thread is like
// another for long. Refilled by that branch, more of them have it at once, and
// the program prints the same.
// RUN: %reconverge profile --device cpu %s -o plain.json >expected 2>table
// RUN: FileCheck %s <expected
// CHECK: sum {{[1-9][0-9]*}}
// RUN: %reconverge profile --device cpu %s -o refilled.json \
// RUN:   '--refill=threshold=24;slice=1;branch=2;occupancy=0' >out 2>table
// RUN: diff expected out
// RUN: python3 -c "import json; slots = [json.load(open(f))['kernels'][0] \
// RUN:   ['cost']['slots'] for f in ('plain.json', 'refilled.json')]; \
// RUN:   print(slots); assert slots[0] > 1.8 * slots[1]"

// The counts say that it pays.
// RUN: %reconverge optimize --device cpu %s --decisions d.json -o best \
// RUN:   >out 2>tried
// RUN: FileCheck %s --check-prefix=TRIED <tried
// TRIED: refill (threshold={{.*}}branch=2) {{ *[2-9]\.[0-9]+}}x{{.*}}identical
// TRIED: kept: {{refill|flatten}} (threshold={{.*}}branch=2) for shots
// RUN: env RECONVERGE_DEVICE=cpu ./best | diff expected -

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
