//===- launch/GivenOrders.cpp - Orders that the user gives ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who gives an order wants to know what it does. So a file that is missing or
// wrong does not quietly leave the kernel as it was: it is a launch that fails.
//
// This file is linked into users' programs: it uses no LLVM and throws no
// exceptions of its own.
//
//===----------------------------------------------------------------------===//

#include "launch/GivenOrders.h"

#include "core/OrderFile.h"
#include "launch/Stopwatch.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace reconverge::launch {

static bool fail(const std::string &Why) {
  std::fprintf(stderr, "reconverge: %s\n", Why.c_str());
  return false;
}

/// Reads \p Path into \p Order.
static bool read(const std::string &Path, uint64_t Units,
                 std::vector<uint32_t> &Order) {
  std::FILE *File = std::fopen(Path.c_str(), "rb");
  if (!File)
    return fail(Path +
                ": there is no such order; `reconverge predict --orders` "
                "writes some");
  std::vector<unsigned char> Bytes(Units * 4 + 1);
  const size_t Count = std::fread(Bytes.data(), 1, Bytes.size(), File);
  std::fclose(File);
  if (Count != Units * 4)
    return fail(Path + ": no order: of " + std::to_string(Units) + " it has " +
                std::to_string(Units * 4) + " bytes");
  std::vector<bool> Seen(Units);
  for (uint64_t I = 0; I != Units; ++I) {
    const unsigned char *At = &Bytes[I * 4];
    const uint32_t Unit =
        At[0] | At[1] << 8 | At[2] << 16 | uint32_t(At[3]) << 24;
    if (Unit >= Units || Seen[Unit])
      return fail(Path + ": no order: at place " + std::to_string(I) + " is " +
                  std::to_string(Unit) +
                  (Unit < Units ? ", which came before"
                                : ", which the launch has not"));
    Seen[Unit] = true;
    Order.push_back(Unit);
  }
  return true;
}

/// On the current device; null: it cannot be had.
static void *load(const std::string &Kernel, uint64_t Units) {
  const char *Folder = std::getenv(OrdersVariable);
  std::vector<uint32_t> Order;
  if (!Folder || !*Folder) {
    fail(Kernel + " is to run in an order that is given, and " +
         OrdersVariable + " names no folder of orders");
    return nullptr;
  }
  const std::string Path =
      std::string(Folder) + "/" + orderFileName(Kernel, Units);
  if (!read(Path, Units, Order))
    return nullptr;
  BesideCapture Guard;
  void *Index = nullptr;
  if (!cudaMalloc(&Index, Units * 4) &&
      !cudaMemcpy(Index, Order.data(), Units * 4, cudaMemcpyHostToDevice))
    return Index;
  (void)cudaGetLastError(); // the launch says another one
  fail(Path + ": there is no memory for it on the device");
  return nullptr;
}

cudaError_t GivenOrders::find(const std::string &Kernel, uint64_t Units,
                              int Device, void *&Index) {
  auto [At, IsNew] = All.try_emplace({Device, Units}, nullptr);
  if (IsNew)
    At->second = load(Kernel, Units);
  Index = At->second;
  if (Index)
    return cudaSuccess;
  return cudaMalloc(nullptr, 1); // leaves cudaErrorInvalidValue to be found
}

} // namespace reconverge::launch
