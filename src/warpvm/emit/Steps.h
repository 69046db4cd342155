//===- warpvm/emit/Steps.h - Code as a list of steps ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_STEPS_H
#define RECONVERGE_WARPVM_EMIT_STEPS_H

#include "llvm/IR/Module.h"

namespace reconverge::warpvm {

/// Whether the host has an operation of this name.
using HasOperation = llvm::function_ref<bool(llvm::StringRef Name)>;

/// Has all functions of \p M walk lists of steps. Those operations that \p Has
/// denies go to \p Missing, each once. How many steps there are.
size_t makeSteps(llvm::Module &M, HasOperation Has, llvm::Module &Missing);

} // namespace reconverge::warpvm

#endif
