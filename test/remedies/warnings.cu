// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: reconverge
//
// Who has every kernel collected hears of those that are not: each kernel once,
// however many instances of it there are, and the toolkit's in one line.
// RUN: %reconverge cc --collect %s -o %t 2>%t.err
// RUN: FileCheck %s <%t.err
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s --check-prefix=OUT
// CHECK-NOT: warning
// CHECK-DAG: warning: void tied<1>(int*) (and 2 more of its instances) is launched as it is: warnings.cu:[[#@LINE+16]]: not collected: it uses shared memory [RC311]
// CHECK-DAG: warning: even(int*) is launched as it is: warnings.cu:{{[0-9]+}}: not collected: no branch on data splits its threads into paths [RC501]
// CHECK-DAG: warning: {{[2-9]|1[0-9]}} kernels of the CUDA toolkit's headers are launched as they are ({{.*}}RC3{{[0-9]+}} in {{[1-9]}}{{.*}}); -Rpass-missed=reconverge-collect says where and why
// CHECK-NOT: warning
//
// Remarks have all of it, and what was done.
// RUN: %reconverge cc --collect -Rpass=reconverge-collect -Rpass-missed=reconverge-collect --emit-ptx %s -o %t.ptx 2>&1 | FileCheck %s --check-prefix=REMARKS
// REMARKS-DAG: warnings.cu:[[#@LINE+16]]:{{.*}} remark: collected: {{.*}} [-Rpass=reconverge-collect]
// REMARKS-DAG: warnings.cu:[[#@LINE+8]]:{{.*}} remark: not collected: it uses shared memory [RC311] [-Rpass-missed=reconverge-collect]
// REMARKS-DAG: cub/{{.*}}.cuh:{{.*}} remark: not collected: {{.*}} [-Rpass-missed=reconverge-collect]
#include <cub/device/device_reduce.cuh>

#include <cstdio>

template <int K> __global__ void tied(int *Out) {
  __shared__ int Sum[32];
  Sum[threadIdx.x % 32] = K;
  __syncthreads();
  Out[threadIdx.x] = Sum[31 - threadIdx.x % 32];
}

__global__ void sorted(const int *In, int *Out) {
  int X = In[threadIdx.x];
  if (X % 3)
    for (int K = 0; K < 50; ++K) X = X * 5 ^ K;
  else
    for (int K = 0; K < 60; ++K) X = X * 3 + (K ^ X);
  Out[threadIdx.x] = X;
}

__global__ void even(int *Out) { Out[threadIdx.x] = 2 * threadIdx.x; }

int main() {
  int *In, *Out;
  cudaMallocManaged(&In, 64 * sizeof(int));
  cudaMallocManaged(&Out, 64 * sizeof(int));
  for (int I = 0; I < 64; ++I)
    In[I] = I;
  tied<1><<<1, 32>>>(Out);
  tied<2><<<1, 32>>>(Out);
  tied<3><<<1, 32>>>(Out);
  even<<<1, 32>>>(Out);
  sorted<<<1, 64>>>(In, Out);
  size_t Bytes = 0;
  cub::DeviceReduce::Sum(nullptr, Bytes, In, Out, 64);
  void *Scratch;
  cudaMalloc(&Scratch, Bytes);
  cub::DeviceReduce::Sum(Scratch, Bytes, In, Out, 64);
  // OUT: sum 2016 cudaSuccess
  cudaError_t Ended = cudaDeviceSynchronize();
  std::printf("sum %d %s\n", Out[0], cudaGetErrorName(Ended));
}
