//===- frontend/IndirectCalls.h - Whom a pointer may call -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_INDIRECTCALLS_H
#define RECONVERGE_FRONTEND_INDIRECTCALLS_H

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// Makes calls through pointers, as of virtual functions, direct calls of the
/// functions that they can lead to, behind comparisons with the pointer. With
/// \p IsWhole there is no device code but \p M, and no other function that they
/// can lead to; without, a call through the pointer is left for these. To be run
/// before functions are marked for inlining.
void nameCallees(llvm::Module &M, bool IsWhole);

/// Has \p M, of which there will be code for a GPU, trap where a pointer leads to
/// none of them; the warp VM says so with a message.
void trapAtNoFunction(llvm::Module &M);

} // namespace reconverge::frontend

#endif
