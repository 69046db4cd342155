//===- benchmarks/kernels/common/remap.h - In several ways ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the programs have in common whose threads trade places before a branch.
// Each has its kernel as it is, and once more as remapped<Way>, where
//
//   Way Trade(Storage, threadIdx.x);      // Storage: Way::temp_storage, shared
//   const auto New = Trade(Path);         // New.id, New.path
//
// is ByLibrary, or ByCub: what one does by hand without it. Most have it a
// third time as collected<Collect>, where
//
//   Collect Items(Storage);               // Storage: Collect::temp_storage
//   Items(Count, PathOf, Work);           // of Collect::items items at most
//
// is the library's block_collect, in the forms that RemapWays lists. Some are
// also regrouped over the grid (regroup.h): keys, sort and kernel, or the kernel
// alone with the order of before. The argument `remap` chooses: 0 as it is, 1
// the library's block_remap, 2 CUB, 4 to 9 block_collect, 3 all of these in
// turns; 10 regrouped, 11 with the order of before, 12 these two, 0 and 1 in
// turns. In turns with repeat=N each prints, in place of bench.h's kernel-ms,
//
//   use library: registers=40 shared=1104 blocks-per-sm=6 occupancy=0.75
//   ms library: 0.117 0.116 0.118
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_REMAP_H
#define RECONVERGE_BENCHMARKS_REMAP_H

#include "ways.h"

#include "../../../include/reconverge/block/block_collect.cuh"
#include "../../../include/reconverge/block/block_remap.cuh"

#ifndef ONLY_PLAIN // CUB takes longer to read than all the rest
#include <cub/block/block_radix_sort.cuh>
#endif

#define HD __host__ __device__

/// `Words` of a thread's state can move with the identity.
template <int Block, int Paths, int Words = 0>
using ByLibrary =
    reconverge::block_remap<Block, Paths,
                            reconverge::remap_algorithm::automatic, 4 * Words>;

/// How many bits the numbers below \p N have.
HD constexpr int bitsBelow(int N) {
  return N <= 1 ? 0 : 1 + bitsBelow((N + 1) / 2);
}

#ifndef ONLY_PLAIN
/// Sorts the threads' numbers by path; moves state through shared memory.
template <int Block, int Paths, int Words = 0> class ByCub {
  using Sort = cub::BlockRadixSort<unsigned, Block, 1, unsigned short>;

public:
  struct temp_storage {
    typename Sort::TempStorage Sorted;
    unsigned State[Words ? Words : 1][Block];
  };
  struct result {
    int id, path;
  };
  __device__ ByCub(temp_storage &Storage, int) : Storage(Storage) {}

  template <typename... Values>
  __device__ result operator()(int Path, Values &...V) {
    static_assert(sizeof...(V) <= Words && ((sizeof(V) == 4) && ...),
                  "so many words");
    unsigned Key[1] = {static_cast<unsigned>(Path)};
    unsigned short Id[1] = {static_cast<unsigned short>(threadIdx.x)};
    [[maybe_unused]] int K = 0, L = 0;
    if (Called) // in loops
      __syncthreads();
    Called = true;
    ((Storage.State[K++][threadIdx.x] = static_cast<unsigned>(V)), ...);
    Sort(Storage.Sorted).Sort(Key, Id, 0, bitsBelow(Paths)); // has barriers
    ((V = static_cast<Values>(Storage.State[L++][Id[0]])), ...);
    return {Id[0], static_cast<int>(Key[0])};
  }

private:
  temp_storage &Storage;
  bool Called = false;
};
#endif

/// The kernel template collected, in its forms, in RemapWays' order.
#define COLLECTED(Paths)                                                       \
  collected<reconverge::block_collect<256, Paths, 2, 32>>,                     \
      collected<reconverge::block_collect<256, Paths, 4, 32>>,                 \
      collected<reconverge::block_collect<256, Paths, 8, 32>>,                 \
      collected<reconverge::block_collect<256, Paths, 4, 64>>,                 \
      collected<reconverge::block_collect<128, Paths, 4, 32>>,                 \
      collected<reconverge::block_collect<128, Paths, 8, 32>>

/// A kernel as it is, and in other ways. With -DONLY_PLAIN a program has no
/// other kernels than the first, as one that nobody has changed by hand.
#ifdef ONLY_PLAIN
#define WAYS(Plain, ...) {Plain}
constexpr long LastWay = 0;
#else
#define WAYS(Plain, ...) {Plain, __VA_ARGS__}
constexpr long LastWay = 12;
#endif
/// How many items a thread of the first kernel takes: as it is, one.
#ifndef EACH
#define EACH 1
#endif

/// Which of RemapWays' kernels to run, or which of them in turns.
inline long chosenWay(Bench &Run) {
  return Run.integer("remap", 0, 0, LastWay);
}

/// Whether that way needs an order over the grid, and the memory for it.
inline bool isRegrouped(long Way) { return Way >= 10; }

/// How a kernel is launched.
struct Form {
  int Threads, Items; ///< of a block
  int blocks(long Count) const { return int((Count + Items - 1) / Items); }
};

/// A kernel as it is, remapped with the library and with CUB, and collected.
template <typename Kernel> struct RemapWays {
  struct Shape {
    const char *Name;  ///< collect-<threads>-<items a thread>-<chunk>
    int Threads, Each; ///< 0 threads: the program's own
  };
  static constexpr Shape Forms[] = {{"original", 0, EACH},
                                    {"library", 0, 1},
                                    {"cub", 0, 1},
                                    {"collect-256-2-32", 256, 2},
                                    {"collect-256-4-32", 256, 4},
                                    {"collect-256-8-32", 256, 8},
                                    {"collect-256-4-64", 256, 4},
                                    {"collect-128-4-32", 128, 4},
                                    {"collect-128-8-32", 128, 8}};

  std::vector<Kernel> Ways;
  /// As it is, regrouped, with that order, library.
  std::vector<Way> Regrouped = {};
  std::function<void()> OrderBefore = {}; ///< makes the order of `ordered`

  /// \p Order writes keys and sorts; \p Go launches \p Ordered by that order.
  template <typename Before, typename Launch>
  void regroup(const void *Ordered, int Block, Before Order, Launch Go) {
    const auto Both = [=] {
      Order();
      Go();
    };
    Regrouped = {{"original", nullptr, Block, {}},
                 {"regrouped", Ordered, Block, Both},
                 {"ordered", Ordered, Block, Go},
                 {"library", nullptr, Block, {}}};
    OrderBefore = Order;
  }

  /// The rest of main: \p Fresh makes the input new, \p Go launches a kernel
  /// in its form, \p Get reads the result, a vector,
  /// and \p Check compares it with the CPU's.
  template <typename Input, typename Launch, typename Output, typename Compare>
  int run(Bench &Run, long Chosen, int Block, Input Fresh, Launch Go,
          Output Get, Compare Check, size_t Dynamic = 0) const {
    if (isRegrouped(Chosen))
      return runRegrouped(Run, Chosen, Block, Fresh, Go, Get, Check, Dynamic);
    const int All = int(Ways.size()), Index = int(Chosen - (Chosen > 3));
    const int From = Chosen == 3 ? 0 : Index, To = Chosen == 3 ? All : From + 1;
    if (To > All) {
      std::fprintf(stderr, "this program is not collected: give remap=3\n");
      return 2;
    }
    const auto Once = [&](int W) {
      Go(Ways[W], form(W, Block));
      CHECK_LAUNCH();
      CHECK_CUDA(cudaDeviceSynchronize());
      return Get();
    };
    const auto First = Once(From);
    bool Right = !Run.checks() || Check(First);
    for (int W = From + 1; W < To; ++W) {
      Fresh();
      if (Once(W) == First)
        continue;
      std::printf("%s leaves other bytes than %s\n", Forms[W].Name,
                  Forms[From].Name);
      Right = false;
    }
    std::vector<std::vector<float>> Times(All);
    for (long R = 0; R < Run.repeats(); ++R)
      for (int W = From; W < To; ++W) {
        Fresh();
        Times[W].push_back(
            Bench::milliseconds([&] { Go(Ways[W], form(W, Block)); }));
        if (Chosen != 3)
          Run.took(Times[W].back());
      }
    for (int W = 0; W < All && Chosen == 3 && Run.repeats(); ++W)
      print(W, form(W, Block).Threads, Dynamic, Times[W]);
    return Run.finish(Right, checksum(First)) || !Right;
  }

private:
  template <typename Input, typename Launch, typename Output, typename Compare>
  int runRegrouped(Bench &Run, long Chosen, int Block, Input Fresh, Launch Go,
                   Output Get, Compare Check, size_t Dynamic) const {
    if (Regrouped.empty()) {
      std::fprintf(stderr, "this program is not regrouped: give remap=3\n");
      return 2;
    }
    if (Chosen == 11) // in turns, `regrouped` has made it
      OrderBefore();
    std::vector<Way> Turns = Regrouped;
    for (int W : {0, 1}) {
      const Kernel K = Ways[W];
      Way &Turn = Turns[W ? 3 : 0];
      Turn.Kernel = reinterpret_cast<const void *>(K);
      Turn.Launch = [=] { Go(K, form(W, Block)); };
      Turn.Dynamic = Dynamic;
    }
    return runWays(Run, Turns, Chosen == 12 ? 4 : Chosen - 9, Fresh, Get,
                   Check);
  }
  static Form form(int W, int Block) {
    const int Threads = Forms[W].Threads ? Forms[W].Threads : Block;
    return {Threads, Threads * Forms[W].Each};
  }
  void print(int W, int Block, size_t Dynamic,
             const std::vector<float> &Times) const {
    cudaFuncAttributes Use;
    CHECK_CUDA(cudaFuncGetAttributes(&Use, Ways[W]));
    int Fit = 0, Most = 0;
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&Fit, Ways[W],
                                                             Block, Dynamic));
    CHECK_CUDA(cudaDeviceGetAttribute(
        &Most, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    std::printf("use %s: registers=%d shared=%zu blocks-per-sm=%d "
                "occupancy=%.4f\nms %s:",
                Forms[W].Name, Use.numRegs, Use.sharedSizeBytes + Dynamic, Fit,
                double(Fit) * Block / Most, Forms[W].Name);
    for (float Ms : Times)
      std::printf(" %.6f", Ms);
    std::printf("\n");
  }
};

#endif
