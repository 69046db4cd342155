//===- benchmarks/kernels/gdt/gdt.cu - Genetic decision tree --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decision tree as genetic programming grows it for trading (paper 3, GDT):
// for each stock and day, three layers of conditions on trend, swing and volume
// choose one of eight rules, and the rule looks back over a window of its own.
// Whole numbers throughout (prices in hundredths), so every build computes the
// same.
//
// Remapped (common/remap.h): the rule is known after the conditions; threads of
// a block trade places by it and then run the rules.
//
//===----------------------------------------------------------------------===//
#include "market.h"

__global__ void plain(Market M, int *Orders, int Count) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I >= Count)
    return;
  const int At = dayOf(M, I);
  Orders[I] = order(M, At, ruleOf(M, At));
}

template <typename Way>
__global__ void remapped(Market M, int *Orders, int Count) {
  __shared__ typename Way::temp_storage Storage;
  Way Trade(Storage, threadIdx.x);
  const int First = blockIdx.x * Block, I = First + threadIdx.x;
  const auto New = Trade(I < Count ? ruleOf(M, dayOf(M, I)) : 8);
  if (New.path == 8)
    return;
  Orders[First + New.id] = order(M, dayOf(M, First + New.id), New.path);
}

template <typename Collect>
__global__ void collected(Market M, int *Orders, int Count) {
  __shared__ typename Collect::temp_storage Storage;
  const int First = blockIdx.x * Collect::items;
  Collect Items(Storage);
  Items(
      Count - First, [&](int I) { return ruleOf(M, dayOf(M, First + I)); },
      [&](int I, int Rule) {
        Orders[First + I] = order(M, dayOf(M, First + I), Rule);
      });
}

__global__ void findKeys(Market M, unsigned char *Keys, int Count) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < Count)
    Keys[I] = ruleOf(M, dayOf(M, I));
}
__global__ void regrouped(Market M, int *Orders, int Count,
                          const unsigned char *Keys, const int *Ids) {
  const int T = blockIdx.x * Block + threadIdx.x;
  if (T >= Count)
    return;
  const int I = Ids[T];
  Orders[I] = order(M, dayOf(M, I), Keys[I]);
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "gdt");
  const long Stocks = Run.integer("stocks", 20, 1, 1 << 20);
  const long Days = Run.integer("days", 512, Window + 1, 1 << 20);
  const long Remap = chosenWay(Run);
  const long Batches = Run.integer("batches", 1, 1, 1024);
  Run.ready();

  const History Of(Stocks, Days, Run.random());
  const int Count = static_cast<int>(Stocks * (Days - Window));
  DeviceArray<int> Prices(Of.Price), Volumes(Of.Volume);
  DeviceArray<int> Orders(std::vector<int>(Count, 0));
  const Market OnDevice = {Prices, Volumes, static_cast<int>(Days)};
  const Market OnHost = {Of.Price.data(), Of.Volume.data(),
                         static_cast<int>(Days)};
  RemapWays<decltype(&plain)> All = {WAYS(plain, remapped<ByLibrary<Block, 9>>,
                                          remapped<ByCub<Block, 9>>,
                                          COLLECTED(8))};
  GridOrder<unsigned char> Order(isRegrouped(Remap) ? Count : 0, 3);
  const int Blocks = (Count + Block - 1) / Block;
  All.regroup(
      reinterpret_cast<const void *>(&regrouped), Block,
      [&] {
        findKeys<<<Blocks, Block>>>(OnDevice, Order.keys(), Count);
        Order.make();
      },
      [&] {
        regrouped<<<Blocks, Block>>>(OnDevice, Orders, Count, Order.keys(),
                                     Order.ids());
      });
  return All.run(
      Run, Remap, Block, [&] { Orders.clear(); },
      [&](auto Kernel, Form F) {
        Run.inBatches(Stocks, Batches, [&](long First, long Each) {
          const Market Batch = {Prices + First * Days, Volumes + First * Days,
                                OnDevice.Days};
          const long Items = Each * (Days - Window);
          Kernel<<<F.blocks(Items), F.Threads>>>(
              Batch, Orders + First * (Days - Window), int(Items));
        });
      },
      [&] { return Orders.get(); },
      [&](const std::vector<int> &Got) {
        bool Right = true;
        for (int I = 0; I < Count; ++I) {
          const int At = dayOf(OnHost, I);
          Right &= Got[I] == order(OnHost, At, ruleOf(OnHost, At));
        }
        return Right;
      });
}
