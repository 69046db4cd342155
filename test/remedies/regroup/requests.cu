// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t
//
// #pragma reconverge regroup and the attribute: threads are sorted by the branch
// or the rounds of the loop, after -O3, and the program prints the same.
// RUN: %reconverge cc -Wall -Werror -DPLAIN -I %source/include %s -o plain 2>err
// RUN: count 0 <err
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: FileCheck %s <expected
// CHECK: looped {{[0-9a-f]+}}
// RUN: %reconverge cc -Wall -Werror -I %source/include %s -o app 2>err
// RUN: count 0 <err
// RUN: env RECONVERGE_DEVICE=cpu ./app >out
// RUN: diff expected out
//
// By how much of a key, 8 << bits bytes: a loop's rounds are 6 bits, an if's
// side one. What is not named is no key. And by which parameters.
// RUN: %reconverge cc -I %source/include --emit-device-bc %s -o app.bc
// RUN: llvm-dis app.bc -o - | grep -E 'reconverge-recipe' >recipes
// RUN: FileCheck %s --check-prefix=RECIPE <recipes
// RECIPE-DAG: "for 1 2147483648 {{.*}} scratch one 512 1 zeroed {{.*}} step _Z6loopedPjPKj$remedied
// RECIPE-DAG: "for 1 2147483648 {{.*}} scratch one 16 1 zeroed {{.*}} step _Z5sidedPjPKj$remedied
// RECIPE-DAG: "for 5000 2147483648 {{.*}} scratch one 1024 1 zeroed {{.*}} step _Z4bothPjPKj$remedied
// RECIPE-DAG: "for 1 2147483648 {{.*}} helper _Z5wholeIjEvPT_PKS0_$remedied$compose$before {{.*}} step _Z5wholeIjEvPT_PKS0_$remedied
// RECIPE-DAG: "for 4096 2147483648 {{.*}} step _Z6markedPjPKj$remedied
// RECIPE-DAG: "for 4096 2147483648 {{.*}} step _Z7inlinedPjPKj$remedied
// RECIPE-DAG: "for 4096 2147483648 {{.*}} scratch one 32 1 zeroed {{.*}} step _Z6partlyPjPKj$remedied
// RUN: not grep -E '_Z(7unasked|9forbidden)PjPKj.remedied' recipes
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./app 2>&1 >out | FileCheck %s --check-prefix=RAN
// RAN-DAG: both({{.*}}): 1 launches that the remedy is not for
// RAN-DAG: looped({{.*}}): 1 launches of
//
// What the source forbids is left alone by --regroup, too.
// RUN: %reconverge cc --regroup=least=1 -I %source/include %s -o all 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: warning: forbidden(unsigned int*, unsigned int const*) is launched as it is: requests.cu:{{[0-9]+}}: not regrouped: the source forbids it [RC606]
// RUN: env RECONVERGE_DEVICE=cpu ./all >out
// RUN: diff expected out
//
// What is asked for and cannot be is a warning.
// RUN: %reconverge cc -DREFUSED -I %source/include -c %s -o app.o 2>&1 | FileCheck %s --check-prefix=REFUSED
// What is gone, and words that there are not, are errors.
// RUN: not %reconverge cc -DGONE -I %source/include -c %s -o app.o 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: not %reconverge cc -DWRONG -I %source/include -c %s -o app.o 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not %reconverge cc -rdc=true -I %source/include %s -o app 2>&1 | FileCheck %s --check-prefix=RDC
// RDC: #pragma reconverge regroup: launches of relocatable device code cannot change
//
// `predict` forecasts its kernels as they are, or, in a program that is built,
// as they were built.
// RUN: %reconverge predict --device cpu -I %source/include %s >out 2>table
// RUN: diff expected out
// RUN: FileCheck %s --check-prefix=PREDICTED <table --implicit-check-not='[remedied]'
// PREDICTED: looped
// RUN: %reconverge predict --device cpu ./app >out 2>table
// RUN: diff expected out
// RUN: FileCheck %s --check-prefix=BUILT <table
// BUILT: looped [remedied]
//
// `optimize` tries what is asked for on the kernel as it is; here its own key has
// the same branches.
// RUN: %reconverge optimize --device cpu -DTWO -I %source/include %s -o best --no-cache --decisions d.json >out 2>table
// RUN: head -n2 expected | diff - out
// RUN: FileCheck %s --check-prefix=TRIED <table --implicit-check-not='[remedied]'
// TRIED: regroup (branch={{.*}}identical
// TRIED: looped
// TRIED: regroup (marked=1){{.*}}refused
// TRIED-NEXT: the same code as regroup (branch=
// RUN: env RECONVERGE_DEVICE=cpu ./best >out
// RUN: head -n2 expected | diff - out
#include <reconverge/attributes.cuh>

#include <cstdio>
#include <cuda_runtime.h>

#ifdef PLAIN
#undef RECONVERGE_REGROUP
#define RECONVERGE_REGROUP
#define REGROUP(WORDS)
#else
#define TEXT(X) _Pragma(#X)
#define REGROUP(WORDS) TEXT(reconverge regroup WORDS)
#endif

__device__ unsigned mix(unsigned X) {
  X ^= X >> 16; X *= 0x7feb352du; X ^= X >> 15; X *= 0x846ca68bu;
  return X ^ X >> 16;
}
__device__ unsigned number() { return blockIdx.x * blockDim.x + threadIdx.x; }
/// What no branch is in.
__device__ unsigned work(unsigned X) { return mix(mix(mix(mix(X) + 1) ^ 77) - X); }
/// A loop whose rounds are known before it.
__device__ unsigned walk(unsigned X, unsigned Rounds) {
  for (unsigned K = 0; K < Rounds; ++K)
    X = mix(mix(X + K) ^ K);
  return X;
}

__global__ void looped(unsigned *Out, const unsigned *__restrict__ In) {
  const unsigned I = number(), Rounds = In[I] % 32;
  unsigned X = I;
  if (In[I] & 64)
    X = work(X);
  REGROUP(least(1)) for (unsigned K = 0; K < Rounds; ++K)
    X = mix(mix(X + K) ^ K);
  Out[I] = X;
}

__global__ void sided(unsigned *Out, const unsigned *__restrict__ In) {
  const unsigned I = number(), Rounds = In[I] % 32;
  unsigned X = I;
#ifndef PLAIN
#pragma reconverge regroup least(1)
#endif
  if (In[I] & 64) {
    Out[I] = work(X) + work(X + 7) * work(X + 9);
    X = work(X + 1);
  }
  for (unsigned K = 0; K < Rounds; ++K)
    X = mix(mix(X + K) ^ K);
  Out[I + 4096] = X;
}

// Launches here are smaller than that.
__global__ void both(unsigned *Out, const unsigned *__restrict__ In) {
  const unsigned I = number(), Rounds = In[I] % 32;
  unsigned X = I, K = 0;
  REGROUP(least(5000)) if (In[I] & 64) {
    Out[I] = work(X) + work(X + 7) * work(X + 9);
    X = work(X + 1);
  }
  REGROUP() while (K < Rounds)
    X = mix(mix(X + 3) ^ K++);
  Out[I + 4096] = X;
}

// All of it, before a template.
#ifndef PLAIN
#pragma reconverge regroup locality(5) least(1)
#endif
template <class T>
__global__ __launch_bounds__(128) void
whole(T *Out, const T *__restrict__ In) {
  const unsigned I = number(), Rounds = In[I] % 32;
  unsigned X = I;
  if (In[I] & 64) {
    Out[I] = work(X) + work(X + 7) * work(X + 9);
    X = work(X + 1);
  }
  for (unsigned K = 0; K < Rounds; ++K)
    X = mix(mix(X + K) ^ K);
  Out[I + 4096] = X + In[In[I] % 4096];
}

RECONVERGE_REGROUP __global__ void marked(unsigned *Out, const unsigned *__restrict__ In) {
  const unsigned I = number();
  Out[I] = walk(I, In[I] % 32);
}

// What is inlined from here.
RECONVERGE_REGROUP __device__ unsigned markedWalk(unsigned X, unsigned Rounds) {
  for (unsigned K = 0; K < Rounds; ++K)
    X = mix(mix(X + K) ^ K);
  return X;
}
__global__ void inlined(unsigned *Out, const unsigned *__restrict__ In) {
  const unsigned I = number();
  unsigned X = I;
  if (In[I] & 64)
    Out[I + 4096] = work(X) + work(X + 7) * work(X + 9);
  Out[I] = markedWalk(X, In[I] % 32);
}

// Its loop is not to count, nor what decides whether it begins.
RECONVERGE_REGROUP __global__ void partly(unsigned *Out, const unsigned *__restrict__ In) {
  const unsigned I = number(), Rounds = In[I] % 32;
  unsigned X = I;
  if (In[I] & 64)
    Out[I + 4096] = work(X) + work(X + 7) * work(X + 9);
#pragma reconverge regroup off
#pragma unroll 1
  for (unsigned K = 0; K < Rounds; ++K)
    X = mix(mix(X + K) ^ K);
  Out[I] = X;
}

__global__ void unasked(unsigned *Out, const unsigned *__restrict__ In) {
  const unsigned I = number();
  Out[I] = walk(I, In[I] % 32);
}

RECONVERGE_NO_REGROUP __global__ void forbidden(unsigned *Out, const unsigned *__restrict__ In) {
  const unsigned I = number();
  Out[I] = walk(I, In[I] % 32);
}

#ifdef REFUSED
// REFUSED-DAG: warning: shared(unsigned int*) is launched as it is: {{.*}}not regrouped: {{.*}}shared memory{{.*}} [RC3
__global__ void shared(unsigned *Out) {
  __shared__ unsigned All[64];
  All[threadIdx.x] = Out[number()];
  __syncthreads();
#pragma reconverge regroup
  if (All[threadIdx.x ^ 1] & 1)
    Out[number()] = work(threadIdx.x);
}
// REFUSED-DAG: warning: uniform(unsigned int*, unsigned int, unsigned int const*): requests.cu:[[#@LINE+4]]: not regrouped by it: all lanes of a warp go the same way [RC607]
__global__ void uniform(unsigned *Out, unsigned N, const unsigned *__restrict__ In) {
  unsigned X = number();
#pragma reconverge regroup
  for (unsigned K = 0; K < N; ++K)
    X = mix(X + Out[K]);
#pragma reconverge regroup
  for (unsigned K = 0; K < In[number()]; ++K)
    X = mix(mix(X + K) ^ K);
  Out[number()] = X;
}
// REFUSED-DAG: warning: full({{.*}}): requests.cu:[[#@LINE+5]]: not regrouped by it: the other named branches take all bits of the key [RC608]
__global__ void full(unsigned *Out, const unsigned *__restrict__ In) {
  const unsigned A = In[number()] % 99, B = In[number()] / 99;
  unsigned X = number();
#pragma reconverge regroup
  for (unsigned K = 0; K < A; ++K)
    X = mix(X + K);
#pragma reconverge regroup
  for (unsigned K = 0; K < B; ++K)
    X = mix(mix(X + K) ^ K);
  Out[number()] = X;
}
// REFUSED-DAG: warning: written({{.*}}) is launched as it is: {{.*}}not regrouped: what decides is read where the kernel has written [RC611]
__global__ void written(unsigned *Out, const unsigned *In) {
  Out[number()] = 3;
#pragma reconverge regroup
  for (unsigned K = 0; K < In[number()]; ++K)
    Out[number()] += mix(K);
}
#endif

#ifdef GONE
__global__ void gone(unsigned *Out) {
// GONE: requests.cu:[[#@LINE+1]]: no loop is left of the statement after this pragma
#pragma reconverge regroup
  for (unsigned K = 0; K < 3; ++K)
    Out[number() + K] = K;
}
// GONE: requests.cu:[[#@LINE+1]]: no kernel is left of the statement after this pragma
#pragma reconverge regroup
__device__ unsigned none(unsigned X) { return X; }
#endif

#ifdef WRONG
// WRONG: [[#@LINE+1]]:37: error: there is no locality '17'; write one of 0 to 16
#pragma reconverge regroup locality(17)
__global__ void wrong(unsigned *Out) {
// WRONG: [[#@LINE+1]]:1: error: write #pragma reconverge <remedy>
#pragma reconverge regroup branch(3)
  if (Out[number()])
    ++*Out;
// WRONG: [[#@LINE+1]]:1: error: #pragma reconverge regroup must come right before one of these: if, switch, for, while, do, kernel
#pragma reconverge regroup
}
#endif

template <class K> static void run(const char *Name, K Kernel, const unsigned *In) {
  unsigned *Out;
  cudaMallocManaged(&Out, 4 * 8192);
  cudaMemset(Out, 0, 4 * 8192);
  Kernel<<<32, 128>>>(Out, In);
  cudaDeviceSynchronize();
  unsigned Sum = 0;
  for (unsigned I = 0; I < 8192; ++I)
    Sum = (Sum ^ Out[I]) * 16777619u;
  std::printf("%s %08x\n", Name, Sum);
}

int main() {
  unsigned *In, Seed = 1;
  cudaMallocManaged(&In, 4 * 4096);
  for (unsigned I = 0; I < 4096; ++I)
    In[I] = (Seed = Seed * 1664525u + 1013904223u) >> 8;
  run("looped", looped, In);
  run("whole", whole<unsigned>, In);
#ifndef TWO
  run("sided", sided, In);
  run("both", both, In);
  run("marked", marked, In);
  run("inlined", inlined, In);
  run("partly", partly, In);
  run("unasked", unasked, In);
  run("forbidden", forbidden, In);
#endif
}
