//===- frontend/LastRounds.h - Tests for the last round --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_LASTROUNDS_H
#define RECONVERGE_FRONTEND_LASTROUNDS_H

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::frontend {

/// Removes tests for a loop's last round from copies of the round that are never it.
void settleLastRounds(llvm::Function &F);

} // namespace reconverge::frontend

#endif
