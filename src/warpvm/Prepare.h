//===- warpvm/Prepare.h - Bring a kernel into the VM's form -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_PREPARE_H
#define RECONVERGE_WARPVM_PREPARE_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
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
};

/// A kernel ready for emission, in a module of its own.
struct PreparedKernel {
  std::unique_ptr<llvm::Module> M;
  llvm::Function *F = nullptr;
  SharedLayout Shared;
  /// Module variables that the kernel touches -> index in WarpContext::Globals.
  llvm::MapVector<const llvm::GlobalVariable *, unsigned> Globals;
  llvm::DenseMap<const llvm::AllocaInst *, uint64_t> LocalOffsets;
  uint64_t LocalBytes = 0; ///< a lane, 64-aligned
};

/// Offset, size of each parameter as the host passes them.
llvm::SmallVector<std::pair<uint64_t, uint64_t>, 8>
parameterLayout(const llvm::Function &Kernel);

/// Static shared memory that \p Kernel reaches, through calls too.
SharedLayout sharedLayout(const llvm::Function &Kernel);

/// The module's variables in device memory, in program order; positions are the
/// indices that compiled code uses.
llvm::SmallVector<llvm::GlobalVariable *, 8> deviceVariables(llvm::Module &M);

/// Clones \p Kernel with what it calls, inlines every call, scalarises vectors,
/// puts loops in simplified LCSSA form and splits blocks behind barriers and
/// before collectives. Refuses (UserError with place) recursion, indirect calls
/// and unknown functions.
llvm::Expected<PreparedKernel> prepareKernel(llvm::Function &Kernel);

/// Where the user's code has \p I; null if the compiler kept no line.
const llvm::DILocation *userLocation(const llvm::Instruction &I);

/// "app.cu:12: " of an instruction or a function, or "".
std::string placeOf(const llvm::Instruction &I);

/// Stands behind a barrier that reduces a predicate, for its result.
inline constexpr llvm::StringLiteral BarrierResultName = "rcvm.barrier.result";

/// Kinds of call that end a block.
bool isBarrier(const llvm::Instruction &I);
bool isCollective(const llvm::Instruction &I);

/// The member mask of a collective.
llvm::Value *membersOf(const llvm::IntrinsicInst &Collective);

} // namespace reconverge::warpvm

#endif
