// Under test the device says that it has few multiprocessors, so that grids made
// for all of them are small. Whatever it says, a cooperative launch may have as
// many blocks as an H200 holds: 132 times two of 1024 threads.
//
// REQUIRES: reconverge
// RUN: %reconverge cc %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s --check-prefix=PLAIN
// RUN: %reconverge test -- %t 2>&1 | FileCheck %s --check-prefix=TEST
// RUN: env RECONVERGE_VM=multiprocessors=20 %reconverge test -- %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SAID
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=multiprocessors=133 not %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MANY
//
// PLAIN: 132 132, 264 blocks: no error
// TEST: 8 8, 264 blocks: no error
// SAID: 20 20, 264 blocks: no error
// MANY: multiprocessors is '133'
// MANY-NEXT: multiprocessors wants a whole number from 1 to 132.

#include <cooperative_groups.h>
#include <cstdio>

__global__ void meet() { cooperative_groups::this_grid().sync(); }

int main() {
  cudaDeviceProp P;
  if (cudaGetDeviceProperties(&P, 0))
    return 1;
  int Attribute = 0;
  cudaDeviceGetAttribute(&Attribute, cudaDevAttrMultiProcessorCount, 0);
  cudaLaunchCooperativeKernel(meet, 264, 1024, nullptr, 0, nullptr);
  std::printf("%d %d, 264 blocks: %s\n", P.multiProcessorCount, Attribute,
              cudaGetErrorString(cudaDeviceSynchronize()));
}
