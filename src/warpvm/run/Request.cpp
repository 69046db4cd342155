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

/// The most distinct words that a bank of shared memory has to give to \p Lanes;
/// of atomics the most words, since those at one address take turns.
unsigned rules::mostInBank(const Request &R, Mask Lanes) {
  if (R.Bytes > LineBytes) // a lane, alone in its part
    return ceilDiv(R.Bytes, LineBytes);
  // A part has 128 bytes of lanes, and words that lie askew reach into one more
  // each. Of a bank's words each leads to the one before it.
  constexpr uint8_t None = 0xff;
  uint32_t Words[2 * NumBanks];
  uint8_t Before[2 * NumBanks], Last[NumBanks], InBank[NumBanks] = {};
  std::memset(Last, None, sizeof(Last));
  const bool Distinct = R.Use != MemoryUse::Atomic;
  unsigned Most = 0, Size = 0;
  for (Mask Left = Lanes; Left; Left &= Left - 1) {
    const uint64_t At = R.offset(countr_zero(Left));
    for (uint64_t Word = At / BankBytes; Word <= (At + R.Bytes - 1) / BankBytes;
         ++Word) {
      const unsigned Bank = Word % NumBanks;
      if (Distinct) {
        uint8_t I = Last[Bank];
        while (I != None && Words[I] != uint32_t(Word))
          I = Before[I];
        if (I != None)
          continue;
        Words[Size] = uint32_t(Word);
        Before[Size] = Last[Bank];
        Last[Bank] = uint8_t(Size++);
      }
      Most = std::max<unsigned>(Most, ++InBank[Bank]);
    }
  }
  return Most;
}

namespace {
/// How many of some masks have a bit: six binary digits, a word each.
struct BitSums {
  uint32_t Digits[6] = {};
  void add(uint32_t Mask) {
    for (uint32_t &Digit : Digits) {
      const uint32_t Carry = Digit & Mask;
      Digit ^= Mask;
      Mask = Carry;
    }
  }
  unsigned most() const {
    uint32_t Bits = ~uint32_t(0);
    unsigned Most = 0;
    for (unsigned I = 6; I--;)
      if (Bits & Digits[I]) {
        Bits &= Digits[I];
        Most |= 1u << I;
      }
    return Most;
  }
};

/// A line, and which of its 32 words a part of the warp touches: they lie in
/// different banks.
struct TouchedLine {
  uint64_t Number;
  uint32_t Words;
};
} // namespace

/// Of the warp's 32 lanes from \p First on, in parts of \p PartLanes.
unsigned rules::cachedWavefronts(const Request &R, unsigned First,
                                 unsigned PartLanes) {
  const Mask Lanes = R.Lanes & Mask(0xffffffff) << First;
  if (R.Bytes > LineBytes) // a lane, alone in its part
    return popcount(Lanes) * ceilDiv(R.Bytes, LineBytes);
  TouchedLine Lines[4][2 * 32]; // a lane's bytes lie in two at most
  unsigned InBank[4] = {}, OfBanks = 0;
  for (unsigned Begin = First; Begin != First + 32; Begin += PartLanes) {
    for (unsigned Bank = 0; Bank != 4; ++Bank)
      for (unsigned I = 0; I != InBank[Bank]; ++I)
        Lines[Bank][I].Words = 0;
    TouchedLine *Last = nullptr; // most often the next lane has it too
    for (Mask Left = Lanes & ~Mask(0) >> (64 - PartLanes) << Begin; Left;
         Left &= Left - 1) {
      const uint64_t At = R.Addresses[countr_zero(Left)];
      const uint64_t End = (At + R.Bytes - 1) / BankBytes; // last word
      for (uint64_t Word = At / BankBytes; Word <= End;) {
        const uint64_t Line = Word / NumBanks;
        if (!Last || Last->Number != Line) {
          const unsigned Bank = tagBankOf(Line);
          Last = Lines[Bank];
          TouchedLine *const Beyond = Last + InBank[Bank];
          while (Last != Beyond && Last->Number != Line)
            ++Last;
          if (Last == Beyond) {
            *Last = {Line, 0};
            ++InBank[Bank];
          }
        }
        const uint64_t Most = std::min(End, Line * NumBanks + NumBanks - 1);
        Last->Words |=
            uint32_t(~uint64_t(0) >> (63 - (Most - Word)) << Word % NumBanks);
        Word = Most + 1;
      }
    }
    BitSums Sums;
    for (unsigned Bank = 0; Bank != 4; ++Bank)
      for (unsigned I = 0; I != InBank[Bank]; ++I)
        Sums.add(Lines[Bank][I].Words);
    OfBanks += Sums.most();
  }
  return std::max(OfBanks, *std::max_element(InBank, InBank + 4));
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
