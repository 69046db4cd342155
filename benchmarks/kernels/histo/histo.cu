//===- benchmarks/kernels/histo/histo.cu - Histogram that saturates -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often does each value occur, up to 255 times (paper 3, HISTO)? Most
// values are near the middle; for those each block counts in shared memory,
// which has no room for more. The rest go to global memory, unless the bin is
// full. A block goes through tiles of its input, and adds what it has counted
// at the end. Bins are cut to 255 by a second kernel, so the order of the
// atomic additions changes nothing.
//
// Remapped (common/remap.h): in each tile the values near the middle go
// together.
//
//===----------------------------------------------------------------------===//
#include "../common/remap.h"

#include <algorithm>

static constexpr int Block = 256, Tiles = 16, Full = 255;
static constexpr int Bins = 1 << 14, Near = 2048, Low = (Bins - Near) / 2;

__device__ static void begin(unsigned *Here, int Threads = Block) {
  for (int B = threadIdx.x; B < Near; B += Threads)
    Here[B] = 0;
  __syncthreads();
}

__device__ static void count(unsigned *Here, unsigned *Out, unsigned Value,
                             bool IsNear) {
  if (IsNear)
    atomicAdd(&Here[Value - Low], 1u);
  else if (Out[Value] < Full)
    atomicAdd(&Out[Value], 1u);
}

__device__ static void end(const unsigned *Here, unsigned *Out,
                           int Threads = Block) {
  __syncthreads();
  for (int B = threadIdx.x; B < Near; B += Threads)
    if (Here[B] && Out[Low + B] < Full)
      atomicAdd(&Out[Low + B], Here[B]);
}

__global__ void plain(const unsigned *In, unsigned *Out) {
  __shared__ unsigned Here[Near];
  begin(Here);
#pragma unroll 1
  for (int T = 0; T < Tiles; ++T) {
    const int I = (blockIdx.x * Tiles + T) * Block + threadIdx.x;
    const unsigned Value = In[I];
    count(Here, Out, Value, Value - Low < Near);
  }
  end(Here, Out);
}

template <typename Way>
__global__ void remapped(const unsigned *In, unsigned *Out) {
  __shared__ typename Way::temp_storage Storage;
  __shared__ unsigned Here[Near];
  Way Trade(Storage, threadIdx.x);
  begin(Here);
#pragma unroll 1
  for (int T = 0; T < Tiles; ++T) {
    const int First = (blockIdx.x * Tiles + T) * Block;
    unsigned Value = In[First + threadIdx.x];
    const auto New = Trade(Value - Low < Near, Value); // it moves too
    count(Here, Out, Value, New.path);
  }
  end(Here, Out);
}

template <typename Collect>
__global__ void collected(const unsigned *In, unsigned *Out) {
  __shared__ typename Collect::temp_storage Storage;
  __shared__ unsigned Here[Near];
  Collect Items(Storage);
  begin(Here, blockDim.x);
#pragma unroll 1
  for (int T = 0; T < Tiles * Block; T += Collect::items) {
    const unsigned *Now = In + blockIdx.x * Tiles * Block + T;
    Items(
        Collect::items, [&](int I) { return Now[I] - Low < Near; },
        [&](int I, int IsNear) { count(Here, Out, Now[I], IsNear); });
  }
  end(Here, Out, blockDim.x);
}

__global__ void saturate(unsigned *Out) {
  const int B = blockIdx.x * Block + threadIdx.x;
  Out[B] = Out[B] < Full ? Out[B] : Full;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "histo");
  const long Blocks = Run.integer("blocks", 32, 1, 1 << 18);
  const long Remap = chosenWay(Run);
  Run.ready();

  // A silicon wafer's image: a bell around the middle, and its edges.
  std::vector<unsigned> Values(Blocks * Block * Tiles);
  Random Draw = Run.random();
  for (unsigned &V : Values) {
    int Sum = Bins / 2;
    for (int K = 0; K < 4; ++K)
      Sum += int(Draw.below(Bins / 12)) - Bins / 24;
    V = Draw.below(32) ? Sum : Draw.below(Bins);
  }
  DeviceArray<unsigned> In(Values), Out(std::vector<unsigned>(Bins, 0));
  const RemapWays<decltype(&plain)> All = {
      WAYS(plain, remapped<ByLibrary<Block, 2, 1>>,
           remapped<ByCub<Block, 2, 1>>, COLLECTED(2))};
  return All.run(
      Run, Remap, Block, [&] { Out.clear(); },
      [&](auto Kernel, Form F) {
        Kernel<<<Blocks, F.Threads>>>(In, Out);
        saturate<<<Bins / Block, Block>>>(Out);
      },
      [&] { return Out.get(); },
      [&](const std::vector<unsigned> &Got) {
        std::vector<unsigned> Want(Bins);
        for (unsigned V : Values)
          Want[V] = std::min<unsigned>(Want[V] + 1, Full);
        return Got == Want;
      });
}
