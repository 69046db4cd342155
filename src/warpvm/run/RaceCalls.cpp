//===- warpvm/run/RaceCalls.cpp - What code calls that looks for races ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "warpvm/memory/DeviceMemory.h"
#include "warpvm/run/Cluster.h"

namespace reconverge::warpvm {

BlockRaces *racesOf(const WarpContext *Context) {
  return static_cast<const Block *>(Context->Block)->Races.get();
}

BlockRaces *racesAt(const WarpContext *Context, uint64_t Address) {
  const Block *Owner =
      static_cast<const Block *>(Context->Block)->Of.ownerOf(Address);
  return Owner ? Owner->Races.get() : nullptr;
}

unsigned threadOf(const WarpContext *Context, unsigned Lane) {
  const Block &B = *static_cast<const Block *>(Context->Block);
  return Context->WarpId * B.WarpSize + Lane;
}

/// Whether no other thread has business at \p Address: local memory, of
/// whatever call, and the kernel's parameters.
bool isPrivate(const WarpContext *Context, uint64_t Address) {
  if (DeviceMemory::instance().inRange(Address))
    return false;
  const Block &B = *static_cast<const Block *>(Context->Block);
  for (const Warp *W = B.Warps[Context->WarpId].Inside; W; W = W->Caller)
    if (Address - uint64_t(W->Local) <
        uint64_t(W->Plan->LocalBytes) * B.WarpSize)
      return true;
  return Address - uint64_t(Context->Params) < B.L.ParamBytes;
}

static void lanesAccess(WarpContext *Context, Mask Lanes,
                        const uint64_t *Addresses, const uint64_t *Lengths,
                        const uint8_t *Values, const RaceSite *Site) {
  if (BlockRaces *Races = racesOf(Context))
    Races->access(
        {threadOf(Context, 0), Lanes, Addresses, Lengths, Values, *Site},
        [&](uint64_t At) { return isPrivate(Context, At); },
        [&](uint64_t At) { return racesAt(Context, At); });
}

/// Lanes that wait at other collectives have come to theirs.
void lanesMeet(WarpContext *Context, Mask Lanes, const uint32_t *Members) {
  Block &B = *static_cast<Block *>(Context->Block);
  if (!B.Races)
    return;
  const Warp &W = B.Warps[Context->WarpId];
  B.Races->meetInWarp(threadOf(Context, 0), Lanes, W.atCollectives(),
                      W.alive() & ~Context->Ended, Members);
}

static void lanesFence(WarpContext *Context, Mask Lanes) {
  if (BlockRaces *Races = racesOf(Context))
    Races->fence(threadOf(Context, 0), Lanes);
}

llvm::ArrayRef<std::pair<const char *, void *>> raceSymbols() {
  static const std::pair<const char *, void *> Symbols[] = {
      {"rcvm_race_access", reinterpret_cast<void *>(&lanesAccess)},
      {"rcvm_race_meet", reinterpret_cast<void *>(&lanesMeet)},
      {"rcvm_race_fence", reinterpret_cast<void *>(&lanesFence)},
  };
  return Symbols;
}

} // namespace reconverge::warpvm
