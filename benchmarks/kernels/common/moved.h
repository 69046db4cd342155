//===- benchmarks/kernels/common/moved.h - Items in an order ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data layout transformation by hand (Liang et al., section III): the items lie in
// memory in an order, and the kernel is as it was. The environment variable
// ITEM_ORDER names a file of `reconverge predict --orders`, or is
// `longest-first`, for an order by a key that the user knows:
//
//   const std::vector<int> Order = itemOrder(Count); // without it, as they are
//   const std::vector<int> Order = itemOrder(All);   // that have lengths
//   ... upload inOrder(All, Order) ... launch ...
//   Got = backInPlace(Out.get(), Order);
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_MOVED_H
#define RECONVERGE_BENCHMARKS_MOVED_H

#include "sequences.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <utility>

/// The item at each place. Threads of the file that have no item are left out.
inline std::vector<int> itemOrder(int Count) {
  std::vector<int> Order(Count);
  std::iota(Order.begin(), Order.end(), 0);
  const char *Path = std::getenv("ITEM_ORDER");
  if (!Path)
    return Order;
  std::vector<int> Read;
  std::FILE *File = std::fopen(Path, "rb");
  unsigned char At[4];
  while (File && std::fread(At, 1, 4, File) == 4) {
    const unsigned Item =
        At[0] | At[1] << 8 | At[2] << 16 | unsigned(At[3]) << 24;
    if (Item < unsigned(Count))
      Read.push_back(int(Item));
  }
  if (File)
    std::fclose(File);
  std::vector<int> Sorted = Read;
  std::sort(Sorted.begin(), Sorted.end());
  if (Sorted != Order) {
    std::fprintf(stderr, "ITEM_ORDER: %s is no order of %d items\n", Path,
                 Count);
    std::exit(2);
  }
  return Read;
}

inline std::vector<int> itemOrder(const Sequences &All) {
  const char *Asked = std::getenv("ITEM_ORDER");
  if (!Asked || std::string_view(Asked) != "longest-first")
    return itemOrder(All.size());
  std::vector<int> Order(All.size());
  std::iota(Order.begin(), Order.end(), 0);
  std::sort(Order.begin(), Order.end(), [&](int A, int B) {
    return std::pair(All.length(B), A) < std::pair(All.length(A), B);
  });
  return Order;
}

/// Pieces of so many values, an item each.
template <typename T>
std::vector<T> inOrder(const std::vector<T> &All, const std::vector<int> &Order,
                       int Each) {
  std::vector<T> Moved;
  Moved.reserve(All.size());
  for (int Item : Order)
    Moved.insert(Moved.end(), All.begin() + size_t(Item) * Each,
                 All.begin() + size_t(Item + 1) * Each);
  return Moved;
}

inline Sequences inOrder(const Sequences &All, const std::vector<int> &Order) {
  Sequences Moved;
  for (int Item : Order)
    Moved.add(Letters(All[Item], All[Item] + All.length(Item)));
  return Moved;
}

/// What items in order have left, where it would be had they not been moved.
template <typename T>
std::vector<T> backInPlace(const std::vector<T> &Moved,
                           const std::vector<int> &Order, int Each = 1) {
  std::vector<T> All(Moved.size());
  for (size_t Place = 0; Place < Order.size(); ++Place)
    std::copy_n(Moved.begin() + Place * Each, Each,
                All.begin() + size_t(Order[Place]) * Each);
  return All;
}

#endif
