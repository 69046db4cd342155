//===- warpvm/run/Races.h - Accesses that nothing orders --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_RACES_H
#define RECONVERGE_WARPVM_RUN_RACES_H

#include "core/LaunchShape.h"
#include "core/Races.h"
#include "warpvm/Layout.h"
#include "warpvm/run/RaceClock.h"
#include "warpvm/run/RaceShadow.h"

#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace reconverge::warpvm {

/// What threads saw of others in one place: a flag, a counter, an mbarrier.
using PublishedClocks = llvm::DenseMap<uint64_t, ClockRef>;

/// Of a launch, on one CPU thread: takes all accesses, gives the races.
class RaceChecker {
public:
  explicit RaceChecker(const LaunchShape &Shape);
  RaceFindings take();

private:
  friend class BlockRaces;
  /// What was found of two sites.
  struct Found {
    AccessRecord Earlier, Later; ///< the first time
    uint64_t Offset = 0;
    std::string Memory;
    uint64_t Times = 0;
    bool Shared = false, Same = false;
  };
  uint32_t siteNumber(const RaceSite &Site);
  RaceAccess describe(const AccessRecord &Record) const;

  const LaunchShape Shape;
  Time Now = 1;
  std::vector<const RaceSite *> Sites;
  Shadow::Roles Roles; ///< parallel to Sites
  llvm::DenseMap<const RaceSite *, uint32_t> Numbers;
  Shadow Global;
  PublishedClocks Published; ///< in global memory, by word
  /// By sites, and whether both wrote the same.
  llvm::DenseMap<uint64_t, uint32_t> Index;
  std::vector<Found> All;
  Sharing OfThreads, InGlobal, OfBlocks; ///< as RaceFindings has them
  bool Incomplete = false;
  bool Ended = false; ///< its time is up
};

/// The part of one thread block.
class BlockRaces {
public:
  explicit BlockRaces(RaceChecker &Launch);
  /// \p OfCluster: where the cluster's blocks have their shared memory.
  void start(uint64_t Block, unsigned Threads, const uint8_t *SharedBase,
             uint64_t SharedBytes, llvm::ArrayRef<uint8_t> OfCluster);

  /// Lanes of a warp access memory.
  struct WarpAccess {
    unsigned FirstThread; ///< the warp's
    Mask Lanes;
    const uint64_t *Addresses, *Lengths; ///< Lengths null: of the site's size
    const uint8_t *Values; ///< that they store, one after the other, or null
    const RaceSite &Site;
  };
  /// \p IsPrivate: whether an address is no memory that threads share. \p Owner:
  /// of an address in shared memory of another block of the cluster, that block's.
  void access(const WarpAccess &A, llvm::function_ref<bool(uint64_t)> IsPrivate,
              llvm::function_ref<BlockRaces *(uint64_t)> Owner);
  /// Lanes meet at a collective: \p Members of each lane that \p Acts; \p Here
  /// have come, \p Alive have not left.
  void meetInWarp(unsigned FirstThread, Mask Acts, Mask Here, Mask Alive,
                  const uint32_t *Members);
  void fence(unsigned FirstThread, Mask Lanes);
  /// \p Thread arrives at the mbarrier at \p Address, or has seen it open.
  void publishAt(unsigned Thread, const void *Address);
  void acquireAt(unsigned Thread, const void *Address);
  /// malloc() gave these.
  void forget(const void *Address, uint64_t Bytes);

  BlockClocks Clocks;

private:
  struct LaneAccess;
  bool isShared(uint64_t Address) const {
    return Address - SharedBase < SharedBytes;
  }
  bool isOfPeer(uint64_t Address) const {
    return Address - uint64_t(OfCluster.data()) < OfCluster.size() &&
           !isShared(Address);
  }
  PublishedClocks &publishedAt(uint64_t Address);
  void synchronise(unsigned Thread, uint64_t Address, uint64_t Bytes,
                   const RaceSite &Site);
  bool readOnePlace(const WarpAccess &A) const;
  bool touch(const LaneAccess &L);
  void note(const LaneAccess &L, const AccessRecord &Earlier, bool Same);
  bool storesSame(const LaneAccess &L, const AccessRecord &Earlier) const;

  RaceChecker &Launch;
  uint32_t Block = 0;
  uint64_t SharedBase = 0, SharedBytes = 0;
  llvm::ArrayRef<uint8_t> OfCluster; ///< empty: the block is alone
  Shadow Shared;
  PublishedClocks Published; ///< in shared memory, of a block alone
};

/// Functions that compiled code calls: name and address (RaceCalls.cpp).
llvm::ArrayRef<std::pair<const char *, void *>> raceSymbols();

} // namespace reconverge::warpvm

#endif
