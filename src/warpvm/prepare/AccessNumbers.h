//===- warpvm/prepare/AccessNumbers.h - Who carries an access's number ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_PREPARE_ACCESSNUMBERS_H
#define RECONVERGE_WARPVM_PREPARE_ACCESSNUMBERS_H

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ValueHandle.h"

#include <vector>

namespace reconverge::warpvm {

/// \p To is \p From in another form, or the first of the parts that \p From was
/// split into: it is counted as \p From, with \p From's bytes.
void takeAccessNumber(llvm::Instruction &To, const llvm::Instruction &From);

/// Bytes a lane with which \p Access is counted: its own are \p Own.
uint32_t countedBytes(const llvm::Instruction &Access, uint32_t Own);

/// The bytes of \p Load whose values need not be asked for where it stands, a bit
/// each (analysis::RestoredKind).
uint32_t restoredBytes(const llvm::LoadInst &Load);

/// What a pass that joins accesses has to be told afterwards.
class JoinedAccesses {
public:
  /// Before the pass.
  explicit JoinedAccesses(llvm::Function &F);
  /// After it: an access that came of several has the number of the one at the
  /// lowest address. The others' are gone, as their requests are. Of a load it
  /// says which of its bytes were restored.
  void number();

private:
  struct Before {
    llvm::WeakVH Access; ///< null once the pass has deleted it
    const llvm::BasicBlock *In;
    const llvm::Value *Pointer;
    llvm::MDNode *Number;
    bool IsLoad;
    bool Taken = false;
  };
  llvm::Function &F;
  std::vector<Before> Had;
  std::vector<llvm::WeakTrackingVH> Restored; ///< then what has their values
};

} // namespace reconverge::warpvm

#endif
