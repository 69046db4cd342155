//===- frontend/GridConstants.h - __grid_constant__ parameters --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_GRIDCONSTANTS_H
#define RECONVERGE_FRONTEND_GRIDCONSTANTS_H

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// In device code, tells the back end which parameters of kernels are grid
/// constants.
void markGridConstants(llvm::Module &M);

} // namespace reconverge::frontend

#endif
