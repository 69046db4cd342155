//===- frontend/Toolchain.h - clang and the CUDA toolkit --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_TOOLCHAIN_H
#define RECONVERGE_FRONTEND_TOOLCHAIN_H

#include "frontend/Installation.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace reconverge::frontend {

struct CudaToolkit {
  std::string Root;
  unsigned Major = 0, Minor = 0;
  unsigned Build = 0; ///< nvcc's; 0 where version.json is missing

  std::string tool(llvm::StringRef Name) const; ///< bin/<Name>
  std::string includeDir() const;
  std::string libraryDir() const; ///< lib64, or lib where there is none
  /// CCCL's headers where they have a folder of their own (CUDA 13); or empty.
  std::string ccclDir() const;
  /// clang 19 includes texture_fetch_functions.h, which CUDA 13 lacks.
  bool lacksTextureHeader() const;
};

struct Toolchain {
  std::string Clang; ///< clang++ 19
  CudaToolkit Cuda;
  Installation Tree;
};

/// Reads an environment variable; replaced by tests.
using GetEnv = llvm::function_ref<std::optional<std::string>(llvm::StringRef)>;

/// The toolkit of \p CudaPath if that is not empty (`--cuda-path`), otherwise
/// of CUDA_PATH, CUDA_HOME, the folder of the `nvcc` on PATH, \p Usual, in this
/// order. The first that is named must be one; the error says what was
/// looked for and how to point to it.
llvm::Expected<CudaToolkit>
findCudaToolkit(llvm::StringRef CudaPath, GetEnv Env,
                llvm::StringRef Usual = "/usr/local/cuda");

/// clang++ 19: RECONVERGE_CLANG, a clang-19 beside our own executable,
/// clang++-19 on PATH.
llvm::Expected<std::string> findClang(const Installation &Tree, GetEnv Env);

/// Both, for this process.
llvm::Expected<Toolchain> findToolchain(llvm::StringRef CudaPath = "");

} // namespace reconverge::frontend

#endif
