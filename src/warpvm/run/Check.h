//===- warpvm/run/Check.h - Accesses tested one by one ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_CHECK_H
#define RECONVERGE_WARPVM_RUN_CHECK_H

#include "warpvm/Layout.h"
#include "warpvm/Machine.h"

#include "llvm/ADT/SmallVector.h"

#include <string>

namespace reconverge::warpvm {

/// What checks of accesses need to know of the block that makes them.
struct CheckedMemory {
  const uint8_t *Shared;
  uint64_t SharedBytes;
  /// Lane 0's local memory; lanes are Bytes apart.
  struct LocalPart {
    const uint8_t *Base;
    uint64_t Bytes;
  };
  /// Of the function that runs, then of its callers.
  llvm::SmallVector<LocalPart, 2> Local;
  const uint8_t *Params;
  uint64_t ParamBytes;
  const GridWorkspace *Grid; ///< null: not a cooperative launch
  /// Where shared memory of the cluster's blocks begins, and how far apart.
  uint64_t ClusterBase, ClusterStride, ClusterBlocks;
  unsigned WarpSize;
  /// All that kernels may touch lies in DeviceMemory: the rest is the host's.
  bool OwnMemory;
  /// What a GPU's mapping lets pass behind an allocation is no fault.
  bool Tolerant;
  /// Of a fault that is replayed: the access that holds it is the one.
  bool Replay;
  uint64_t Suspect;
};

/// What is wrong with an access.
struct BadAccess {
  FaultKind Kind;
  std::string Text; ///< "an illegal read of 4 bytes at 0x10, the null pointer"
};

/// Whether the accesses of all \p Lanes, of the site's size, are fine. False: they
/// have to be tested one by one.
bool areFine(const WarpContext &C, const FaultSite &Site, Mask Lanes,
             const uint64_t *Addresses);

/// Tests one lane's access of \p Bytes at \p Address; empty text if it is fine.
BadAccess checkAccess(const CheckedMemory &Memory, const FaultSite &Site,
                      unsigned Lane, uint64_t Address, uint64_t Bytes);

} // namespace reconverge::warpvm

#endif
