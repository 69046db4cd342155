//===- frontend/PtxShape.h - IR as ptxas likes it ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_PTXSHAPE_H
#define RECONVERGE_FRONTEND_PTXSHAPE_H

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// Rewrites \p M, which goes to the PTX printer next, so that ptxas makes less
/// of the same code.
void shapeForPtxas(llvm::Module &M);
/// The same of \p F alone: what is counted in place of the code that runs has
/// to have its blocks and accesses. A second time changes no more.
void shapeForPtxas(llvm::Function &F);

} // namespace reconverge::frontend

#endif
