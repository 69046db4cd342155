// REQUIRES: reconverge
// RUN: %reconverge cc -O3 -g %s -o %t
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir

// A kernel with a mistake of each kind, and what `reconverge test` makes of it:
// the exit code, the lines and the threads.

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

constexpr int N = 64;

// RUN: env COLUMNS=300 %reconverge test --check=all -- %t clean > out.txt 2> clean.txt
// RUN: FileCheck %s --check-prefix=CLEAN < clean.txt
// RUN: FileCheck %s --check-prefix=OUTPUT --implicit-check-not={{.}} < out.txt
// CLEAN: reconverge: tested for bounds, sync, init, races: 1 process, 1 kernel,
// CLEAN-SAME: 1 launch: no finding; the command returned 0
// OUTPUT: clean ends
__global__ void clean(int *Data, const int *Zeros) {
  __shared__ int Tile[N];
  Tile[threadIdx.x] = Zeros[threadIdx.x];
  __syncthreads();
  int Sum = Tile[N - 1 - threadIdx.x];
  Sum += __shfl_xor_sync(~0u, Sum, 1);
  Data[threadIdx.x] = Sum;
}

// RUN: sh -c 'COLUMNS=300 %reconverge test -- %t overrun 2> overrun.txt; test $? = 10'
// RUN: FileCheck %s --check-prefix=PAST < overrun.txt
// PAST: bounds: overrun: an illegal write of 4 bytes at address
// PAST-SAME: 0 bytes past the end of an allocation of 256 bytes
// PAST-NEXT: at {{.*}}planted.cu:[[#@LINE+3]] by thread (63,0,0) of block (0,0,0)
// PAST: tested for bounds, sync: {{.*}}: found: bounds (1); the command returned 1
__global__ void overrun(int *Data) {
  Data[threadIdx.x + 1] = 1;
}

// Without the check a GPU lets it pass, and so do we.
// RUN: env COLUMNS=300 %reconverge test --check=none -- %t overrun 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SLACK
// SLACK: overrun ends
// SLACK: tested for faults: {{.*}}: no finding; the command returned 0

// RUN: sh -c 'COLUMNS=300 %reconverge test --check=races -- %t race 2> race.txt; test $? = 11'
// RUN: FileCheck %s --check-prefix=RACE < race.txt
// RACE: race: race: nothing orders two accesses of byte {{[0-9]+}} of the shared variable 'Tile'
// RACE-NEXT: write at {{.*}}planted.cu:[[#@LINE+5]] by thread
// RACE-NEXT: read at {{.*}}planted.cu:[[#@LINE+5]] by thread
// RACE: found: race (1);
__global__ void race(int *Data) {
  __shared__ int Tile[N];
  Tile[threadIdx.x] = threadIdx.x;
  Data[threadIdx.x] = Tile[N - 1 - threadIdx.x];
}

// RUN: sh -c 'COLUMNS=300 %reconverge test --check=init -- %t unwritten 2> unwritten.txt; test $? = 13'
// RUN: FileCheck %s --check-prefix=UNWRITTEN < unwritten.txt
// UNWRITTEN: init: unwritten: a read of 4 bytes that nobody has written: {{.*}}an allocation of 256 bytes
// UNWRITTEN-NEXT: at {{.*}}planted.cu:[[#@LINE+2]] by thread
__global__ void unwritten(int *Data) {
  Data[threadIdx.x] += 1;
}

// RUN: sh -c 'COLUMNS=300 %reconverge test --check=init -- %t tile 2> tile.txt; test $? = 13'
// RUN: FileCheck %s --check-prefix=TILE < tile.txt
// TILE: init: tile: a read of 4 bytes that nobody has written: the shared variable 'Tile'
// TILE-NEXT: at {{.*}}planted.cu:[[#@LINE+6]] by thread (31,0,0)
__global__ void tile(int *Data) {
  __shared__ int Tile[N];
  if (threadIdx.x < 32)
    Tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  Data[threadIdx.x] = Tile[threadIdx.x + 1 & N - 1];
}

// RUN: sh -c 'COLUMNS=300 %reconverge test --check=init -- %t local 2> local.txt; test $? = 13'
// RUN: FileCheck %s --check-prefix=LOCAL < local.txt
// LOCAL: init: local: a read of 4 bytes that nobody has written: local memory
// LOCAL-NEXT: at {{.*}}planted.cu:[[#@LINE+5]] by thread (0,0,0)
__global__ void local(int *Data, int Filled) {
  int Own[32];
  for (int I = 0; I < Filled; ++I)
    Own[(I * 7 + threadIdx.x) & 31] = I;
  Data[threadIdx.x] = Own[Filled * 7 + threadIdx.x & 31];
}

// RUN: sh -c 'COLUMNS=300 %reconverge test --check=sync -- %t mask 2> mask.txt; test $? = 12'
// RUN: FileCheck %s --check-prefix=MASK < mask.txt
// MASK: sync: mask: __shfl_down_sync() with the mask 0x0000ffff, which does not name the lane that executes it, 16
// MASK-NEXT: at {{.*}}planted.cu:[[#@LINE+2]] by thread (16,0,0) of block (0,0,0)
__global__ void mask(int *Data) {
  Data[threadIdx.x] = __shfl_down_sync(0xffff, threadIdx.x, 1);
}

// RUN: sh -c 'COLUMNS=300 %reconverge test --check=sync -- %t absent 2> absent.txt; test $? = 12'
// RUN: FileCheck %s --check-prefix=ABSENT < absent.txt
// ABSENT: sync: absent: __ballot_sync() with the mask 0xffffffff, to which lane 16 and 15 more that it names did not come
// ABSENT-NEXT: at {{.*}}planted.cu:[[#@LINE+3]] by thread (0,0,0)
__global__ void absent(int *Data) {
  if (threadIdx.x % 32 < 16)
    Data[threadIdx.x] = __ballot_sync(~0u, threadIdx.x & 1);
  __syncthreads();
  Data[threadIdx.x] += 1;
}

// RUN: sh -c 'COLUMNS=300 %reconverge test -- %t barrier 2> barrier.txt; test $? = 12'
// RUN: FileCheck %s --check-prefix=BARRIER < barrier.txt
// BARRIER: sync: barrier: __syncthreads() is met at different places: thread ({{[0-9]+}},0,0) waits at
// BARRIER-NEXT: at {{.*}}planted.cu:{{[0-9]+}} by thread
__global__ void barrier(int *Data) {
  if (threadIdx.x & 1) {
    Data[threadIdx.x] = 1;
    __syncthreads();
  } else {
    Data[threadIdx.x] = 2;
    __syncthreads();
  }
  Data[threadIdx.x] += Data[threadIdx.x ^ 1];
}

// Both questions in one run.
// RUN: sh -c 'COLUMNS=300 %reconverge test --check=races --shuffle 2 -- %t race 2> both.txt; test $? = 11'
// RUN: FileCheck %s --check-prefix=BOTH < both.txt
// BOTH: race: race: nothing orders two accesses
// BOTH: order: race: the result depends on the order of threads
// BOTH: tested for races, order: {{.*}} found: race (1), order (1);

// RUN: sh -c 'COLUMNS=300 %reconverge test --shuffle 2 -- %t order 2> order.txt; test $? = 14'
// RUN: FileCheck %s --check-prefix=ORDER < order.txt
// ORDER: order: order: the result depends on the order of threads: int at byte {{[0-9]+}} of an allocation
// ORDER: tested for bounds, sync, order: {{.*}} found: order (1);
__global__ void order(int *Data) {
  Data[threadIdx.x] = atomicAdd(&Data[N - 1], 1);
}

// RUN: sh -c 'COLUMNS=300 %reconverge test -- %t assertion 2> assertion.txt; test $? = 10'
// RUN: FileCheck %s --check-prefix=ASSERT < assertion.txt
// ASSERT: assert: assertion: assertion `Data[threadIdx.x] == 0` failed in
// ASSERT-NEXT: at {{.*}}planted.cu:[[#@LINE+2]] by thread (0,0,0)
__global__ void assertion(int *Data) {
  assert(Data[threadIdx.x] == 0);
}

// RUN: sh -c 'COLUMNS=300 %reconverge test -- %t call 2> call.txt; test $? = 15'
// RUN: FileCheck %s --check-prefix=CALL < call.txt
// CALL: unsupported: cudaIpcGetMemHandle is not supported on the CPU
// CALL: 0 kernels, 0 launches: found: unsupported (1); the command returned 0

int main(int, char **Words) {
  const char *Which = Words[1];
  int *Data, *Zeros;
  cudaMalloc(&Data, N * sizeof(int));
  cudaMalloc(&Zeros, N * sizeof(int));
  cudaMemset(Zeros, 0, N * sizeof(int));
  auto Is = [&](const char *Name) { return !std::strcmp(Which, Name); };
  if (Is("clean"))
    clean<<<1, N>>>(Data, Zeros);
  if (Is("overrun"))
    overrun<<<1, N>>>(Data);
  if (Is("race"))
    race<<<1, N>>>(Data);
  if (Is("unwritten"))
    unwritten<<<1, N>>>(Data);
  if (Is("tile"))
    tile<<<1, N>>>(Data);
  if (Is("local"))
    local<<<1, N>>>(Data, 8);
  if (Is("mask"))
    mask<<<1, N>>>(Data);
  if (Is("absent"))
    absent<<<1, N>>>(Data);
  if (Is("barrier"))
    barrier<<<1, N>>>(Data);
  if (Is("order"))
    order<<<1, N>>>(Zeros);
  if (Is("assertion")) {
    cudaMemset(Data, 1, N * sizeof(int));
    assertion<<<1, N>>>(Data);
  }
  if (Is("call")) {
    cudaIpcMemHandle_t Handle;
    cudaIpcGetMemHandle(&Handle, Data);
    return 0;
  }
  const bool Failed = cudaDeviceSynchronize() != cudaSuccess;
  if (!Failed)
    std::printf("%s ends\n", Which);
  return Failed;
}
