//===- analysis/device/Annotations.h - NVVM's notes on kernels --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_DEVICE_ANNOTATIONS_H
#define RECONVERGE_ANALYSIS_DEVICE_ANNOTATIONS_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::analysis {

/// The module's metadata of this name:
///   !{ptr @f, !"key", i32 value, !"key", i32 value, ...}
inline constexpr llvm::StringLiteral AnnotationsName = "nvvm.annotations";

/// Of a kernel that is launched in clusters of so many blocks: "2, 1, 1".
inline constexpr llvm::StringLiteral ClusterAttribute = "reconverge-cluster";

/// Whether \p F is a kernel, by annotation or calling convention.
bool isKernel(const llvm::Function &F);

/// Most threads that a block of \p Kernel may have by its launch bounds: what
/// reqntid says if it is there, otherwise what maxntid says, and no more than
/// 1024, which is what a device takes. 0: the kernel has no bound.
unsigned launchBound(const llvm::Function &Kernel);

/// Gives \p To all annotations of \p From: that it is a kernel, launch bounds.
void copyAnnotations(const llvm::Function &From, llvm::Function &To);

/// Takes the launch bounds of \p Kernel away, required and allowed sizes alike;
/// for \p Threads other than 0, allows blocks of up to so many. The fewest
/// blocks on a multiprocessor that it asks for (minctasm) stay.
void setLaunchBound(llvm::Function &Kernel, unsigned Threads);

/// Lets a thread of \p Kernel, which has no such limit, have so many registers
/// at most. ptxas keeps the rest in local memory.
void setRegisterLimit(llvm::Function &Kernel, unsigned Registers);
/// That limit; 0: there is none.
unsigned registerLimit(const llvm::Function &Kernel);

} // namespace reconverge::analysis

#endif
