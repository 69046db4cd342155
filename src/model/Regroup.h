//===- model/Regroup.h - Warps after regrouping -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_REGROUP_H
#define RECONVERGE_MODEL_REGROUP_H

#include "core/Profile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <vector>

namespace reconverge::model {

/// Block vectors of threads: equal vectors are one class with a count, so that
/// a million threads that behave in ten ways are ten rows.
class VectorClasses {
public:
  explicit VectorClasses(size_t Blocks) : Blocks(Blocks) {}

  /// Adds \p Threads threads of one vector. Returns its class: their numbers
  /// go up from 0 as they turn up.
  uint32_t add(llvm::ArrayRef<uint32_t> Vector, uint64_t Threads = 1);

  size_t size() const { return Threads.size(); }
  size_t blocks() const { return Blocks; }
  uint64_t threads(size_t Class) const { return Threads[Class]; }
  llvm::ArrayRef<uint32_t> vector(size_t Class) const {
    return {Cells.data() + Class * Blocks, Blocks};
  }

private:
  size_t Blocks;
  std::vector<uint32_t> Cells; ///< one row a class
  std::vector<uint64_t> Threads;
  std::vector<uint32_t> NextOfHash; ///< chain of classes with the same hash
  llvm::DenseMap<uint64_t, uint32_t> FirstOfHash;
};

/// Warp executions, a block each.
using WarpSums = std::vector<uint64_t>;

/// Threads of a thread block as they are, row after row in linear order, cut
/// into warps: W(b) = sum over warps of the maximum over their threads. Adds to
/// \p Waits what each block's slower lanes make the others wait: the sum over
/// warps of (threads * maximum - sum).
WarpSums warpsAsGrouped(llvm::ArrayRef<uint32_t> Vectors, size_t Blocks,
                        unsigned WarpSize,
                        llvm::MutableArrayRef<uint64_t> Waits);

/// The same after the best of the orders that Regroup.cpp tries. \p Slots is
/// the weight of a block (model/Slots.h), \p Waits what decides which block is
/// looked at first. Does not depend on the order in which classes were added.
WarpSums warpsRegrouped(const VectorClasses &Classes,
                        llvm::ArrayRef<double> Slots,
                        llvm::ArrayRef<uint64_t> Waits, unsigned WarpSize);

/// What one thread block adds to the RegroupedCounts of its launch.
struct RegroupedBlock {
  RegroupedCounts Counts;      ///< all but Launches and InGrid
  std::vector<uint64_t> Waits; ///< of each block, as grouped now
  VectorClasses Classes;       ///< of its threads
};

/// Thread block \p Number: \p Vectors, a row a thread in linear order, and \p
/// AsRun, the warp executions that it had.
RegroupedBlock regroup(uint64_t Number, llvm::ArrayRef<uint32_t> Vectors,
                       llvm::ArrayRef<uint64_t> AsRun,
                       llvm::ArrayRef<double> Slots, unsigned WarpSize);

/// Sums up the thread blocks of one launch, in whatever order they come.
class RegroupedLaunch {
public:
  explicit RegroupedLaunch(size_t Blocks);
  void add(const RegroupedBlock &B);
  /// Groups over all that was added and adds the launch to \p Sum, once. Does
  /// nothing if there was nothing.
  void addTo(RegroupedCounts &Sum, llvm::ArrayRef<double> Slots,
             unsigned WarpSize);

private:
  RegroupedBlock All; ///< sums
};

} // namespace reconverge::model

#endif
