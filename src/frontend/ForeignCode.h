//===- frontend/ForeignCode.h - Others' code for our programs ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_FOREIGNCODE_H
#define RECONVERGE_FRONTEND_FOREIGNCODE_H

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

/// Whether \p Tools has it.
bool isThere(ForeignCompiler By, const Toolchain &Tools);

/// The words that make \p By write the PTX of \p Source to \p Output.
std::vector<std::string> ptxArguments(ForeignCompiler By,
                                      const Toolchain &Tools,
                                      const CompileOptions &Options,
                                      llvm::StringRef Source,
                                      llvm::StringRef Output);

/// The words, but for the inputs, that make nvcc build the program \p Output.
std::vector<std::string> nvccProgram(const Toolchain &Tools,
                                     const CompileOptions &Options,
                                     llvm::StringRef Output);

/// An error that names the first kernel or variable which the host code of \p M
/// registers and \p By's machine code \p Cubin does not have under that name,
/// or not in that size. With \p MayLackKernels, of variables alone.
llvm::Error checkNames(const llvm::Module &M, llvm::MemoryBufferRef Cubin,
                       llvm::StringRef Source, ForeignCompiler By,
                       bool MayLackKernels);

/// Marks \p Kernel as one whose code \p By is to make, wherever its module is
/// compiled for a GPU.
void markFor(llvm::Function &Kernel, ForeignCompiler By);
/// For whom it is marked, if it is.
std::optional<ForeignCompiler> compilerOf(const llvm::Function &Kernel);

/// A variable that kernels of \p M write and the host does not know, so that it
/// would not be one variable if two compilers made the code of its kernels;
/// null if there is none.
const llvm::GlobalVariable *unsharedVariable(const llvm::Module &M);

} // namespace reconverge::frontend

#endif
