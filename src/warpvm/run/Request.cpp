//===- warpvm/run/Request.cpp - What a request comes to -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// docs/memory.md has the rules, RequestRules.h their usual cases; here are those
// that are rare, and the sets of sectors.
//
//   address   | group            | sector  | byte  |
//                                 10 ... 5   4 ... 0
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/RequestRules.h"

#include <cassert>
#include <cstring>

using namespace llvm;

namespace reconverge::warpvm {

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
// The rules, where lanes are far apart
//===----------------------------------------------------------------------===//

void rules::touchApart(const Request &R, Mask Lanes, TouchedSectors &Touched) {
  for (Mask Left = Lanes; Left; Left &= Left - 1) {
    const uint64_t At = R.Addresses[countr_zero(Left)];
    Touched.add(At >> SectorShift, (At + R.Bytes - 1) >> SectorShift);
  }
}

void rules::touchLocal(const Request &R, TouchedSectors &Touched) {
  for (Mask Left = R.Lanes; Left; Left &= Left - 1) {
    const unsigned Lane = countr_zero(Left);
    const uint64_t At = R.offset(Lane);
    for (uint64_t Word = At / 4; Word <= (At + R.Bytes - 1) / 4; ++Word) {
      const uint64_t Sector = (Word * MaxWarp + Lane) * 4 >> SectorShift;
      Touched.add(Sector, Sector);
    }
  }
}

/// The most distinct words that a bank has to give to \p Lanes; of atomics on
/// shared memory the most words, since those at one address take turns.
unsigned rules::mostInBank(const Request &R, Mask Lanes) {
  if (R.Bytes > LineBytes) // a lane, alone in its part
    return ceilDiv(R.Bytes, LineBytes);
  // Words that came before, hashed. A part has 128 bytes of lanes, and words
  // that lie askew reach into one more each.
  constexpr unsigned Slots = 256;
  uint32_t Seen[Slots];
  uint8_t InBank[NumBanks] = {};
  const bool Distinct =
      R.Use != MemoryUse::Atomic || R.Space != MemorySpace::Shared;
  if (Distinct)
    std::memset(Seen, 0xff, sizeof(Seen));
  unsigned Most = 0;
  for (Mask Left = Lanes; Left; Left &= Left - 1) {
    const uint64_t At = R.offset(countr_zero(Left));
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

/// The most lines that have their tags in one bank, of 32 lanes at most.
unsigned rules::mostInTags(const Request &R, Mask Lanes) {
  if (R.Bytes > LineBytes) // wider than any GPU's: banks take as long
    return 0;
  uint64_t Lines[4][2 * 32]; // a lane's bytes lie in two at most
  unsigned InBank[4] = {};
  for (Mask Left = Lanes; Left; Left &= Left - 1) {
    const uint64_t At = R.Addresses[countr_zero(Left)];
    for (uint64_t Line = At / LineBytes; Line <= (At + R.Bytes - 1) / LineBytes;
         ++Line) {
      const unsigned Bank =
          popcount(Line & TagBits[0]) % 2 + popcount(Line & TagBits[1]) % 2 * 2;
      uint64_t *const End = Lines[Bank] + InBank[Bank];
      if (std::find(Lines[Bank], End, Line) == End) {
        *End = Line;
        ++InBank[Bank];
      }
    }
  }
  return *std::max_element(InBank, InBank + 4);
}

AccessCounts countRequest(const Request &R, TouchedSectors &Touched) {
  assert(R.Lanes && R.Bytes && "a request is of some lanes and bytes");
  AccessCounts Counts;
  Counts.Requests = 1;
  rules::countRequest(R, Counts, [&](const SectorGroup &G) {
    Touched.addGroup(G.Number, G.Sectors);
  });
  return Counts;
}

} // namespace reconverge::warpvm
