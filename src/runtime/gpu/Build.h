//===- runtime/gpu/Build.h - From bitcode to code to register ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_BUILD_H
#define RECONVERGE_RUNTIME_GPU_BUILD_H

#include "analysis/MachineCode.h"
#include "remedies/common/Features.h"
#include "runtime/gpu/Options.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

#include <functional>
#include <memory>

namespace reconverge::gpu {

/// What to register in the place of the container of \p M, whose bitcode has
/// the hash \p Hash: a fat binary of the code with probes, for the GPU at hand.
/// From the cache if it is there.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
buildImage(const llvm::Module &M, uint64_t Hash, const Options &O);

/// Beside a kernel with probes stands the kernel as it is, under its name and
/// this suffix, to be asked for the registers that it takes; it calls such copies
/// of functions. Not so of kernels that call through pointers: those lead to
/// functions with probes.
inline constexpr llvm::StringLiteral PlainSuffix = "__rcplain";
bool hasPlainCode(const llvm::Function &Kernel, const Options &O);

/// Adds it to \p M, for each kernel that has one; returns what it added.
llvm::DenseSet<const llvm::Function *> addPlainKernels(llvm::Module &M,
                                                       const Options &O);

/// Adds to \p M the kernels that read features, if those are asked for: by the
/// name of the kernel whose they are.
llvm::StringMap<remedies::FeatureKernel> addFeatureKernels(llvm::Module &M,
                                                           const Options &O);

/// Inserts the probes of the functions of \p M that \p Only says, or of all.
llvm::Error addProbes(llvm::Module &M, const Options &O,
                      std::function<bool(const llvm::Function &)> Only = {});

/// What ptxas makes of \p M as it is.
llvm::Expected<analysis::MachineCode> machineCodeFor(const llvm::Module &M,
                                                     const Options &O);

/// A kernel like \p F under the name \p Name, launch bounds and all.
llvm::Function *cloneKernel(llvm::Function &F, const llvm::Twine &Name);

/// The same under its own name and \p Suffix, which calls copies of functions,
/// under such names, too. \p Copies: functions that have one already; those of
/// \p F are added.
llvm::Function *
cloneWithCallees(llvm::Function &F, const llvm::Twine &Suffix,
                 llvm::DenseMap<llvm::Function *, llvm::Function *> &Copies);
/// Whether all that \p Kernel may call has a name.
bool namesCallees(const llvm::Function &Kernel);

/// As buildImage, of \p M as it is.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
buildPlainImage(const llvm::Module &M, const Options &O);

} // namespace reconverge::gpu

#endif
