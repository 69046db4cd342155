//===- frontend/Widths.h - How wide numbers are -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_WIDTHS_H
#define RECONVERGE_FRONTEND_WIDTHS_H

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::frontend {

/// Brings indices and short integers to the machine's 32 bits.
void fitWidths(llvm::Function &F);

} // namespace reconverge::frontend

#endif
