//===- frontend/KernelWords.h - __cluster_dims__, __maxnreg__ ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_KERNELWORDS_H
#define RECONVERGE_FRONTEND_KERNELWORDS_H

#include <string>

namespace llvm {
class Module;
}

namespace reconverge::frontend {

/// Annotations by which plugin/KernelWords.cpp, which is in clang, tells of the
/// attributes; their arguments are the attributes'.
inline constexpr char ClusterAnnotation[] = "reconverge.cluster_dims";
inline constexpr char RegistersAnnotation[] = "reconverge.maxnreg";

/// Takes these annotations out of \p M, as clang has left it, and gives kernels
/// what they say: a limit of registers, and analysis::ClusterAttribute.
void readKernelWords(llvm::Module &M);

/// Adds the clusters of \p M's kernels to \p Ptx, printed from it: LLVM 19 has
/// no words for them.
void addClusters(const llvm::Module &M, std::string &Ptx);

} // namespace reconverge::frontend

#endif
