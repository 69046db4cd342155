// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// The program's own input, output and exit code are those of its first run;
// what is tried shows in the table and in the file. That run takes a file away
// and adds to another; all others find the first, and add to nothing. Of input
// without an end, what it asks for is read.
// RUN: touch once && echo run >expected
// RUN: sh -c 'yes 42 | %reconverge optimize %s --no-cache -o app -- once >out \
// RUN:          2>table'
// RUN: not ls once
// RUN: diff runs expected
// RUN: FileCheck %s --check-prefix=OUT <out
// RUN: FileCheck %s <table
// RUN: FileCheck %s --check-prefix=JSON <decisions.json

// The final program computes the same, with the melded kernel in it.
// RUN: sh -c 'echo 42 | RECONVERGE_DEVICE=cpu ./app >again'
// RUN: diff out again
// RUN: %reconverge cc %s -o other --decisions decisions.json
// RUN: sh -c 'echo 42 | RECONVERGE_DEVICE=cpu ./other >again'
// RUN: diff out again

// What depends on the order of threads is the user's to allow.
// RUN: sh -c 'echo 42 | %reconverge optimize %s --no-cache --allow-reorder \
// RUN:          --decisions d2.json' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ALLOW

// Decisions hold wherever the source lies, and however it is named.
// RUN: mkdir there && cp %s there/optimize.cu
// RUN: %reconverge cc -c there/../there/optimize.cu --decisions decisions.json \
// RUN:   -o moved.o 2>&1 | count 0
// RUN: grep -q 'armsPfi$remedied' moved.o

// A link has the kernels of its objects as they were built, so it misses none. A
// program of sources alone does.
// RUN: %reconverge cc moved.o --decisions decisions.json -o linked 2>&1 | count 0
// RUN: echo 'int main() {}' >none.cu
// RUN: %reconverge cc none.cu --decisions decisions.json -o none 2>&1 \
// RUN:   | FileCheck %s --check-prefix=GONE

// A kernel that has changed since is left alone, and that is said.
// RUN: %reconverge cc -DCHANGED %s -o changed --decisions decisions.json 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STALE

// A program that fails: nothing is tried, its exit code comes through.
// RUN: rm decisions.json
// RUN: sh -c 'echo 7 | %reconverge optimize %s --no-cache -o x >/dev/null; \
// RUN:          test $? = 7' 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: not ls x decisions.json

// One that returns another code than 0 when all is well.
// RUN: sh -c 'echo 7 | %reconverge optimize %s --no-cache --exit-code=7 \
// RUN:          --launches 1' 2>&1 | FileCheck %s --check-prefix=SEVEN
// RUN: rm decisions.json
// RUN: sh -c 'echo 42 | %reconverge optimize %s --no-cache --exit-code=7 \
// RUN:          >/dev/null; test $? = 1' 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not ls decisions.json

// Bad input.
// RUN: not %reconverge optimize 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not %reconverge optimize other -o x 2>&1 | FileCheck %s --check-prefix=PROGRAM
// RUN: not %reconverge optimize %s -o no/such/x 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not %reconverge optimize --launches many %s 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: echo '{"schema": "reconverge-decisions/1"}' >bad.json
// RUN: not %reconverge optimize --exit-code=256 %s 2>&1 | FileCheck %s --check-prefix=CODE
// RUN: not %reconverge cc %s --decisions bad.json -o x 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not %reconverge cc %s --meld --decisions bad.json -o x 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not ls x

// NOTHING: optimize: no input
// PROGRAM: optimize: other is a program, of which -o cannot build another
// FOLDER: cannot write no/such/x: there is no folder no/such
// WORD: 'many' is no value of --launches
// CODE: '256' is no exit code
// BAD: bad.json: missing value at (root).program
// BOTH: --meld and --decisions say each what to do to kernels
// FAILS: optimize.cu returned 7; nothing was tried
// FAILS-NEXT: If it returns that when all is well, say --exit-code=7.
// SEVEN: kept: meld for arms
// ZERO: optimize.cu returned 0; nothing was tried

#include <cassert>
#include <cstdio>

// CHECK: reconverge: the program runs again{{; what it writes|in a copy}}
// CHECK: reconverge: trying {{[0-9]+}} candidates on 3 kernels
// CHECK: What was tried on {{.*}}optimize.cu

// Enough work for a branch to matter beside memory.
static __device__ float mixed(float X, float A, float B) {
#pragma unroll
  for (int Round = 0; Round < 4; ++Round)
    X = sqrtf(X + A) / (X + B);
  return X;
}

// CHECK-DAG: arms{{ +}}meld{{ +}}1.{{[0-9]+}}x{{ +}}-{{ +}}identical{{ +}}kept
// JSON: "name": "_Z4armsPfi"
// JSON: "keep": {"remedy":"meld","parameters":""}
// JSON: "measured": false
__global__ void arms(float *X, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  float Y = X[I];
  // Neither happens, so its launches are tried.
  assert(N > 0);
  if (Y < 0)
    printf("a number below 0\n");
#ifdef CHANGED
  Y += 1;
#endif
  if (I % 2)
    X[I] = mixed(Y, 4, 3);
  else
    X[I] = mixed(Y * 2, 9, 5);
}

// A float tally: its last bits hang on the order.
// CHECK-DAG: tally{{ +}}meld{{.*}}up to order{{ +}}unproved
// ALLOW: tally{{ +}}meld{{.*}}up to order{{ +}}kept
__global__ void tally(float *Sum, const float *X, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  if (I % 3 == 0)
    atomicAdd(Sum, mixed(X[I], 4, 3) > 0 ? X[I] * 1.1f : 0);
  else
    atomicAdd(Sum, mixed(X[I], 9, 5) > 0 ? X[I] * 0.7f : 1);
}

// CHECK-DAG: uniform{{ +}}none{{.*}}hardly any divergence
__global__ void uniform(float *X, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    X[I] = X[I] * 2 + 1;
}

// CHECK-DAG: prints{{ +}}meld{{.*}}untried
// CHECK-DAG: the launch cannot be run again: it prints
__global__ void prints(int N) {
  if (threadIdx.x & 1)
    printf("odd %d\n", N);
  else
    printf("even %d\n", N + 1);
}

// CHECK: kept: meld for arms
// CHECK-NOT: kept: meld for tally
// ALLOW: kept: meld for tally
// GONE: warning: decisions.json: 1 of 1 decision is not used; no such kernel: arms
// STALE: warning: decisions.json: 1 of 1 decision is not used; code that has changed since: arms

// OUT: even 6
// OUT: odd 5
// OUT: 42 read, arms 0.556344
int main(int Count, char **Words) {
  if (Count > 1) {
    FILE *Once = fopen(Words[1], "r");
    if (!Once || remove(Words[1]))
      return 4;
    fclose(Once);
    FILE *Runs = fopen("runs", "a");
    fputs("run\n", Runs);
    fclose(Runs);
  }
  constexpr int N = 10016;
  float *X, *Sum;
  cudaMalloc(&X, N * sizeof(float));
  cudaMalloc(&Sum, sizeof(float));
  cudaMemset(X, 0, N * sizeof(float));
  cudaMemset(Sum, 0, sizeof(float));
  arms<<<N / 256 + 1, 256>>>(X, N);
  float First = 0;
  cudaMemcpy(&First, X, sizeof(float), cudaMemcpyDeviceToHost);
  for (int Round = 0; Round < 3; ++Round) {
    uniform<<<N / 32, 32>>>(X, N);
    tally<<<N / 32, 32>>>(Sum, X, N);
  }
  prints<<<1, 4>>>(5);
  cudaDeviceSynchronize();
  int Read = 0;
  if (scanf("%d", &Read) != 1)
    return 3;
  printf("%d read, arms %g\n", Read, First);
  return Read == 42 ? 0 : Read;
}
