// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Whole blocks change places: they share memory, wait for each other, use warps
// and dynamic shared memory, in grids of one to three dimensions.
// RUN: %reconverge cc %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: %reconverge cc '--permute=unit=block;seed=3' %s -o random 2>err
// RUN: count 0 <err
// RUN: env RECONVERGE_DEVICE=cpu ./random >out
// RUN: diff expected out
// RUN: %reconverge cc '--permute=unit=block;order=reversed' %s -o reversed
// RUN: env RECONVERGE_DEVICE=cpu ./reversed >out
// RUN: diff expected out

// Single threads of it may not.
// RUN: %reconverge cc --permute %s -o tied 2>&1 | FileCheck %s
// CHECK: sums(unsigned int*, unsigned int*) is launched as it is: {{.*}} [RC311]
#include <cstdio>

extern __shared__ unsigned All[];

__global__ void sums(unsigned *Out, unsigned *Blocks) {
  const unsigned Threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned T = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned Block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  All[T] = (Block * Threads + T) * 2654435761u >> (T & 15);
  __syncthreads();
  unsigned Sum = 0;
  for (unsigned I = 0; I <= T; ++I)
    Sum += All[I] * (blockIdx.x + 3 * blockIdx.y + 7 * blockIdx.z + 1);
  Out[Block * Threads + T] = Sum;
  if (T == Threads - 1)
    Blocks[Block] = Sum;
}

int main() {
  const dim3 Shapes[][2] = {{1, 1}, {37, 33}, {dim3(5, 3), dim3(4, 5)}, {dim3(3, 4, 5), dim3(2, 3, 7)}};
  for (auto [Grid, Block] : Shapes) {
    const unsigned Blocks = Grid.x * Grid.y * Grid.z, Threads = Block.x * Block.y * Block.z;
    const unsigned N = Blocks * Threads;
    unsigned *Out, *OfBlocks, *Host = new unsigned[N + Blocks];
    cudaMalloc(&Out, (N + Blocks) * sizeof(unsigned));
    OfBlocks = Out + N;
    sums<<<Grid, Block, Threads * sizeof(unsigned)>>>(Out, OfBlocks);
    cudaMemcpy(Host, Out, (N + Blocks) * sizeof(unsigned), cudaMemcpyDeviceToHost);
    unsigned long Sum = 0;
    for (unsigned I = 0; I != N + Blocks; ++I)
      Sum = Sum * 31 + Host[I];
    std::printf("%u: %lx %s\n", N, Sum, cudaGetErrorString(cudaGetLastError()));
    cudaFree(Out);
    delete[] Host;
  }
}
