//===- remedies/remap/Places.h - Who goes where ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REMAP_PLACES_H
#define RECONVERGE_REMEDIES_REMAP_PLACES_H

#include "remedies/remap/Plan.h"

#include "llvm/IR/IRBuilder.h"

#include <memory>

namespace reconverge::remedies::remap {

/// Makes the code of a round, in blocks before Tail.
class RoundBuilder : public llvm::IRBuilder<> {
public:
  explicit RoundBuilder(llvm::LLVMContext &C) : IRBuilder(C) {}
  llvm::BasicBlock *block(const char *Name) {
    return llvm::BasicBlock::Create(getContext(), Name, Tail->getParent(),
                                    Tail);
  }
  llvm::Value *call(llvm::Intrinsic::ID Id,
                    llvm::ArrayRef<llvm::Value *> Arguments = {}) {
    return CreateIntrinsic(Id, {}, Arguments);
  }
  llvm::Value *count(llvm::Value *Mask) {
    return CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, Mask);
  }
  /// A branch that no round is for.
  void branch(llvm::Value *If, llvm::BasicBlock *Then, llvm::BasicBlock *Else) {
    CreateCondBr(If, Then, Else)
        ->setMetadata(RoundKind, llvm::MDNode::get(getContext(), {}));
  }

  llvm::BasicBlock *Tail = nullptr;
};

/// Of each thread, as i32: its number in the block, how many there are, and its
/// path.
struct Standing {
  llvm::Value *Thread, *Threads, *Path;
};

/// How the threads of a block find places such that those of path 0 come first,
/// then those of path 1, and so on.
class Places {
public:
  virtual ~Places() = default;
  /// What all threads do first; there is a barrier in it. The result, the same
  /// for all: whether anything moves.
  virtual llvm::Value *vote() = 0;
  /// Where something moves: the place of this thread.
  virtual llvm::Value *place() = 0;
  /// Afterwards, the path of the thread that has the place \p Place. Not for a
  /// plan whose paths move.
  llvm::Value *pathAt(llvm::Value *Place);

protected:
  Places(RoundBuilder &B, const RoundPlan &Plan, const Standing &Mine,
         llvm::Value *Counts)
      : B(B), Plan(Plan), Mine(Mine), Counts(Counts) {}

  RoundBuilder &B;
  const RoundPlan &Plan;
  const Standing Mine;
  llvm::Value *Counts;              ///< shared memory, Plan.countBytes()
  std::vector<llvm::Value *> Start; ///< of each path but the first: first place
};

/// For a plan whose paths move.
std::unique_ptr<Places> makeFullWarps(RoundBuilder &B, const RoundPlan &Plan,
                                      const Standing &Mine,
                                      llvm::Value *Counts);
/// For Plan.Algorithm.
std::unique_ptr<Places> makePlaces(RoundBuilder &B, const RoundPlan &Plan,
                                   const Standing &Mine, llvm::Value *Counts);

} // namespace reconverge::remedies::remap

#endif
