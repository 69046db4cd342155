// -fopenmp for host code, as nvcc passes it on: clang's code runs over LLVM's
// runtime whichever of them the link line names, and the device's half sees the
// macro as well.
//
// REQUIRES: reconverge, openmp
// RUN: %clangxx -Xcompiler -fopenmp %s -lgomp -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s
// CHECK: 4 threads, numbers 6, counted 128, last 198

// Without the flag the header is there all the same.
// RUN: echo '#include <omp.h>' >%t.cu && echo '__global__ void k() {}' >>%t.cu
// RUN: %clangxx -fsyntax-only %t.cu

#ifndef _OPENMP
#error the macro is missing
#endif
#include <cstdio>
#include <omp.h>

__global__ void count(int *to) { atomicAdd(to, 1); }

int main() {
  int *counted, threads = 0, numbers = 0, squares[100];
  cudaMallocManaged(&counted, sizeof(int));
  *counted = 0;
#pragma omp parallel num_threads(4) reduction(+ : numbers)
  {
    numbers += omp_get_thread_num();
#pragma omp critical
    threads = omp_get_num_threads();
    count<<<1, 32>>>(counted);
  }
  cudaDeviceSynchronize();
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 100; ++i)
    squares[i] = 2 * i;
  printf("%d threads, numbers %d, counted %d, last %d\n", threads, numbers,
         *counted, squares[99]);
}
