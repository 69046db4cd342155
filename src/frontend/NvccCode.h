//===- frontend/NvccCode.h - nvcc's code for our programs -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_NVCCCODE_H
#define RECONVERGE_FRONTEND_NVCCCODE_H

#include "frontend/Options.h"
#include "frontend/Toolchain.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// The words that make nvcc write the PTX of \p Source to \p Output.
std::vector<std::string> nvccArguments(const Toolchain &Tools,
                                       const CompileOptions &Options,
                                       llvm::StringRef Source,
                                       llvm::StringRef Output);

/// An error that names the first kernel or variable which the host code of \p M
/// registers and the machine code \p Cubin does not have under that name, or
/// not in that size.
llvm::Error checkNames(const llvm::Module &M, llvm::MemoryBufferRef Cubin,
                       llvm::StringRef Source);

} // namespace reconverge::frontend

#endif
