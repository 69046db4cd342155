//===- runtime/gpu/Allocations.cpp - Memory that kernels can write --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory from the runtime API, under the numbers by which the warp VM names it:
// the n-th call of cudaMalloc. Pinned and registered host memory is mapped, so
// kernels can write it, too. Module variables are kept with the images.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/Allocations.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

using namespace llvm;

namespace reconverge::gpu {

void Allocations::add(Kind K, StringRef Call, const void *Base, uint64_t Bytes,
                      int Device) {
  if (!Base || !Bytes)
    return;
  std::lock_guard<std::mutex> Guard(Lock);
  const uint64_t Number = ++Calls[Call.str()];
  Blocks[uint64_t(Base)] = {K, Call.str(), Number, Bytes, Device};
}

void Allocations::remove(const void *Base) {
  std::lock_guard<std::mutex> Guard(Lock);
  Blocks.erase(uint64_t(Base));
}

void Allocations::clear() {
  std::lock_guard<std::mutex> Guard(Lock);
  std::erase_if(Blocks, [](const auto &Entry) {
    return Entry.second.What != Registered;
  });
}

std::vector<Area> Allocations::areas() const {
  std::lock_guard<std::mutex> Guard(Lock);
  std::vector<Area> All;
  for (const auto &[Base, B] : Blocks) {
    std::string Name =
        B.What == Registered
            ? ("registered host memory of " + Twine(B.Bytes) + " bytes").str()
            : (Twine(B.What == Host ? "a pinned host allocation of "
                                    : "an allocation of ") +
               Twine(B.Bytes) + " bytes by call " + Twine(B.Number) + " of " +
               B.Call)
                  .str();
    All.push_back({Base, B.Bytes, std::move(Name),
                   B.What == Host || B.What == Registered});
  }
  return All;
}

bool Allocations::isOnOneDevice() const {
  std::lock_guard<std::mutex> Guard(Lock);
  std::optional<int> One;
  for (const auto &[Base, B] : Blocks)
    if (B.What == Device && One.value_or(B.Device) != B.Device)
      return false;
    else if (B.What == Device)
      One = B.Device;
  return true;
}

uint64_t Allocations::deviceBytes() const {
  constexpr uint64_t Piece = 2 << 20;
  std::lock_guard<std::mutex> Guard(Lock);
  uint64_t Sum = 0;
  for (const auto &[Base, B] : Blocks)
    if (B.What == Device || B.What == Managed)
      Sum += alignTo(B.Bytes, Piece);
  return Sum;
}

uint64_t unexplainedBytes(uint64_t Used, uint64_t UsedAtFirst, uint64_t Books,
                          uint64_t LocalMemory) {
  // Code that is loaded, heaps and buffers of CUDA's own, pools that keep what
  // was freed.
  constexpr uint64_t Tolerance = 256 << 20;
  const uint64_t Explained =
      UsedAtFirst + Books + Books / 16 + LocalMemory + Tolerance;
  return Used > Explained ? Used - UsedAtFirst - Books : 0;
}

} // namespace reconverge::gpu
