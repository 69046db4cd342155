// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Regrouped by path, by path and place, with data moved into the order, at odd sizes, in three dimensions, from
// two streams at once, in a graph that is replayed, for launches that are too
// small: the program prints the same.
// RUN: %reconverge cc %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: FileCheck %s <expected
// CHECK: done
// RUN: %reconverge cc '--regroup=least=1' %s -o path
// RUN: env RECONVERGE_DEVICE=cpu ./path >out
// RUN: diff expected out
// RUN: %reconverge cc '--regroup=least=1;locality=12' %s -o place
// RUN: env RECONVERGE_DEVICE=cpu ./place >out
// RUN: diff expected out
// RUN: %reconverge cc '--regroup=least=5000;locality=3' %s -o least
// RUN: env RECONVERGE_DEVICE=cpu ./least >out
// RUN: diff expected out
// RUN: %reconverge cc '--regroup=least=1;locality=12;window=on' %s -o window
// RUN: env RECONVERGE_DEVICE=cpu ./window >out
// RUN: diff expected out
// RUN: %reconverge cc '--regroup=least=1;locality=12;layout=all' %s -o layout
// RUN: env RECONVERGE_DEVICE=cpu ./layout >out
// RUN: diff expected out

// That it was the recipe shows in what ran; warps that were parted at each loop
// hardly are.
// RUN: %reconverge profile -o plain.json ./plain 2>&1 | FileCheck %s --check-prefix=BEFORE
// BEFORE: in lookup; {{[2-9].\..}}% of {{.*}} warps split
// RUN: %reconverge profile -o path.json ./path 2>&1 | FileCheck %s --check-prefix=AFTER
// AFTER: in lookup [remedied]; {{[0-2]\..}}% of {{.*}} warps split
// AFTER: remedied] [scatter]
// RUN: %reconverge profile -o window.json ./window 2>&1 | FileCheck %s --check-prefix=WINDOW
// WINDOW: in lookup [remedied]; {{[0-2]\..}}% of {{.*}} warps split
// RUN: grep -q 'remedied. .within.' window.json
// RUN: %reconverge profile -o layout.json ./layout 2>&1 | FileCheck %s --check-prefix=LAYOUT
// LAYOUT-DAG: [remedied] [gather]
// LAYOUT-DAG: [remedied] [return]

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>
#define CHECK(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); return 1; } } while (0)

struct Tables {
  const unsigned *members; // how many, then which
  const float *values;
  int points;
};

// A thread looks up as many values as its material has members, at places that
// follow from its energy by a search.
__global__ void lookup(Tables t, const unsigned *energy, const unsigned char *material, float *out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z * blockDim.z + threadIdx.z;
  const int i = (z * int(gridDim.y * blockDim.y) + y) * int(gridDim.x * blockDim.x) + x;
  if (i >= n)
    return;
  const unsigned e = energy[i];
  const unsigned *which = t.members + 8 + 8 * material[i];
  float sum = 0;
#pragma unroll 1
  for (unsigned k = 0; k < t.members[material[i]]; ++k) {
    int low = 0, high = t.points;
    const float *grid = t.values + which[k] * t.points;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (grid[middle] <= float(e))
        low = middle;
      else
        high = middle;
    }
    sum = fmaf(sum, 0.5f, grid[low]);
  }
  out[i] = sum;
}

// Branches outside of loops, nested, and a switch.
__global__ void sides(const unsigned *energy, const unsigned char *material, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = float(energy[i] & 1023);
  switch (material[i]) {
  case 0: v = sqrtf(v); break;
  case 1: v = sinf(v) * expf(v * 0.01f); break;
  case 2: v = logf(v + 1); break;
  case 5: if (v > 500) v = cosf(v) / 3; else v = tanf(v); break;
  default: v = v * v;
  }
  out[i] = v;
}

static unsigned long sum(const std::vector<float> &v) {
  unsigned long s = 0;
  for (float f : v) { unsigned u; memcpy(&u, &f, 4); s = s * 131 + u; }
  return s;
}

int main() {
  const int points = 64, most = 40000;
  std::vector<unsigned> members(72), energy(most);
  std::vector<unsigned char> material(most);
  std::vector<float> values(64 * points);
  unsigned seed = 7;
  auto draw = [&] { return (seed = seed * 1664525u + 1013904223u) >> 8; };
  for (int m = 0; m < 8; ++m) {
    members[m] = m * m / 2; // one has none
    for (int k = 0; k < 8; ++k) members[8 + 8 * m + k] = draw() % 32;
  }
  members[7] = 8; members[6] = 8; members[5] = 7;
  for (int i = 0; i < 64 * points; ++i) values[i] = float(i % points) * (16777216.f / points);
  for (int i = 0; i < most; ++i) { energy[i] = draw(); material[i] = draw() % 8; }
  unsigned *dm, *de; unsigned char *dk; float *dv, *o, *p;
  CHECK(cudaMalloc(&dm, 72 * 4)); CHECK(cudaMalloc(&de, most * 4)); CHECK(cudaMalloc(&dk, most));
  CHECK(cudaMalloc(&dv, values.size() * 4)); CHECK(cudaMalloc(&o, most * 4)); CHECK(cudaMalloc(&p, most * 4));
  CHECK(cudaMemcpy(dm, members.data(), 72 * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(de, energy.data(), most * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dk, material.data(), most, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dv, values.data(), values.size() * 4, cudaMemcpyHostToDevice));
  const Tables t = {dm, dv, points};
  cudaStream_t s1, s2; CHECK(cudaStreamCreate(&s1)); CHECK(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking));
  const unsigned shapes[][6] = {{1,1,1,1,1,1},{1,1,1,31,1,1},{5,3,2,7,5,3},{16,1,1,256,1,1},{17,1,1,241,1,1},{3,2,50,2,2,31},{156,1,1,256,1,1}};
  std::vector<float> h(most);
  for (auto &s : shapes) {
    const dim3 g(s[0], s[1], s[2]), b(s[3], s[4], s[5]);
    const int n = int(s[0]*s[1]*s[2]*s[3]*s[4]*s[5]);
    CHECK(cudaMemset(o, 0, most * 4)); CHECK(cudaMemset(p, 0, most * 4)); CHECK(cudaDeviceSynchronize());
    lookup<<<g, b, 0, s1>>>(t, de, dk, o, n - n / 9);
    lookup<<<g, b, 0, s2>>>(t, de, dk, p, n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(h.data(), o, most * 4, cudaMemcpyDeviceToHost)); printf("%d: %lx", n, sum(h));
    CHECK(cudaMemcpy(h.data(), p, most * 4, cudaMemcpyDeviceToHost)); printf(" %lx", sum(h));
    cudaGraph_t graph; cudaGraphExec_t exec;
    CHECK(cudaMemset(o, 0, most * 4)); CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamBeginCapture(s1, cudaStreamCaptureModeGlobal));
    lookup<<<g, b, 0, s1>>>(t, de, dk, o, n);
    sides<<<(n + 127) / 128, 128, 0, s1>>>(de, dk, p, n);
    CHECK(cudaStreamEndCapture(s1, &graph)); CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int r = 0; r < 2; ++r) CHECK(cudaGraphLaunch(exec, r % 2 ? s1 : s2));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(h.data(), o, most * 4, cudaMemcpyDeviceToHost)); printf(" %lx", sum(h));
    CHECK(cudaMemcpy(h.data(), p, most * 4, cudaMemcpyDeviceToHost)); printf(" %lx\n", sum(h));
    CHECK(cudaGraphExecDestroy(exec)); CHECK(cudaGraphDestroy(graph));
  }
  lookup<<<0, 32>>>(t, de, dk, o, 0);
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  printf("done\n");
}
