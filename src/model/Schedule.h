//===- model/Schedule.h - Which multiprocessor runs what when ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_SCHEDULE_H
#define RECONVERGE_MODEL_SCHEDULE_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reconverge::model {

/// Where thread blocks go: so many multiprocessors, each with room for so many
/// at once. Both at least 1.
struct BlockSlots {
  uint32_t Multiprocessors = 1, AtOnce = 1;
  uint64_t all() const { return uint64_t(Multiprocessors) * AtOnce; }
};

/// A launch's thread blocks in time. Times are in the unit of those that
/// schedule() is given, and begin at 0.
struct Schedule {
  struct Placed {
    uint32_t Multiprocessor = 0, Slot = 0; ///< of the multiprocessor
    double Start = 0, End = 0;
  };

  BlockSlots On;
  double End = 0;  ///< when the last thread block ends
  double Busy = 0; ///< of all thread blocks together
  /// Until then each slot has a thread block, or each multiprocessor one.
  double AllSlotsUntil = 0, AllMultiprocessorsUntil = 0;
  /// Of each thread block, in order; empty unless they were asked for.
  std::vector<Placed> Places;

  /// The share of the slots' time that is used; 1 if there is no time at all.
  double busyShare() const;
  /// The share of the time in which some multiprocessor has nothing left.
  double tailShare() const;
};

/// Thread block number I takes Times[I] in whatever slot: the dynamic
/// round-robin of Schedule.cpp.
Schedule schedule(llvm::ArrayRef<double> Times, BlockSlots On,
                  bool KeepPlaces = false);

/// A drawing of at most \p Lines lines (2 or more) and \p Width columns (some
/// more than a slot's name has), without ends of lines: one for each slot that
/// has a thread block. The places of \p S were kept.
///
///   SM 0 |00003.|
///   SM 1 |111222|
///
/// A thread block is the last symbol of its number in base 36; dots are time in
/// which a slot has none. One that is too short for a column is not to be seen.
/// If there are more slots than lines, those are drawn that lie evenly between
/// the one that ends last and the one that ends first, in this order, and the
/// last line says of how many.
std::vector<std::string> draw(const Schedule &S, unsigned Lines = 16,
                              unsigned Width = 72);

} // namespace reconverge::model

#endif
