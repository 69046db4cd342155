//===- frontend/ptx/InlinePtx.h - Inline PTX as LLVM IR ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_PTX_INLINEPTX_H
#define RECONVERGE_FRONTEND_PTX_INLINEPTX_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace llvm {
class CallBase;
class Function;
class Module;
class raw_ostream;
} // namespace llvm

namespace reconverge::frontend {

/// Replaces each inline asm call whose instructions are all in the table
/// (docs/ptx.md) by LLVM IR and NVVM intrinsics of the same meaning. Any other
/// asm call stays untouched and carries the reason (ptxRefusal). Run it on
/// unoptimised device bitcode, before -O3. Fails only by a fault of our own.
///
/// Accesses with PTX semantics and scopes become atomics with the sync scopes
/// "ptx.cta", "ptx.cluster", "ptx.gpu" and "ptx.sys".
llvm::Error lowerInlinePtx(llvm::Module &M);

/// The inverse where LLVM 19's NVPTX back end has no equal: fences, atomics
/// with semantics or scopes, approximate division and tanh, prefetches. Run it
/// last before PTX is emitted from bitcode that lowerInlinePtx has seen;
/// without it the back end drops scopes or cannot select. The warp VM needs
/// none of it.
llvm::Error restoreInlinePtx(llvm::Module &M);

/// Why \p Call was left as inline asm, in a sentence; empty if unknown.
llvm::StringRef ptxRefusal(const llvm::CallBase &Call);

/// An asm call that is still there.
struct RemainingPtx {
  std::string Function; ///< mangled name
  std::string Asm;      ///< as LLVM has it: $0 for the first operand
  std::string Reason;   ///< empty if lowerInlinePtx has not seen it
};
std::vector<RemainingPtx> remainingPtx(const llvm::Module &M);

/// The table of what is lowered, as Markdown (docs/ptx.md holds a copy).
void printPtxTable(llvm::raw_ostream &OS);

} // namespace reconverge::frontend

#endif
