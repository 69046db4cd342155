// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Blocks in another order: shared memory, barriers, two streams, a graph, three
// dimensions, a last block that does the rest. The program prints the same.
// RUN: %reconverge cc %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: %reconverge cc --reorder-blocks %s -o reversed 2>err
// RUN: FileCheck %s <err --implicit-check-not=warning
// RUN: env RECONVERGE_DEVICE=cpu ./reversed >out
// RUN: diff expected out
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./reversed 2>&1 >out | FileCheck %s --check-prefix=SAID

// A block of the chain waits for the one before it. It is left alone, so that it
// ends.
// CHECK: reconverge: warning: chain(unsigned int*, unsigned int*) is launched as it is: program.cu:[[#@LINE+18]]: blocks not reordered: a loop waits for what another thread block writes{{.*}} [RC801]

// SAID: reconverge: triangle(unsigned int*, unsigned int): 5 launches of {{.*}}, 5 with the remedy
#include <cstdio>

__global__ void triangle(unsigned *Out, unsigned Rounds) {
  __shared__ unsigned All[64];
  const unsigned B = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  All[threadIdx.x] = B * 64 + threadIdx.x;
  __syncthreads();
  unsigned V = 0;
  for (unsigned I = 0; I < B * Rounds; ++I)
    V = V * 3 + All[(threadIdx.x + I) % 64];
  Out[B * 64 + threadIdx.x] += V;
}

__global__ void chain(unsigned *Out, unsigned *Sums) {
  if (blockIdx.x)
    while (!*(volatile unsigned *)&Sums[blockIdx.x - 1])
      ;
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned Sum = blockIdx.x ? Sums[blockIdx.x - 1] + Out[blockIdx.x] : 1;
    __threadfence();
    *(volatile unsigned *)&Sums[blockIdx.x] = Sum | 1;
  }
}

__device__ unsigned Ended;
__global__ void lastSums(const unsigned *In, unsigned *Parts, unsigned *Sum) {
  __shared__ bool Last;
  if (threadIdx.x == 0) {
    Parts[blockIdx.x] = In[blockIdx.x * 64];
    __threadfence();
    Last = atomicAdd(&Ended, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (Last && threadIdx.x == 0) {
    unsigned S = 0;
    for (unsigned I = 0; I != gridDim.x; ++I)
      S = S * 31 + *(volatile unsigned *)&Parts[I];
    *Sum = S;
    Ended = 0;
  }
}

int main() {
  constexpr unsigned N = 60 * 64;
  static unsigned Host[N];
  unsigned *Out, *Parts;
  cudaMalloc(&Out, sizeof Host);
  cudaMalloc(&Parts, sizeof Host);
  cudaMemset(Out, 0, sizeof Host);
  cudaMemset(Parts, 0, sizeof Host);
  cudaStream_t A, B;
  cudaStreamCreateWithFlags(&A, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&B, cudaStreamNonBlocking);
  triangle<<<60, 64, 0, A>>>(Out, 1);
  triangle<<<dim3(3, 4, 5), 64, 0, A>>>(Out, 2);
  triangle<<<dim3(5, 12), 64, 0, A>>>(Out, 3);
  cudaStreamSynchronize(A);
  triangle<<<60, 64, 0, B>>>(Out, 1);
  cudaDeviceSynchronize();
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  cudaStreamBeginCapture(A, cudaStreamCaptureModeGlobal);
  triangle<<<60, 64, 0, A>>>(Out, 1);
  cudaStreamEndCapture(A, &Graph);
  cudaGraphInstantiate(&Exec, Graph, nullptr, nullptr, 0);
  for (int I = 0; I != 3; ++I)
    cudaGraphLaunch(Exec, A);
  cudaDeviceSynchronize();
  lastSums<<<60, 64>>>(Out, Parts, Parts + 100);
  chain<<<60, 64>>>(Out, Parts + 200);
  unsigned Sum = 0;
  for (const unsigned *From : {Out, Parts}) {
    cudaMemcpy(Host, From, sizeof Host, cudaMemcpyDeviceToHost);
    for (unsigned V : Host)
      Sum = Sum * 31 + V;
    std::printf("%u\n", Sum);
  }
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
