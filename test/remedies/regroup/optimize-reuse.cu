// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Where a kernel is launched ten times at one shape, `optimize` tries an order for
// each launch and one for all of them, of which each launch pays its share: that is
// faster. Of few launches it tries none that is kept.
// RUN: %reconverge optimize --device cpu %s -o app --no-cache --decisions d.json -- 10 >out 2>table
// RUN: FileCheck %s <table
// CHECK: kept: regroup ({{.*}}reuse=on) for walk
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./app 10 2>said >again
// RUN: diff out again
// RUN: FileCheck %s --check-prefix=SAID <said
// SAID: walk({{.*}}): {{[1-3]}} orders were made for 10 launches
// RUN: %reconverge optimize --device cpu %s -o app --no-cache --decisions d.json -- 9 >out 2>table
// RUN: FileCheck %s --check-prefix=FEW <d.json --implicit-check-not=reuse=on
// FEW: regroup
#include <cstdio>
#include <cstdlib>

__global__ void walk(const unsigned *__restrict__ Rounds, unsigned *Out) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned V = I;
#pragma unroll 1
  for (unsigned K = 0; K < Rounds[I]; ++K)
    V = (V * 747796405u + 2891336453u) ^ (V >> 7) * K;
  Out[I] += V;
}

int main(int, char **Args) {
  constexpr unsigned N = 8192;
  static unsigned Host[N];
  unsigned *Out, *Rounds, Sum = 0;
  for (unsigned I = 0; I != N; ++I)
    Host[I] = I * 2654435761u >> 24;
  cudaMalloc(&Out, sizeof Host);
  cudaMalloc(&Rounds, sizeof Host);
  cudaMemset(Out, 0, sizeof Host);
  cudaMemcpy(Rounds, Host, sizeof Host, cudaMemcpyHostToDevice);
  for (int I = 0; I != std::atoi(Args[1]); ++I)
    walk<<<N / 128, 128>>>(Rounds, Out);
  cudaMemcpy(Host, Out, sizeof Host, cudaMemcpyDeviceToHost);
  for (unsigned V : Host)
    Sum = Sum * 31 + V;
  std::printf("%u\n", Sum);
}
