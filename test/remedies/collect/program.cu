// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Launches by the recipe, in a program: blocks of many sizes, of part of a warp
// and of more threads than are sorted, in three dimensions, fewer of them than
// one block does the work of, and none; two streams, and a graph. The program
// prints the same.
// RUN: %reconverge cc %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: FileCheck %s <expected
// CHECK: 14 launches
// CHECK: streams {{[0-9a-f]+}} cudaSuccess
// CHECK-COUNT-3: graph {{[0-9a-f]+}} cudaSuccess
// RUN: %reconverge cc --collect=threshold=10 %s -o four 2>err
// RUN: count 0 <err
// RUN: env RECONVERGE_DEVICE=cpu ./four >out
// RUN: diff expected out
// RUN: %reconverge cc '--collect=threshold=10;items=8;paths=2;threads=96' %s -o eight
// RUN: env RECONVERGE_DEVICE=cpu ./eight >out
// RUN: diff expected out

// What the sort does in shared memory is as it should be.
// RUN: %reconverge test --check=all -- ./four 2>&1 | FileCheck %s --check-prefix=CHECKED
// CHECKED: 2 kernels, 21 launches: no finding

// A limit of registers is the collected kernel's alone.
// RUN: %reconverge cc '--collect=threshold=10;occupancy=0;registers=40' --emit-ptx %s -o - | FileCheck %s --check-prefix=LIMIT
// LIMIT-NOT: .maxnreg
// LIMIT: .entry _Z4workPKiPji$remedied(
// LIMIT: .maxnreg 40

// That it was the recipe shows in the profile: fewer blocks, and paths apart.
// RUN: env RECONVERGE_DEVICE=cpu %reconverge profile --device cpu -o four.json ./four >%t.log 2>&1
// RUN: FileCheck %s --check-prefix=PROFILE <%t.log
// PROFILE: [remedied]
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
__global__ void work(const int *In, unsigned *Out, int N) {
  const int X = blockIdx.x * blockDim.x + threadIdx.x, Y = blockIdx.y * blockDim.y + threadIdx.y,
            Z = blockIdx.z * blockDim.z + threadIdx.z;
  const int I = (Z * gridDim.y * blockDim.y + Y) * gridDim.x * blockDim.x + X;
  if (I >= N)
    return;
  unsigned S = I;
  switch (In[I] & 3) {
  case 0:
    for (int K = 0; K < 40; ++K) S = S * 3 + K;
    break;
  case 1:
    for (int K = 0; K < 30; ++K) S = S * 5 ^ K;
    break;
  case 2:
    for (int K = 0; K < In[I] % 17; ++K) S = (S << 3) - K;
    break;
  default:
    return;
  }
  Out[I] = S;
}
int main() {
  constexpr int Most = 1 << 15;
  int *In;
  unsigned *Out;
  cudaMallocManaged(&In, Most * sizeof(int));
  cudaMallocManaged(&Out, Most * sizeof(int));
  unsigned State = 7;
  for (int I = 0; I < Most; ++I)
    In[I] = (State = State * 1664525 + 1013904223) >> 20;
  const struct { dim3 Grid, Block; int N; } Launches[] = {
      {1, 1, 1}, {1, 32, 20}, {3, 32, 96}, {5, 33, 165}, {4, 64, 256}, {9, 96, 800},
      {7, 128, 896}, {3, 256, 700}, {2, 320, 640}, {1, 1024, 1000}, {5, 1024, 5 * 1024},
      {dim3(3, 2, 2), dim3(8, 4, 2), 768}, {dim3(2, 5), dim3(16, 16), 2560}, {0, 32, 0}};
  int Count = 0;
  for (const auto &L : Launches) {
    cudaMemset(Out, 0, Most * sizeof(int));
    work<<<L.Grid, L.Block>>>(In, Out, L.N);
    const cudaError_t Launched = cudaGetLastError(), Ended = cudaDeviceSynchronize();
    unsigned Sum = 0;
    for (int I = 0; I < Most; ++I)
      Sum = Sum * 31 + Out[I];
    std::printf("%08x %s %s\n", Sum, cudaGetErrorName(Launched), cudaGetErrorName(Ended));
    ++Count;
  }
  std::printf("%d launches\n", Count);

  // Two streams at a time, and a graph that is replayed.
  auto Show = [&](const char *What) {
    const cudaError_t Ended = cudaDeviceSynchronize();
    unsigned Sum = 0;
    for (int I = 0; I < Most; ++I)
      Sum = Sum * 31 + Out[I];
    std::printf("%s %08x %s\n", What, Sum, cudaGetErrorName(Ended));
  };
  cudaStream_t A, B;
  cudaStreamCreate(&A);
  cudaStreamCreateWithFlags(&B, cudaStreamNonBlocking);
  cudaMemset(Out, 0, Most * sizeof(int));
  work<<<50, 256, 0, A>>>(In, Out, 12345);
  work<<<50, 256, 0, B>>>(In + 12345, Out + Most / 2, 12345);
  Show("streams");
  cudaGraph_t Graph;
  cudaGraphExec_t Runs;
  cudaStreamBeginCapture(A, cudaStreamCaptureModeGlobal);
  work<<<9, 96, 0, A>>>(In + 7, Out, 800);
  work<<<5, 33, 0, A>>>(In + 9, Out + 400, 165);
  cudaStreamEndCapture(A, &Graph);
  cudaGraphInstantiate(&Runs, Graph, nullptr, nullptr, 0);
  for (int R = 0; R < 3; ++R) {
    cudaMemset(Out, R, Most * sizeof(int));
    cudaDeviceSynchronize();
    cudaGraphLaunch(Runs, A);
    Show("graph");
  }
}
