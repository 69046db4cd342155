//===- frontend/Clang.h - The compiler's command lines ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_CLANG_H
#define RECONVERGE_FRONTEND_CLANG_H

#include "frontend/Options.h"
#include "frontend/Subprocess.h"
#include "frontend/Toolchain.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace reconverge::frontend {

/// What a command-line input is, by its extension.
enum class InputKind { Cuda, Cxx, C, LinkerInput, Other };
InputKind inputKind(llvm::StringRef Path);

/// CUDA source to unoptimised device bitcode.
Command deviceCommand(const Toolchain &Tools, const CompileOptions &Options,
                      llvm::StringRef Source, llvm::StringRef Bitcode);

/// CUDA, C++ or C source to a host object; \p Container, if not empty, is the
/// file to embed where nvcc would embed its fat binary.
Command hostCommand(const Toolchain &Tools, const CompileOptions &Options,
                    llvm::StringRef Source, llvm::StringRef Container,
                    llvm::StringRef Object);

/// Objects and libraries to a program (or shared object) over our shim.
Command linkCommand(const Toolchain &Tools, const LinkOptions &Options,
                    llvm::ArrayRef<std::string> Objects,
                    llvm::StringRef Output);

} // namespace reconverge::frontend

#endif
