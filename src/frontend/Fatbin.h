//===- frontend/Fatbin.h - Device bitcode to GPU code -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_FATBIN_H
#define RECONVERGE_FRONTEND_FATBIN_H

#include "frontend/Options.h"
#include "frontend/TempDir.h"
#include "frontend/Toolchain.h"

#include "llvm/ADT/SmallVector.h"

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// PTX of \p M, which has been through the device pipeline. Code generation
/// changes the module, so it works on a copy.
llvm::Expected<std::string> emitPtx(const llvm::Module &M,
                                    const CompileOptions &Options);

/// The arguments of the toolkit's `ptxas` for the PTX in a file.
std::vector<std::string> ptxasArguments(const CudaToolkit &Cuda,
                                        const CompileOptions &Options,
                                        llvm::StringRef Ptx,
                                        llvm::StringRef Cubin);

/// The arguments of the toolkit's `fatbinary` for one image of machine code and
/// one of PTX; their form changed with CUDA 13.
std::vector<std::string> fatbinaryArguments(const CudaToolkit &Cuda,
                                            unsigned Arch,
                                            llvm::StringRef Cubin,
                                            llvm::StringRef Ptx,
                                            llvm::StringRef Output);

/// A fat binary of \p M: machine code for the architecture of \p Options, made
/// by ptxas, and its PTX for later GPUs. \p Source, which \p M is of, is what
/// another compiler compiles if it is to make the PTX of all kernels or of
/// those that are marked for it (ForeignCode.h); without it, as where a program
/// that carries the marks is built with probes, all is ours. Intermediate files
/// go to \p Temp, named after \p Stem; the result is also in Stem.fatbin.
llvm::Expected<llvm::SmallVector<char, 0>>
makeFatbin(const llvm::Module &M, const CompileOptions &Options,
           const Toolchain &Tools, const TempDir &Temp, llvm::StringRef Stem,
           llvm::StringRef Source = "");

} // namespace reconverge::frontend

#endif
