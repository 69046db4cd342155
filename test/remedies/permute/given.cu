// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// A program that runs by orders which predict has written: of threads, of fewer
// threads in another launch, and of blocks. The first line is what it computes,
// the others are in which order it came to it.
// RUN: %reconverge cc %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=threads=1 ./plain | FileCheck %s --check-prefix=PLAIN
// PLAIN: 37155 0
// PLAIN-NEXT: 0 1 2 3 4 5 6 7
// RUN: %reconverge predict --groupings --orders=orders ./plain 2>&1 | FileCheck %s --check-prefix=PREDICTED
// PREDICTED: Greedy-Max
// RUN: ls orders orders/sorting | FileCheck %s --check-prefix=FILES
// FILES: greedy
// FILES-NEXT: greedy-max
// FILES-NEXT: longest-blocks-first
// FILES-NEXT: sorting
// FILES-NEXT: times
// FILES: _Z4workPjS_.256.order
// FILES-NEXT: _Z4workPjS_.64.order
// RUN: FileCheck %s --check-prefix=TIMES <orders/times
// TIMES: _Z4workPjS_ 256 as-launched [[#%u,WEIGHTED:]] [[#%u,SCHEDULED:]]
// TIMES-NEXT: _Z4workPjS_ 256 sorting
// TIMES-NEXT: _Z4workPjS_ 256 greedy
// TIMES-NEXT: _Z4workPjS_ 256 greedy-max
// TIMES-NEXT: _Z4workPjS_ 256 longest-blocks-first [[#WEIGHTED]] [[#SCHEDULED]]
// TIMES-NEXT: _Z4workPjS_ 64 as-launched

// Threads that do the same come one after the other; by Greedy-Max first those
// that do most.
// RUN: %reconverge cc --permute=order=given %s -o given
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=threads=1 RECONVERGE_ORDERS=orders/sorting ./given | FileCheck %s --check-prefix=SORTED
// SORTED: 37155 0
// SORTED-NEXT: 0 8 16 24 32 40 48 56
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=threads=1 RECONVERGE_ORDERS=orders/greedy-max ./given | FileCheck %s --check-prefix=MAX
// MAX: 37155 0
// MAX-NEXT: 7 15 23 31 39 47 55 63

// RUN: %reconverge cc '--permute=order=given;unit=block' %s -o blocks
// RUN: mkdir by-block
// RUN: python3 -c "import struct; open('by-block/_Z4workPjS_.4.order', 'wb').write(struct.pack('<4I', 2, 0, 3, 1)); open('by-block/_Z4workPjS_.1.order', 'wb').write(bytes(4))"
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=threads=1 RECONVERGE_ORDERS=by-block ./blocks | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: 37155 0
// BLOCKS-NEXT: 128 129 130 131 132 133 134 135

// What is no order of the launch is named, and the launch fails.
// RUN: not env RECONVERGE_DEVICE=cpu ./given 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: reconverge: _Z4workPjS_ is to run in an order that is given, and RECONVERGE_ORDERS names no folder of orders
// NONE-NOT: reconverge:
// NONE: cudaErrorInvalidValue
// RUN: not env RECONVERGE_DEVICE=cpu RECONVERGE_VM=threads=1 RECONVERGE_ORDERS=nowhere ./given 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: reconverge: nowhere/_Z4workPjS_.256.order: there is no such order
// RUN: mkdir short
// RUN: python3 -c "open('short/_Z4workPjS_.256.order', 'wb').write(bytes(1020))"
// RUN: not env RECONVERGE_DEVICE=cpu RECONVERGE_VM=threads=1 RECONVERGE_ORDERS=short ./given 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: 256.order: no order: of 256 it has 1024 bytes
// RUN: mkdir twice
// RUN: python3 -c "open('twice/_Z4workPjS_.256.order', 'wb').write(bytes(1024))"
// RUN: not env RECONVERGE_DEVICE=cpu RECONVERGE_VM=threads=1 RECONVERGE_ORDERS=twice ./given 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 256.order: no order: at place 1 is 0, which came before
// RUN: mkdir beyond
// RUN: python3 -c "open('beyond/_Z4workPjS_.256.order', 'wb').write(b'\xff' * 1024)"
// RUN: not env RECONVERGE_DEVICE=cpu RECONVERGE_VM=threads=1 RECONVERGE_ORDERS=beyond ./given 2>&1 | FileCheck %s --check-prefix=BEYOND
// BEYOND: 256.order: no order: at place 0 is 4294967295, which the launch has not

// RUN: not %reconverge predict --orders=orders --device gpu ./plain 2>&1 | FileCheck %s --check-prefix=GPU
// GPU: --orders: a GPU does not say what all threads do
// RUN: not %reconverge predict --orders=short/_Z4workPjS_.256.order ./plain 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: --orders={{.*}}256.order: Not a directory

#include <cstdio>
#include <cuda_runtime.h>

// Thread I goes round I % 8 times; Turn: which thread came when.
__global__ void work(unsigned *Sum, unsigned *Turn) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned Rounds = 0;
  for (unsigned R = 0; R < I % 8; ++R)
    Rounds += R * I % 7 + Sum[1];
  Turn[atomicAdd(Sum + 2, 1)] = I;
  atomicAdd(Sum, Rounds + I);
}

int main() {
  unsigned *Sum, *Turn;
  cudaMallocManaged(&Sum, 3 * sizeof(unsigned));
  cudaMallocManaged(&Turn, 512 * sizeof(unsigned));
  for (int I = 0; I != 3; ++I)
    Sum[I] = 0;
  work<<<4, 64>>>(Sum, Turn);
  work<<<1, 64>>>(Sum, Turn);
  const cudaError_t Error = cudaDeviceSynchronize();
  const cudaError_t Last = cudaGetLastError();
  if (Error || Last) {
    std::puts(cudaGetErrorName(Last ? Last : Error));
    return 1;
  }
  std::printf("%u %u\n", Sum[0], Sum[1]);
  for (int I = 0; I != 8; ++I)
    std::printf("%u ", Turn[I]);
  std::puts("");
  return 0;
}
