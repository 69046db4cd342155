// REQUIRES: reconverge

// The device library is found without being told where it is, behind all other
// folders; by nvcc, too, where it compiles for us.
// RUN: rm -rf %t && mkdir -p %t/mine/reconverge
// RUN: %reconverge cc -O2 -std=c++17 %s -o %t/app
// RUN: env RECONVERGE_DEVICE=cpu %t/app | FileCheck %s
// CHECK: 3 of 1000, in order
// RUN: echo '#include <reconverge/reconverge.cuh>' >%t/nvccs.cu
// RUN: echo '__global__ void k(int *a) { *a = RECONVERGE_VERSION; }' >>%t/nvccs.cu
// RUN: %reconverge cc -O2 -std=c++17 --device-code=nvcc -c %t/nvccs.cu -o %t/nvccs.o
// RUN: echo '#error mine comes first' >%t/mine/reconverge/version.cuh
// RUN: echo '#include <reconverge/version.cuh>' >%t/other.cu
// RUN: not %reconverge cc -I %t/mine -c %t/other.cu -o %t/other.o 2>&1 | FileCheck %s --check-prefix=MINE
// MINE: mine comes first
#include <cstdio>
#include <reconverge/device/regroup.cuh>

int main() {
  const int n = 1000;
  unsigned char host[n], *keys;
  int ids[n], *order;
  for (int i = 0; i < n; ++i)
    host[i] = i % 400 == 7 ? 0 : 1;
  cudaMalloc(&keys, n);
  cudaMalloc(&order, sizeof ids);
  cudaMemcpy(keys, host, n, cudaMemcpyHostToDevice);
  size_t bytes = 0;
  void *temp = nullptr;
  reconverge::regroup(nullptr, bytes, keys, 1, n, {order}, 0);
  cudaMalloc(&temp, bytes);
  reconverge::regroup(temp, bytes, keys, 1, n, {order}, 0);
  cudaMemcpy(ids, order, sizeof ids, cudaMemcpyDeviceToHost);
  const bool right = ids[0] == 7 && ids[1] == 407 && ids[2] == 807 && ids[3] == 0;
  printf("3 of %d, %s order\n", n, right ? "in" : "out of");
}
