//===- frontend/Maxima.h - What is compared beside a maximum ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_MAXIMA_H
#define RECONVERGE_FRONTEND_MAXIMA_H

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::frontend {

/// Where a value and its maximum with 0 are there, compares the maximum.
void compareMaxima(llvm::Function &F);

} // namespace reconverge::frontend

#endif
