//===- warpvm/prepare/Prepare.h - Into the VM's form ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_PREPARE_PREPARE_H
#define RECONVERGE_WARPVM_PREPARE_PREPARE_H

#include "analysis/device/Intrinsics.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace reconverge::warpvm {

/// Byte offsets of a module's static shared variables.
struct SharedLayout {
  llvm::MapVector<const llvm::GlobalVariable *, uint64_t> Offsets;
  uint64_t Bytes = 0; ///< where dynamic shared memory begins
  /// Where cooperative groups have bytes of their own, if the kernel asks.
  uint64_t Reserved = 0;
  uint64_t ReservedBytes = 0; ///< 0: it does not
};

/// A kernel, or a function that it calls, ready for emission.
struct PreparedFunction {
  llvm::Function *F = nullptr;
  uint64_t LocalBytes = 0;  ///< a lane, 64-aligned
  bool OnlyPointed = false; ///< no call names it
};

/// A kernel ready for emission, in a module of its own.
struct PreparedKernel {
  std::unique_ptr<llvm::Module> M;
  llvm::Function *F = nullptr;
  SharedLayout Shared;
  /// Module variables, then functions that have an address -> index in
  /// WarpContext::Globals.
  llvm::MapVector<const llvm::GlobalValue *, unsigned> Globals;
  /// The functions of addressedFunctions, in the same order.
  llvm::SmallVector<llvm::Function *, 8> Addressed;
  llvm::DenseMap<const llvm::AllocaInst *, uint64_t> LocalOffsets;
  /// Types of calls through pointers, in the order in which they turned up.
  llvm::SetVector<llvm::FunctionType *> PointerTypes;
  /// The kernel first, then its Callees in program order.
  std::vector<PreparedFunction> Functions;
  /// Functions that only pointers reach and that cannot run, with the reason: a
  /// fault for the thread that calls one.
  llvm::DenseMap<const llvm::Function *, std::string> Refused;
};

/// Offset, size of each parameter as the host passes them.
llvm::SmallVector<std::pair<uint64_t, uint64_t>, 8>
parameterLayout(const llvm::Function &Kernel);

/// Offsets, as the host passes them, of pointers in parameters that \p Kernel may
/// follow. Of a class that it is passed, those that it never reads are left out.
llvm::SmallVector<uint64_t, 8> pointersFollowed(const llvm::Function &Kernel);

/// Everything with a definition that \p Kernel reaches, in discovery order. A
/// call through a pointer reaches every function whose address is taken.
llvm::SetVector<const llvm::GlobalValue *>
reachableFrom(const llvm::Function &Kernel);

/// Static shared memory that \p Kernel reaches, through calls too.
SharedLayout sharedLayout(const llvm::Function &Kernel);

/// The module's variables in device memory, in program order; positions are the
/// indices that compiled code uses.
llvm::SmallVector<llvm::GlobalVariable *, 8> deviceVariables(llvm::Module &M);

/// Clones \p Kernel with what it calls, inlines calls (Callees.h), scalarises
/// vectors, puts loops in simplified LCSSA form and splits blocks behind
/// barriers and calls, and before collectives. Refuses (UserError with place)
/// inline PTX, irreducible flow and stack memory of variable size.
llvm::Expected<PreparedKernel> prepareKernel(llvm::Function &Kernel);

/// Where the user's code has \p I; null if the compiler kept no line.
const llvm::DILocation *userLocation(const llvm::Instruction &I);

/// "app.cu:12: " of an instruction or a function, or "".
std::string placeOf(const llvm::Instruction &I);

/// Ends the threads that run it; a return follows.
inline constexpr llvm::StringLiteral ExitName = "rcvm.exit";

/// Whether \p Return is where threads of a kernel go that an `exit` ends.
bool endsThread(const llvm::Instruction &Return);

/// Stands behind a barrier that reduces a predicate, for its result.
inline constexpr llvm::StringLiteral BarrierResultName = "rcvm.barrier.result";

/// Kinds of call that end a block.
using analysis::isBarrier, analysis::isCollective;

/// The member mask of a collective.
llvm::Value *membersOf(const llvm::IntrinsicInst &Collective);

} // namespace reconverge::warpvm

#endif
