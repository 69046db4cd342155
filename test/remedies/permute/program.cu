// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Launches by a recipe, in a program: threads in other orders over blocks of
// other sizes, from two streams at once, in a graph that is replayed, at odd
// sizes, in three dimensions, for an empty launch and beside an error that the
// program has not read yet. The program prints the same.
// RUN: %reconverge cc %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: FileCheck %s <expected
// CHECK: 1: {{.*}} graph
// CHECK: 255000: {{.*}} graph
// CHECK-NEXT: cudaErrorInvalidValue
// CHECK-NEXT: cudaErrorInvalidDevice
// CHECK-NEXT: 256 cudaSuccess
// RUN: %reconverge cc --permute %s -o random
// RUN: env RECONVERGE_DEVICE=cpu ./random >out
// RUN: diff expected out
// RUN: %reconverge cc '--permute=order=reversed;block=96' %s -o reversed
// RUN: env RECONVERGE_DEVICE=cpu ./reversed >out
// RUN: diff expected out
// RUN: %reconverge cc '--permute=order=same;block=1024' %s -o same
// RUN: env RECONVERGE_DEVICE=cpu ./same >out
// RUN: diff expected out

// That it was the recipe shows in a graph: each of its three launches is four
// nodes, for scratch, the index, the kernel and the end of scratch.
// RUN: env RECONVERGE_DEVICE=cpu ./plain nodes | FileCheck %s --check-prefix=PLAIN
// RUN: env RECONVERGE_DEVICE=cpu ./same nodes | FileCheck %s --check-prefix=NODES
// PLAIN: {{^}}3 nodes
// NODES: {{^}}12 nodes

// A program without a recipe has nothing of the archive in it.
// RUN: nm random | FileCheck %s --check-prefix=ARCHIVE
// RUN: nm plain | FileCheck %s --check-prefix=ARCHIVE --allow-empty --implicit-check-not=reconverge_launch
// ARCHIVE: main

#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#define CHECK(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); return 1; } } while (0)
template <typename T> __global__ void __launch_bounds__(256) walk(T *out, const T *in, unsigned n) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
           z = blockIdx.z * blockDim.z + threadIdx.z;
  unsigned i = (z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x;
  if (i >= n) return;
  T v = in[i];
  for (unsigned k = (i * 2654435761u) >> 27; k; --k) v = v * T(3) + T(k);
  out[i] = v;
}
template <typename T> unsigned long sum(const std::vector<T> &v) { unsigned long s = 0; for (auto e : v) s = s * 131 + (unsigned long)e; return s; }
// The first launch of the process is captured.
static int capturedFirst() {
  int *a, h[64]; CHECK(cudaMalloc(&a, sizeof(h))); CHECK(cudaMemset(a, 1, sizeof(h)));
  cudaStream_t s; CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  cudaGraph_t graph; cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  walk<int><<<2, 32, 0, s>>>(a, a, 64);
  CHECK(cudaStreamEndCapture(s, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(cudaGraphLaunch(exec, s)); CHECK(cudaStreamSynchronize(s));
  CHECK(cudaMemcpy(h, a, sizeof(h), cudaMemcpyDeviceToHost));
  printf("first %lx\n", sum(std::vector<int>(h, h + 64)));
  return 0;
}

int main(int argc, char **) {
  if (capturedFirst()) return 1;
  const unsigned shapes[][6] = {{1,1,1,1,1,1},{1,1,1,31,1,1},{17,1,1,33,1,1},{1,1,1,256,1,1},{5,3,2,7,5,3},{1,9,1,1,250,1},{3,2,5,2,2,61},{1000,1,1,255,1,1}};
  for (auto &s : shapes) {
    dim3 g(s[0], s[1], s[2]), b(s[3], s[4], s[5]);
    unsigned n = s[0]*s[1]*s[2]*s[3]*s[4]*s[5];
    std::vector<int> hi(n); for (unsigned i = 0; i < n; ++i) hi[i] = i * 7 + 1;
    std::vector<int> hf(n); for (unsigned i = 0; i < n; ++i) hf[i] = i * 5 + 3;
    int *a, *o, *c, *p; CHECK(cudaMalloc(&a, n*4)); CHECK(cudaMalloc(&o, n*4)); CHECK(cudaMalloc(&c, n*4)); CHECK(cudaMalloc(&p, n*4));
    CHECK(cudaMemcpy(a, hi.data(), n*4, cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(c, hf.data(), n*4, cudaMemcpyHostToDevice));
    cudaStream_t s1, s2; CHECK(cudaStreamCreate(&s1)); CHECK(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking));
    for (int r = 0; r < 3; ++r) {
      walk<int><<<g, b, 0, s1>>>(o, a, n - n / 9);
      walk<unsigned><<<g, b, 0, s2>>>((unsigned *)p, (unsigned *)c, n);
    }
    CHECK(cudaStreamSynchronize(s1)); CHECK(cudaStreamSynchronize(s2));
    std::vector<int> r1(n), r2(n);
    CHECK(cudaMemcpy(r1.data(), o, (n - n/9)*4, cudaMemcpyDeviceToHost)); CHECK(cudaMemcpy(r2.data(), p, n*4, cudaMemcpyDeviceToHost));
    printf("%u: %lx %lx", n, sum(r1), sum(r2));
    // Captured: two launches in one graph, replayed.
    CHECK(cudaMemset(o, 0, n*4)); CHECK(cudaMemset(p, 0, n*4));
    CHECK(cudaDeviceSynchronize());
    cudaGraph_t graph; cudaGraphExec_t exec;
    cudaEvent_t fork, join; CHECK(cudaEventCreate(&fork)); CHECK(cudaEventCreate(&join));
    CHECK(cudaStreamBeginCapture(s1, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, s1)); CHECK(cudaStreamWaitEvent(s2, fork, 0));
    walk<int><<<g, b, 0, s1>>>(o, a, n);
    walk<int><<<g, b, 0, s2>>>(p, c, n);
    walk<int><<<g, b, 0, s1>>>(o, o, n);
    CHECK(cudaEventRecord(join, s2)); CHECK(cudaStreamWaitEvent(s1, join, 0));
    CHECK(cudaStreamEndCapture(s1, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
      for (int r = 0; r < 4; ++r) CHECK(cudaGraphLaunch(exec, r % 2 ? s1 : s2));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(r1.data(), o, n*4, cudaMemcpyDeviceToHost)); CHECK(cudaMemcpy(r2.data(), p, n*4, cudaMemcpyDeviceToHost));
    if (argc > 1) { size_t nodes = 0; CHECK(cudaGraphGetNodes(graph, nullptr, &nodes)); printf("\n%zu nodes\n", nodes); }
    printf(" graph %lx %lx\n", sum(r1), sum(r2));
    CHECK(cudaGraphExecDestroy(exec)); CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(a)); CHECK(cudaFree(o)); CHECK(cudaFree(c)); CHECK(cudaFree(p));
    CHECK(cudaStreamDestroy(s1)); CHECK(cudaStreamDestroy(s2));
  }
  // An empty launch fails as it would.
  walk<int><<<dim3(0, 1, 1), 32>>>(nullptr, nullptr, 0);
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  // An error nobody has read yet stays.
  cudaMalloc(nullptr, 0); (void)cudaSetDevice(99);
  int *q; cudaMalloc(&q, 4);
  walk<int><<<1, 1>>>(q, q, 1);
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  // Questions about the kernel are answered as before.
  cudaFuncAttributes fa; CHECK(cudaFuncGetAttributes(&fa, walk<int>));
  printf("%d %s\n", fa.maxThreadsPerBlock, cudaGetErrorName(cudaDeviceSynchronize()));
}
