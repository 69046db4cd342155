//===- warpvm/run/Races.cpp - Accesses of a launch that nothing orders ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   compiled code (EmitRaces.cpp) --access, collective, fence--> here
//   scheduler (BlockBarriers.cpp), Mbarrier.cpp --threads meet--> here
//
// Each access of each lane is compared with what the shadow memory has of those
// before it (RaceShadow.h); the clocks say whether something orders the two
// (RaceClock.h). What nothing orders is a race, kept once for each pair of
// instructions and, at the end, for each pair of places in the source: copies
// of a line that the optimiser made are one.
//
// Flags. A strong write leaves what its thread may publish at the words that it
// writes; a strong read there takes it up. Both happen before the access
// itself: nobody comes in between, as the launch runs on one CPU thread. For
// the same reason what is found is the same in each run.
//
// Two writes of the same value are told apart, as compute-sanitizer's racecheck
// does: what lies in memory is what the earlier one stored, unless it is of the
// same instruction, whose lanes' values come with the call. Threads that write
// one value to a byte that nobody reads may change places: in whatever order
// they come, the byte ends with it and nobody knows.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Races.h"

#include "warpvm/memory/DeviceMemory.h"
#include "warpvm/run/Check.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

namespace reconverge::warpvm {

/// Of the shadow memory of global memory: a third of what there is.
static uint64_t globalBudget() { return DeviceMemory::defaultCapacity() / 3; }
/// A block has at most 228 KiB of shared memory.
static constexpr uint64_t SharedBudget = uint64_t(1) << 30;

RaceChecker::RaceChecker(const LaunchShape &Shape)
    : Shape(Shape), Global(Roles, globalBudget()) {}

uint32_t RaceChecker::siteNumber(const RaceSite &Site) {
  auto [At, IsNew] = Numbers.try_emplace(&Site, uint32_t(Sites.size()));
  if (!IsNew)
    return At->second;
  if (Sites.size() == MaxSites) { // no kernel has as many
    Incomplete = true;
    return At->second = MaxSites - 1;
  }
  Sites.push_back(&Site);
  AccessRole Role;
  Role.Writes = Site.Kind != uint32_t(AccessKind::Read);
  Role.Updates = Site.Kind == uint32_t(AccessKind::Atomic);
  Role.Strong = Site.Strong;
  Role.OfBlock = Site.OfBlock;
  Roles.push_back(Role);
  return At->second;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

BlockRaces::BlockRaces(RaceChecker &Launch)
    : Launch(Launch), Shared(Launch.Roles, SharedBudget) {}

void BlockRaces::start(uint64_t NewBlock, unsigned Threads, const uint8_t *Base,
                       uint64_t Bytes, llvm::ArrayRef<uint8_t> Cluster) {
  Block = uint32_t(NewBlock);
  OfCluster = Cluster;
  SharedBase = uint64_t(Base);
  SharedBytes = Bytes;
  Shared.clear();
  Published.clear();
  Clocks.start(Block, Threads, Launch.Now);
}

/// One lane's access.
struct BlockRaces::LaneAccess {
  const WarpAccess &Warp;
  unsigned Lane;
  BlockRaces *Owner; ///< of the shared memory; null: it is in global memory
  uint64_t Address, Bytes;
  NewAccess New;
};

/// False if it races.
[[gnu::always_inline]] inline bool BlockRaces::touch(const LaneAccess &L) {
  Shadow &In = L.Owner ? L.Owner->Shared : Launch.Global;
  // An access of several words may meet the same one in each.
  llvm::SmallVector<AccessRecord, 4> Met;
  auto Report = [&](const Shadow::Conflict &C) {
    const AccessRole &Role = Launch.Roles[C.With.site()];
    auto Note = [&](Sharing &S) {
      (Role.Updates && L.New.Role.Updates ? S.ByAtomics : S.Otherwise) = true;
    };
    Note(Launch.OfThreads);
    const bool Agree = C.MayAgree && storesSame(L, C.With);
    if (!L.Owner && !Agree)
      Note(Launch.InGlobal);
    if (C.With.block() != Block && !Agree)
      Note(Launch.OfBlocks);
    if (!C.Ordered && !llvm::is_contained(Met, C.With)) {
      Met.push_back(C.With);
      note(L, C.With, storesSame(L, C.With));
    }
    return Agree;
  };
  if (!In.touch(L.Address, L.Bytes, L.New, Report))
    Launch.Incomplete = true;
  return Met.empty();
}

void BlockRaces::access(const WarpAccess &A,
                        llvm::function_ref<bool(uint64_t)> IsPrivate,
                        llvm::function_ref<BlockRaces *(uint64_t)> Owner) {
  if (!A.Lanes)
    return;
  // Times are 32 bits; what has as many synchronisations would take hours.
  Launch.Ended |= Launch.Now > UINT32_MAX / 2;
  if (Launch.Ended) {
    Launch.Incomplete = true;
    return;
  }
  const uint32_t Site = Launch.siteNumber(A.Site);
  const AccessRole Role = Launch.Roles[Site];
  const DeviceMemory &Memory = DeviceMemory::instance();
  // Of lanes that read one place, and of which the same is known, the first two
  // stand for all, unless what they read was written without order: each such
  // read is counted. One of the two at least is not the thread that wrote there,
  // and of a third reader of their warp the shadow would keep nothing.
  const bool Alike = !Role.Writes && !Role.Strong && readOnePlace(A);
  bool AllOrdered = true;
  unsigned Done = 0;
  for (Mask Left = A.Lanes; Left; Left &= Left - 1) {
    const unsigned Lane = __builtin_ctzll(Left);
    const uint64_t Address = A.Addresses[Lane];
    const uint64_t Bytes = A.Lengths ? A.Lengths[Lane] : A.Site.Bytes;
    BlockRaces *Home = isShared(Address)   ? this
                       : isOfPeer(Address) ? Owner(Address)
                                           : nullptr;
    if (!Bytes || (!Home && !Memory.inRange(Address) && IsPrivate(Address)))
      continue;
    const unsigned Thread = A.FirstThread + Lane;
    if (A.Site.Strong)
      synchronise(Thread, Address, Bytes, A.Site);
    AllOrdered &=
        touch({A,
               Lane,
               Home,
               Address,
               Bytes,
               {AccessRecord(Block, Thread, Site, Launch.Now), Role, Clocks}});
    if (Alike && AllOrdered && ++Done == 2)
      return;
  }
}

/// Whether the lanes of \p A, all of one group, have one address, and whatever
/// comes before one of them comes before all.
bool BlockRaces::readOnePlace(const WarpAccess &A) const {
  const unsigned First = __builtin_ctzll(A.Lanes);
  const unsigned Last = 63 - __builtin_clzll(A.Lanes);
  constexpr unsigned Group = BlockClocks::GroupSize;
  if (A.Lengths || First / Group != Last / Group)
    return false;
  for (Mask Left = A.Lanes; Left; Left &= Left - 1)
    if (A.Addresses[__builtin_ctzll(Left)] != A.Addresses[First])
      return false;
  return Clocks.areAlike((A.FirstThread + First) / Group);
}

/// What \p Thread learns and publishes by a strong access.
void BlockRaces::synchronise(unsigned Thread, uint64_t Address, uint64_t Bytes,
                             const RaceSite &Site) {
  PublishedClocks &At = publishedAt(Address);
  const uint64_t First = Address / 4, Last = (Address + Bytes - 1) / 4;
  if (Site.Kind != uint32_t(AccessKind::Write))
    for (uint64_t Word = First; Word <= Last; ++Word)
      if (auto Seen = At.find(Word); Seen != At.end())
        Clocks.acquire(Thread, Seen->second);
  if (Site.Kind == uint32_t(AccessKind::Read))
    return;
  if (ClockRef Mine = Clocks.published(Thread, Site.Release))
    for (uint64_t Word = First; Word <= Last; ++Word) {
      ClockRef &There = At[Word];
      There = joined(There, Mine);
    }
}

/// Whether \p L stores what \p Earlier did.
bool BlockRaces::storesSame(const LaneAccess &L,
                            const AccessRecord &Earlier) const {
  const AccessRole &Role = Launch.Roles[Earlier.site()];
  const WarpAccess &A = L.Warp;
  if (!A.Values || !Role.Writes || Role.Updates)
    return false;
  const uint8_t *Mine = A.Values + L.Lane * L.Bytes;
  const unsigned Other = Earlier.thread() - A.FirstThread;
  if (Earlier.block() == Block && Other < L.Lane &&
      Earlier.site() == L.New.Record.site() &&
      Earlier.at() == L.New.Record.at() && (A.Lanes >> Other & 1) &&
      A.Addresses[Other] == L.Address)
    return !std::memcmp(Mine, A.Values + Other * L.Bytes, L.Bytes);
  return !std::memcmp(Mine, reinterpret_cast<const void *>(L.Address), L.Bytes);
}

void BlockRaces::note(const LaneAccess &L, const AccessRecord &Earlier,
                      bool Same) {
  const uint64_t Key = uint64_t(Earlier.site()) << 21 |
                       uint64_t(L.New.Record.site()) << 1 | Same;
  auto [At, IsNew] = Launch.Index.try_emplace(Key, Launch.All.size());
  if (!IsNew) {
    ++Launch.All[At->second].Times;
    return;
  }
  RaceChecker::Found F{Earlier, L.New.Record,       0,   "",
                       1,       L.Owner != nullptr, Same};
  if (F.Shared) {
    const uint64_t Offset = L.Address - L.Owner->SharedBase;
    F.Offset = Offset;
    F.Memory = "shared memory";
    for (const RaceSite *Site : {Launch.Sites[Earlier.site()], &L.Warp.Site})
      if (*Site->Object) {
        F.Memory = Site->Size ? "the shared variable '" +
                                    std::string(Site->Object) + "'"
                              : "dynamic shared memory";
        F.Offset = Offset - Site->Offset;
      }
  } else if (auto In = DeviceMemory::instance().lookup(L.Address)) {
    F.Memory = nameOf(*In);
    F.Offset = L.Address - In->Base;
  } else {
    F.Memory = "memory of the host";
  }
  Launch.All.push_back(std::move(F));
}

//===----------------------------------------------------------------------===//
// Synchronisation
//===----------------------------------------------------------------------===//

void BlockRaces::meetInWarp(unsigned FirstThread, Mask Acts, Mask Here,
                            Mask Alive, const uint32_t *Members) {
  constexpr unsigned Lanes = BlockClocks::GroupSize;
  bool Met = false;
  for (unsigned First = 0; First < MaxWarp; First += Lanes) {
    const auto Part = [&](Mask M) { return uint32_t(M >> First); };
    // Tiles of cooperative groups have masks of their own.
    for (uint32_t Left = Part(Acts); Left;) {
      const unsigned Lane = __builtin_ctz(Left);
      const uint32_t Named = Members[First + Lane] | 1u << Lane;
      const uint32_t Those = Named & (Part(Acts) | Part(Here));
      Clocks.meetInGroup((FirstThread + First) / Lanes, Those,
                         !(Part(Alive) & ~Those));
      Left &= ~Those;
      Met = true;
    }
  }
  if (Met)
    ++Launch.Now;
}

void BlockRaces::fence(unsigned FirstThread, Mask Lanes) {
  for (; Lanes; Lanes &= Lanes - 1)
    Clocks.fence(FirstThread + __builtin_ctzll(Lanes));
  ++Launch.Now;
}

/// What is published in shared memory of a cluster others may read.
PublishedClocks &BlockRaces::publishedAt(uint64_t Address) {
  return isShared(Address) && OfCluster.empty() ? Published : Launch.Published;
}

void BlockRaces::publishAt(unsigned Thread, const void *Address) {
  ClockRef &There = publishedAt(uint64_t(Address))[uint64_t(Address) / 4];
  There = joined(There, Clocks.published(Thread, /*Releases=*/true));
}

void BlockRaces::acquireAt(unsigned Thread, const void *Address) {
  Clocks.acquire(Thread,
                 publishedAt(uint64_t(Address)).lookup(uint64_t(Address) / 4));
}

void BlockRaces::forget(const void *Address, uint64_t Bytes) {
  if (Address)
    Launch.Global.forget(uint64_t(Address), Bytes);
}

//===----------------------------------------------------------------------===//
// What was found
//===----------------------------------------------------------------------===//

static std::array<uint32_t, 3> indexIn(const std::array<uint32_t, 3> &Sizes,
                                       uint64_t Linear) {
  return {uint32_t(Linear % Sizes[0]), uint32_t(Linear / Sizes[0] % Sizes[1]),
          uint32_t(Linear / (uint64_t(Sizes[0]) * Sizes[1]))};
}

RaceAccess RaceChecker::describe(const AccessRecord &Record) const {
  const RaceSite &Site = *Sites[Record.site()];
  RaceAccess A;
  A.What = Site.Kind == uint32_t(AccessKind::Read)    ? RaceAccess::Read
           : Site.Kind == uint32_t(AccessKind::Write) ? RaceAccess::Write
                                                      : RaceAccess::Atomic;
  A.Volatile = Site.Strong && A.What != RaceAccess::Atomic;
  for (const RaceFrame &F : llvm::ArrayRef(Site.Frames, Site.NumFrames))
    A.Where.push_back({F.File, F.Line, F.Column, F.Function});
  A.Block = indexIn(Shape.Grid, Record.block());
  A.Thread = indexIn(Shape.Block, Record.thread());
  return A;
}

RaceFindings RaceChecker::take() {
  RaceFindings Result;
  Result.Launches = 1;
  Result.OfThreads = OfThreads;
  Result.InGlobal = InGlobal;
  Result.OfBlocks = OfBlocks;
  Result.Incomplete = Incomplete;
  for (const Found &F : All) {
    Race R;
    R.First = describe(F.Earlier);
    R.Second = describe(F.Later);
    R.Space = F.Shared ? RaceSpace::Shared : RaceSpace::Global;
    R.SameValue = F.Same;
    R.Memory = F.Memory;
    R.Offset = F.Offset;
    R.Times = F.Times;
    Result.Races.push_back(std::move(R));
  }
  RaceFindings Merged;
  addTo(Merged, std::move(Result), 0);
  return Merged;
}

} // namespace reconverge::warpvm
