// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Iterations are dealt out lane by lane, and each takes a step of five sums in
// order: most iterations of a round are of one lane, whose steps come one after
// the other. No lane has so many that this pays, and warps see it: the loop runs
// as it did. Where they are told to share it issues more.
// RUN: %reconverge profile --device cpu %s -o plain.json >expected 2>table
// RUN: %reconverge profile --device cpu %s -o chosen.json \
// RUN:   '--share=threshold=100;occupancy=0' >out 2>table
// RUN: diff expected out
// RUN: %reconverge profile --device cpu %s -o always.json \
// RUN:   '--share=threshold=0;occupancy=0' >out 2>table
// RUN: diff expected out
// RUN: python3 -c "import json; slots = [json.load(open(f + '.json')) \
// RUN:   ['kernels'][0]['cost']['slots'] for f in ('plain', 'chosen', 'always')]; \
// RUN:   print(slots); assert slots[1] < 1.1 * slots[0] < slots[2]"

#include <cstdint>
#include <cstdio>

struct Section {
  float Of[5], Rise[5];
};

__global__ void sums(const Section *__restrict__ sections,
                     const int *__restrict__ members,
                     float *__restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const int count = 4 + i * 7 % 24;
  const float energy = i % 100 * 0.01f;
  float sum[5] = {};
  for (int k = 0; k < count; ++k) {
    const Section &s = sections[members[(i + k * 5) % 64]];
    for (int c = 0; c < 5; ++c)
      sum[c] = fmaf(fmaf(energy, s.Rise[c], s.Of[c]), 0.5f + k, sum[c]);
  }
  for (int c = 0; c < 5; ++c)
    out[i * 5 + c] = sum[c];
}

int main() {
  const int n = 8192;
  static Section sections[64];
  static int members[64];
  static float h[5 * n];
  for (int i = 0; i < 64; ++i) {
    members[i] = i * 37 % 64;
    for (int c = 0; c < 5; ++c)
      sections[i].Of[c] = i * 0.3f + c, sections[i].Rise[c] = c - i * 0.1f;
  }
  Section *d;
  int *m;
  float *o;
  cudaMalloc(&d, sizeof sections);
  cudaMalloc(&m, sizeof members);
  cudaMalloc(&o, sizeof h);
  cudaMemcpy(d, sections, sizeof sections, cudaMemcpyHostToDevice);
  cudaMemcpy(m, members, sizeof members, cudaMemcpyHostToDevice);
  sums<<<n / 256, 256>>>(d, m, o, n);
  cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost);
  uint32_t sum = 0;
  for (float x : h)
    sum = sum * 31 + uint32_t(x * 16);
  printf("sum %u\n", sum);
  return cudaGetLastError();
}
