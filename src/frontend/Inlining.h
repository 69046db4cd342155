//===- frontend/Inlining.h - Say what is to be inlined ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_INLINING_H
#define RECONVERGE_FRONTEND_INLINING_H

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// Marks the device functions of \p M that are to disappear into their callers
/// `alwaysinline`.
void markForInlining(llvm::Module &M);

} // namespace reconverge::frontend

#endif
