//===- warpvm/run/AccessCalls.cpp - What code calls that counts accesses --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled code has host addresses in all spaces, and of an access through a
// generic pointer each lane may have another space. Then it is still one
// request.
//
// All of this is compiled twice: hosts with AVX-512 take the second.
//
//===----------------------------------------------------------------------===//

#include "warpvm/memory/DeviceMemory.h"
#include "warpvm/run/Block.h"
#include "warpvm/run/RequestRules.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace reconverge::warpvm {

/// The request of \p Site in \p Space, where its lanes' parts begin at \p Base.
RECONVERGE_INLINED static Request
requestOf(const WarpContext *C, const AccessSite &Site, MemorySpace Space,
          Mask Lanes, const uint64_t *Addresses, const void *Base = nullptr,
          uint64_t LaneBytes = 0) {
  return {Space,    MemoryUse(Site.Use), Site.Bytes, C->WarpSize,
          Lanes,    bool(Site.Aligned),  Addresses,  uint64_t(Base),
          LaneBytes};
}

RECONVERGE_INLINED static void count(WarpContext *C, const AccessSite &Site,
                                     const Request &R) {
  rules::countRequest(R, C->Accesses[Site.Position],
                      [=](const SectorGroup &G) { C->Touched->add(G, R.Use); });
}

/// The lanes whose addresses are in local memory that begins at \p Base, in
/// parts of \p Bytes.
RECONVERGE_INLINED static Mask lanesInLocal(const WarpContext *C, Mask Lanes,
                                            const uint64_t *Addresses,
                                            const void *Base, uint64_t Bytes) {
  Mask Inside = 0;
  for (unsigned Lane = 0; Lane < C->WarpSize; ++Lane)
    Inside |= Mask(Addresses[Lane] - uint64_t(Base) - Lane * Bytes < Bytes)
              << Lane;
  return Inside & Lanes;
}

/// Of a request of which the code does not say where its lanes go. False if it
/// is none: parameters, which have a cache of their own, are not counted.
[[gnu::noinline]] static bool countGeneric(WarpContext *C,
                                           const AccessSite &Site, Mask Lanes,
                                           const uint64_t *Addresses) {
  auto Count = [&](MemorySpace Space, Mask Some, const void *Base = nullptr,
                   uint64_t LaneBytes = 0) {
    if (Some)
      count(C, Site,
            requestOf(C, Site, Space, Some, Addresses, Base, LaneBytes));
    Lanes &= ~Some;
  };
  const CheckedMemory Memory = memoryOf(C);
  Mask Shared = 0, Params = 0;
  for (unsigned Lane = 0; Lane < C->WarpSize; ++Lane) {
    const uint64_t At = Addresses[Lane];
    Shared |= Mask(inClusterShared(*C, At)) << Lane;
    Params |= Mask(At - uint64_t(C->Params) < Memory.ParamBytes) << Lane;
  }
  Lanes &= ~Params;
  if (!Lanes)
    return false;
  Count(MemorySpace::Shared, Lanes & Shared, C->Shared);
  for (const CheckedMemory::LocalPart &Part : Memory.Local)
    Count(MemorySpace::Local,
          lanesInLocal(C, Lanes, Addresses, Part.Base, Part.Bytes), Part.Base,
          Part.Bytes);
  Count(MemorySpace::Global, Lanes);
  return true;
}

RECONVERGE_INLINED static bool
allInDeviceMemory(const WarpContext *C, Mask Lanes, const uint64_t *Addresses) {
  const DeviceMemory &Memory = DeviceMemory::instance();
  bool All = true;
  for (; Lanes && All; Lanes &= Lanes - 1)
    All = Memory.inRange(Addresses[llvm::countr_zero(Lanes)]);
  return All;
}

/// False if it is no request.
RECONVERGE_INLINED static bool countLanes(WarpContext *C, Mask Lanes,
                                          const uint64_t *Addresses,
                                          const AccessSite &Site) {
  const auto Space = MemorySpace(Site.Space);
  if (Space == MemorySpace::Global)
    count(C, Site, requestOf(C, Site, Space, Lanes, Addresses));
  else if (Space == MemorySpace::Shared)
    count(C, Site, requestOf(C, Site, Space, Lanes, Addresses, C->Shared));
  // Else it is a caller's.
  else if (Space == MemorySpace::Local &&
           lanesInLocal(C, Lanes, Addresses, C->Local, Site.LocalBytes) ==
               Lanes)
    count(
        C, Site,
        requestOf(C, Site, Space, Lanes, Addresses, C->Local, Site.LocalBytes));
  else if (Space == MemorySpace::Generic &&
           allInDeviceMemory(C, Lanes, Addresses))
    count(C, Site, requestOf(C, Site, MemorySpace::Global, Lanes, Addresses));
  else
    return countGeneric(C, Site, Lanes, Addresses);
  return true;
}

RECONVERGE_INLINED static void access(WarpContext *C, Mask Lanes,
                                      const uint64_t *Addresses,
                                      const AccessSite &Site) {
  C->Accesses[Site.Position].Requests += countLanes(C, Lanes, Addresses, Site);
}

/// All lanes have one address: as one lane has it, but for what counts lanes
/// and their bytes.
static void accessSame(WarpContext *C, Mask Lanes, uint64_t Address,
                       const AccessSite *Site) {
  const unsigned Bytes = Site->Bytes;
  AccessCounts &To = C->Accesses[Site->Position];
  const auto Space = MemorySpace(Site->Space);
  const bool IsShared = Space == MemorySpace::Shared;
  if ((IsShared || Space == MemorySpace::Global) && Bytes <= 16 &&
      Site->Aligned) {
    const unsigned Active = llvm::popcount(Lanes);
    // Lanes that load agree in pairs.
    const unsigned AtOnce =
        IsShared && MemoryUse(Site->Use) == MemoryUse::Load ? 2 : 1;
    const unsigned PartLanes = Bytes <= 4 ? 32 : (Bytes <= 8 ? 16 : 8) * AtOnce;
    unsigned Parts = 0;
    for (unsigned First = 0; First < C->WarpSize; First += PartLanes)
      Parts += (Lanes >> First << (64 - PartLanes)) != 0;
    ++To.Requests;
    To.Lanes += Active;
    To.Wavefronts += Parts;
    To.LeastWavefronts += Parts;
    if (IsShared)
      return;
    ++To.Sectors;
    To.LeastSectors += rules::ceilDiv(Active * Bytes, SectorBytes);
    const uint64_t Sector = Address >> rules::SectorShift;
    C->Touched->add({Sector / 64, uint64_t(1) << Sector % 64},
                    MemoryUse(Site->Use));
    return;
  }
  alignas(64) uint64_t Addresses[MaxWarp];
  std::fill_n(Addresses, MaxWarp, Address);
  access(C, Lanes, Addresses, *Site);
}

static void accessPlain(WarpContext *C, Mask Lanes, const uint64_t *Addresses,
                        const AccessSite *Site) {
  access(C, Lanes, Addresses, *Site);
}

#ifdef __x86_64__
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2,popcnt,lzcnt")]]
static void accessWide(WarpContext *C, Mask Lanes, const uint64_t *Addresses,
                       const AccessSite *Site) {
  access(C, Lanes, Addresses, *Site);
}

/// Asked by the first launch that counts: in a virtual machine it takes 0.1 ms. The
/// compiler's own function for this asks in each process, as it begins.
static bool hostIsWide() {
  const llvm::StringMap<bool> Has = llvm::sys::getHostCPUFeatures();
  return Has.lookup("avx512bw") && Has.lookup("avx512dq") &&
         Has.lookup("avx512vl") && Has.lookup("bmi2");
}
#else
static constexpr auto accessWide = accessPlain;
static bool hostIsWide() { return false; }
#endif

static void accessFast(WarpContext *C, Mask Lanes, const uint64_t *Addresses,
                       const AccessSite *Site) {
  static const auto Access = hostIsWide() ? accessWide : accessPlain;
  Access(C, Lanes, Addresses, Site);
}

llvm::ArrayRef<std::pair<const char *, void *>> accessSymbols() {
  static const std::pair<const char *, void *> Symbols[] = {
      {"rcvm_access", reinterpret_cast<void *>(&accessFast)},
      {"rcvm_access_same", reinterpret_cast<void *>(&accessSame)},
  };
  return Symbols;
}

} // namespace reconverge::warpvm
