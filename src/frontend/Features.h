//===- frontend/Features.h - reconverge::feature() --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_FEATURES_H
#define RECONVERGE_FRONTEND_FEATURES_H

namespace llvm {
class Module;
}

namespace reconverge::frontend {

/// Takes the calls of reconverge::feature() out of \p M, as clang has left it, and
/// gives kernels that come to one a twin that has them (analysis/Marks.h).
void separateFeatures(llvm::Module &M);

/// Takes calls that have no effect out of a module with such kernels. What another
/// unit might replace has to be internal by now.
void dropIdleCalls(llvm::Module &M);

} // namespace reconverge::frontend

#endif
