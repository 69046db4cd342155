// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Blocks in the order of the time that they took in an earlier launch: in two
// streams, at several shapes, in a graph, and where the work moves from the last
// blocks to the first. The program prints the same.
// RUN: %reconverge cc %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: %reconverge cc '--reorder-blocks=order=last;least=1' %s -o last 2>err
// RUN: count 0 <err
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./last 2>said >out
// RUN: diff expected out

// Times are taken in launch 1, then after 1, 2, 4, ... 32 others: in 6 of 40
// launches, and in 5 of 20 of each shape in the other stream. One that is
// captured takes the kernel as it was.
// RUN: FileCheck %s <said
// CHECK: triangle({{.*}}): {{[0-9]+}} launches of 2048 to 4095 threads, {{.*}}; 1 of them captured
// CHECK: triangle({{.*}}): 16 orders were made for 80 launches{{$}}

// Small launches take the kernel as it was.
// RUN: %reconverge cc '--reorder-blocks=order=last' %s -o large
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./large 2>&1 >out | FileCheck %s --check-prefix=SMALL
// RUN: diff expected out
// SMALL: triangle({{.*}}): 81 launches that the remedy is not for

#include <cstdio>

__global__ void triangle(unsigned *Out, unsigned Rounds, bool Falls) {
  __shared__ unsigned All[64];
  const unsigned B = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned Blocks = gridDim.x * gridDim.y * gridDim.z;
  All[threadIdx.x] = B * 64 + threadIdx.x;
  __syncthreads();
  if (B == 7 && threadIdx.x > 40)
    return;
  unsigned V = 0;
  for (unsigned I = 0; I < (Falls ? Blocks - B : B) * Rounds; ++I)
    V = V * 3 + All[(threadIdx.x + I) % 64];
  Out[B * 64 + threadIdx.x] += V;
}

int main() {
  constexpr unsigned N = 60 * 64;
  static unsigned Host[N];
  unsigned *Out, *Other;
  cudaMalloc(&Out, sizeof Host);
  cudaMalloc(&Other, sizeof Host);
  cudaMemset(Out, 0, sizeof Host);
  cudaMemset(Other, 0, sizeof Host);
  cudaStream_t A, B;
  cudaStreamCreateWithFlags(&A, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&B, cudaStreamNonBlocking);
  for (unsigned I = 0; I != 40; ++I)
    triangle<<<60, 64, 0, A>>>(Out, 1, I > 20);
  for (unsigned I = 0; I != 20; ++I) {
    triangle<<<60, 64, 0, B>>>(Other, 2, false);
    triangle<<<dim3(3, 4, 5), 64, 0, B>>>(Other, 1, I & 1);
  }
  cudaDeviceSynchronize();
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  cudaStreamBeginCapture(A, cudaStreamCaptureModeGlobal);
  triangle<<<60, 64, 0, A>>>(Out, 1, false);
  cudaStreamEndCapture(A, &Graph);
  cudaGraphInstantiate(&Exec, Graph, nullptr, nullptr, 0);
  for (int I = 0; I != 3; ++I)
    cudaGraphLaunch(Exec, A);
  cudaDeviceSynchronize();
  for (const unsigned *From : {Out, Other}) {
    unsigned Sum = 0;
    cudaMemcpy(Host, From, sizeof Host, cudaMemcpyDeviceToHost);
    for (unsigned V : Host)
      Sum = Sum * 31 + V;
    std::printf("%u\n", Sum);
  }
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
