// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// What `optimize` tries: the last block first where the last ones are long; the
// times of an earlier launch where long ones lie anywhere and launches follow, and
// what a launch will do where that can be known; nothing where all blocks are alike. No warp diverges. On the CPU there is no
// time, and issue slots know of no order, so that nothing is kept; that bytes are
// the same is proved.
// DEFINE: %{which} =
// DEFINE: %{optimize} = %reconverge optimize --device cpu %s -o app --no-cache --decisions d.json -- %{which} >out 2>table
// REDEFINE: %{which} = last 2
// RUN: %{optimize}
// RUN: FileCheck %s --check-prefix=LAST <d.json
// LAST: "order=reversed"
// LAST: "verdict": {"kind":"identical"
// LAST-NOT: "order=last"
// REDEFINE: %{which} = anywhere 8
// RUN: %{optimize}
// RUN: FileCheck %s --check-prefix=ANYWHERE <d.json
// ANYWHERE: "order=last"
// ANYWHERE: "verdict": {"kind":"identical"
// ANYWHERE: "order=slice"
// ANYWHERE: "verdict": {"kind":"identical"
// REDEFINE: %{which} = alike 8
// RUN: %{optimize}
// RUN: FileCheck %s --check-prefix=ALIKE <d.json --implicit-check-not=reorder-blocks
// ALIKE: "schema"
#include <cstdio>
#include <cstdlib>
#include <string>

__global__ void uneven(unsigned *Out, const unsigned *__restrict__ Rounds) {
  __shared__ unsigned All[128];
  All[threadIdx.x] = threadIdx.x;
  __syncthreads();
  unsigned V = blockIdx.x;
  for (unsigned I = 0; I < Rounds[blockIdx.x]; ++I)
    V = V * 3 + All[(threadIdx.x + I) % 128];
  Out[blockIdx.x * 128 + threadIdx.x] += V;
}

int main(int, char **Args) {
  constexpr unsigned Blocks = 6000, N = Blocks * 128;
  const std::string Where = Args[1];
  static unsigned Host[N];
  for (unsigned I = 0; I != Blocks; ++I) {
    const bool IsLong = Where == "last"       ? I > Blocks - 100
                        : Where == "anywhere" ? I * 2654435761u >> 24 < 40
                                              : false;
    Host[I] = IsLong ? 200 : 10;
  }
  unsigned *Out, *Rounds;
  cudaMalloc(&Out, sizeof Host);
  cudaMalloc(&Rounds, Blocks * sizeof(unsigned));
  cudaMemset(Out, 0, sizeof Host);
  cudaMemcpy(Rounds, Host, Blocks * sizeof(unsigned), cudaMemcpyHostToDevice);
  for (int I = 0; I != std::atoi(Args[2]); ++I)
    uneven<<<Blocks, 128>>>(Out, Rounds);
  cudaMemcpy(Host, Out, sizeof Host, cudaMemcpyDeviceToHost);
  unsigned Sum = 0;
  for (unsigned V : Host)
    Sum = Sum * 31 + V;
  std::printf("%u\n", Sum);
}
