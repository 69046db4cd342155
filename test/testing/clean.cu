// REQUIRES: reconverge
// RUN: %reconverge cc -O3 -g -std=c++17 %s -o %t
// RUN: env COLUMNS=300 %reconverge test --check=all -- %t 2>&1 | FileCheck %s
// RUN: %reconverge cc -O0 -g -std=c++17 %s -o %t.slow
// RUN: env COLUMNS=300 %reconverge test --check=all -- %t.slow 2>&1 | FileCheck %s

// Correct programs do much that looks like what the checks look for. Nothing of
// this is a finding.
// CHECK: reconverge: tested for bounds, sync, init, races: 1 process,
// CHECK-SAME: no finding; the command returned 0

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;
constexpr int N = 64;

struct Padded {
  char Tag;
  double Value;
  short Last;
};
struct Bits {
  unsigned Low : 5, Middle : 9, High : 18;
};

__device__ int Zeroed[N];
__constant__ int Table[4];

// Padding is copied along, bit fields go into words that nobody has written.
__global__ void writeClasses(Padded *P, Bits *B) {
  P[threadIdx.x].Tag = 'x';
  P[threadIdx.x].Value = threadIdx.x;
  P[threadIdx.x].Last = 3;
  B[threadIdx.x].Low = threadIdx.x;
  B[threadIdx.x].Middle = 2;
}
__global__ void copyClasses(Padded *To, const Padded *From) {
  __shared__ Padded Tile[N];
  Tile[threadIdx.x] = From[threadIdx.x];
  __syncthreads();
  Padded Mine = Tile[N - 1 - threadIdx.x];
  To[threadIdx.x] = Mine;
}

// Variables have values, managed memory is the host's, too.
__global__ void readGiven(int *Out, const int *Managed) {
  Out[threadIdx.x] = Zeroed[threadIdx.x] + Table[threadIdx.x % 4] +
                     Managed[threadIdx.x];
}

// Only a part of the tile is written, and only that is read.
__global__ void partOfTile(int *Out, int Count) {
  __shared__ int Tile[N], Total;
  if (threadIdx.x < Count)
    Tile[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0)
    Total = 0;
  __syncthreads();
  if (threadIdx.x < Count)
    atomicAdd(&Total, Tile[threadIdx.x]);
  __syncthreads();
  Out[threadIdx.x] = threadIdx.x + 1 < Count ? Tile[threadIdx.x + 1] : Total;
}

__global__ void local(int *Out) {
  int Own[16];
  for (int I = 0; I < 16; ++I)
    Own[(I + threadIdx.x) & 15] = I;
  int Sum = 0;
  for (int I = 0; I < 16; ++I)
    Sum += Own[(I * 5) & 15];
  Out[threadIdx.x] = Sum;
}

// Masks: halves, whoever is there, those that are left, both arms, tiles.
__global__ void masks(int *Out, int Count) {
  const unsigned Lane = threadIdx.x % 32;
  int Sum = threadIdx.x;
  if (Lane < 16)
    Sum += __shfl_xor_sync(0xffffu, Sum, 1);
  else
    Sum += __shfl_xor_sync(0xffff0000u, Sum, 2);
  if (Lane & 1) {
    Sum += 2;
    __syncwarp();
  } else {
    Sum += 3;
    __syncwarp();
  }
  if (threadIdx.x % 3) {
    const unsigned Here = __activemask();
    Sum += __popc(__ballot_sync(Here, Sum & 1));
  }
  auto Tile = cg::tiled_partition<8>(cg::this_thread_block());
  Sum += Tile.shfl_down(Sum, 1) + Tile.any(Sum > 5);
  cg::coalesced_group Some = cg::coalesced_threads();
  Sum += Some.size();
  if (threadIdx.x >= Count)
    return;
  Sum += __popc(__ballot_sync(~0u, 1)); // the others have returned
  Out[threadIdx.x] = Sum;
}

__global__ void barriers(int *Out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> Bar;
  __shared__ int Tile[N];
  cg::thread_block Block = cg::this_thread_block();
  if (Block.thread_rank() == 0)
    init(&Bar, N);
  Block.sync();
  cg::memcpy_async(Block, Tile, Zeroed, sizeof(Tile));
  cg::wait(Block);
  Tile[threadIdx.x] += threadIdx.x;
  Bar.arrive_and_wait();
  Out[threadIdx.x] = Tile[N - 1 - threadIdx.x];
}

__global__ void heap(int *Out) {
  int *Own = static_cast<int *>(malloc(4 * sizeof(int)));
  for (int I = 0; I < 4; ++I)
    Own[I] = I;
  Out[threadIdx.x] = Own[threadIdx.x & 3];
  free(Own);
}

template <typename T> T *device(int Count) {
  T *P;
  cudaMalloc(&P, Count * sizeof(T));
  return P;
}

int main() {
  Padded *From = device<Padded>(N), *To = device<Padded>(N);
  Bits *B = device<Bits>(N);
  writeClasses<<<1, N>>>(From, B);
  copyClasses<<<1, N>>>(To, From);
  cudaMemcpy(To, From, N * sizeof(Padded), cudaMemcpyDeviceToDevice);
  copyClasses<<<1, N>>>(From, To);

  int *Out = device<int>(N), *Managed;
  cudaMallocManaged(&Managed, N * sizeof(int));
  Managed[0] = 1;
  readGiven<<<1, N>>>(Out, Managed);
  partOfTile<<<1, N>>>(device<int>(N), 40);
  local<<<1, N>>>(Out);
  masks<<<1, N>>>(Out, 50);
  barriers<<<1, N>>>(Out);
  heap<<<1, N>>>(Out);

  // What comes from pinned memory is written.
  int *Pinned;
  cudaMallocHost(&Pinned, N * sizeof(int));
  cudaMemcpyAsync(To, Pinned, N * sizeof(int), cudaMemcpyHostToDevice);
  readGiven<<<1, N>>>(Out, reinterpret_cast<int *>(To));

  // Rows that are set and copied one by one.
  int *Rows;
  size_t Pitch;
  cudaMallocPitch(&Rows, &Pitch, N * sizeof(int), 3);
  cudaMemset2D(Rows, Pitch, 0, N * sizeof(int), 3);
  readGiven<<<1, N>>>(Out, Rows);
  return cudaDeviceSynchronize() != cudaSuccess;
}
