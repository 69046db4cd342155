//===- warpvm/emit/WriteObject.h - From IR to an object file ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_WRITEOBJECT_H
#define RECONVERGE_WARPVM_EMIT_WRITEOBJECT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

namespace reconverge::warpvm {

/// Machine code of \p M for \p Host, which writes ELF. Constants lie beside the
/// code that reads them, in one section.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
writeObject(llvm::Module &M, llvm::TargetMachine &Host);

} // namespace reconverge::warpvm

#endif
