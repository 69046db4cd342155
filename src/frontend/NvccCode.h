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
class Function;
class GlobalVariable;
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// The words that make nvcc write the PTX of \p Source to \p Output.
std::vector<std::string> nvccArguments(const Toolchain &Tools,
                                       const CompileOptions &Options,
                                       llvm::StringRef Source,
                                       llvm::StringRef Output);

/// The words, but for the inputs, that make nvcc build the program \p Output.
std::vector<std::string> nvccProgram(const Toolchain &Tools,
                                     const CompileOptions &Options,
                                     llvm::StringRef Output);

/// An error that names the first kernel or variable which the host code of \p M
/// registers and the machine code \p Cubin does not have under that name, or
/// not in that size.
llvm::Error checkNames(const llvm::Module &M, llvm::MemoryBufferRef Cubin,
                       llvm::StringRef Source);

/// Marks \p Kernel as one whose machine code nvcc is to make, wherever its
/// module is compiled for a GPU.
void markForNvcc(llvm::Function &Kernel);
bool isForNvcc(const llvm::Function &Kernel);

/// A variable that kernels of \p M write and the host does not know, so that it
/// would not be one variable if nvcc made the code of some kernels and we of
/// others; null if there is none.
const llvm::GlobalVariable *unsharedVariable(const llvm::Module &M);

} // namespace reconverge::frontend

#endif
