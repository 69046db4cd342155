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

/// How far a compilation goes.
enum class Stage {
  Object,       ///< -c; of device code, bitcode
  Assembly,     ///< -S; of device code, PTX by clang's own pipeline
  Preprocessed, ///< -E
  Syntax,       ///< -fsyntax-only: no output
  Dependencies, ///< -M: the files that are read, and no output
};

/// CUDA source to unoptimised device bitcode, or as far as \p Until. What clang
/// has to say of a source comes with its bitcode, so not with its PTX.
/// \p DepFile, if not empty, gets the files that were read.
Command deviceCommand(const Toolchain &Tools, const CompileOptions &Options,
                      const SourceFile &Source, llvm::StringRef Output,
                      Stage Until = Stage::Object,
                      llvm::StringRef DepFile = "");

/// CUDA, C++ or C source to a host object, or as far as \p Until;
/// \p Container, if not empty, is the file to embed where nvcc would embed its
/// fat binary.
Command hostCommand(const Toolchain &Tools, const CompileOptions &Options,
                    const SourceFile &Source, llvm::StringRef Container,
                    llvm::StringRef Output, Stage Until = Stage::Object,
                    llvm::StringRef DepFile = "");

/// Whether \p Word of a link line stands for a form of CUDA's own runtime,
/// which our shim replaces: the name after -l, or the path of a library.
bool isCudaRuntime(llvm::StringRef Word);

/// The same of CUDA's driver, libcuda.
bool isCudaDriver(llvm::StringRef Word);

/// Objects and libraries to a program (or shared object) over our shim.
/// \p Objects go where \p Options has its inputs.
Command linkCommand(const Toolchain &Tools, const LinkOptions &Options,
                    llvm::ArrayRef<std::string> Objects,
                    llvm::StringRef Output);

} // namespace reconverge::frontend

#endif
