//===- frontend/DevicePipeline.h - Optimise device bitcode ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_DEVICEPIPELINE_H
#define RECONVERGE_FRONTEND_DEVICEPIPELINE_H

#include "frontend/Options.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// Takes \p M from clang's unoptimised device bitcode to the common form that
/// every device and every variant starts from: inline PTX lowered, nvcc's
/// numerics settled, device functions inlined, optimised, FMAs formed, only
/// kernels and variables left, blocks and branches numbered.
llvm::Error runDevicePipeline(llvm::Module &M, const CompileOptions &Options);

/// Its two halves. Between them, relocatable device code is linked: the first
/// does what hangs on a unit's own options, the second, with Relocatable set,
/// takes the whole and refuses what is still missing.
llvm::Error prepareDeviceCode(llvm::Module &M, const CompileOptions &Options);
llvm::Error completeDeviceCode(llvm::Module &M, const CompileOptions &Options);

/// From now on, what passes in \p Context could not do as the source asks, as to
/// unroll a loop, is said once for a place, not for each instance of a template;
/// and not at all in files under \p Toolkit: nvcc says nothing of its own headers
/// either.
void sayOnce(llvm::LLVMContext &Context, llvm::StringRef Toolkit);

/// \p M as bitcode.
llvm::SmallVector<char, 0> writeBitcode(const llvm::Module &M);

} // namespace reconverge::frontend

#endif
