//===- frontend/Strides.h - Steps of addresses in loops ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_STRIDES_H
#define RECONVERGE_FRONTEND_STRIDES_H

namespace llvm {
class TargetPassConfig;
} // namespace llvm

namespace reconverge::frontend {

/// Has the back end keep strides in registers: a pass that runs when LLVM has
/// chosen the induction variables of loops.
void keepStrides(llvm::TargetPassConfig &Passes);

} // namespace reconverge::frontend

#endif
