//===- warpvm/emit/LeftWork.h - Compile after the program's end -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_LEFTWORK_H
#define RECONVERGE_WARPVM_EMIT_LEFTWORK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace reconverge::warpvm {

/// A kernel that is to be compiled well.
struct LeftKernel {
  std::string Name;
  std::string Words; ///< describe()'s
};

/// Leaves in \p CacheDir that \p Kernels of \p Bitcode be compiled, in this
/// order, for MachineOptions::Isa \p Isa. The cache knows the module as
/// \p ModuleHash. False if it cannot be written.
bool leaveWork(llvm::StringRef CacheDir, llvm::StringRef Isa,
               llvm::StringRef ModuleHash, llvm::StringRef Bitcode,
               llvm::ArrayRef<LeftKernel> Kernels);

/// Compiles all that was left in \p CacheDir, whoever left it, into it; unless
/// another process is doing that.
void compileLeftWork(llvm::StringRef CacheDir);
/// The same, whoever is doing that.
void finishLeftWork(llvm::StringRef CacheDir);

} // namespace reconverge::warpvm

#endif
