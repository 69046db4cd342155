//===- warpvm/run/Check.cpp - Accesses tested one by one ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ordinary code leaves the test of its accesses to the hardware (DeviceMemory,
// Arena), which sees what leaves a page, and not whose the access was. Checked
// code (EmitCheck.cpp) asks here before each access. An access is fine if
//
//   1. it is as aligned as its type, as a GPU demands;
//   2. it lies in the shared or local variable that its address was made from,
//      where the code shows which one that is;
//   3. otherwise, all its bytes lie in one of: the block's shared memory, the
//      lane's own local memory, the kernel's parameters, the grid's barrier,
//      one live allocation.
//
// Two allocations are never adjacent (each has pages of its own), so an access
// that runs past its end is seen; one that leaps into another allocation is
// not, as there is no telling which it was meant for.
//
// Host memory. Where the program's CUDA calls are ours, whatever is neither an
// allocation nor registered is the host's and a GPU could not reach it. Users
// of the Machine alone may pass any pointer; then only what cannot be memory at
// all is refused.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Check.h"

#include "warpvm/memory/DeviceMemory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <array>

namespace reconverge::warpvm {

static std::string bytes(uint64_t Count) {
  return std::to_string(Count) + (Count == 1 ? " byte" : " bytes");
}

static const char *nameOf(AccessKind Kind) {
  switch (Kind) {
  case AccessKind::Read:
    return "read";
  case AccessKind::Write:
    return "write";
  case AccessKind::Atomic:
    return "atomic operation";
  }
  __builtin_unreachable();
}

/// All of [Address, Address + Bytes) lies in [Base, Base + Size).
static bool within(uint64_t Address, uint64_t Bytes, uint64_t Base,
                   uint64_t Size) {
  return Address >= Base && Bytes <= Size && Address - Base <= Size - Bytes;
}

/// Where \p Address is, seen from \p What at [Base, Base + Size).
static std::string besides(uint64_t Address, uint64_t Base, uint64_t Size,
                           const std::string &What) {
  if (Address < Base)
    return bytes(Base - Address) + " before " + What;
  if (Address < Base + Size)
    return bytes(Address - Base) + " into " + What + ", past whose end it goes";
  return bytes(Address - Base - Size) + " past the end of " + What;
}

namespace {
/// Allocations that were looked up last, while the set of them stays.
struct LastSeen {
  std::array<Allocation, 8> Found;
  uint64_t Generation = ~uint64_t(0);
  unsigned Next = 0;
};
} // namespace

/// The allocation that holds \p Address, if it is live. Accesses come in runs
/// to the same few, which each CPU thread keeps.
static const Allocation *liveAllocation(uint64_t Address) {
  static thread_local LastSeen Seen;
  const DeviceMemory &Memory = DeviceMemory::instance();
  const uint64_t Now = Memory.generation();
  if (Seen.Generation == Now) {
    for (const Allocation &A : Seen.Found)
      if (A.contains(Address, 1))
        return &A;
  } else {
    Seen.Found.fill({});
    Seen.Generation = Now;
  }
  std::optional<Allocation> Found = Memory.lookup(Address);
  if (!Found || !Found->Live)
    return nullptr;
  Allocation &Kept = Seen.Found[Seen.Next++ % Seen.Found.size()];
  Kept = std::move(*Found);
  return &Kept;
}

bool areFine(const WarpContext &C, const FaultSite &Site, Mask Lanes,
             const uint64_t *Addresses) {
  uint64_t Low = ~uint64_t(0), High = 0, Bits = 0;
  for (; Lanes; Lanes &= Lanes - 1) {
    const uint64_t At = Addresses[__builtin_ctzll(Lanes)];
    Low = std::min(Low, At);
    High = std::max(High, At);
    Bits |= At;
  }
  if (Bits & (Site.Align - 1))
    return false;
  const auto In = [&](uint64_t Base, uint64_t Size) {
    return within(Low, Site.Bytes, Base, Size) &&
           within(High, Site.Bytes, Base, Size);
  };
  const uint64_t Shared = uint64_t(C.Shared);
  if (Site.Space == ObjectSpace::Shared)
    return In(Shared + Site.Offset,
              Site.Size ? Site.Size : C.SharedBytes - Site.Offset);
  if (Site.Space != ObjectSpace::Unknown)
    return false;
  if (!DeviceMemory::instance().inRange(Low))
    return In(Shared, C.SharedBytes);
  const Allocation *A = liveAllocation(Low);
  return A && In(A->Base, A->Size) &&
         !(A->Constant && Site.Kind != AccessKind::Read);
}

/// Addresses that no process has: x86-64 leaves a hole, and the first page
/// stays empty.
static bool cannotBeMemory(uint64_t Address) {
  const int64_t High = int64_t(Address) >> 47;
  return Address < 4096 || (High != 0 && High != -1);
}

BadAccess checkAccess(const CheckedMemory &M, const FaultSite &Site,
                      unsigned Lane, uint64_t Address, uint64_t Bytes) {
  auto Bad = [&](const std::string &Where) {
    return BadAccess{FaultKind::IllegalAddress,
                     std::string("an illegal ") + nameOf(Site.Kind) + " of " +
                         bytes(Bytes) + " at address 0x" +
                         llvm::utohexstr(Address, /*LowerCase=*/true) + ", " +
                         Where};
  };
  auto Tolerated = [&] {
    return M.Tolerant &&
           DeviceMemory::instance().tolerates(Address + Bytes - 1);
  };
  const uint64_t Shared = uint64_t(M.Shared);
  auto LocalBase = [&](const CheckedMemory::LocalPart &P) {
    return uint64_t(P.Base) + Lane * P.Bytes;
  };

  // 1. In the object that it was made from.
  if (Site.Space != ObjectSpace::Unknown) {
    const bool IsShared = Site.Space == ObjectSpace::Shared;
    const uint64_t Base =
        (IsShared ? Shared : LocalBase(M.Local.front())) + Site.Offset;
    const uint64_t Size = Site.Size ? Site.Size : M.SharedBytes - Site.Offset;
    if (!within(Address, Bytes, Base, Size))
      return Bad(besides(
          Address, Base, Size,
          std::string(Site.Size ? IsShared ? "the shared variable"
                                           : "the local variable"
                                : "dynamic shared memory") +
              (*Site.Object && Site.Size ? " '" + std::string(Site.Object) + "'"
                                         : std::string()) +
              " of " + bytes(Size)));
  } else if (within(Address, Bytes, Shared, M.SharedBytes) ||
             llvm::any_of(M.Local,
                          [&](const CheckedMemory::LocalPart &P) {
                            return within(Address, Bytes, LocalBase(P),
                                          P.Bytes);
                          }) ||
             within(Address, Bytes, uint64_t(M.Params), M.ParamBytes) ||
             (M.Grid &&
              within(Address, Bytes, uint64_t(M.Grid), sizeof(*M.Grid)))) {
    // 2. In the block's own memory, or the launch's.
  } else if (llvm::any_of(M.Local, [&](const CheckedMemory::LocalPart &P) {
               return within(Address, 1, uint64_t(P.Base),
                             P.Bytes * M.WarpSize);
             })) {
    return Bad("in the local memory of another thread, or past the end of its "
               "own");
  } else if (M.ClusterBlocks > 1 &&
             Address - M.ClusterBase < M.ClusterBlocks * M.ClusterStride) {
    const uint64_t Base = Address - (Address - M.ClusterBase) % M.ClusterStride;
    if (!within(Address, Bytes, Base, M.SharedBytes))
      return Bad(besides(Address, Base, M.SharedBytes,
                         "the " + bytes(M.SharedBytes) +
                             " of shared memory of a block of the cluster"));
  } else if (constexpr uint64_t Near = 1 << 20;
             Address + Near >= Shared &&
             Address < Shared + M.SharedBytes + Near &&
             !DeviceMemory::instance().inRange(Address)) {
    return Bad(
        besides(Address, Shared, M.SharedBytes,
                "the block's " + bytes(M.SharedBytes) + " of shared memory"));
  } else if (const Allocation *A = liveAllocation(Address)) {
    // 3. In an allocation.
    if (!A->contains(Address, Bytes) && !Tolerated())
      return Bad(DeviceMemory::instance().describe(Address) +
                 ", past whose end it goes");
    if (A->Constant && Site.Kind != AccessKind::Read)
      return Bad("constant memory: " +
                 DeviceMemory::instance().describe(Address));
  } else if (DeviceMemory::instance().inRange(Address) ||
             cannotBeMemory(Address)) {
    if (!Tolerated())
      return Bad(DeviceMemory::instance().describe(Address));
  } else if (M.OwnMemory) {
    return Bad("host memory, which a kernel cannot reach");
  } else if (M.Replay) {
    if (M.Suspect - Address < Bytes)
      return Bad("which no allocation holds");
    return {FaultKind::IllegalAddress, ""}; // nothing is known of it
  }

  if (Address & (Site.Align - 1))
    return {FaultKind::Misaligned,
            std::string("a misaligned ") + nameOf(Site.Kind) + " of " +
                bytes(Bytes) + " at address 0x" +
                llvm::utohexstr(Address, /*LowerCase=*/true) +
                ", which is not a multiple of " + std::to_string(Site.Align)};
  return {FaultKind::IllegalAddress, ""};
}

} // namespace reconverge::warpvm
