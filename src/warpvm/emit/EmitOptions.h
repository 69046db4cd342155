//===- warpvm/emit/EmitOptions.h - What code shall do -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_EMITOPTIONS_H
#define RECONVERGE_WARPVM_EMIT_EMITOPTIONS_H

#include "warpvm/Machine.h"

namespace reconverge::warpvm {

/// How a kernel is compiled: all that shapes its code but the host.
struct EmitOptions {
  unsigned WarpSize = 32;
  bool Counters = true;  ///< block and branch counts
  bool Vectors = false;  ///< per-thread block vectors
  bool Budget = false;   ///< loop iterations are limited
  bool Check = false;    ///< every access is tested first
  bool Races = false;    ///< ... and told to who looks for races
  bool Sync = false;     ///< collectives are told to who takes notes
  bool Init = false;     ///< accesses are, too
  bool Accesses = false; ///< requests to memory are counted
  bool Scatter = true;   ///< the host scatters and masks all widths (AVX-512)
  /// Lanes act in WarpContext's order where the natural one shows, and may run
  /// apart anywhere.
  bool Shuffled = false;
  unsigned RegionLimit = 2000; ///< instructions of the kernel in one region
  Herding Herd;
};

} // namespace reconverge::warpvm

#endif
