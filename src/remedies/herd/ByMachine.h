//===- remedies/herd/ByMachine.h - What hardware may herd -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_HERD_BYMACHINE_H
#define RECONVERGE_REMEDIES_HERD_BYMACHINE_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies {

/// A branch at which lanes may be sent to the side that most want.
struct MovableBranch {
  uint32_t Number;        ///< !rc.branch
  bool ToFirst, ToSecond; ///< who wants the other side may be sent to this one
};

struct MachineHerding {
  llvm::SmallVector<MovableBranch> Branches; ///< by number
  llvm::SmallVector<uint32_t> Loads;         ///< !rc.access, ascending
};

/// What a machine that runs \p Kernel may herd so that nothing faults or hangs,
/// all of it together: branches, loads of global memory, or both.
MachineHerding herdByMachine(const llvm::Function &Kernel, bool Branches,
                             bool Loads);

} // namespace reconverge::remedies

#endif
