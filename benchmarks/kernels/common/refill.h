//===- benchmarks/kernels/common/refill.h - Lanes that take more -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the programs have in common in which lanes wait for their warp's slowest
// one. Each has its work as a class,
//
//   Work W;
//   W.start(In, Item);              // In: Work::Input, a kernel's argument
//   while (W.more(In)) W.step(In);
//   W.finish(In, Item);             // stores what belongs to the item
//
// and two kernels. The plain one is just that, a thread an item. persistent() is
// what a careful engineer writes in its place: warps stay, and where at least
// `threshold` of a warp's lanes have nothing to do, these store their results
// and start on new items together:
//
//   lane  0 1 2 3        0 1 2 3
//         a b c d        a b c d      plain: the warp takes as long as c
//         | . | .        | e | f      persistent: with threshold=2, b and d
//         . . | .        g | | |      are followed by e and f
//         . . | .        | . | |
//
// Items come from a slice of them that a warp has for itself (no atomics; what
// lies together stays together), or from one counter for all warps (nobody is
// left alone with a long slice). The argument `form` chooses: 0 plain, 1 by
// slices, 2 by the counter, 3 all of them in turns (ways.h). After the last item
// a warp goes on without votes.
//
// Work may also come in rounds of steps: then it has bool again(In), asked where
// more() is false, which says whether there is one more round. Lanes whose round
// is over wait like idle ones, and go on together with those that take an item.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_REFILL_H
#define RECONVERGE_BENCHMARKS_REFILL_H

#include "exact.h"
#include "ways.h"

#include <algorithm>

/// Items that a warp was given.
struct NewItems {
  int First, Count;
};

/// A warp's own slice of the items.
struct BySlice {
  int Items, PerWarp;
  int Next = 0, End = 0;

  __device__ void open() {
    const long long Warp =
        (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32;
    Next = int(min((long long)Items, Warp * PerWarp));
    End = int(min((long long)Items, Warp * PerWarp + PerWarp));
  }
  __device__ NewItems take(int Count) {
    const NewItems New{Next, min(Count, End - Next)};
    Next += New.Count;
    return New;
  }
};

/// One counter for all warps; each asks once for all of its lanes.
struct ByCounter {
  int Items;
  unsigned *Next; ///< 0 before the launch

  __device__ void open() {}
  __device__ NewItems take(int Count) {
    unsigned First = 0;
    if (threadIdx.x % 32 == 0)
      First = atomicAdd(Next, unsigned(Count));
    First = min(__shfl_sync(~0u, First, 0), unsigned(Items));
    return {int(First), min(Count, Items - int(First))};
  }
};

/// Whether the item goes on after a round of steps; most have only one round.
template <typename Work>
__device__ auto goesOn(Work &Mine, const typename Work::Input &In, int)
    -> decltype(Mine.again(In)) {
  return Mine.again(In);
}
template <typename Work>
__device__ bool goesOn(Work &, const typename Work::Input &, long) {
  return false;
}

/// For blocks of whole warps.
template <typename Work, typename Source>
__global__ void persistent(typename Work::Input In, Source From,
                           int Threshold) {
  const unsigned Before = (1u << threadIdx.x % 32) - 1;
  From.open();
  Work Mine;
  int Item = -1; // none
  bool Busy = false;
  const auto EndRound = [&] { // of a lane that has an item
    if (goesOn(Mine, In, 0)) {
      Busy = Mine.more(In);
    } else {
      Mine.finish(In, Item);
      Item = -1;
    }
  };
  for (bool Left = true; Left;) {
    if (__popc(__ballot_sync(~0u, !Busy)) >= Threshold) {
      if (!Busy && Item >= 0)
        EndRound();
      const unsigned Idle = __ballot_sync(~0u, Item < 0);
      const NewItems New = From.take(__popc(Idle));
      const int Rank = __popc(Idle & Before);
      if (Item < 0 && Rank < New.Count) {
        Item = New.First + Rank;
        Mine.start(In, Item);
        Busy = Mine.more(In);
      }
      Left = New.Count == __popc(Idle);
    }
    if (Busy) {
      Mine.step(In);
      Busy = Mine.more(In);
    }
  }
  while (Item >= 0) {
    while (Busy) {
      Mine.step(In);
      Busy = Mine.more(In);
    }
    EndRound();
  }
}

/// The arguments of these programs and the rest of their main.
class RefillForms {
public:
  RefillForms(Bench &Run, int Block)
      : Run(Run), Block(int(Run.integer("block", Block, 32, 1024)) / 32 * 32),
        Threshold(int(Run.integer("threshold", 8, 1, 32))),
        Slice(int(Run.integer("slice", 16, 0, 1 << 20))),
        Form(Run.integer("form", 0, 0, 3)) {}

  template <typename Work, typename Plain, typename Input, typename Output,
            typename Compare>
  int run(Plain Kernel, const typename Work::Input &In, int Items, Input Fresh,
          Output Get, Compare Check) {
    DeviceArray<unsigned> Next(std::vector<unsigned>(1));
    const auto Slices = persistent<Work, BySlice>;
    const auto Counted = persistent<Work, ByCounter>;
    // A slice has so many items a lane; with slice=0, the items are divided
    // among the warps that the GPU holds at once. The counter feeds no more
    // warps than these, and gives a lane as many items on average.
    const auto Blocks = [&](const void *Of, bool OnlyResident) {
      int Fit = 0, Processors = 0;
      CHECK_CUDA(
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&Fit, Of, Block, 0));
      CHECK_CUDA(cudaDeviceGetAttribute(&Processors,
                                        cudaDevAttrMultiProcessorCount, 0));
      const int Resident = Fit * Processors;
      const int Sliced = Slice ? over(Items, long(Block) * Slice) : Resident;
      return OnlyResident ? std::min(Sliced, Resident) : Sliced;
    };
    const int SliceBlocks = Blocks((const void *)Slices, false);
    const int PerWarp =
        Slice ? 32 * Slice : over(Items, long(SliceBlocks) * (Block / 32));
    const int CountedBlocks = Blocks((const void *)Counted, true);
    return runWays(Run,
                   {{"plain", (const void *)Kernel, Block,
                     [&] { Kernel<<<over(Items, Block), Block>>>(In, Items); }},
                    {"slice", (const void *)Slices, Block,
                     [&] {
                       Slices<<<SliceBlocks, Block>>>(
                           In, BySlice{Items, PerWarp}, Threshold);
                     }},
                    {"counter", (const void *)Counted, Block,
                     [&] {
                       CHECK_CUDA(cudaMemsetAsync(Next, 0, sizeof(unsigned)));
                       Counted<<<CountedBlocks, Block>>>(
                           In, ByCounter{Items, Next}, Threshold);
                     }}},
                   Form, Fresh, Get, Check);
  }

private:
  static int over(long A, long B) { return int((A + B - 1) / B); }

  Bench &Run;
  const int Block, Threshold, Slice;
  const long Form;
};

#endif
