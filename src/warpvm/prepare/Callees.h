//===- warpvm/prepare/Callees.h - Functions that stay functions -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_PREPARE_CALLEES_H
#define RECONVERGE_WARPVM_PREPARE_CALLEES_H

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Support/Error.h"

namespace reconverge::warpvm {

/// The functions of \p M whose address device code can hold, in program order;
/// some may have no body. A function's position here is its index in
/// KernelPlan::Functions and, in steps, its distance from the address of the
/// first (Calls.h).
llvm::SmallVector<llvm::Function *, 8> addressedFunctions(llvm::Module &M);

/// What calls of a kernel remain once all others are inlined.
struct Callees {
  /// Called by name; each can call itself, directly or through others.
  llvm::SetVector<llvm::Function *> ByName;
  /// Types of the calls through pointers.
  llvm::SetVector<llvm::FunctionType *> Types;
  /// Functions of these types whose address is taken.
  llvm::SetVector<llvm::Function *> ByPointer;

  /// All of them, in program order.
  llvm::SmallVector<llvm::Function *, 8> all(llvm::Module &M) const;
};

/// Inlines every call in \p Kernel, and in whatever it calls, that can be; what
/// is left are calls of Callees. \p Addressed: of whole program, as it lies in
/// the kernel's module. Refuses (UserError with place) what LLVM cannot inline.
llvm::Expected<Callees> inlineCalls(llvm::Function &Kernel,
                                    llvm::ArrayRef<llvm::Function *> Addressed);

/// A call of a function with a body, or through a pointer: one that the
/// scheduler carries out.
bool isCall(const llvm::Instruction &I);

/// \p BB ends in one, as splitAtCalls leaves it.
bool endsInCall(const llvm::BasicBlock &BB);

/// Puts each such call at the end of a block, and reads its result at the
/// beginning of the next.
void splitAtCalls(llvm::Function &F);

/// The call whose result \p I reads, or null if that is not what \p I does.
const llvm::CallBase *callBehind(const llvm::Instruction &I);

} // namespace reconverge::warpvm

#endif
