//===- runtime/vm/Vet.h - Look at foreign bitcode from afar -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_VET_H
#define RECONVERGE_RUNTIME_VM_VET_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace reconverge::runtime {

/// Whether LLVM reads \p Bitcode and finds it valid, tried in a child process.
/// The UserError says how that went; this process never fails with it.
llvm::Error vetBitcode(llvm::MemoryBufferRef Bitcode);

} // namespace reconverge::runtime

#endif
