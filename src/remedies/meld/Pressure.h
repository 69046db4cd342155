//===- remedies/meld/Pressure.h - Registers of melded code -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_MELD_PRESSURE_H
#define RECONVERGE_REMEDIES_MELD_PRESSURE_H

#include "remedies/meld/Plan.h"

namespace reconverge::remedies::meld {

/// 32-bit registers that a thread needs at most between a branch and the block
/// where its sides meet.
struct Pressure {
  unsigned Apart = 0;  ///< by the two arms as they are
  unsigned Melded = 0; ///< by the code of a plan
};

/// An estimate: a value is in a register from where it is made to its last use,
/// in the order of the code.
Pressure pressureOf(const MeldPlan &Plan);

/// Warps that a multiprocessor holds if each thread has \p Registers.
unsigned warpsWith(unsigned Registers);

} // namespace reconverge::remedies::meld

#endif
