//===- core/KernelTime.h - What a launch's time is made of ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_KERNELTIME_H
#define RECONVERGE_CORE_KERNELTIME_H

#include "core/Units.h"

namespace reconverge {

/// What a launch waits for most.
enum class Bound : uint8_t {
  Unit,    ///< one of the units: KernelTime::Busiest
  Latency, ///< results, with too few warps to wait beside one another
  Grid,    ///< the GPU is not full: too few thread blocks, or an uneven rest
  Launch   ///< nothing that it does takes as long as to be launched
};

/// A launch's time by the model, and what it is made of; cycles of the
/// multiprocessors' clock.
struct KernelTime {
  /// For which each unit of the multiprocessor with the most thread blocks is
  /// busy; of the units that all multiprocessors share, those.
  std::array<double, NumUnits> Units = {};
  /// In which the warps' chains of instructions pass, as many at once as are
  /// resident.
  double Latency = 0;
  /// The part of the multiprocessors' time in which they have thread blocks.
  double Full = 1;
  double Cycles = 0;          ///< all of it together
  double Least = 0, Most = 0; ///< by what is not known of caches
  Bound By = Bound::Unit;
  Unit Busiest = Unit::Issue;
  double Nearness = 0;    ///< of the busiest unit: the share of Cycles, 0..1
  bool HasMemory = false; ///< accesses were counted

  bool isKnown() const { return Cycles > 0; }
};

/// "latency", "grid", or the unit's word.
inline const char *wordOf(Bound By, Unit Busiest) {
  return By == Bound::Latency  ? "latency"
         : By == Bound::Grid   ? "grid"
         : By == Bound::Launch ? "launch"
                               : wordOf(Busiest);
}

} // namespace reconverge

#endif
