//===- frontend/PtxShape.h - IR as ptxas likes it ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_PTXSHAPE_H
#define RECONVERGE_FRONTEND_PTXSHAPE_H

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// Rewrites \p M, which goes to the PTX printer next, so that ptxas makes less
/// of the same code.
void shapeForPtxas(llvm::Module &M);

} // namespace reconverge::frontend

#endif
