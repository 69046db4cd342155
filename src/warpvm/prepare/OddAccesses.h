//===- warpvm/prepare/OddAccesses.h - Odd widths in memory ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_PREPARE_ODDACCESSES_H
#define RECONVERGE_WARPVM_PREPARE_ODDACCESSES_H

namespace llvm {
class Function;
}

namespace reconverge::warpvm {

/// Splits loads and stores of integers that have no register of their size, as
/// the i24 that is left of a double at an odd offset. Run on scalars (after the
/// Scalarizer).
void splitOddAccesses(llvm::Function &F);

} // namespace reconverge::warpvm

#endif
