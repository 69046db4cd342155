//===- instrument/CellUpdate.h - Counters in memory -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_INSTRUMENT_CELLUPDATE_H
#define RECONVERGE_INSTRUMENT_CELLUPDATE_H

#include "llvm/IR/IRBuilder.h"

namespace reconverge::instrument {

enum class CellUpdate {
  Add,    ///< to 64 bits
  Highest ///< of 32 bits, unsigned: the larger one stays
};

/// Where \p B is: updates the cell of global memory at \p Pointer by \p X in
/// one step. What was there, no one asks. \p Portable: without inline PTX.
void emitUpdate(llvm::IRBuilder<> &B, CellUpdate Update, llvm::Value *Pointer,
                llvm::Value *X, bool Portable);

} // namespace reconverge::instrument

#endif
