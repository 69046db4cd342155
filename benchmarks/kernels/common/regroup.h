//===- benchmarks/kernels/common/regroup.h - By the grid -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program of remap.h whose items the library puts in order over the whole
// grid (reconverge::regroup), by keys that a kernel of the program writes:
//
//   GridOrder<unsigned char> Order(Count, 3); // bits of a key; no items: no memory
//   All.regroup(reinterpret_cast<const void *>(&regrouped), Block,
//               [&] { findKeys<<<...>>>(..., Order.keys(), Count);
//                     Order.make(); },
//               [&] { regrouped<<<...>>>(..., Order.ids(), Count); });
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_REGROUP_H
#define RECONVERGE_BENCHMARKS_REGROUP_H

#include "remap.h"

#ifndef ONLY_PLAIN
#include "../../../include/reconverge/device/regroup.cuh"
#endif

/// Keys of items, and their order; all memory is taken when it is made.
template <typename Key> class GridOrder {
public:
  /// With \p Classes, also where each key's items begin.
  GridOrder(int Count, int Bits, bool Classes = false)
      : Count(Count), Bits(Bits), Classes(Classes),
        Keys(std::vector<Key>(Count)), Ids(std::vector<int>(Count)),
        Offsets(std::vector<int>(Classes ? (1 << Bits) + 1 : 1)),
        Temporary(std::vector<char>(bytes())) {}

  void make() {
#ifndef ONLY_PLAIN
    int *const Begins = static_cast<int *>(Offsets);
    CHECK_CUDA(reconverge::regroup(static_cast<char *>(Temporary), Size,
                                   static_cast<const Key *>(Keys), Bits, Count,
                                   {Ids, nullptr, Classes ? Begins : nullptr}));
#endif
  }
  Key *keys() { return Keys; }
  void clearKeys() { Keys.clear(); }
  std::vector<Key> keysOnHost() const { return Keys.get(); }
  const int *ids() { return Ids; }
  const int *offsets() { return Offsets; }

private:
  size_t bytes() {
#ifndef ONLY_PLAIN
    CHECK_CUDA(reconverge::regroup(
        nullptr, Size, static_cast<const Key *>(Keys), Bits, Count, {Ids}));
#endif
    return Size;
  }

  int Count, Bits;
  bool Classes;
  DeviceArray<Key> Keys;
  DeviceArray<int> Ids, Offsets;
  size_t Size = 0;
  DeviceArray<char> Temporary;
};

#endif
