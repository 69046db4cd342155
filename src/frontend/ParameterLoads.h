//===- frontend/ParameterLoads.h - Loads of kernels' parameters -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_PARAMETERLOADS_H
#define RECONVERGE_FRONTEND_PARAMETERLOADS_H

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace reconverge::frontend {

/// Has \p PB tell later passes, before those for loops, that parameters of kernels
/// stay as they are.
void settleParameterLoads(llvm::PassBuilder &PB);

} // namespace reconverge::frontend

#endif
