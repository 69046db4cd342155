//===- frontend/Unrolling.h - Say which loops to unroll ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_UNROLLING_H
#define RECONVERGE_FRONTEND_UNROLLING_H

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace reconverge::frontend {

/// Adds to LLVM's pipelines from -O2 on the two passes that mark loops for its
/// unroller where nvcc would unroll and it would not.
void markForUnrolling(llvm::PassBuilder &PB);

} // namespace reconverge::frontend

#endif
