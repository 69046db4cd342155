//===- frontend/IndexSums.h - Sums that are indices -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_INDEXSUMS_H
#define RECONVERGE_FRONTEND_INDEXSUMS_H

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace reconverge::frontend {

/// Has \p PB extend the terms of indices in loops before it reorders the sums.
void extendTermsOfIndices(llvm::PassBuilder &PB);

} // namespace reconverge::frontend

#endif
