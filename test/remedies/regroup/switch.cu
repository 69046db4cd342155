// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// A program built with a remedy that changes launches measures whether it pays,
// and takes the kernel as it was where it does not. Here the model tells the
// time (RECONVERGE_VM=clock=model): on a GPU, the same without it.
// RUN: %reconverge cc %s -o plain
// RUN: %reconverge cc --regroup=least=1 %s -o regrouped
// DEFINE: %{model} = env RECONVERGE_DEVICE=cpu RECONVERGE_VM=clock=model RECONVERGE_VERBOSE=1
// RUN: env RECONVERGE_DEVICE=cpu ./plain long >long.expected
// RUN: %{model} ./regrouped long >long.out 2>long.err
// RUN: FileCheck %s --check-prefix=LONG <long.err
// RUN: diff long.expected long.out
// RUN: env RECONVERGE_DEVICE=cpu ./plain small >small.expected
// RUN: %{model} ./regrouped small >small.out 2>small.err
// RUN: FileCheck %s --check-prefix=SMALL <small.err
// RUN: diff small.expected small.out
// RUN: env RECONVERGE_DEVICE=cpu ./plain ordered >ordered.expected
// RUN: %{model} ./regrouped ordered >ordered.out 2>ordered.err
// RUN: FileCheck %s --check-prefix=ORDERED <ordered.err
// RUN: diff ordered.expected ordered.out
// RUN: env RECONVERGE_DEVICE=cpu ./plain streams >streams.expected
// RUN: %{model} ./regrouped streams >streams.out 2>streams.err
// RUN: FileCheck %s --check-prefix=STREAMS <streams.err
// RUN: diff streams.expected streams.out
// RUN: env RECONVERGE_DEVICE=cpu ./plain mixed >mixed.expected
// RUN: %{model} ./regrouped mixed >mixed.out 2>mixed.err
// RUN: FileCheck %s --check-prefix=MIXED <mixed.err
// Each round is a launch or two in the form that is not kept.
// LONG: reconverge: rounds({{.*}}): 20 launches of 65536 to 131071 threads, 18 with the remedy: kept, {{0\.[0-9]+}} ms with it and {{0\.[0-9]+}} ms without; changed 0 times
// SMALL: reconverge: rounds({{.*}}): 20 launches of 2048 to 4095 threads, 2 with the remedy: switched off, {{.*}}; changed 0 times
// ORDERED: reconverge: rounds({{.*}}): 20 launches of 65536 to 131071 threads, 2 with the remedy: switched off, {{.*}}; changed 0 times
// STREAMS: reconverge: stream({{.*}}): 20 launches of 65536 to 131071 threads, 2 with the remedy: switched off, {{.*}}; changed 0 times
// A graph has the form that was known when it was captured; launches too small
// and too large for one another are chosen for apart.
// MIXED: reconverge: rounds({{.*}}): 20 launches of 2048 to 4095 threads, 2 with the remedy: switched off, {{.*}}; changed 0 times; 4 of them captured
// MIXED: reconverge: rounds({{.*}}): 12 launches of 65536 to 131071 threads, 10 with the remedy: kept, {{.*}}; changed 0 times
// MIXED: reconverge: rounds({{.*}}): 1 launches that the remedy is not for

// What the CPU's own time would tell differs from run to run: nothing is chosen
// by it.
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./regrouped small 2>&1 \
// RUN:   >small.out | FileCheck %s --check-prefix=WALL
// RUN: diff small.expected small.out
// WALL: reconverge: rounds({{.*}}): 20 launches of 2048 to 4095 threads, 20 with the remedy: not measured, since events here tell the time of the CPU
// RUN: env RECONVERGE_DEVICE=cpu ./regrouped small 2>&1 >small.out | count 0
// RUN: %{model} ./regrouped long 2>&1 >long.out | diff long.err -

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>
#define CHECK(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); return 1; } } while (0)

// As many rounds as the item says.
__global__ void rounds(const unsigned *count, unsigned *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned v = i;
#pragma unroll 1
  for (unsigned k = count[i]; k; --k)
    v = (v ^ v >> 7) * 2654435761u + k;
  out[i] = v;
}

// Little work beside what it reads and writes.
__global__ void stream(const unsigned *count, unsigned *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const unsigned c = count[i];
  if (c & 1)
    out[i] = c * 3;
  else
    out[i] = c / 7;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  const bool small = !strcmp(what, "small"), ordered = !strcmp(what, "ordered"), mixed = !strcmp(what, "mixed");
  const int most = 100000, few = 3000, n = small || mixed ? few : most;
  std::vector<unsigned> count(most), h(most);
  unsigned seed = 7;
  for (int i = 0; i < most; ++i) {
    seed = seed * 1664525u + 1013904223u;
    count[i] = ordered ? 300 - i / 1000 : seed % 11 ? (seed >> 8) % 16 : 1500 + (seed >> 8) % 16;
  }
  unsigned *c, *o;
  CHECK(cudaMalloc(&c, most * 4)); CHECK(cudaMalloc(&o, most * 4));
  CHECK(cudaMemcpy(c, count.data(), most * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(o, 0, most * 4));
  for (int r = 0; r < (mixed ? 12 : 20); ++r) {
    if (!strcmp(what, "streams")) {
      stream<<<(n + 255) / 256, 256>>>(c, o, n);
    } else if (mixed) {
      rounds<<<(few + 255) / 256, 256>>>(c, o, few);
      rounds<<<(most + 255) / 256, 256>>>(c, o, most);
    } else {
      rounds<<<(n + 255) / 256, 256>>>(c, o, n);
    }
    CHECK(cudaGetLastError());
    if (r % 3 == 0)
      CHECK(cudaDeviceSynchronize());
  }
  if (mixed) {
    cudaStream_t s; cudaGraph_t graph; cudaGraphExec_t exec;
    CHECK(cudaStreamCreate(&s));
    for (int r = 0; r < 4; ++r) {
      CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
      rounds<<<(few + 255) / 256, 256, 0, s>>>(c, o, few);
      CHECK(cudaStreamEndCapture(s, &graph));
      size_t nodes = 0;
      CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
      CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
      CHECK(cudaGraphLaunch(exec, s)); CHECK(cudaGraphLaunch(exec, s));
      CHECK(cudaStreamSynchronize(s));
      CHECK(cudaGraphExecDestroy(exec)); CHECK(cudaGraphDestroy(graph));
      printf("%zu nodes\n", nodes);
      rounds<<<(few + 255) / 256, 256, 0, s>>>(c, o, few);
    }
    rounds<<<0, 256, 0, s>>>(c, o, few);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  }
  CHECK(cudaMemcpy(h.data(), o, most * 4, cudaMemcpyDeviceToHost));
  unsigned long sum = 0;
  for (unsigned v : h) sum = sum * 131 + v;
  printf("%lx\n", sum);
}
