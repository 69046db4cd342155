// REQUIRES: reconverge
// RUN: %reconverge cc -O3 -g %s -o %t
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir

// Reads of memory that nobody has written, wherever it comes from.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cstring>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int N = 64;

// RUN: sh -c 'COLUMNS=300 %reconverge test --check=init -- %t heap 2> heap.txt; test $? = 13'
// RUN: FileCheck %s --check-prefix=HEAP < heap.txt
// HEAP: init: heap: a read of 4 bytes that nobody has written: {{[0-9]+}} bytes into the heap of kernels
// HEAP-NEXT: at {{.*}}unwritten.cu:[[#@LINE+10]] by thread
__global__ void heap(int *Data, int Count) {
  // What another thread has left in the block's place counts for nothing.
  int *Old = new int[Count];
  for (int I = 0; I < Count; ++I)
    Old[I] = I;
  Data[threadIdx.x] = Old[Count / 2];
  delete[] Old;
  int *Values = new int[Count], Sum = 0;
  for (int I = 0; I < Count; ++I)
    Sum += Values[I];
  Data[threadIdx.x] += Sum;
  delete[] Values;
}

// A variable in a loop is another one in each round.
// RUN: sh -c 'COLUMNS=300 %reconverge test --check=init -- %t rounds 2> rounds.txt; test $? = 13'
// RUN: FileCheck %s --check-prefix=ROUNDS < rounds.txt
// ROUNDS: init: rounds: a read of 4 bytes that nobody has written: local memory
// ROUNDS-NEXT: at {{.*}}unwritten.cu:[[#@LINE+9]] by thread (0,0,0)
__global__ void rounds(int *Data, int Rounds) {
  int Sum = 0;
#pragma unroll 1
  for (int Round = 0; Round < Rounds; ++Round) {
    int Own[32];
    if (Round == 0)
      for (int I = 0; I < 32; ++I)
        Own[I * Rounds & 31] = I;
    Sum += Own[Sum + threadIdx.x & 31];
  }
  Data[threadIdx.x] = Sum;
}

// RUN: sh -c 'COLUMNS=300 %reconverge test --check=init -- %t called 2> called.txt; test $? = 13'
// RUN: FileCheck %s --check-prefix=CALLED < called.txt
// CALLED: init: called: a read of 4 bytes that nobody has written: local memory
// CALLED-NEXT: at {{.*}}unwritten.cu:[[#@LINE+6]] by thread (0,0,0)
__device__ int deeper(int Depth, int Filled) {
  int Own[16];
  for (int I = 0; I < Filled; ++I)
    Own[I * (2 * Depth + 1) & 15] = I;
  const int Below = Depth ? deeper(Depth - 1, Filled / 2) : 0;
  return Own[Below + Filled - 1 & 15] + Below;
}
__global__ void called(int *Data, int Filled) {
  Data[threadIdx.x] = deeper(3, Filled);
}
// RUN: %reconverge test --check=init -- %t filled

// RUN: sh -c 'COLUMNS=300 %reconverge test --check=init -- %t linear 2> linear.txt; test $? = 13'
// RUN: FileCheck %s --check-prefix=LINEAR < linear.txt
// LINEAR: init: fetched: a read of 4 bytes that nobody has written: 128 bytes into an allocation of 256 bytes
// LINEAR-NEXT: at {{.*}}by thread (32,0,0)
// RUN: sh -c 'COLUMNS=300 %reconverge test --check=init -- %t array 2> array.txt; test $? = 13'
// RUN: FileCheck %s --check-prefix=ARRAY < array.txt
// ARRAY: init: fetched: a read of 4 bytes that nobody has written: 128 bytes into an array of 256 bytes
__global__ void fetched(int *Data, cudaTextureObject_t From) {
  Data[threadIdx.x] = tex1Dfetch<int>(From, threadIdx.x) + 1;
}
// RUN: sh -c 'COLUMNS=300 %reconverge test --check=init -- %t surface 2> surface.txt; test $? = 13'
// RUN: FileCheck %s --check-prefix=SURFACE < surface.txt
// SURFACE: init: stored: a read of 4 bytes that nobody has written: 128 bytes into an array of 256 bytes
// SURFACE-NEXT: at {{.*}}unwritten.cu:[[#@LINE+5]] by thread (32,0,0)
__global__ void stored(int *Data, cudaSurfaceObject_t In) {
  if (threadIdx.x < N / 2)
    surf1Dwrite<int>(threadIdx.x, In, threadIdx.x * 4);
  __syncthreads();
  Data[threadIdx.x] = surf1Dread<int>(In, threadIdx.x * 4) + 1;
}

// What is copied to the host is read there.
// RUN: sh -c 'COLUMNS=300 %reconverge test --check=init -- %t back 2> back.txt; test $? = 13'
// RUN: FileCheck %s --check-prefix=BACK < back.txt
// BACK: init: a copy to the host of 256 bytes, of which nobody has written 4: 252 bytes into an allocation of 256 bytes by call 1 of cudaMalloc
// RUN: echo 'init -' > known.txt
// RUN: %reconverge test --check=init --suppressions=known.txt -- %t back
__global__ void allButLast(int *Data) {
  if (threadIdx.x < N - 1)
    Data[threadIdx.x] = 1;
}

// Of several holes the first has its place, and the number is that of all.
// RUN: sh -c 'COLUMNS=300 %reconverge test --check=init -- %t holes 2> holes.txt; test $? = 13'
// RUN: FileCheck %s --check-prefix=HOLES < holes.txt
// HOLES: init: a copy to the host of 256 bytes, of which nobody has written 96: 64 of them 64 bytes into an allocation of 256 bytes by call 1 of cudaMalloc

// An asynchronous copy takes along what is not written.
// RUN: sh -c 'COLUMNS=300 %reconverge test --check=init -- %t async 2> async.txt; test $? = 13'
// RUN: FileCheck %s --check-prefix=ASYNC < async.txt
// ASYNC: init: async: a read of 4 bytes that nobody has written: the shared variable 'Tile'
// ASYNC-NEXT: at {{.*}}unwritten.cu:[[#@LINE+8]] by thread (1,0,0)
__global__ void async(int *Data, const int *From) {
  __shared__ alignas(16) int Tile[N];
  if (threadIdx.x < N / 4)
    __pipeline_memcpy_async(Tile + 4 * threadIdx.x, From + 4 * threadIdx.x, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  Data[threadIdx.x] = Tile[threadIdx.x] + 1;
}

// What is no mistake: shared memory that a GPU zeroes for tiles of several
// warps; an exchange that nobody asks for the old value, padding.
// RUN: %reconverge test --check=init -- %t tiles
// RUN: %reconverge test --check=init -- %t exchange
// RUN: %reconverge test --check=init -- %t padding
// RUN: %reconverge test --check=init -- %t word
__global__ void tiles(int *Data) {
  namespace cg = cooperative_groups;
  auto Tile = cg::tiled_partition<64>(cg::this_thread_block());
  Data[threadIdx.x] = cg::reduce(Tile, int(threadIdx.x), cg::plus<int>());
}
__global__ void exchange(int *Data) { atomicExch(&Data[threadIdx.x], 1); }
struct Padded {
  double Value;
  int Number;
};
__global__ void padding(Padded *Data) {
  Data[threadIdx.x].Value = 1;
  Data[threadIdx.x].Number = 1;
}

// So is padding that is loaded with what is asked for, as one word.
struct Mixed {
  int Number;
  signed char Small;
};
__global__ void mixed(Mixed *Data) {
  Data[threadIdx.x].Number = threadIdx.x;
  Data[threadIdx.x].Small = 1;
}
template <int Byte>
__global__ void word(const volatile unsigned long long *From, int *Data) {
  const unsigned long long Word = From[threadIdx.x];
  Data[threadIdx.x] = (int)Word + (signed char)(Word >> 8 * Byte);
}
// Somebody asks for a byte of it.
// RUN: sh -c 'COLUMNS=300 %reconverge test --check=init -- %t beyond 2> beyond.txt; test $? = 13'
// RUN: FileCheck %s --check-prefix=BEYOND < beyond.txt
// BEYOND: init: word<5>: a read of 8 bytes that nobody has written: 5 bytes into an allocation

// RUN: sh -c 'COLUMNS=300 %reconverge test --check=init -- %t asked 2> asked.txt; test $? = 13'
// RUN: FileCheck %s --check-prefix=ASKED < asked.txt
// ASKED: init: asked: a read of 4 bytes that nobody has written
__global__ void asked(int *Data, int *Old) {
  Old[threadIdx.x] = atomicExch(&Data[threadIdx.x], 1);
}

// A class is copied whole, of which one part says whether the other is there: both
// are loaded at once, and the other is not asked for.
// RUN: %reconverge test --check=init -- %t optional
struct alignas(8) Optional {
  int IsThere, Value;
};
__global__ void perhaps(Optional *Data) {
  Data[threadIdx.x].IsThere = threadIdx.x & 1;
  if (threadIdx.x & 1)
    Data[threadIdx.x].Value = threadIdx.x;
}
__global__ void optional(const Optional *From, int *Data) {
  const Optional Copy = From[threadIdx.x];
  if (Copy.IsThere)
    Data[threadIdx.x] = Copy.Value * Copy.Value;
}

static cudaTextureObject_t texture(cudaResourceDesc From) {
  cudaTextureDesc How = {};
  cudaTextureObject_t Texture;
  cudaCreateTextureObject(&Texture, &From, &How, nullptr);
  return Texture;
}

int main(int, char **Words) {
  const char *Which = Words[1];
  auto Is = [&](const char *Name) { return !std::strcmp(Which, Name); };
  const int Zeros[N] = {};
  int Host[N];
  int *Data, *Other;
  cudaMalloc(&Data, N * sizeof(int));
  cudaMalloc(&Other, N * sizeof(int));
  const auto Format = cudaCreateChannelDesc<int>();
  cudaArray_t Array;
  cudaMallocArray(&Array, &Format, N, 0, cudaArraySurfaceLoadStore);
  cudaResourceDesc OfArray = {};
  OfArray.resType = cudaResourceTypeArray;
  OfArray.res.array.array = Array;
  if (Is("heap"))
    heap<<<1, 1>>>(Data, 8);
  if (Is("rounds"))
    rounds<<<1, N>>>(Data, 3);
  if (Is("called"))
    called<<<1, N>>>(Data, 16);
  if (Is("filled"))
    called<<<1, N>>>(Data, 1000);
  if (Is("linear")) {
    cudaMemset(Data, 0, sizeof(Zeros) / 2);
    cudaResourceDesc From = {};
    From.resType = cudaResourceTypeLinear;
    From.res.linear = {Data, Format, sizeof(Zeros)};
    fetched<<<1, N>>>(Other, texture(From));
  }
  if (Is("array")) {
    cudaMemcpy2DToArray(Array, 0, 0, Zeros, sizeof(Zeros), sizeof(Zeros) / 2, 1,
                        cudaMemcpyHostToDevice);
    fetched<<<1, N>>>(Other, texture(OfArray));
  }
  if (Is("surface")) {
    cudaSurfaceObject_t Surface;
    cudaCreateSurfaceObject(&Surface, &OfArray);
    stored<<<1, N>>>(Other, Surface);
  }
  if (Is("back")) {
    allButLast<<<1, N>>>(Data);
    cudaMemcpy(Host, Data, sizeof(Host), cudaMemcpyDeviceToHost);
  }
  if (Is("holes")) {
    cudaMemset(Data, 0, 64);
    cudaMemset(Data + 32, 0, 96);
    cudaMemcpy(Host, Data, sizeof(Host), cudaMemcpyDeviceToHost);
  }
  if (Is("async")) {
    cudaMemset(Other, 0, sizeof(int));
    async<<<1, N>>>(Data, Other);
  }
  if (Is("tiles"))
    tiles<<<1, N>>>(Data);
  if (Is("exchange")) {
    exchange<<<1, N>>>(Data);
    cudaMemcpy(Host, Data, sizeof(Host), cudaMemcpyDeviceToHost);
  }
  if (Is("word") || Is("beyond")) {
    Mixed *Classes;
    cudaMalloc(&Classes, N * sizeof(Mixed));
    mixed<<<1, N>>>(Classes);
    (Is("word") ? word<4> : word<5>)<<<1, N>>>(
        reinterpret_cast<unsigned long long *>(Classes), Data);
  }
  if (Is("asked"))
    asked<<<1, N>>>(Data, Other);
  if (Is("padding")) {
    Padded *Classes, Back[N];
    cudaMalloc(&Classes, sizeof(Back));
    padding<<<1, N>>>(Classes);
    cudaMemcpy(Back, Classes, sizeof(Back), cudaMemcpyDeviceToHost);
  }
  if (Is("optional")) {
    Optional *Classes;
    cudaMalloc(&Classes, N * sizeof(Optional));
    perhaps<<<1, N>>>(Classes);
    optional<<<1, N>>>(Classes, Data);
  }
  const bool Failed = cudaDeviceSynchronize() != cudaSuccess;
  if (Failed)
    std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  return Failed;
}
