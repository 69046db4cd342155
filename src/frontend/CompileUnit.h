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

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::frontend {

/// Device code of one CUDA source file, through the device pipeline.
/// \p DepFile, if not empty, gets the files that were read.
llvm::Expected<std::unique_ptr<llvm::Module>>
compileDeviceCode(const Toolchain &Tools, const CompileOptions &Options,
                  const TempDir &Temp, const SourceFile &Source,
                  llvm::LLVMContext &Context, llvm::StringRef DepFile = "");

/// What a host object embeds of \p M, in a file, whose path is returned: a
/// container, or for NVIDIA's runtime the fat binary alone. \p Source is the
/// file that \p M is of, or empty.
llvm::Expected<std::string>
writeContainer(const llvm::Module &M, const CompileOptions &Options,
               const Toolchain &Tools, const TempDir &Temp,
               llvm::StringRef Source, llvm::StringRef Stem);

/// One source file to the host object (or with \p Assembly its assembly)
/// \p Output, which carries the device code in a container if the source is
/// CUDA. clang's own messages go to the terminal; the error then says only that
/// compilation failed.
llvm::Error compileUnit(const Toolchain &Tools, const CompileOptions &Options,
                        const TempDir &Temp, const SourceFile &Source,
                        llvm::StringRef Output, bool Assembly = false);

/// One source file as the compiler sees it, to \p Output, "-" for standard
/// output. Of CUDA both views, host and device, in this order.
llvm::Error preprocess(const Toolchain &Tools, const CompileOptions &Options,
                       const TempDir &Temp, const SourceFile &Source,
                       llvm::StringRef Output);

/// Whether it compiles, host and device; writes nothing.
llvm::Error checkSyntax(const Toolchain &Tools, const CompileOptions &Options,
                        const TempDir &Temp, const SourceFile &Source);

/// The rule for make that -M prints, to \p Output, "-" for standard output.
llvm::Error listDependencies(const Toolchain &Tools,
                             const CompileOptions &Options, const TempDir &Temp,
                             const SourceFile &Source, llvm::StringRef Output);

/// Whether a file has device code of ours in a container inside.
llvm::Expected<bool> holdsContainer(llvm::StringRef Path);

/// Objects to the program \p Output over our shim, or NVIDIA's runtime.
llvm::Error linkProgram(const Toolchain &Tools, const LinkOptions &Options,
                        const TempDir &Temp,
                        llvm::ArrayRef<std::string> Objects,
                        llvm::StringRef Output);

/// A question to clang itself (--version, -print-...): on our own streams.
/// Returns its exit code.
llvm::Expected<int> askClang(llvm::ArrayRef<const char *> Words);

} // namespace reconverge::frontend

#endif
