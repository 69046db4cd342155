//===- frontend/OpenMp.h - OpenMP's runtime for host code -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_OPENMP_H
#define RECONVERGE_FRONTEND_OPENMP_H

#include "frontend/Toolchain.h"

namespace reconverge::frontend {

/// libomp and its header.
struct OpenMpRuntime {
  std::string Headers;   ///< folder with omp.h, and maybe other headers
  std::string Libraries; ///< folder with libomp.so
};

/// LLVM's OpenMP runtime below one of \p Roots, the first that has it.
std::optional<OpenMpRuntime> findOpenMp(llvm::ArrayRef<std::string> Roots);

/// Where it may be: in our own tree, beside clang, in \p System/llvm-<n>, the
/// newest first.
std::vector<std::string> openMpRoots(const Toolchain &Tools,
                                     llvm::StringRef System = "/usr/lib");

/// A folder with omp.h for sources that include it and are compiled without
/// OpenMP: libomp's, or that of a gcc in \p Gcc; empty if there is none.
std::string openMpHeaders(llvm::ArrayRef<std::string> Roots,
                          llvm::StringRef Gcc = "/usr/lib/gcc");

/// Whether the library \p Name, as it stands after -l, is such a runtime, of
/// whatever compiler.
bool isOpenMpRuntime(llvm::StringRef Name);

} // namespace reconverge::frontend

#endif
