//===- warpvm/run/RequestRules.h - The rules of docs/memory.md --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// They run for each access of each warp: countRequest is inlined into what
// compiled code calls, which is compiled for hosts with and without AVX-512.
// There, 8 lanes' addresses are a vector, and what follows is written as loops
// over all lanes that a compiler makes vector code of.
//
// Nearly all requests touch sectors of one group (Request.h) in each half of a
// warp, which is found without a branch a lane; the others go through a table. Of shared
// memory, nearly all requests lie within as many words as there are banks, and
// so have no conflict.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_WARPVM_RUN_REQUESTRULES_H
#define RECONVERGE_WARPVM_RUN_REQUESTRULES_H

#include "warpvm/run/Request.h"

#include "llvm/ADT/bit.h"

#include <algorithm>

#define RECONVERGE_INLINED [[gnu::always_inline]] inline
/// Before a loop over lanes: one that is unrolled is not made vector code of.
#define RECONVERGE_AS_VECTORS _Pragma("clang loop unroll(disable)")

namespace reconverge::warpvm::rules {

inline constexpr unsigned SectorShift = 5, GroupShift = 11;
inline constexpr uint64_t LineBytes = 128, BankBytes = 4, NumBanks = 32;

constexpr uint64_t ceilDiv(uint64_t A, uint64_t B) { return (A + B - 1) / B; }

// Request.cpp: what is rare.
void touchApart(const Request &R, Mask Lanes, TouchedSectors &Touched);
void touchLocal(const Request &R, TouchedSectors &Touched);
unsigned mostInBank(const Request &R, Mask Lanes);
unsigned cachedWavefronts(const Request &R, unsigned First, unsigned PartLanes);

/// Of local memory: a line of 128 bytes is a pass; \p Bytes are those of all
/// lanes together. As many lines as the distinct bytes need there are in any case.
RECONVERGE_INLINED void countLines(uint64_t Lines, uint64_t Bytes,
                                   AccessCounts &To) {
  To.Wavefronts += Lines;
  // Lanes that read the same bytes need fewer than if they lay side by side.
  To.LeastWavefronts += std::min(Lines, ceilDiv(Bytes, LineBytes));
}

/// How many of the 16 lines of a group have one of \p Sectors.
RECONVERGE_INLINED unsigned linesOf(uint64_t Sectors) {
  const uint64_t Pairs = Sectors | Sectors >> 1;
  return llvm::popcount((Pairs | Pairs >> 2) & 0x1111111111111111);
}

/// Lanes whose sectors are looked for together: a row of many tiles.
inline constexpr unsigned RowLanes = 16;

/// The sectors of \p Acts, of the lanes from \p First on, if they are of the
/// group \p Group; else 0. Idle lanes count as lane \p Some does. \p Reach: a
/// lane's bytes but one; 0 will do for aligned ones.
RECONVERGE_INLINED uint64_t sectorsOfRow(const Request &R, unsigned First,
                                         Mask Acts, uint64_t Some,
                                         uint64_t Reach) {
  const uint64_t Group = Some >> GroupShift;
  const uint64_t *Addresses = R.Addresses + First;
  uint64_t Elsewhere = 0, Sectors = 0;
  if (!Reach) {
    RECONVERGE_AS_VECTORS
    for (unsigned I = 0; I < RowLanes; ++I) {
      const uint64_t At = Acts >> I & 1 ? Addresses[I] : Some;
      Elsewhere |= At >> GroupShift ^ Group;
      Sectors |= uint64_t(1) << (At >> SectorShift & 63);
    }
    return Elsewhere ? 0 : Sectors;
  }
  RECONVERGE_AS_VECTORS
  for (unsigned I = 0; I < RowLanes; ++I) {
    const uint64_t At = Acts >> I & 1 ? Addresses[I] : Some, End = At + Reach;
    Elsewhere |= (At >> GroupShift ^ Group) | (End >> GroupShift ^ Group);
    Sectors |= uint64_t(1) << (At >> SectorShift & 63) |
               uint64_t(1) << (End >> SectorShift & 63);
  }
  return Elsewhere ? 0 : Sectors;
}

/// Adds sectors to the first \p Size of \p Groups, or as one more of them.
RECONVERGE_INLINED void addTo(SectorGroup *Groups, unsigned &Size,
                              uint64_t Number, uint64_t Sectors) {
  unsigned I = 0;
  while (I < Size && Groups[I].Number != Number)
    ++I;
  if (I == Size)
    Groups[Size++] = {Number, 0};
  Groups[I].Sectors |= Sectors;
}

/// The groups of all sectors if each row of lanes has one, or few lanes act;
/// how many. Else 0.
RECONVERGE_INLINED unsigned
groupsOfRows(const Request &R, SectorGroup (&Groups)[MaxWarp / RowLanes]) {
  // Of a wider access there may be sectors between the first and the last.
  if (R.Bytes > SectorBytes)
    return 0;
  unsigned Size = 0;
  if (R.Aligned && llvm::popcount(R.Lanes) <= int(MaxWarp / RowLanes)) {
    for (Mask Left = R.Lanes; Left; Left &= Left - 1) {
      const uint64_t At = R.Addresses[llvm::countr_zero(Left)];
      addTo(Groups, Size, At >> GroupShift,
            uint64_t(1) << (At >> SectorShift & 63));
    }
    return Size;
  }
  for (unsigned First = 0; First < R.WarpSize; First += RowLanes) {
    const Mask Acts = R.Lanes >> First & 0xffff;
    if (!Acts)
      continue;
    const uint64_t Some = R.Addresses[First + llvm::countr_zero(Acts)];
    const uint64_t Sectors =
        sectorsOfRow(R, First, Acts, Some, R.Aligned ? 0 : R.Bytes - 1);
    if (!Sectors)
      return 0;
    addTo(Groups, Size, Some >> GroupShift, Sectors);
  }
  return Size;
}

/// Of \p Left, the lanes that lie in one group with the first of them, and the
/// sectors there.
template <unsigned W>
RECONVERGE_INLINED Mask lanesOfGroup(const Request &R, Mask Left,
                                     SectorGroup &G) {
  const uint64_t Group = R.Addresses[llvm::countr_zero(Left)] >> GroupShift;
  const uint64_t Reach = R.Bytes - 1;
  uint64_t Sectors = 0;
  Mask Inside = 0;
  RECONVERGE_AS_VECTORS
  for (unsigned Lane = 0; Lane < W; ++Lane) {
    const uint64_t At = R.Addresses[Lane], End = At + Reach;
    const bool Here = (Left >> Lane & 1) && At >> GroupShift == Group &&
                      End >> GroupShift == Group;
    const uint64_t Both = uint64_t(1) << (At >> SectorShift & 63) |
                          uint64_t(1) << (End >> SectorShift & 63);
    Sectors |= Here ? Both : 0;
    Inside |= Here ? Mask(1) << Lane : 0;
  }
  G = {Group, Sectors};
  return Inside;
}

template <typename Touch>
RECONVERGE_INLINED void countSectors(const Request &R, AccessCounts &To,
                                     Touch &&Each) {
  To.LeastSectors +=
      ceilDiv(uint64_t(llvm::popcount(R.Lanes)) * R.Bytes, SectorBytes);
  SectorGroup Groups[MaxWarp / RowLanes];
  if (const unsigned Size = groupsOfRows(R, Groups)) {
    for (unsigned I = 0; I < Size; ++I) {
      To.Sectors += llvm::popcount(Groups[I].Sectors);
      Each(Groups[I]);
    }
    return;
  }
  TouchedSectors Touched;
  Mask Left = R.Lanes;
  // Rows of a tile are a few groups.
  for (unsigned I = 0; I < 4 && Left && R.Bytes <= SectorBytes; ++I) {
    SectorGroup G;
    const Mask Inside = R.WarpSize == 32 ? lanesOfGroup<32>(R, Left, G)
                                         : lanesOfGroup<64>(R, Left, G);
    Touched.addGroup(G.Number, G.Sectors);
    Left &= ~Inside;
  }
  touchApart(R, Left, Touched);
  for (const SectorGroup &G : Touched) {
    To.Sectors += llvm::popcount(G.Sectors);
    Each(G);
  }
}

/// Threads' words are interleaved: those that 32 lanes have at one offset are a
/// line. Most often all lanes have the same.
RECONVERGE_INLINED void countLocal(const Request &R, AccessCounts &To) {
  const uint64_t First = R.offset(llvm::countr_zero(R.Lanes));
  const uint64_t Bytes = uint64_t(llvm::popcount(R.Lanes)) * R.Bytes;
  uint64_t Differ = 0;
  RECONVERGE_AS_VECTORS
  for (unsigned Lane = 0; Lane < R.WarpSize; ++Lane)
    Differ |= R.Lanes >> Lane & 1 ? R.offset(Lane) ^ First : 0;
  if (Differ) {
    TouchedSectors Touched;
    touchLocal(R, Touched);
    unsigned Lines = 0;
    for (const SectorGroup &G : Touched) {
      To.Sectors += llvm::popcount(G.Sectors);
      Lines += linesOf(G.Sectors);
    }
    To.LeastSectors += ceilDiv(Bytes, SectorBytes);
    return countLines(Lines, Bytes, To);
  }
  const uint64_t Words = (First + R.Bytes - 1) / 4 - First / 4 + 1;
  Mask Eights = R.Lanes | R.Lanes >> 4; // of 8 lanes, whether any acts
  Eights |= Eights >> 2;
  Eights |= Eights >> 1;
  To.Sectors += Words * llvm::popcount(Eights & 0x0101010101010101);
  To.LeastSectors += ceilDiv(Bytes, SectorBytes);
  const unsigned Warps = !!(R.Lanes & 0xffffffff) + !!(R.Lanes >> 32);
  countLines(Words * Warps, Bytes, To);
}

/// Whether \p Acts, of the lanes from \p First on, have no conflict for a
/// reason that is seen at once: they lie within as many words as there are
/// banks, or each begins in another bank. False says nothing.
template <unsigned PartLanes>
RECONVERGE_INLINED bool liesInBanks(const Request &R, unsigned First,
                                    Mask Acts) {
  const uint32_t Some =
      uint32_t(R.offset(llvm::countr_zero(Acts))) / uint32_t(BankBytes);
  uint32_t Low = Some, High = Some, Banks = 0;
  RECONVERGE_AS_VECTORS
  for (unsigned I = 0; I < PartLanes; ++I) {
    const uint32_t At = uint32_t(R.offset(First + I)) / uint32_t(BankBytes);
    const uint32_t Word = Acts >> First >> I & 1 ? At : Some;
    Low = std::min(Low, Word);
    High = std::max(High, Word);
    Banks |= uint32_t(1) << (Word & (NumBanks - 1));
  }
  // Aligned lanes of 8 or 16 bytes that begin apart are apart.
  return High - Low + ceilDiv(R.Bytes, BankBytes) <= NumBanks ||
         llvm::popcount(Banks) == llvm::popcount(Acts);
}

/// Of \p Lanes lanes from \p Begin on, parts of \p PartLanes each.
template <unsigned PartLanes>
RECONVERGE_INLINED void countParts(const Request &R, unsigned Begin,
                                   unsigned Lanes, AccessCounts &To) {
  const Mask Part = ~Mask(0) >> (64 - PartLanes);
  for (unsigned First = Begin; First < Begin + Lanes; First += PartLanes) {
    const Mask Acts = R.Lanes & Part << First;
    if (!Acts)
      continue;
    ++To.LeastWavefronts;
    To.Wavefronts += R.Aligned && R.Use != MemoryUse::Atomic &&
                             liesInBanks<PartLanes>(R, First, Acts)
                         ? 1
                         : mostInBank(R, Acts);
  }
}

/// Whether active lanes of a warp from \p First on have the address of the lane
/// whose number differs in the bit \p Bit, if that is active.
RECONVERGE_INLINED bool pairsAgree(const Request &R, unsigned First,
                                   unsigned Bit) {
  uint64_t Differ = 0;
  for (unsigned Lane = First; Lane < First + 32; ++Lane) {
    const bool IsPair = (R.Lanes >> Lane & 1) && (R.Lanes >> (Lane ^ Bit) & 1);
    Differ |= IsPair ? R.Addresses[Lane] ^ R.Addresses[Lane ^ Bit] : 0;
  }
  return !Differ;
}

/// Lanes of up to 4 bytes go together, of 8 in halves of a warp, of 16 in
/// quarters; two such parts at once if lanes that load agree in pairs.
RECONVERGE_INLINED void countShared(const Request &R, AccessCounts &To) {
  if (R.Bytes <= 4)
    return countParts<32>(R, 0, R.WarpSize, To);
  if (R.Bytes <= 16) {
    for (unsigned First = 0; First < R.WarpSize; First += 32) {
      const bool AtOnce = R.Use == MemoryUse::Load &&
                          (pairsAgree(R, First, 1) || pairsAgree(R, First, 2));
      if (R.Bytes <= 8)
        AtOnce ? countParts<32>(R, First, 32, To)
               : countParts<16>(R, First, 32, To);
      else
        AtOnce ? countParts<16>(R, First, 32, To)
               : countParts<8>(R, First, 32, To);
    }
    return;
  }
  // No GPU makes these whole.
  if (R.Bytes <= 32)
    return countParts<4>(R, 0, R.WarpSize, To);
  return R.Bytes <= 64 ? countParts<2>(R, 0, R.WarpSize, To)
                       : countParts<1>(R, 0, R.WarpSize, To);
}

RECONVERGE_INLINED unsigned tagBankOf(uint64_t Line) {
  return llvm::popcount(Line & TagBits[0]) % 2 +
         llvm::popcount(Line & TagBits[1]) % 2 * 2;
}

/// Wavefronts of the first cache: of parts of \p PartLanes lanes, or as many as
/// its tags need. Nearly always a part lies in one line, of which there are no
/// more than parts then, or within as many words as there are banks.
template <unsigned PartLanes>
RECONVERGE_INLINED void countCached(const Request &R, AccessCounts &To) {
  const Mask Part = ~Mask(0) >> (64 - PartLanes);
  for (unsigned Warp = 0; Warp < R.WarpSize; Warp += 32) {
    unsigned Parts = 0;
    uint64_t Differ = 0, Low = 0, High = 0; // words, of the last part
    for (unsigned First = Warp; First < Warp + 32; First += PartLanes) {
      const Mask Acts = R.Lanes & Part << First;
      if (!Acts)
        continue;
      ++Parts;
      Low = High = R.Addresses[llvm::countr_zero(Acts)] / BankBytes;
      const uint64_t Some = Low;
      RECONVERGE_AS_VECTORS
      for (unsigned I = 0; I < PartLanes; ++I) {
        const uint64_t Word =
            Acts >> First >> I & 1 ? R.Addresses[First + I] / BankBytes : Some;
        Low = std::min(Low, Word);
        High = std::max(High, Word);
      }
      Differ |= (Low ^ High) / NumBanks;
    }
    To.LeastWavefronts += Parts;
    if (R.Aligned && !Differ)
      To.Wavefronts += Parts;
    else if (R.Aligned && PartLanes == 32 && High - Low < NumBanks)
      To.Wavefronts +=
          tagBankOf(Low / NumBanks) == tagBankOf(High / NumBanks) ? 2 : 1;
    else
      To.Wavefronts += cachedWavefronts(R, Warp, PartLanes);
  }
}

RECONVERGE_INLINED void countCached(const Request &R, AccessCounts &To) {
  if (R.Bytes <= 4)
    return countCached<32>(R, To);
  if (R.Bytes <= 8)
    return countCached<16>(R, To);
  if (R.Bytes <= 16)
    return countCached<8>(R, To);
  // No GPU makes these whole.
  if (R.Bytes <= 32)
    return countCached<4>(R, To);
  return R.Bytes <= 64 ? countCached<2>(R, To) : countCached<1>(R, To);
}

/// The most lanes at one address. \p InBank, if given: of shared memory, lanes
/// by the bank of their first word are added.
template <unsigned W>
RECONVERGE_INLINED unsigned turnsOf(const Request &R,
                                    uint8_t *InBank = nullptr) {
  unsigned Most = 0;
  for (Mask Left = R.Lanes; Left;) {
    const uint64_t At = R.Addresses[llvm::countr_zero(Left)];
    Mask Same = 0;
    RECONVERGE_AS_VECTORS
    for (unsigned Lane = 0; Lane < W; ++Lane)
      Same |= R.Addresses[Lane] == At ? Mask(1) << Lane : 0;
    Same &= Left;
    Left &= ~Same;
    const unsigned Turns = llvm::popcount(Same);
    Most = std::max(Most, Turns);
    if (InBank)
      InBank[(At - R.Base) / BankBytes % NumBanks] += Turns;
  }
  return Most;
}

/// Adds \p R to its access's counts but for Requests; calls \p Each for groups
/// of sectors of global memory, each of which comes once.
template <typename Touch>
RECONVERGE_INLINED void countRequest(const Request &R, AccessCounts &To,
                                     Touch &&Each) {
  To.Lanes += llvm::popcount(R.Lanes);
  if (R.Use == MemoryUse::Atomic) {
    // Most atomics of shared memory are of a word, and found in one go.
    if (R.Space == MemorySpace::Shared && R.Bytes == BankBytes && R.Aligned &&
        R.WarpSize == 32) {
      uint8_t InBank[NumBanks] = {};
      To.Turns += turnsOf<32>(R, InBank);
      To.Wavefronts += *std::max_element(InBank, InBank + NumBanks);
      ++To.LeastWavefronts;
      return;
    }
    To.Turns += R.WarpSize == 32 ? turnsOf<32>(R) : turnsOf<64>(R);
  }
  if (R.Space == MemorySpace::Shared)
    return countShared(R, To);
  if (R.Space == MemorySpace::Local)
    return countLocal(R, To);
  countSectors(R, To, Each);
  countCached(R, To);
}

} // namespace reconverge::warpvm::rules

#endif
