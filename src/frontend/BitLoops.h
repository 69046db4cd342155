//===- frontend/BitLoops.h - Loops that count bits --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_BITLOOPS_H
#define RECONVERGE_FRONTEND_BITLOOPS_H

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace reconverge::frontend {

/// Has \p Builder's pipelines make one instruction of a loop that takes a
/// number's bits away one by one and counts them.
void countBitsAtOnce(llvm::PassBuilder &Builder);

} // namespace reconverge::frontend

#endif
