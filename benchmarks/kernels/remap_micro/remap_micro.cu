//===- benchmarks/kernels/remap_micro/remap_micro.cu - Many paths ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The micro-benchmark of paper 3: a branch of two paths, or two nested ones of
// four, whose paths are permutations of the same instructions. Which path a
// thread takes is in its own data, in random order: each block has the same
// number of each (even=1), or every thread's is drawn (even=0), and then blocks
// of W warps and two paths can reach W / (W + 1) of the ideal at best. The same
// kernel in these ways:
//
//   original                as it is
//   ideal                   the same on sorted data: no warp diverges but one
//   head_or_tail ...        the library's algorithms
//   automatic
//   cub                     by hand: cub::BlockRadixSort of the paths
//   cluster                 the library's, over clusters of 8 blocks
//
// The ways run in turns in one process. Each must leave what the CPU computes
// for the first blocks, and what `original` leaves for all.
//
// With length=0 instead: what one round costs. A kernel of one block an SM
// makes 1,000 rounds, each with another random path; the same kernel without
// them is subtracted. Twice: one block of 256 threads alone on its SM (how long
// it waits), and as many as fit (what it takes from the others).
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"

#include "../../../include/reconverge/reconverge.cuh"
#include <algorithm>
#include <cub/block/block_radix_sort.cuh>
#include <string>

using reconverge::remap_algorithm;

/// 50 instructions a step, of which three are the loop's; a permutation for
/// each path.
template <int Path> __host__ __device__ unsigned work(unsigned x, int Steps) {
#pragma unroll 1
  for (int I = 0; I < Steps; ++I) {
#pragma unroll
    for (int K = 0; K < 16; ++K) {
      const unsigned Odd = 2654435761u + 2 * ((K * 5 + Path * 3) % 16);
      x = x * Odd + unsigned(I);
      x ^= x >> (7 + (K + Path * 4) % 16);
    }
  }
  return x;
}

template <int Paths> __host__ __device__ unsigned pathOf(unsigned x) {
  return Paths == 2 ? x >> 31 : x >> 30;
}

template <int Paths>
__host__ __device__ unsigned branches(unsigned Path, unsigned x, int Steps) {
  if constexpr (Paths == 2) {
    if (Path)
      return work<1>(x, Steps);
    return work<0>(x, Steps);
  } else {
    if (Path & 2) {
      if (Path & 1)
        return work<3>(x, Steps);
      return work<2>(x, Steps);
    }
    if (Path & 1)
      return work<1>(x, Steps);
    return work<0>(x, Steps);
  }
}

//===----------------------------------------------------------------------===//
// Ways to give a thread its data: each returns the number of its element
//===----------------------------------------------------------------------===//

template <int Block, int Paths> struct Original {
  struct Storage {};
  static __device__ int element(Storage &, unsigned &) {
    return blockIdx.x * Block + threadIdx.x;
  }
};

template <int Block, int Paths, remap_algorithm A> struct Library {
  using Remap = reconverge::block_remap<Block, Paths, A>;
  using Storage = typename Remap::temp_storage;
  static __device__ int element(Storage &S, unsigned &Path) {
    Remap R(S, threadIdx.x);
    const auto New = R(Path);
    Path = New.path;
    return blockIdx.x * Block + New.id;
  }
};

template <int Block, int Paths> struct Cub {
  using Sort = cub::BlockRadixSort<unsigned, Block, 1, unsigned short>;
  using Storage = typename Sort::TempStorage;
  static __device__ int element(Storage &S, unsigned &Path) {
    unsigned Key[1] = {Path};
    unsigned short Id[1] = {static_cast<unsigned short>(threadIdx.x)};
    Sort(S).Sort(Key, Id, 0, Paths == 2 ? 1 : 2);
    Path = Key[0];
    return blockIdx.x * Block + Id[0];
  }
};

template <int Block, int Paths> struct Cluster {
  using Remap = reconverge::cluster_remap<Block, 8, Paths>;
  using Storage = typename Remap::temp_storage;
  static __device__ int element(Storage &S, unsigned &Path) {
    Remap R(S);
    const auto New = R(Path);
    Path = New.path;
    return R.first() + New.id;
  }
};

template <typename Way, int Block, int Paths>
__global__ void __launch_bounds__(Block)
    micro(const unsigned *In, unsigned *Out, int Steps) {
  __shared__ typename Way::Storage Storage;
  unsigned Path = pathOf<Paths>(In[blockIdx.x * Block + threadIdx.x]);
  const int I = Way::element(Storage, Path);
  Out[I] = branches<Paths>(Path, In[I], Steps);
}

//===----------------------------------------------------------------------===//
// What a round costs
//===----------------------------------------------------------------------===//

template <bool Moves, remap_algorithm A, int Paths>
__global__ void __launch_bounds__(256) manyRounds(unsigned *Out, int Rounds) {
  using Remap = reconverge::block_remap<256, Paths, A>;
  __shared__ typename Remap::temp_storage Storage;
  Remap R(Storage, threadIdx.x);
  unsigned x = (blockIdx.x * 256 + threadIdx.x) * 2654435761u + 1;
#pragma unroll 1
  for (int I = 0; I < Rounds; ++I) {
    x = x * 1664525u + 1013904223u;
    unsigned Path = pathOf<Paths>(x), Id = threadIdx.x;
    if (Moves) {
      const auto New = R(Path);
      Path = New.path;
      Id = New.id;
    }
    x += Id * 2 + Path;
  }
  Out[blockIdx.x * 256 + threadIdx.x] = x;
}

template <remap_algorithm A, int Paths>
static void roundCost(const char *Name, int Repeat) {
  constexpr int Rounds = 1000;
  cudaDeviceProp Device;
  CHECK_CUDA(cudaGetDeviceProperties(&Device, 0));
  const auto With = manyRounds<true, A, Paths>;
  const auto Without = manyRounds<false, A, Paths>;
  int Fit = 0;
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&Fit, With, 256, 0));
  DeviceArray<unsigned> Out(
      std::vector<unsigned>(size_t(Device.multiProcessorCount) * Fit * 256));
  for (int Each : {1, Fit}) {
    const int Blocks = Device.multiProcessorCount * Each;
    std::printf("round-us %s paths=%d blocks-per-sm=%d:", Name, Paths, Each);
    for (int I = -1; I < Repeat; ++I) {
      const float Base =
          Bench::milliseconds([&] { Without<<<Blocks, 256>>>(Out, Rounds); });
      const float Full =
          Bench::milliseconds([&] { With<<<Blocks, 256>>>(Out, Rounds); });
      if (I >= 0) // the first launch is not warm
        std::printf(" %.5f", (Full - Base) * 1000 / Rounds);
    }
    std::printf("\n");
  }
}

//===----------------------------------------------------------------------===//
// All ways in turns
//===----------------------------------------------------------------------===//

using Kernel = void (*)(const unsigned *, unsigned *, int);

struct Way {
  const char *Name;
  Kernel Run;
  int Cluster = 1;
  bool Sorted = false;
  std::vector<float> Times = {};
  bool Right = true;
};

template <int Block, int Paths> static std::vector<Way> ways(bool Clusters) {
  using A = remap_algorithm;
  const Kernel Plain = micro<Original<Block, Paths>, Block, Paths>;
  std::vector<Way> All = {{"original", Plain}, {"ideal", Plain, 1, true}};
  if constexpr (Paths == 2)
    All.push_back(
        {"head_or_tail", micro<Library<Block, 2, A::head_or_tail>, Block, 2>});
  All.push_back(
      {"data_group_indexing",
       micro<Library<Block, Paths, A::data_group_indexing>, Block, Paths>});
  All.push_back(
      {"warp_aggregated",
       micro<Library<Block, Paths, A::warp_aggregated>, Block, Paths>});
  All.push_back(
      {"automatic", micro<Library<Block, Paths, A::automatic>, Block, Paths>});
  All.push_back({"cub", micro<Cub<Block, Paths>, Block, Paths>});
  if (Clusters)
    All.push_back({"cluster", micro<Cluster<Block, Paths>, Block, Paths>, 8});
  return All;
}

template <int Paths> static std::vector<Way> ways(long Block, bool Clusters) {
  switch (Block) {
  case 128:
    return ways<128, Paths>(Clusters);
  case 256:
    return ways<256, Paths>(Clusters);
  case 512:
    return ways<512, Paths>(Clusters);
  case 1024:
    return ways<1024, Paths>(Clusters);
  }
  std::fprintf(stderr, "block=%ld: give 128, 256, 512 or 1024\n", Block);
  std::exit(2);
}

static void launch(const Way &W, int Blocks, int Block, const unsigned *In,
                   unsigned *Out, int Steps) {
  if (W.Cluster == 1) {
    W.Run<<<Blocks, Block>>>(In, Out, Steps);
    return;
  }
  cudaLaunchConfig_t Config = {};
  Config.gridDim = dim3(Blocks);
  Config.blockDim = dim3(Block);
  cudaLaunchAttribute Size;
  Size.id = cudaLaunchAttributeClusterDimension;
  Size.val.clusterDim.x = W.Cluster;
  Size.val.clusterDim.y = Size.val.clusterDim.z = 1;
  Config.attrs = &Size;
  Config.numAttrs = 1;
  CHECK_CUDA(cudaLaunchKernelEx(&Config, W.Run, In, Out, Steps));
}

/// Gives each block as many threads of each path as of any other, in an order
/// that is drawn (Fisher and Yates).
static void spreadEvenly(std::vector<unsigned> &Input, long Block, long Paths,
                         Random &Draw) {
  const int Bit = Paths == 2 ? 31 : 30;
  std::vector<unsigned> Order(Block);
  for (size_t First = 0; First < Input.size(); First += Block) {
    for (long I = 0; I < Block; ++I)
      Order[I] = I % Paths;
    for (long I = Block - 1; I > 0; --I)
      std::swap(Order[I], Order[Draw.below(I + 1)]);
    for (long I = 0; I < Block; ++I) {
      unsigned &X = Input[First + I];
      X = (X & ((1u << Bit) - 1)) | Order[I] << Bit;
    }
  }
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "remap_micro");
  const long Paths = Run.integer("paths", 2, 2, 4);
  const long Block = Run.integer("block", 256, 128, 1024);
  const long Blocks = Run.integer("blocks", 16, 8, 1 << 20);
  const long Length = Run.integer("length", 100, 0, 100000);
  const bool Even = Run.integer("even", 0, 0, 1);
  const long Clusters = Run.integer("clusters", 0, 0, 1);
  const long Rounds = Run.integer("rounds", 1, 1, 1000);
  Run.ready();
  if (Length == 0) {
    using A = remap_algorithm;
    roundCost<A::head_or_tail, 2>("head_or_tail", Rounds);
    roundCost<A::data_group_indexing, 2>("data_group_indexing", Rounds);
    roundCost<A::warp_aggregated, 2>("warp_aggregated", Rounds);
    roundCost<A::automatic, 2>("automatic", Rounds);
    roundCost<A::data_group_indexing, 4>("data_group_indexing", Rounds);
    roundCost<A::automatic, 4>("automatic", Rounds);
    return 0;
  }
  if (Paths == 3 || Blocks % 8) {
    std::fprintf(stderr, "paths is 2 or 4, blocks a multiple of 8\n");
    return 2;
  }

  const int Steps = std::max(1l, Length / 50);
  std::vector<unsigned> Input(Blocks * Block);
  Random Draw = Run.random();
  for (unsigned &X : Input)
    X = Draw.bits();
  if (Even)
    spreadEvenly(Input, Block, Paths, Draw);
  std::vector<unsigned> Sorted; // by path
  for (unsigned Path = 0; Path < unsigned(Paths); ++Path)
    for (unsigned X : Input)
      if ((Paths == 2 ? pathOf<2>(X) : pathOf<4>(X)) == Path)
        Sorted.push_back(X);
  DeviceArray<unsigned> In(Input), InSorted(Sorted), Out(Input);
  std::vector<Way> All =
      Paths == 2 ? ways<2>(Block, Clusters) : ways<4>(Block, Clusters);

  const auto Want = [&](unsigned X) {
    return Paths == 2 ? branches<2>(pathOf<2>(X), X, Steps)
                      : branches<4>(pathOf<4>(X), X, Steps);
  };
  const std::vector<unsigned> Zeros(Input.size());
  std::vector<unsigned> First;
  bool Right = true;
  for (Way &W : All) {
    const std::vector<unsigned> &From = W.Sorted ? Sorted : Input;
    Out.set(Zeros);
    launch(W, Blocks, Block, W.Sorted ? InSorted : In, Out, Steps);
    CHECK_LAUNCH();
    CHECK_CUDA(cudaDeviceSynchronize());
    const std::vector<unsigned> Got = Out.get();
    if (First.empty())
      First = Got;
    if (!W.Sorted)
      W.Right = Got == First;
    const size_t Known = std::min(Got.size(), size_t(8) * Block);
    for (size_t I = 0; I < Known && Run.checks(); ++I)
      W.Right &= Got[I] == Want(From[I]);
    Right &= W.Right;
  }
  for (long R = 0; R < Rounds && Rounds > 1; ++R)
    for (Way &W : All)
      W.Times.push_back(Bench::milliseconds([&] {
        launch(W, Blocks, Block, W.Sorted ? InSorted : In, Out, Steps);
      }));
  for (const Way &W : All) {
    std::printf("way %s %s:", W.Name, W.Right ? "right" : "WRONG");
    for (float Ms : W.Times)
      std::printf(" %.6f", Ms);
    std::printf("\n");
  }
  return Run.finish(Right, checksum(First));
}
