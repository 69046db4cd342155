// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Kernels whose blocks fill shared memory first, the same in all of them: each
// block that is launched does so once, before its lanes take items of any block.
// Blocks of one and of two dimensions, of whole warps and not, static and dynamic
// shared memory, streams and a graph. The program prints the same.
// RUN: %reconverge cc %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: FileCheck %s <expected
// CHECK: search 20000 {{[0-9a-f]+}}
// RUN: %reconverge cc --refill %s -o default 2>err
// RUN: count 0 <err
// RUN: env RECONVERGE_DEVICE=cpu ./default >out
// RUN: diff expected out
// RUN: %reconverge cc '--refill=threshold=1;source=slice;slice=1' %s -o eager
// RUN: env RECONVERGE_DEVICE=cpu ./eager >out
// RUN: diff expected out
// RUN: %reconverge cc '--refill=slice=2;items=7;threshold=5;rounds=3' %s -o counted
// RUN: env RECONVERGE_DEVICE=cpu ./counted >out
// RUN: diff expected out

// That lanes were refilled shows in what is counted: fewer warps go round.
// RUN: %reconverge profile %s -o plain.json -- search >%t.out 2>&1
// RUN: %reconverge profile --refill=items=16 %s -o refilled.json -- search >%t.out 2>&1
// RUN: python3 %S/Inputs/lanes.py plain.json refilled.json | FileCheck %s --check-prefix=LANES
// LANES: twice as full

// Trials take shared memory that a prologue fills for no tie between threads.
// RUN: env RECONVERGE_DEVICE=cpu %reconverge optimize %s -o kept -- search >%t.out 2>&1
// RUN: FileCheck %s --check-prefix=KEPT <%t.out
// KEPT: kept: refill {{.*}} for search

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__device__ unsigned mix(unsigned X) {
  X ^= X >> 16; X *= 0x7feb352du; X ^= X >> 15; X *= 0x846ca68bu;
  return X ^ X >> 16;
}

constexpr unsigned TableSize = 100;

// The number of the item, read before the barrier; a table that fewer threads
// than a block has, or more than once each, load.
__global__ void search(const unsigned *Table, unsigned *Out, unsigned N) {
  __shared__ unsigned Own[TableSize];
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned K = threadIdx.x; K < TableSize; K += blockDim.x)
    Own[K] = Table[K] + gridDim.x * 0 + 1;
  __syncthreads();
  if (I >= N) return;
  unsigned X = mix(I), Sum = 0;
  while (X % 256) {
    Sum += Own[X % TableSize];
    X = mix(X + Sum);
  }
  Out[I] = Sum + X;
}

// Blocks of two dimensions, a value of global memory across the barrier, which is
// the second of two, and what the first lets everybody read.
__global__ void tiles(const unsigned *Table, unsigned *Out, unsigned Columns,
                      unsigned Rows) {
  __shared__ unsigned Own[TableSize], Total;
  const unsigned X = blockIdx.x * blockDim.x + threadIdx.x,
                 Y = blockIdx.y * blockDim.y + threadIdx.y,
                 Thread = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned First = Table[(X * 3 + Y) % TableSize];
  if (Thread < TableSize) Own[Thread] = Table[Thread] ^ Thread;
  if (Thread == 0) Total = 0;
  __syncthreads();
  if (Thread < 7) atomicAdd(&Total, Own[Thread]);
  __syncthreads();
  if (X >= Columns || Y >= Rows) return;
  unsigned At = mix(First + X * 1000 + Y), Sum = Total;
  for (unsigned K = 0; At % 31 && K < 500; ++K) {
    Sum = Sum * 5 + Own[At % (blockDim.x * blockDim.y < 100
                                  ? blockDim.x * blockDim.y : 100)];
    At = mix(At ^ Sum) + threadIdx.y;
  }
  Out[Y * Columns + X] = Sum + gridDim.y;
}

// As much shared memory as the launch gives, and sums that all threads add to.
__global__ void dynamic(const unsigned *Table, unsigned *Out, unsigned Size,
                        unsigned N) {
  extern __shared__ unsigned Room[];
  for (unsigned K = threadIdx.x; K < Size; K += blockDim.x)
    Room[K] = Table[K % TableSize] + K + gridDim.x;
  __syncthreads();
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned X = I;
  while (X = mix(X), X % 41)
    if (I < N) atomicAdd(&Out[I % 97], Room[X % Size]);
}

// Arrays of the thread's own, behind the barrier and in front of it.
__global__ void arrays(const unsigned *Table, unsigned *Out, unsigned N) {
  __shared__ unsigned Own[64];
  unsigned Early[5];
  for (unsigned K = 0; K < 5; ++K) Early[K] = Table[(threadIdx.x * 5 + K) % TableSize];
  if (threadIdx.x < 64) Own[threadIdx.x] = Early[Table[threadIdx.x] % 5];
  __syncthreads();
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned Late[4] = {I, 1, 2, 3}, X = mix(I + 3);
  if (I < N) {
    do {
      X = mix(X);
      Late[X & 3] += Own[X % (blockDim.x < 64 ? blockDim.x : 64)];
    } while (X % 23);
    Out[I] = Late[0] ^ Late[1] * 3 ^ Late[2] * 5 ^ Late[3] * 7;
  }
}

static unsigned *Table, *Out;
static void tell(const char *Name, unsigned N) {
  cudaDeviceSynchronize();
  unsigned H = 2166136261u;
  for (unsigned I = 0; I < N; ++I) H = (H ^ Out[I]) * 16777619u;
  std::printf("%s %u %x\n", Name, N, H);
  std::memset(Out, 0, 40000 * 4);
}

int main(int argc, char **) {
  cudaMallocManaged(&Table, TableSize * 4);
  cudaMallocManaged(&Out, 40000 * 4);
  for (unsigned K = 0; K < TableSize; ++K) Table[K] = K * 2654435761u;
  std::memset(Out, 0, 40000 * 4);
  for (unsigned Block : {128u, 32u, 96u, 100u}) { // the last as it was
    search<<<(20000 + Block - 1) / Block, Block>>>(Table, Out, 20000);
    tell("search", 20000);
    if (argc > 1) return 0;
    arrays<<<(5000 + Block - 1) / Block, Block>>>(Table, Out, 5000);
    tell("arrays", 5000);
  }
  search<<<1, 64>>>(Table, Out, 40);
  tell("one block", 40);
  for (dim3 Block : {dim3(16, 16), dim3(8, 12), dim3(32, 4), dim3(4, 5)}) {
    tiles<<<dim3((70 + Block.x - 1) / Block.x, (53 + Block.y - 1) / Block.y),
            Block>>>(Table, Out, 70, 53);
    tell("tiles", 70 * 53);
  }
  cudaStream_t Streams[2];
  for (cudaStream_t &S : Streams) cudaStreamCreate(&S);
  for (unsigned Size : {1u, 64u, 1000u})
    for (cudaStream_t S : Streams)
      dynamic<<<37, 160, Size * 4, S>>>(Table, Out + (S == Streams[1]) * 100,
                                        Size, 5900);
  tell("dynamic", 200);
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  cudaStreamBeginCapture(Streams[0], cudaStreamCaptureModeGlobal);
  search<<<50, 128, 0, Streams[0]>>>(Table, Out, 6400);
  dynamic<<<10, 64, 800, Streams[0]>>>(Table, Out + 7000, 200, 640);
  cudaStreamEndCapture(Streams[0], &Graph);
  cudaGraphInstantiate(&Exec, Graph, 0);
  for (int K = 0; K < 3; ++K) cudaGraphLaunch(Exec, Streams[0]);
  tell("graph", 7200);
}
