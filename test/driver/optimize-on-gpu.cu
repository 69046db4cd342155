// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// What `optimize` does on a GPU, played: the program's profile and the log of
// its trials are made up (Inputs/play_gpu.py); plan, nvcc's and clang's code,
// reruns, decisions, builds and whole times are the tool's own.
// RUN: %reconverge profile --device cpu --no-cache %s -o vm.json 2>table
// RUN: %reconverge optimize --device cpu --no-cache %s -o app --keep=kept \
// RUN:   -- %S/Inputs/play_gpu.py vm.json 2>&1 >out | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON <decisions.json

// CHECK-DAG: arms{{ +}}none{{ +}}-{{ +}}-{{ +}}1.201{{ +}}-{{ +}}-
// CHECK-DAG: loses{{ +}}none{{ +}}-{{ +}}-{{ +}}1.201{{ +}}-{{ +}}-
// CHECK-DAG: nvcc{{ +}}-{{ +}}1.200x{{ +}}1.001{{ +}}identical{{ +}}slower
// CHECK-DAG: +20.0 % over ours, another is better
// CHECK-DAG: clang{{ +}}-{{ +}}1.091x{{ +}}1.101{{ +}}identical{{ +}}slower
// CHECK-DAG: +9.1 % over ours, another is better
// CHECK-DAG: meld{{ +}}1.300x{{ +}}1.250x{{ +}}0.801{{ +}}identical{{ +}}kept
// CHECK-DAG: nvcc{{ +}}-{{ +}}1.200x{{ +}}1.001{{ +}}identical{{ +}}kept
// CHECK-DAG: -9.1 %, not faster beyond the noise
// CHECK-DAG: faults{{ +}}none{{ +}}-{{ +}}-{{ +}}1.001{{ +}}-{{ +}}kept
// CHECK-DAG: faulted
// CHECK-DAG: an illegal address
// CHECK-DAG: uniform{{ +}}none{{ +}}-{{ +}}-{{ +}}1.001{{ +}}-{{ +}}-
// CHECK-DAG: nvcc{{ +}}-{{ +}}1.111x{{ +}}0.901{{ +}}identical{{ +}}slower
// CHECK-DAG: +11.1 % over ours, another is better
// CHECK-DAG: clang{{ +}}-{{ +}}1.250x{{ +}}0.801{{ +}}identical{{ +}}kept
// CHECK: kept: {{meld|nvcc|clang}}
// CHECK: predicted: time of the original over the candidate's
// CHECK-NOT: Only a GPU can confirm it
// CHECK: whole program: {{[0-9.]+}} s; unmodified, built by us: {{[0-9.]+}} s, by nvcc: {{[0-9.]+}} s, by clang: {{[0-9.]+}} s
// CHECK-NEXT: (medians of 5 runs each

// JSON: "measured": true
// JSON: "whole": {"runs":5,"final":{{.*}},"nvcc":{{[0-9]*[1-9.][0-9.e-]*}},"clang":{{[0-9]*[1-9.][0-9.e-]*}}}

// The final program has nothing of ours, and each kernel as it was decided.
// RUN: not grep -c CNVERGE1 app
// RUN: llvm-readelf -d app | FileCheck %s --check-prefix=NEEDED
// NEEDED-NOT: cudart
// RUN: %reconverge cc --runtime=nvidia --device-code=nvcc --keep=nvcc %s -o n
// RUN: %reconverge cc --runtime=nvidia --device-code=clang --keep=clang %s -o l
// RUN: %reconverge cc --runtime=nvidia --meld --keep=meld %s -o m
// RUN: %reconverge cc --runtime=nvidia --keep=ours %s -o o
// RUN: %reconverge cc --runtime=nvidia --decisions decisions.json \
// RUN:   --keep=final %s -o f
// RUN: cmp f app
// RUN: python3 %S/Inputs/same_code.py final/optimize-on-gpu.cubin \
// RUN:   '_Z4armsPf:$remedied=meld/optimize-on-gpu.cubin' \
// RUN:   _Z4armsPf=ours/optimize-on-gpu.cubin \
// RUN:   _Z5losesPf=nvcc/optimize-on-gpu.cubin \
// RUN:   _Z6faultsPf=ours/optimize-on-gpu.cubin \
// RUN:   _Z7uniformPf=clang/optimize-on-gpu.cubin

// A program without its sources: no code by others, and that is said.
// RUN: %reconverge cc %s -o built
// RUN: %reconverge optimize --device cpu --no-cache ./built \
// RUN:   --decisions b.json -- %S/Inputs/play_gpu.py vm.json 2>&1 >out \
// RUN:   | FileCheck %s --check-prefix=BUILT
// BUILT: note: the program was given without its sources
// BUILT-NOT: {{(nvcc|clang) +-}}

// nvcc refuses a source: no code by it, and the rest goes on. So it does if
// clang's program fails.
// RUN: %reconverge optimize --device cpu --no-cache -DREFUSED %s -o r \
// RUN:   --decisions r.json -- %S/Inputs/play_gpu.py vm.json 2>&1 >out \
// RUN:   | FileCheck %s --check-prefix=REFUSED
// REFUSED: note: nvcc's code of {{.*}}optimize-on-gpu.cu is no candidate:
// REFUSED-NOT: {{nvcc +-}}
// REFUSED: {{clang +- +1.091x}}
// REFUSED: kept: meld for arms
// REFUSED: note: the whole program by nvcc is not compared: nvcc failed
// REFUSED: note: no whole time: clang-program returned 3
// REFUSED: built by us: {{[0-9.]+}} s, by nvcc: no time, by clang: no time

// A static kernel has another name in nvcc's code: that of the others is tried.
// RUN: %reconverge profile --device cpu --no-cache -DHIDDEN %s -o hidden.json \
// RUN:   2>table
// RUN: %reconverge optimize --device cpu --no-cache -DHIDDEN %s -o h \
// RUN:   --decisions h.json -- %S/Inputs/play_gpu.py hidden.json 2>&1 >out \
// RUN:   | FileCheck %s --check-prefix=HIDDEN
// HIDDEN-NOT: is no candidate
// HIDDEN-DAG: nvcc{{ +}}-{{ +}}1.200x{{ +}}1.001{{ +}}identical{{ +}}kept

#include <cstdio>
#include <cstring>
#include <unistd.h>

#if defined(REFUSED) && !defined(__clang__)
#error not for nvcc
#endif

__device__ float work(float X, int I) {
// What a pragma says is in our code; others' code goes with that all the same.
#pragma reconverge remap off
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
#ifdef HIDDEN
static __global__ void isAsked() {}
#endif

int main(int Count, char **Arguments) {
#ifdef REFUSED
  if (strstr(Arguments[0], "clang-program"))
    return 3;
#endif
  if (Count == 3) {
    execlp("python3", "python3", Arguments[1], Arguments[2], nullptr);
    return 1;
  }
#ifdef HIDDEN
  cudaFuncAttributes Attributes;
  if (cudaFuncGetAttributes(&Attributes, isAsked))
    return 4;
#endif
  float *X;
  cudaMalloc(&X, 32 * sizeof(float));
  cudaMemset(X, 0, 32 * sizeof(float));
  arms<<<1, 32>>>(X);
  loses<<<1, 32>>>(X);
  faults<<<1, 32>>>(X);
  uniform<<<1, 32>>>(X);
  return cudaDeviceSynchronize() != cudaSuccess;
}
