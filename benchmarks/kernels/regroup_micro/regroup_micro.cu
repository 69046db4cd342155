//===- benchmarks/kernels/regroup_micro/regroup_micro.cu - An order -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the order of so many items by keys of so many bits, drawn at random:
// with the library (reconverge::regroup), also with the inverse and where each
// key's items begin, and beside it CUB's radix sort alone, to which the items'
// numbers are given. Checked against std::stable_sort.
//
//===----------------------------------------------------------------------===//
#include "../common/regroup.h"

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <numeric>

using Key = unsigned short;

int main(int argc, char **argv) {
  Bench Run(argc, argv, "regroup_micro");
  const int Count = int(Run.integer("items", 5000, 1, 1 << 28));
  const int Bits = int(Run.integer("bits", 8, 1, 16));
  const long Chosen = Run.integer("way", 0, 0, 3); // 3: all in turns
  Run.ready();

  std::vector<Key> Drawn(Count);
  Random Draw = Run.random();
  for (Key &K : Drawn)
    K = Key(Draw.below(1 << Bits));
  std::vector<int> Counted(Count);
  std::iota(Counted.begin(), Counted.end(), 0);
  DeviceArray<Key> Keys(Drawn), Sorted(Drawn);
  DeviceArray<int> Numbers(Counted), Ids(Counted), Inverse(Counted),
      Offsets(std::vector<int>((1 << Bits) + 1));
  const reconverge::regroup_order Plain = {Ids},
                                  Whole = {Ids, Inverse, Offsets};
  size_t Size = 0, SortSize = 0;
  const auto Order = [&](void *Temporary, reconverge::regroup_order To) {
    CHECK_CUDA(
        reconverge::regroup<Key>(Temporary, Size, Keys, Bits, Count, To));
  };
  const auto Sort = [&](void *Temporary) {
    CHECK_CUDA(cub::DeviceRadixSort::SortPairs<Key, int>(
        Temporary, SortSize, Keys, Sorted, Numbers, Ids, Count, 0, Bits));
  };
  Order(nullptr, Whole);
  Sort(nullptr);
  DeviceArray<char> Temporary(std::vector<char>(std::max(Size, SortSize)));
  const auto Kernel =
      reinterpret_cast<const void *>(&reconverge::detail::place_items<Key>);
  const int Block = reconverge::detail::order_threads;
  const std::vector<Way> Ways = {
      {"order", Kernel, Block, [&] { Order(Temporary, Plain); }},
      {"order-inverse-offsets", Kernel, Block,
       [&] { Order(Temporary, Whole); }},
      {"cub", Kernel, Block, [&] { Sort(Temporary); }}};
  return runWays(
      Run, Ways, Chosen, [&] { Ids.clear(); }, [&] { return Ids.get(); },
      [&](const std::vector<int> &Got) {
        std::stable_sort(Counted.begin(), Counted.end(),
                         [&](int A, int B) { return Drawn[A] < Drawn[B]; });
        return Got == Counted;
      });
}
