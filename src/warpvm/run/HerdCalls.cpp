//===- warpvm/run/HerdCalls.cpp - Where lanes of a herded load go ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block is at most 128 bytes and aligned, so it lies in the page of the lane
// that is in it, and whoever is sent there does not fault. What it holds behind
// an allocation's end, up to the allocation's alignment, is nobody's.
//
//===----------------------------------------------------------------------===//

#include "warpvm/memory/DeviceMemory.h"
#include "warpvm/run/Check.h"
#include "warpvm/run/Library.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace reconverge::warpvm {

/// Those of \p Lanes whose addresses are in global memory.
static Mask lanesInGlobal(const WarpContext *C, Mask Lanes,
                          const uint64_t *Addresses) {
  const DeviceMemory &Device = DeviceMemory::instance();
  Mask Others = 0;
  for (Mask Left = Lanes; Left; Left &= Left - 1)
    if (!Device.inRange(Addresses[__builtin_ctzll(Left)]))
      Others |= Left & -Left;
  if (!Others)
    return Lanes;
  const CheckedMemory Memory = memoryOf(C);
  auto Holds = [](const void *Begin, uint64_t Bytes, uint64_t Address) {
    return Address - uint64_t(Begin) < Bytes;
  };
  for (Mask Left = Others; Left; Left &= Left - 1) {
    const uint64_t At = Addresses[__builtin_ctzll(Left)];
    if (Holds(C->Shared, C->SharedBytes, At) ||
        Holds(C->Params, Memory.ParamBytes, At) ||
        llvm::any_of(Memory.Local, [&](const CheckedMemory::LocalPart &Part) {
          return Holds(Part.Base, Part.Bytes * C->WarpSize, At);
        }))
      Lanes &= ~(Left & -Left);
  }
  return Lanes;
}

/// Of lanes that load \p Bytes together, sends \p Lanes, whose addresses are
/// \p Addresses, to the block of \p BlockBytes, a power of two, that most of
/// them are in; of several, to that of the lowest lane. A lane whose bytes would
/// not lie in one block stays where it is.
static void herdTogether(Mask Lanes, uint64_t *Addresses, uint32_t Bytes,
                         uint32_t BlockBytes) {
  const uint64_t Within = BlockBytes - 1;
  struct Block {
    uint64_t Begin;
    unsigned Lanes;
  };
  llvm::SmallVector<Block, 64> Blocks; // by their lowest lane
  for (Mask Left = Lanes; Left; Left &= Left - 1) {
    const uint64_t Begin = Addresses[__builtin_ctzll(Left)] & ~Within;
    auto *Found = llvm::find_if(
        Blocks, [=](const Block &Each) { return Each.Begin == Begin; });
    if (Found == Blocks.end())
      Blocks.push_back({Begin, 1});
    else
      ++Found->Lanes;
  }
  if (Blocks.size() < 2)
    return;
  const Block *Most = Blocks.begin();
  for (const Block &Each : Blocks)
    if (Each.Lanes > Most->Lanes)
      Most = &Each;
  for (Mask Left = Lanes; Left; Left &= Left - 1) {
    uint64_t &Address = Addresses[__builtin_ctzll(Left)];
    if ((Address & Within) + Bytes <= BlockBytes)
      Address = Most->Begin + (Address & Within);
  }
}

/// Lanes that go to memory together, as many as have 128 bytes: of wide loads a
/// part of the warp, or loads of neighbours would be torn apart.
static void herd(WarpContext *C, Mask Lanes, uint64_t *Addresses,
                 uint32_t Bytes, uint32_t BlockBytes) {
  Lanes = lanesInGlobal(C, Lanes, Addresses);
  const unsigned Together = Bytes <= 4 ? 32 : Bytes <= 8 ? 16 : 8;
  const Mask First = ~Mask(0) >> (MaxWarp - Together);
  for (unsigned From = 0; From < C->WarpSize; From += Together)
    herdTogether(Lanes & First << From, Addresses, Bytes, BlockBytes);
}

llvm::ArrayRef<std::pair<const char *, void *>> herdSymbols() {
  static const std::pair<const char *, void *> Symbols[] = {
      {"rcvm_herd", reinterpret_cast<void *>(&herd)}};
  return Symbols;
}

} // namespace reconverge::warpvm
