//===- warpvm/prepare/Initializers.h - Variables' first values --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_PREPARE_INITIALIZERS_H
#define RECONVERGE_WARPVM_PREPARE_INITIALIZERS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/Support/Error.h"

namespace reconverge::warpvm {

/// Writes \p C as it lies in memory to \p To. \p AddressOf gives the address of
/// another variable or a function of the module, or null if it has none, which
/// is refused.
llvm::Error writeInitializer(
    const llvm::Constant &C, uint8_t *To, const llvm::DataLayout &DL,
    llvm::function_ref<void *(const llvm::GlobalValue &)> AddressOf);

} // namespace reconverge::warpvm

#endif
