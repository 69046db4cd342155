//===- warpvm/run/Request.h - What a request comes to -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_REQUEST_H
#define RECONVERGE_WARPVM_RUN_REQUEST_H

#include "core/Memory.h"
#include "warpvm/Layout.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace reconverge::warpvm {

/// Lanes of a warp access memory together.
struct Request {
  MemorySpace Space; ///< not Generic
  MemoryUse Use;
  uint32_t Bytes;    ///< a lane
  unsigned WarpSize; ///< 32 or 64
  Mask Lanes;        ///< that act; at least one
  bool Aligned;      ///< each lane to its bytes: it lies in one sector
  /// By lane; those of idle lanes may be anything.
  const uint64_t *Addresses;
  /// Where shared memory begins, or local memory: lane 0's, and how far lanes'
  /// parts are apart.
  uint64_t Base = 0, LaneBytes = 0;

  /// In shared memory, or in the lane's local memory.
  uint64_t offset(unsigned Lane) const {
    return Addresses[Lane] - Base - Lane * LaneBytes;
  }
};

/// Some of 64 sectors that lie together, the first at a multiple of 2 KiB.
struct SectorGroup {
  uint64_t Number;  ///< address / 2 KiB
  uint64_t Sectors; ///< bit i: the i-th is meant
};

/// The sectors that one request touches, in no order.
class TouchedSectors {
public:
  /// Sectors \p First to \p Last.
  void add(uint64_t First, uint64_t Last);
  void addGroup(uint64_t Number, uint64_t Sectors);
  const SectorGroup *begin() const { return Groups; }
  const SectorGroup *end() const { return Groups + Size; }
  bool empty() const { return !Size; }

private:
  SectorGroup &group(uint64_t Number);

  /// A lane's access is of less than 2 KiB and lies in two groups at most.
  static constexpr unsigned Most = 2 * MaxWarp;
  static constexpr unsigned Slots = 256;
  unsigned Size = 0;
  SectorGroup Groups[Most];
  uint8_t At[Slots]; ///< position in Groups, and one; filled at the second
};

/// What \p R adds to its access's counts, by the rules of docs/memory.md;
/// \p Touched, empty before, gets the sectors of global memory. Compiled code
/// calls other functions, which are made of the same rules (AccessCalls.cpp).
AccessCounts countRequest(const Request &R, TouchedSectors &Touched);

/// Sectors of global memory that were touched, and how.
class SectorSet {
public:
  void add(const SectorGroup &G, MemoryUse Use) {
    Entry &E = entry(G.Number);
    (Use == MemoryUse::Load    ? E.Loaded
     : Use == MemoryUse::Store ? E.Stored
                               : E.Updated) |= G.Sectors;
  }
  void add(const SectorSet &Other);
  void clear();

  uint64_t blockLoads() const; ///< sectors that loads touched
  uint64_t loads() const;      ///< ... and atomics, which read as well
  uint64_t stores() const;     ///< sectors that stores and atomics touched

private:
  struct Entry {
    uint64_t Number, Loaded, Stored, Updated;
  };
  struct Slot {
    uint32_t Age = 0; ///< another than the set's: it is free
    uint32_t Index = 0;
  };
  Entry &entry(uint64_t Number) {
    for (size_t I = slotFor(Number);; I = (I + 1) & (Table.size() - 1)) {
      if (Table[I].Age != Age)
        return insert(Number, I);
      if (Entries[Table[I].Index].Number == Number)
        return Entries[Table[I].Index];
    }
  }
  size_t slotFor(uint64_t Number) const {
    return Number * 0x9e3779b97f4a7c15 >> Shift;
  }
  Entry &insert(uint64_t Number, size_t FreeSlot);

  std::vector<Entry> Entries;
  std::vector<Slot> Table = std::vector<Slot>(64); ///< a power of two
  unsigned Shift = 64 - 6;                         ///< to an index of Table
  uint32_t Age = 1;
};

/// Functions that compiled code calls to count accesses: name and address
/// (AccessCalls.cpp).
llvm::ArrayRef<std::pair<const char *, void *>> accessSymbols();

} // namespace reconverge::warpvm

#endif
