//===- frontend/ExactPowers.h - Powers of constants -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_EXACTPOWERS_H
#define RECONVERGE_FRONTEND_EXACTPOWERS_H

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// Puts the value where clang's unoptimised code calls pow of two constants.
void foldExactPowers(llvm::Module &M);

} // namespace reconverge::frontend

#endif
