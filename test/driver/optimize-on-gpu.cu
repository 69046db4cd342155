// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// What `optimize` does on a GPU, played: the program's profile and the log of
// its trials are made up (Inputs/play_gpu.py); plan, nvcc's code, reruns,
// decisions, builds and whole times are the tool's own.
// RUN: %reconverge profile --device cpu --no-cache %s -o vm.json 2>table
// RUN: %reconverge optimize --device cpu --no-cache %s -o app --keep=kept \
// RUN:   -- %S/Inputs/play_gpu.py vm.json 2>&1 >out | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON <decisions.json

// CHECK-DAG: arms{{ +}}none{{ +}}-{{ +}}-{{ +}}1.201{{ +}}-{{ +}}-
// CHECK-DAG: loses{{ +}}none{{ +}}-{{ +}}-{{ +}}1.201{{ +}}-{{ +}}-
// CHECK-DAG: nvcc{{ +}}-{{ +}}1.200x{{ +}}1.001{{ +}}identical{{ +}}slower
// CHECK-DAG: +20.0 % over ours, another is better
// CHECK-DAG: meld{{ +}}1.300x{{ +}}1.250x{{ +}}0.801{{ +}}identical{{ +}}kept
// CHECK-DAG: nvcc{{ +}}-{{ +}}1.200x{{ +}}1.001{{ +}}identical{{ +}}kept
// CHECK-DAG: -9.1 %, not faster beyond the noise
// CHECK-DAG: faults{{ +}}none{{ +}}-{{ +}}-{{ +}}1.001{{ +}}-{{ +}}kept
// CHECK-DAG: faulted
// CHECK-DAG: an illegal address
// CHECK-DAG: uniform{{ +}}none{{ +}}-{{ +}}-{{ +}}1.001{{ +}}-{{ +}}-
// CHECK-DAG: nvcc{{ +}}-{{ +}}1.111x{{ +}}0.901{{ +}}identical{{ +}}kept
// CHECK: kept: {{meld|nvcc}}
// CHECK: predicted: issue slots of the original over the candidate's
// CHECK-NOT: Only a GPU can confirm it
// CHECK: whole program: {{[0-9.]+}} s; unmodified, built by us: {{[0-9.]+}} s, by nvcc: {{[0-9.]+}} s (medians of 5 runs

// JSON: "measured": true
// JSON: "whole": {"runs":5,"final":

// The final program has nothing of ours, and each kernel as it was decided.
// RUN: not grep -c CNVERGE1 app
// RUN: llvm-readelf -d app | FileCheck %s --check-prefix=NEEDED
// NEEDED-NOT: cudart
// RUN: %reconverge cc --runtime=nvidia --device-code=nvcc --keep=nvcc %s -o n
// RUN: %reconverge cc --runtime=nvidia --meld --keep=meld %s -o m
// RUN: %reconverge cc --runtime=nvidia --keep=ours %s -o o
// RUN: %reconverge cc --runtime=nvidia --decisions decisions.json \
// RUN:   --keep=final %s -o f
// RUN: cmp f app
// RUN: python3 %S/Inputs/same_code.py final/optimize-on-gpu.cubin \
// RUN:   _Z4armsPf=meld/optimize-on-gpu.cubin \
// RUN:   _Z5losesPf=nvcc/optimize-on-gpu.cubin \
// RUN:   _Z6faultsPf=ours/optimize-on-gpu.cubin \
// RUN:   _Z7uniformPf=nvcc/optimize-on-gpu.cubin

// A program without its sources: no code by nvcc, and that is said.
// RUN: %reconverge cc %s -o built
// RUN: %reconverge optimize --device cpu --no-cache ./built \
// RUN:   --decisions b.json -- %S/Inputs/play_gpu.py vm.json 2>&1 >out \
// RUN:   | FileCheck %s --check-prefix=BUILT
// BUILT: note: the program was given without its sources
// BUILT-NOT: {{nvcc +-}}

// nvcc refuses a source: likewise, and the rest goes on.
// RUN: %reconverge optimize --device cpu --no-cache -DREFUSED %s \
// RUN:   --decisions r.json -- %S/Inputs/play_gpu.py vm.json 2>&1 >out \
// RUN:   | FileCheck %s --check-prefix=REFUSED
// REFUSED: note: nvcc's code of {{.*}}optimize-on-gpu.cu is no candidate:
// REFUSED: kept: meld for arms

#include <cstdio>
#include <unistd.h>

#if defined(REFUSED) && !defined(__clang__)
#error not for nvcc
#endif

__device__ float work(float X, int I) {
  if (I % 2)
    return sqrtf(X + 4) / (X + 3);
  return sqrtf(X * 2 + 9) / (X + 5);
}
__global__ void arms(float *X) {
  X[threadIdx.x] = work(X[threadIdx.x], threadIdx.x);
}
__global__ void loses(float *X) {
  X[threadIdx.x] = work(X[threadIdx.x] + 1, threadIdx.x);
}
__global__ void faults(float *X) {
  X[threadIdx.x] = work(X[threadIdx.x] + 2, threadIdx.x);
}
__global__ void uniform(float *X) { X[threadIdx.x] += 1; }

int main(int Count, char **Arguments) {
  if (Count == 3) {
    execlp("python3", "python3", Arguments[1], Arguments[2], nullptr);
    return 1;
  }
  float *X;
  cudaMalloc(&X, 32 * sizeof(float));
  cudaMemset(X, 0, 32 * sizeof(float));
  arms<<<1, 32>>>(X);
  loses<<<1, 32>>>(X);
  faults<<<1, 32>>>(X);
  uniform<<<1, 32>>>(X);
  return cudaDeviceSynchronize() != cudaSuccess;
}
