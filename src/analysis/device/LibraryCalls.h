//===- analysis/device/LibraryCalls.h - Functions of CUDA's own -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_DEVICE_LIBRARYCALLS_H
#define RECONVERGE_ANALYSIS_DEVICE_LIBRARYCALLS_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::analysis {

/// void(ptr), of ours: what comes where the pointer that is to be called leads to
/// none of the functions that it may lead to. It ends the launch.
inline constexpr llvm::StringLiteral NoFunction = "reconverge.no.function";

/// What a function without a body does that CUDA or we bring along.
enum class LibraryCall {
  None,     ///< not one of these
  Print,    ///< vprintf
  Allocate, ///< malloc
  Free,
  Assert,  ///< __assertfail, __assert_fail
  Trap,    ///< NoFunction
  Reflect, ///< __nvvm_reflect
  Math     ///< libdevice: results are functions of the arguments; a few store
           ///< a second result through a pointer, none reads through one
};

LibraryCall libraryCall(llvm::StringRef Name);
/// The same; None for null, which is a call through a pointer.
LibraryCall libraryCall(const llvm::Function *Callee);

} // namespace reconverge::analysis

#endif
