// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// With reuse=on an order serves later launches in its stream. A probe of a
// sample of threads tells when it is no longer good: where the data change, a
// new one is made. The program prints the same whatever is reused.
// DEFINE: %{on} = env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1
// RUN: %reconverge cc %s -o plain
// RUN: %reconverge cc '--regroup=least=1;reuse=on' %s -o path
// RUN: %reconverge cc '--regroup=least=1;reuse=on;locality=12' %s -o place

// One stream, the same data: one order. Probes come further and further
// apart.
// RUN: env RECONVERGE_DEVICE=cpu ./plain same >same.expected
// RUN: %{on} ./path same 2>same.err >out
// RUN: diff same.expected out
// RUN: FileCheck %s --check-prefix=SAME <same.err
// SAME: reconverge: rounds({{.*}}): 1 orders were made for 40 launches; of 5 probes, 0 asked for a new one
// RUN: %{on} ./place same 2>same.err >out
// RUN: diff same.expected out
// RUN: FileCheck %s --check-prefix=SAME <same.err

// Data that change every 20 launches, twice.
// RUN: env RECONVERGE_DEVICE=cpu ./plain change >change.expected
// RUN: %{on} ./path change 2>change.err >out
// RUN: diff change.expected out
// RUN: FileCheck %s --check-prefix=CHANGE <change.err
// CHANGE: reconverge: rounds({{.*}}): 3 orders were made for 60 launches; of {{1[0-9]}} probes, 2 asked for a new one
// RUN: %{on} ./place change 2>change.err >out
// RUN: diff change.expected out
// RUN: FileCheck %s --check-prefix=CHANGE <change.err

// Two streams with data of their own have an order each; so have two shapes.
// Captured launches make their own, replays of which see the data of then;
// empty ones make none.
// RUN: env RECONVERGE_DEVICE=cpu ./plain streams >streams.expected
// RUN: %{on} ./path streams 2>streams.err >out
// RUN: diff streams.expected out
// RUN: FileCheck %s --check-prefix=STREAMS <streams.err
// STREAMS: reconverge: rounds({{.*}}): 4 orders were made for 48 launches; of {{[0-9]+}} probes, 0 asked for a new one
// RUN: env RECONVERGE_DEVICE=cpu ./plain graph >graph.expected
// RUN: %{on} ./path graph 2>graph.err >out
// RUN: diff graph.expected out
// RUN: FileCheck %s --check-prefix=GRAPH <graph.err
// GRAPH: 3 launches of {{.*}}, 3 with the remedy: {{.*}}; 1 of them captured
// GRAPH: 1 orders were made for 2 launches
// GRAPH: 1 launches that the remedy is not for

// Without it, each launch makes one, and there is nothing to say.
// RUN: %reconverge cc '--regroup=least=1;reuse=off' %s -o off
// RUN: %{on} ./off same 2>&1 >out | FileCheck %s --check-prefix=OFF --implicit-check-not=orders
// RUN: diff same.expected out
// OFF: 40 with the remedy
// RUN: not %reconverge cc '--regroup=reuse=maybe' %s -o bad 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: reuse=maybe

// Where the time of making is shared by many launches, the remedy is kept though
// one launch that makes its own order is slower than the kernel as it was.
// RUN: %{on} RECONVERGE_VM=clock=model ./path same 2>&1 >out | FileCheck %s --check-prefix=SHARED
// SHARED: rounds({{.*}}): 40 launches of 32768 to 65535 threads, 38 with the remedy: kept
// RUN: diff same.expected out
// RUN: %{on} RECONVERGE_VM=clock=model ./off same 2>&1 >out | FileCheck %s --check-prefix=ALONE
// ALONE: rounds({{.*}}): 40 launches of 32768 to 65535 threads, 2 with the remedy: switched off
// RUN: diff same.expected out

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>
#define CHECK(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); return 1; } } while (0)

// As many rounds as the item says, of numbers that are looked up.
__global__ void rounds(const unsigned *count, const unsigned *from, unsigned *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned v = from[count[i] * 7 % n];
#pragma unroll 1
  for (unsigned k = count[i]; k; --k)
    v = (v ^ v >> 7) * 2654435761u + k;
  out[i] += v;
}

static const int n = 60000;

static std::vector<unsigned> draw(unsigned seed) {
  std::vector<unsigned> count(n);
  for (unsigned &c : count) {
    seed = seed * 1664525u + 1013904223u;
    c = (seed >> 8) % 11 ? (seed >> 16) % 16 : 700 + (seed >> 16) % 16;
  }
  return count;
}

static int show(const unsigned *o) {
  std::vector<unsigned> h(n);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(h.data(), o, n * 4, cudaMemcpyDeviceToHost));
  unsigned long sum = 0;
  for (unsigned v : h) sum = sum * 131 + v;
  printf("%lx\n", sum);
  return 0;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  unsigned *c[2], *o[2];
  for (int k = 0; k < 2; ++k) {
    CHECK(cudaMalloc(&c[k], n * 4)); CHECK(cudaMalloc(&o[k], n * 4));
    CHECK(cudaMemcpy(c[k], draw(7 + k).data(), n * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(o[k], 0, n * 4));
  }
  const dim3 g((n + 255) / 256), b(256);
  if (!strcmp(what, "same")) {
    for (int r = 0; r < 40; ++r) rounds<<<g, b>>>(c[0], c[1], o[0], n);
  } else if (!strcmp(what, "change")) {
    for (int r = 0; r < 60; ++r) {
      if (r && r % 20 == 0)
        CHECK(cudaMemcpy(c[0], draw(100 + r).data(), n * 4, cudaMemcpyHostToDevice));
      rounds<<<g, b>>>(c[0], c[1], o[0], n);
    }
  } else if (!strcmp(what, "streams")) {
    cudaStream_t s[2];
    for (auto &t : s) CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    for (int r = 0; r < 12; ++r)
      for (int k = 0; k < 2; ++k) {
        rounds<<<g, b, 0, s[k]>>>(c[k], c[0], o[k], n);
        rounds<<<(n + 95) / 96, 96, 0, s[k]>>>(c[k], c[1], o[k], n);
      }
    CHECK(cudaDeviceSynchronize());
  } else {
    cudaStream_t s; cudaGraph_t graph; cudaGraphExec_t exec;
    CHECK(cudaStreamCreate(&s));
    rounds<<<g, b, 0, s>>>(c[0], c[1], o[0], n);
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    rounds<<<g, b, 0, s>>>(c[0], c[1], o[0], n);
    CHECK(cudaStreamEndCapture(s, &graph)); CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int r = 0; r < 3; ++r) {
      CHECK(cudaMemcpy(c[0], draw(50 + r).data(), n * 4, cudaMemcpyHostToDevice));
      CHECK(cudaGraphLaunch(exec, s)); CHECK(cudaStreamSynchronize(s));
    }
    rounds<<<g, b, 0, s>>>(c[0], c[1], o[0], n);
    rounds<<<0, b, 0, s>>>(c[0], c[1], o[0], n);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  }
  return show(o[0]) || show(o[1]);
}
