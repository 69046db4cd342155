//===- runtime/vm/Backend.h - The table of our functions --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_BACKEND_H
#define RECONVERGE_RUNTIME_VM_BACKEND_H

#include "runtime/shim/Backend.h"

#include "llvm/ADT/ArrayRef.h"

namespace reconverge::runtime {

/// Every function of Table.def under each name that cudart's ABI has for it.
llvm::ArrayRef<reconverge_backend_symbol> backendTable();

} // namespace reconverge::runtime

#endif
