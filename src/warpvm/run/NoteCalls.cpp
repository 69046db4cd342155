//===- warpvm/run/NoteCalls.cpp - What is wrong and ends no launch --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code that takes notes (EmitNotes.cpp) calls these functions.
//
// Memory that nobody has written. Each byte of device memory, of a block's
// shared and of its threads' local memory has a byte of shadow. Stores, block
// copies and the runtime's copies and sets mark it; a load is looked up there.
//
//   cudaMalloc, its forms with a pitch, pools,  unwritten until written
//   arrays, what malloc() in a kernel gives
//   all other allocations                       written: the host may write them
//                                               without a call (managed, pinned),
//                                               or they have initial values
//   shared memory                               unwritten as a block begins,
//                                               but for what cooperative groups
//                                               find zeroed
//   local memory                                likewise, and each variable
//                                               again where its life begins
//
// A block copy, and a load whose value is only stored again, carries padding
// with it: the first takes the shadow along, the second is wrong only if not one
// of its bytes is written.
//
// Collectives. A lane must be among those that it names; lanes that are named
// and have not left must come, and name the same ones. Who waits at another
// collective for the same lanes has come (__syncwarp() in both arms). That some
// cannot come any more is the scheduler's to know (Frontier.cpp); where lanes
// wait on a stack (PostDominator.cpp) it is not looked for.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Notes.h"

#include "warpvm/memory/DeviceMemory.h"
#include "warpvm/memory/WriteShadow.h"
#include "warpvm/run/Cluster.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>

namespace reconverge::warpvm {

//===----------------------------------------------------------------------===//
// Notes
//===----------------------------------------------------------------------===//

bool LaunchNotes::has(FindingKind Kind, const FaultSite &Site) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Index.contains({&Site, Kind});
}

void LaunchNotes::add(FindingKind Kind, const FaultSite &Site, std::string Text,
                      const std::array<uint32_t, 3> &Block,
                      const std::array<uint32_t, 3> &Thread) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!Index.try_emplace({&Site, Kind}, All.size()).second)
    return;
  Finding &F = All.emplace_back();
  F.Kind = Kind;
  F.Kernel = Kernel;
  F.Text = std::move(Text);
  FindingPlace &P = F.Places.emplace_back();
  if (Site.Line)
    P.Where.push_back({Site.File, Site.Line, 0, ""});
  P.Block = Block;
  P.Thread = Thread;
}

std::vector<Finding> LaunchNotes::take() { return std::move(All); }

void noteOfLane(const WarpContext *Context, unsigned Lane, FindingKind Kind,
                const FaultSite &Site, llvm::function_ref<std::string()> Text) {
  const Block &B = *static_cast<const Block *>(Context->Block);
  LaunchNotes *Notes = B.L.Notes;
  if (!Notes || Notes->has(Kind, Site))
    return;
  const uint32_t *Id = Context->BlockId;
  Notes->add(Kind, Site, Text(), {Id[0], Id[1], Id[2]},
             B.threadIndex(B.Warps[Context->WarpId], Lane));
}

//===----------------------------------------------------------------------===//
// Memory that nobody has written
//===----------------------------------------------------------------------===//

void BlockWrites::start(const uint8_t *SharedBase, uint64_t SharedBytes,
                        const uint8_t *LocalBase, uint64_t LocalBytes) {
  Shared.Base = uint64_t(SharedBase);
  Shared.Written.assign(SharedBytes, 0);
  Local.Base = uint64_t(LocalBase);
  Local.Written.assign(LocalBytes, 0);
  for (auto &[Base, P] : Calls)
    std::fill(P.Written.begin(), P.Written.end(), 0);
}

void BlockWrites::addCall(const uint8_t *Base, uint64_t Bytes) {
  Calls[uint64_t(Base)] = {uint64_t(Base), std::vector<uint8_t>(Bytes)};
}

uint8_t *BlockWrites::Part::of(uint64_t Address, uint64_t Bytes) {
  const uint64_t Offset = Address - Base, Size = Written.size();
  return Offset < Size && Bytes <= Size - Offset ? &Written[Offset] : nullptr;
}

uint8_t *BlockWrites::of(uint64_t Address, uint64_t Bytes) {
  for (Part *P : {&Shared, &Local})
    if (uint8_t *Shadow = P->of(Address, Bytes))
      return Shadow;
  auto After = Calls.upper_bound(Address);
  return After == Calls.begin() ? nullptr
                                : std::prev(After)->second.of(Address, Bytes);
}

BlockWrites *writesOf(const WarpContext *Context) {
  return static_cast<const Block *>(Context->Block)->Writes.get();
}

BlockWrites *writesAt(const WarpContext *Context, uint64_t Address) {
  const Block *Owner =
      static_cast<const Block *>(Context->Block)->Of.ownerOf(Address);
  return Owner ? Owner->Writes.get() : nullptr;
}

/// Null: it counts as written.
LLVM_ATTRIBUTE_ALWAYS_INLINE static uint8_t *
shadowOf(const WarpContext *Context, uint64_t Address, uint64_t Bytes) {
  DeviceMemory &Memory = DeviceMemory::instance();
  if (Memory.inRange(Address))
    return Memory.writes() ? Memory.writes()->of(Address, Bytes) : nullptr;
  if (uint8_t *Mine = writesOf(Context)->of(Address, Bytes))
    return Mine;
  BlockWrites *There = writesAt(Context, Address);
  return There ? There->of(Address, Bytes) : nullptr;
}

/// Whether what lies at \p Address counts as written although its shadow
/// \p Shadow, of \p Bytes, says otherwise; then the shadow learns it.
static bool isGivenWritten(uint64_t Address, uint64_t Bytes, uint8_t *Shadow) {
  const DeviceMemory &Memory = DeviceMemory::instance();
  if (!Memory.inRange(Address))
    return false;
  const std::optional<Allocation> In = Memory.lookup(Address);
  if (In && !isBornWritten(*In))
    return false;
  std::memset(Shadow, 1, Bytes);
  return true;
}

static std::string unwritten(const WarpContext *Context, uint64_t Address,
                             uint64_t Bytes, const uint8_t *Shadow,
                             const FaultSite &Site) {
  uint64_t First = 0;
  while (First + 1 < Bytes && Shadow[First])
    ++First;
  std::string Text = "a read of " + std::to_string(Bytes) +
                     (Bytes == 1 ? " byte" : " bytes") +
                     " that nobody has written: ";
  const DeviceMemory &Memory = DeviceMemory::instance();
  if (Memory.inRange(Address))
    return Text + Memory.describe(Address + First);
  if (*Site.Object)
    return Text + "the " +
           (Site.Space == ObjectSpace::Shared ? "shared" : "local") +
           " variable '" + Site.Object + "'";
  const uint64_t Offset = Address + First - uint64_t(Context->Shared);
  return Text + (Offset < Context->SharedBytes
                     ? "byte " + std::to_string(Offset) + " of shared memory"
                 : inClusterShared(*Context, Address)
                     ? "shared memory of another block of the cluster"
                     : std::string("local memory"));
}

/// Whether the bytes of \p Shadow that \p Asked names say "written".
static bool askedWritten(const uint8_t *Shadow, uint64_t Bytes,
                         uint32_t Asked) {
  for (uint64_t At = 0; At < std::min<uint64_t>(Bytes, 32); ++At)
    if (Asked >> At & 1 && !Shadow[At])
      return false;
  return Bytes <= 32;
}

/// What all accesses go through.
LLVM_ATTRIBUTE_ALWAYS_INLINE static void touch(const WarpContext *Context,
                                               unsigned Lane, AccessKind Kind,
                                               uint64_t Address, uint64_t Bytes,
                                               const FaultSite &Site) {
  uint8_t *Shadow = shadowOf(Context, Address, Bytes);
  if (!Bytes || !Shadow)
    return;
  if (Kind != AccessKind::Write && Site.Use != ReadUse::Unknown &&
      !allWritten(Shadow, Bytes) && !askedWritten(Shadow, Bytes, Site.Asked) &&
      !(Site.Use == ReadUse::Copy && someWritten(Shadow, Bytes)) &&
      !isGivenWritten(Address, Bytes, Shadow))
    noteOfLane(Context, Lane, FindingKind::Init, Site, [&] {
      return unwritten(Context, Address, Bytes, Shadow, Site);
    });
  if (Kind != AccessKind::Read)
    std::memset(Shadow, 1, Bytes);
}

void laneTouches(const WarpContext *Context, unsigned Lane, AccessKind Kind,
                 uint64_t Address, uint64_t Bytes, const FaultSite &Site) {
  touch(Context, Lane, Kind, Address, Bytes, Site);
}

static void lanesTouch(WarpContext *Context, Mask Lanes,
                       const uint64_t *Addresses, const uint64_t *Lengths,
                       const FaultSite *Site) {
  if (!writesOf(Context))
    return;
  for (Mask Left = Lanes; Left; Left &= Left - 1) {
    const unsigned Lane = __builtin_ctzll(Left);
    touch(Context, Lane, Site->Kind, Addresses[Lane],
          Lengths ? Lengths[Lane] : Site->Bytes, *Site);
  }
}

/// The life of a local variable of \p Bytes begins.
static void lanesBear(WarpContext *Context, Mask Lanes,
                      const uint64_t *Addresses, uint64_t Bytes) {
  BlockWrites *Writes = writesOf(Context);
  if (!Writes)
    return;
  for (Mask Left = Lanes; Left; Left &= Left - 1)
    if (uint8_t *Shadow = Writes->of(Addresses[__builtin_ctzll(Left)], Bytes))
      std::memset(Shadow, 0, Bytes);
}

/// A block copy from \p From to \p To.
static void lanesCopy(WarpContext *Context, Mask Lanes, const uint64_t *To,
                      const uint64_t *From, const uint64_t *Lengths,
                      const FaultSite *Site) {
  if (!writesOf(Context))
    return;
  for (Mask Left = Lanes; Left; Left &= Left - 1) {
    const unsigned Lane = __builtin_ctzll(Left);
    const uint64_t Bytes = Lengths[Lane];
    if (!Bytes)
      continue;
    uint8_t *Now = shadowOf(Context, To[Lane], Bytes);
    uint8_t *Then = shadowOf(Context, From[Lane], Bytes);
    if (Then && !allWritten(Then, Bytes) &&
        !isGivenWritten(From[Lane], Bytes, Then) && !someWritten(Then, Bytes))
      noteOfLane(Context, Lane, FindingKind::Init, *Site, [&] {
        return unwritten(Context, From[Lane], Bytes, Then, *Site);
      });
    if (Now && Then)
      std::memmove(Now, Then, Bytes);
    else if (Now)
      std::memset(Now, 1, Bytes);
  }
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

static std::string hex(uint32_t Members) {
  return "0x" + llvm::utohexstr(Members, /*LowerCase=*/true, /*Width=*/8);
}

static std::string laneList(uint32_t Lanes) {
  const unsigned First = __builtin_ctz(Lanes);
  const unsigned Others = __builtin_popcount(Lanes) - 1;
  return "lane " + std::to_string(First) +
         (Others ? " and " + std::to_string(Others) + " more" : "");
}

/// Whether all \p Lanes, of one group, name the same lanes, themselves among
/// them, and none that is \p Absent.
static bool nameOneMask(Mask Lanes, Mask Absent, const uint32_t *Members) {
  if (!Lanes)
    return true;
  const unsigned First = __builtin_ctzll(Lanes), Group = First & 32;
  const uint32_t Named = Members[First];
  if ((uint32_t(Lanes >> Group) & ~Named) ||
      (uint32_t(Absent >> Group) & Named))
    return false;
  for (; Lanes; Lanes &= Lanes - 1)
    if (Members[__builtin_ctzll(Lanes)] != Named)
      return false;
  return true;
}

void lanesAgree(WarpContext *Context, Mask Lanes, const uint32_t *Members,
                const FaultSite *Site) {
  const Block &B = *static_cast<const Block *>(Context->Block);
  if (!B.L.Notes)
    return;
  const Warp &W = B.Warps[Context->WarpId];
  const Mask Absent = W.Forced ? W.alive() & ~Context->Ended & ~Lanes : 0;
  const Mask Low = uint32_t(~0u);
  if (nameOneMask(Lanes & Low, Absent, Members) &&
      nameOneMask(Lanes & ~Low, Absent, Members))
    return;
  if (B.L.Notes->has(FindingKind::Sync, *Site))
    return;
  for (Mask Left = Lanes; Left; Left &= Left - 1) {
    const unsigned Lane = __builtin_ctzll(Left), Group = Lane & 32;
    const uint32_t Named = Members[Lane];
    const uint32_t Here = uint32_t(Lanes >> Group);
    const uint32_t Missing = Named & uint32_t(Absent >> Group);
    uint32_t Others = 0; // that name other lanes
    for (uint32_t At = Named & Here; At; At &= At - 1)
      if (Members[Group + __builtin_ctz(At)] != Named)
        Others |= At & -At;
    const bool NamesItself = Named >> (Lane & 31) & 1;
    if (NamesItself && !Missing && !Others)
      continue;
    noteOfLane(Context, Lane, FindingKind::Sync, *Site, [&] {
      return std::string(Site->Object) + " with the mask " + hex(Named) + ", " +
             (!NamesItself ? "which does not name the lane that executes it, " +
                                 std::to_string(Lane & 31)
              : Missing
                  ? "to which " + laneList(Missing) +
                        " that it names did not come"
                  : "of which " + laneList(Others) + " came with another mask");
    });
    return;
  }
}

llvm::ArrayRef<std::pair<const char *, void *>> noteSymbols() {
  static const std::pair<const char *, void *> Symbols[] = {
      {"rcvm_touch", reinterpret_cast<void *>(&lanesTouch)},
      {"rcvm_born", reinterpret_cast<void *>(&lanesBear)},
      {"rcvm_copy", reinterpret_cast<void *>(&lanesCopy)},
      {"rcvm_agree", reinterpret_cast<void *>(&lanesAgree)},
  };
  return Symbols;
}

} // namespace reconverge::warpvm
