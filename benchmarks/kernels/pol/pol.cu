//===- benchmarks/kernels/pol/pol.cu - Tax policy -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a change of tax policy does to thousands of households (paper 3, POL):
// five layers of branches on how a household files, what it earns, owns and
// whom it keeps, and the tax under the old and the new law for each year of a
// projection. Whole numbers (dollars, shares in thousandths), so every build
// computes the same.
//
// Remapped (common/remap.h): which of six ways to project a household goes is
// known after its conditions; the threads of a block trade places by it.
//
//===----------------------------------------------------------------------===//
#include "policy.h"

static constexpr int Block = 256;

__global__ void plain(Households H, Laws L, int *Out, int Years, int Count) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < Count)
    Out[I] = change(H, L.Both, wayOf(H, I), I, Years);
}

template <typename Way>
__global__ void remapped(Households H, Laws L, int *Out, int Years, int Count) {
  __shared__ typename Way::temp_storage Storage;
  Way Trade(Storage, threadIdx.x);
  const int First = blockIdx.x * Block, I = First + threadIdx.x;
  const auto New = Trade(I < Count ? wayOf(H, I) : Business + 1);
  if (New.path > Business)
    return;
  Out[First + New.id] = change(H, L.Both, New.path, First + New.id, Years);
}

template <typename Collect>
__global__ void collected(Households H, Laws L, int *Out, int Years,
                          int Count) {
  __shared__ typename Collect::temp_storage Storage;
  const int First = blockIdx.x * Collect::items;
  Collect Items(Storage);
  Items(
      Count - First, // the longest first
      [&](int I) { return Business - wayOf(H, First + I); },
      [&](int I, int Path) {
        Out[First + I] = change(H, L.Both, Business - Path, First + I, Years);
      });
}

// Regrouped: the longest first.
__global__ void findKeys(Households H, unsigned char *Keys, int Count) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < Count)
    Keys[I] = Business - wayOf(H, I);
}
__global__ void regrouped(Households H, Laws L, int *Out, int Years, int Count,
                          const unsigned char *Keys, const int *Ids) {
  const int T = blockIdx.x * Block + threadIdx.x;
  if (T >= Count)
    return;
  const int I = Ids[T];
  Out[I] = change(H, L.Both, Business - Keys[I], I, Years);
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "pol");
  const long Count = Run.integer("households", 5000, 1, 1 << 28);
  const long Years = Run.integer("years", 20, 1, 60);
  const long Remap = chosenWay(Run);
  const long Batches = Run.integer("batches", 1, 1, 1024);
  Run.ready();

  const Population People(Count, Run.random());
  const auto &Field = People.Field;
  DeviceArray<int> A(Field[0]), B(Field[1]), C(Field[2]), D(Field[3]),
      E(Field[4]);
  DeviceArray<int> Out(std::vector<int>(Count, 0));
  const Households OnDevice = {A, B, C, D, E};
  const Households OnHost = {Field[0].data(), Field[1].data(), Field[2].data(),
                             Field[3].data(), Field[4].data()};
  RemapWays<decltype(&plain)> All = {WAYS(plain, remapped<ByLibrary<Block, 7>>,
                                          remapped<ByCub<Block, 7>>,
                                          COLLECTED(6))};
  GridOrder<unsigned char> Order(isRegrouped(Remap) ? Count : 0, 3);
  const int Blocks = (Count + Block - 1) / Block;
  All.regroup(
      reinterpret_cast<const void *>(&regrouped), Block,
      [&] {
        findKeys<<<Blocks, Block>>>(OnDevice, Order.keys(), Count);
        Order.make();
      },
      [&] {
        regrouped<<<Blocks, Block>>>(OnDevice, BothLaws, Out, Years, Count,
                                     Order.keys(), Order.ids());
      });
  return All.run(
      Run, Remap, Block, [&] { Out.clear(); },
      [&](auto Kernel, Form F) {
        Run.inBatches(Count, Batches, [&](long First, long Each) {
          const Households Batch = {A + First, B + First, C + First, D + First,
                                    E + First};
          Kernel<<<F.blocks(Each), F.Threads>>>(Batch, BothLaws, Out + First,
                                                Years, Each);
        });
      },
      [&] { return Out.get(); },
      [&](const std::vector<int> &Got) {
        bool Right = true;
        for (long I = 0; I < Count; ++I)
          Right &= Got[I] ==
                   change(OnHost, BothLaws.Both, wayOf(OnHost, I), I, Years);
        return Right;
      });
}
