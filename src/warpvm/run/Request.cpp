//===- warpvm/run/Request.cpp - What a request comes to -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// docs/memory.md has the rules. Sectors are kept in groups of 64, so that one
// word of bits holds what most requests touch, and what they touch twice counts
// once for nothing:
//
//   address   | group            | sector  | byte  |
//                                 10 ... 5   4 ... 0
//
// Nearly all requests lie in one group, which is found without a branch a lane;
// the others go through a small table. Of shared memory, nearly all requests
// lie within as many words as there are banks, and so without a conflict.
//
// This runs for each access of each warp. It is compiled twice, once for hosts
// with AVX-512, whose vectors hold 8 lanes' addresses.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Request.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>
#include <cstring>

using namespace llvm;

namespace reconverge::warpvm {

static constexpr unsigned SectorShift = 5, GroupShift = 11;
static constexpr uint64_t LineBytes = 128, BankBytes = 4, NumBanks = 32;

//===----------------------------------------------------------------------===//
// The sectors of a request
//===----------------------------------------------------------------------===//

static unsigned slotOf(uint64_t Number) {
  return Number * 0x9e3779b97f4a7c15 >> 56;
}

SectorGroup &TouchedSectors::group(uint64_t Number) {
  if (Size && Groups[Size - 1].Number == Number)
    return Groups[Size - 1];
  // A single group needs no table.
  if (Size == 1) {
    std::memset(At, 0, sizeof(At));
    At[slotOf(Groups[0].Number)] = 1;
  }
  if (Size) {
    unsigned Slot = slotOf(Number);
    for (; At[Slot]; Slot = (Slot + 1) % Slots)
      if (Groups[At[Slot] - 1].Number == Number)
        return Groups[At[Slot] - 1];
    At[Slot] = Size + 1;
  }
  assert(Size < Most && "a lane's access lies in two groups at most");
  Groups[Size] = {Number, 0};
  return Groups[Size++];
}

void TouchedSectors::addGroup(uint64_t Number, uint64_t Sectors) {
  group(Number).Sectors |= Sectors;
}

void TouchedSectors::add(uint64_t First, uint64_t Last) {
  for (uint64_t Sector = First; Sector <= Last; ++Sector)
    addGroup(Sector / 64, uint64_t(1) << Sector % 64);
}

SectorSet::Entry &SectorSet::insert(uint64_t Number, size_t FreeSlot) {
  if (2 * Entries.size() >= Table.size()) {
    --Shift;
    Table.assign(2 * Table.size(), Slot());
    Age = 1;
    auto FindFree = [&](uint64_t Of) {
      size_t I = slotFor(Of);
      while (Table[I].Age == Age)
        I = (I + 1) & (Table.size() - 1);
      return I;
    };
    for (size_t I = 0; I < Entries.size(); ++I)
      Table[FindFree(Entries[I].Number)] = {Age, uint32_t(I)};
    FreeSlot = FindFree(Number);
  }
  Table[FreeSlot] = {Age, uint32_t(Entries.size())};
  Entries.push_back({Number, 0, 0, 0});
  return Entries.back();
}

void SectorSet::add(const SectorSet &Other) {
  for (const Entry &From : Other.Entries) {
    Entry &To = entry(From.Number);
    To.Loaded |= From.Loaded;
    To.Stored |= From.Stored;
    To.Updated |= From.Updated;
  }
}

void SectorSet::clear() {
  Entries.clear();
  if (++Age == 0) { // once in 2^32 thread blocks
    std::fill(Table.begin(), Table.end(), Slot());
    Age = 1;
  }
}

uint64_t SectorSet::blockLoads() const {
  uint64_t Sum = 0;
  for (const Entry &E : Entries)
    Sum += popcount(E.Loaded);
  return Sum;
}

uint64_t SectorSet::loads() const {
  uint64_t Sum = 0;
  for (const Entry &E : Entries)
    Sum += popcount(E.Loaded | E.Updated);
  return Sum;
}

uint64_t SectorSet::stores() const {
  uint64_t Sum = 0;
  for (const Entry &E : Entries)
    Sum += popcount(E.Stored | E.Updated);
  return Sum;
}

//===----------------------------------------------------------------------===//
// The rules
//===----------------------------------------------------------------------===//

#define INLINED [[gnu::always_inline]] static inline

/// Passes through the first cache of a request that touches \p Lines lines of
/// 128 bytes with \p Bytes in all its lanes together. A line is a pass; as many
/// lines as the distinct bytes need there are in any case.
INLINED void countWavefronts(unsigned Lines, uint64_t Bytes, AccessCounts &To) {
  To.Wavefronts = Lines;
  // Lanes that read the same bytes need fewer than if they lay side by side.
  To.LeastWavefronts =
      std::min<uint64_t>(Lines, (Bytes + LineBytes - 1) / LineBytes);
}

/// How many of the 16 lines of a group have one of \p Sectors.
INLINED unsigned linesOf(uint64_t Sectors) {
  const uint64_t Pairs = Sectors | Sectors >> 1;
  return popcount((Pairs | Pairs >> 2) & 0x1111111111111111);
}

INLINED void countTouched(const TouchedSectors &Touched, uint64_t Bytes,
                          AccessCounts &To) {
  unsigned Lines = 0;
  for (const SectorGroup &G : Touched) {
    To.Sectors += popcount(G.Sectors);
    Lines += linesOf(G.Sectors);
  }
  To.LeastSectors = (Bytes + SectorBytes - 1) / SectorBytes;
  countWavefronts(Lines, Bytes, To);
}

/// The sectors of all lanes if they are of one group; else 0. Idle lanes count
/// as the first active one does.
template <unsigned W>
INLINED uint64_t sectorsInOneGroup(const Request &R, uint64_t First) {
  const uint64_t Group = First >> GroupShift;
  const uint64_t Reach = R.Bytes - 1;
  uint64_t Elsewhere = 0, Sectors = 0;
  for (unsigned Lane = 0; Lane < W; ++Lane) {
    const uint64_t At = R.Lanes >> Lane & 1 ? R.Addresses[Lane] : First;
    const uint64_t End = At + Reach;
    Elsewhere |= (At >> GroupShift ^ Group) | (End >> GroupShift ^ Group);
    Sectors |= uint64_t(1) << (At >> SectorShift & 63) |
               uint64_t(1) << (End >> SectorShift & 63);
  }
  return Elsewhere ? 0 : Sectors;
}

INLINED void countGlobal(const Request &R, TouchedSectors &Touched,
                         AccessCounts &To) {
  const uint64_t First = R.Addresses[countr_zero(R.Lanes)];
  uint64_t Sectors = 0;
  // Of a wider access there may be sectors between the first and the last.
  if (R.Bytes <= SectorBytes)
    Sectors = R.WarpSize == 32 ? sectorsInOneGroup<32>(R, First)
                               : sectorsInOneGroup<64>(R, First);
  if (Sectors)
    Touched.addGroup(First >> GroupShift, Sectors);
  else
    for (Mask Left = R.Lanes; Left; Left &= Left - 1) {
      const uint64_t At = R.Addresses[countr_zero(Left)];
      Touched.add(At >> SectorShift, (At + R.Bytes - 1) >> SectorShift);
    }
  countTouched(Touched, To.Lanes * R.Bytes, To);
}

/// Threads' words are interleaved: those that 32 lanes have at one offset are a
/// line.
INLINED void countLocal(const Request &R, AccessCounts &To) {
  TouchedSectors Touched;
  for (Mask Left = R.Lanes; Left; Left &= Left - 1) {
    const unsigned Lane = countr_zero(Left);
    const uint64_t First = R.Addresses[Lane] / 4;
    const uint64_t Last = (R.Addresses[Lane] + R.Bytes - 1) / 4;
    for (uint64_t Word = First; Word <= Last; ++Word) {
      const uint64_t Sector = (Word * MaxWarp + Lane) * 4 >> SectorShift;
      Touched.add(Sector, Sector);
    }
  }
  countTouched(Touched, To.Lanes * R.Bytes, To);
}

/// ... if all lanes have the same offset, which is most often so.
INLINED bool countSameLocal(const Request &R, AccessCounts &To) {
  const uint64_t First = R.Addresses[countr_zero(R.Lanes)];
  uint64_t Differ = 0;
  for (unsigned Lane = 0; Lane < R.WarpSize; ++Lane)
    Differ |= R.Lanes >> Lane & 1 ? R.Addresses[Lane] ^ First : 0;
  if (Differ)
    return false;
  const uint64_t Words = (First + R.Bytes - 1) / 4 - First / 4 + 1;
  Mask Eights = R.Lanes | R.Lanes >> 4; // of 8 lanes, whether any acts
  Eights |= Eights >> 2;
  Eights |= Eights >> 1;
  To.Sectors = Words * popcount(Eights & 0x0101010101010101);
  To.LeastSectors = (To.Lanes * R.Bytes + SectorBytes - 1) / SectorBytes;
  countWavefronts(Words * (!!(R.Lanes & 0xffffffff) + !!(R.Lanes >> 32)),
                  To.Lanes * R.Bytes, To);
  return true;
}

/// The most distinct words that a bank has to give to \p Lanes; of atomics the
/// most words, since those at one address take turns.
static unsigned mostInBank(const Request &R, Mask Lanes) {
  if (R.Bytes > LineBytes) // a lane, alone in its part
    return (R.Bytes + LineBytes - 1) / LineBytes;
  // Words that came before, hashed. A part has 128 bytes of lanes, and words
  // that lie askew reach into one more each.
  constexpr unsigned Slots = 256;
  uint32_t Seen[Slots];
  uint8_t InBank[NumBanks] = {};
  const bool Distinct = R.Use != MemoryUse::Atomic;
  if (Distinct)
    std::memset(Seen, 0xff, sizeof(Seen));
  unsigned Most = 0;
  for (Mask Left = Lanes; Left; Left &= Left - 1) {
    const uint64_t At = R.Addresses[countr_zero(Left)];
    for (uint64_t Word = At / BankBytes; Word <= (At + R.Bytes - 1) / BankBytes;
         ++Word) {
      if (Distinct) {
        unsigned Slot = uint32_t(Word) * 0x9e3779b1u >> 24;
        while (Seen[Slot] != uint32_t(Word) && ~Seen[Slot])
          Slot = (Slot + 1) % Slots;
        if (~Seen[Slot])
          continue;
        Seen[Slot] = uint32_t(Word);
      }
      Most = std::max<unsigned>(Most, ++InBank[Word % NumBanks]);
    }
  }
  return Most;
}

/// Whether active lanes 0 to W lie, part by part of \p PartLanes lanes, within
/// as many bytes as the banks give at once.
template <unsigned W, unsigned PartLanes>
INLINED bool withoutConflict(const Request &R) {
  bool Fits = true;
  for (unsigned Part = 0; Part < W; Part += PartLanes) {
    uint64_t Low = ~uint64_t(0), High = 0;
    for (unsigned Lane = Part; Lane < Part + PartLanes; ++Lane) {
      const bool Acts = R.Lanes >> Lane & 1;
      const uint64_t At = R.Addresses[Lane];
      Low = Acts && At < Low ? At : Low;
      High = Acts && At > High ? At : High;
    }
    // Of words, not of bytes: a bank gives the whole of one.
    Fits &= Low > High ||
            (High + R.Bytes - 1) / BankBytes - Low / BankBytes < NumBanks;
  }
  return Fits;
}

/// Lanes of up to 4 bytes go together, of 8 in halves of a warp, of 16 in
/// quarters.
INLINED unsigned partLanes(uint32_t Bytes) {
  return std::max(1u, unsigned(NumBanks * BankBytes /
                               bit_ceil(std::max<uint32_t>(Bytes, BankBytes))));
}

INLINED void countShared(const Request &R, AccessCounts &To) {
  const unsigned Lanes = partLanes(R.Bytes);
  const Mask Part = Lanes == 64 ? ~Mask(0) : (Mask(1) << Lanes) - 1;
  for (unsigned First = 0; First < R.WarpSize; First += Lanes)
    To.LeastWavefronts += (R.Lanes >> First & Part) != 0;
  bool Free = false;
  if (R.Use != MemoryUse::Atomic && R.WarpSize == 32)
    Free = Lanes == 32   ? withoutConflict<32, 32>(R)
           : Lanes == 16 ? withoutConflict<32, 16>(R)
           : Lanes == 8  ? withoutConflict<32, 8>(R)
                         : false;
  if (Free) {
    To.Wavefronts = To.LeastWavefronts;
    return;
  }
  for (unsigned First = 0; First < R.WarpSize; First += Lanes)
    if (const Mask Acts = R.Lanes & Part << First)
      To.Wavefronts += mostInBank(R, Acts);
}

/// The most lanes at one address.
INLINED unsigned turnsOf(const Request &R) {
  unsigned Most = 0;
  for (Mask Left = R.Lanes; unsigned(popcount(Left)) > Most;) {
    const uint64_t At = R.Addresses[countr_zero(Left)];
    Mask Same = 0;
    for (unsigned Lane = 0; Lane < R.WarpSize; ++Lane)
      Same |= Mask(R.Addresses[Lane] == At) << Lane;
    Same &= Left;
    Most = std::max(Most, unsigned(popcount(Same)));
    Left &= ~Same;
  }
  return Most;
}

INLINED AccessCounts countAny(const Request &R, TouchedSectors &Touched) {
  AccessCounts To;
  To.Requests = 1;
  To.Lanes = popcount(R.Lanes);
  if (R.Use == MemoryUse::Atomic)
    To.Turns = turnsOf(R);
  if (R.Space == MemorySpace::Shared)
    countShared(R, To);
  else if (R.Space != MemorySpace::Local)
    countGlobal(R, Touched, To);
  else if (!countSameLocal(R, To))
    countLocal(R, To);
  return To;
}

#ifdef __x86_64__
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2,popcnt,lzcnt")]]
static AccessCounts countWide(const Request &R, TouchedSectors &Touched) {
  return countAny(R, Touched);
}

static bool hostIsWide() {
  return __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
}
#endif

AccessCounts countRequest(const Request &R, TouchedSectors &Touched) {
  assert(R.Lanes && R.Bytes && "a request is of some lanes and bytes");
#ifdef __x86_64__
  static const bool Wide = hostIsWide();
  if (Wide)
    return countWide(R, Touched);
#endif
  return countAny(R, Touched);
}

} // namespace reconverge::warpvm
