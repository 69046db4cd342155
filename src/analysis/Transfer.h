//===- analysis/Transfer.h - Uniformity through instructions ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_TRANSFER_H
#define RECONVERGE_ANALYSIS_TRANSFER_H

#include "analysis/Uniformity.h"

#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class Instruction;
} // namespace llvm

namespace reconverge::analysis {

/// A value that is \p A or \p B, the same choice for all lanes together.
Uniformity meetOf(Uniformity A, Uniformity B);

/// The level of \p I, which is no PHI, given those of its operands in order.
Uniformity transfer(const llvm::Instruction &I,
                    llvm::ArrayRef<Uniformity> Operands,
                    const UniformityOptions &Options);

} // namespace reconverge::analysis

#endif
