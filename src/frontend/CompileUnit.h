//===- frontend/CompileUnit.h - Source files to a program -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_COMPILEUNIT_H
#define RECONVERGE_FRONTEND_COMPILEUNIT_H

#include "frontend/Options.h"
#include "frontend/TempDir.h"
#include "frontend/Toolchain.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>

namespace reconverge::frontend {

/// Device code of one CUDA source file, through the device pipeline.
llvm::Expected<std::unique_ptr<llvm::Module>>
compileDeviceCode(const Toolchain &Tools, const CompileOptions &Options,
                  const TempDir &Temp, llvm::StringRef Source,
                  llvm::LLVMContext &Context);

/// One source file to the host object \p Object, which carries the device code
/// in a container if the source is CUDA. clang's own messages go to the
/// terminal; the error then says only that compilation failed.
llvm::Error compileUnit(const Toolchain &Tools, const CompileOptions &Options,
                        const TempDir &Temp, llvm::StringRef Source,
                        llvm::StringRef Object);

/// Objects to the program \p Output over our shim.
llvm::Error linkProgram(const Toolchain &Tools, const LinkOptions &Options,
                        const TempDir &Temp,
                        llvm::ArrayRef<std::string> Objects,
                        llvm::StringRef Output);

} // namespace reconverge::frontend

#endif
