//===- remedies/share/Round.h - 32 iterations at once -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_SHARE_ROUND_H
#define RECONVERGE_REMEDIES_SHARE_ROUND_H

#include "remedies/share/Legality.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <functional>

namespace llvm {
class AllocaInst;
class IRBuilderBase;
class LoopInfo;
class ScalarEvolution;
} // namespace llvm

namespace reconverge::remedies::share {

/// What all lanes know of the warp's iterations: words of 32 bits.
struct Dealing {
  llvm::Value *Lane;  ///< 0 to 31
  llvm::Value *First; ///< of this lane's iterations, among the warp's
  llvm::Value *End;   ///< behind its last
  llvm::Value *Total; ///< of the warp
};

/// Makes the shared form of a loop: blocks that run all iterations of the lanes
/// of a whole warp.
class Rounds {
public:
  /// \p Differs says whether lanes may have different ones of a value from
  /// outside the loop; \p Slot makes memory of the thread's own, which the
  /// caller promotes to values. \p PlantedBug: Options.h.
  Rounds(llvm::Loop &L, llvm::LoopInfo &Loops, const Carried &Values,
         llvm::ScalarEvolution &SE, std::function<bool(llvm::Value *)> Differs,
         std::function<llvm::AllocaInst *(llvm::Type *)> Slot, bool PlantedBug);

  /// Adds to \p Before, which leads to the loop's preheader \p Own, what has to be
  /// known.
  void prepare(llvm::BasicBlock *Before, llvm::BasicBlock *Own);
  /// Fills blocks from \p Enter, which all lanes come to together, to where they
  /// are all through, which is returned, without an end.
  llvm::BasicBlock *write(llvm::BasicBlock *Enter, const Dealing &Of);
  /// What the loop leaves in \p V, at the end of write()'s block.
  llvm::Value *leftIn(llvm::IRBuilderBase &B, llvm::Instruction *V);

private:
  llvm::Value *own(llvm::Value *V, llvm::IRBuilderBase &B, llvm::Value *Owner);
  void writeBody(llvm::IRBuilderBase &B, llvm::BasicBlock *Join,
                 llvm::Value *Owner, llvm::Value *Index, llvm::Value *IsOne);
  void cloneBlocks(llvm::ValueToValueMapTy &Map, llvm::BasicBlock *Join);
  void writeSums(llvm::IRBuilderBase &B, const Dealing &Of, llvm::Value *Base,
                 llvm::Value *EndOfOwner);
  llvm::BasicBlock *writeChain(llvm::BasicBlock *Join, const Dealing &Of,
                               llvm::Value *Base);
  void stepChain(llvm::IRBuilderBase &B, llvm::Value *From, llvm::Value *Mine);
  llvm::BasicBlock *block(const char *Name);

  llvm::Loop &L;
  llvm::LoopInfo &Loops;
  const Carried &Values;
  llvm::ScalarEvolution &SE;
  std::function<bool(llvm::Value *)> Differs;
  std::function<llvm::AllocaInst *(llvm::Type *)> Slot;
  const bool PlantedBug;
  llvm::Function &F;
  llvm::BasicBlock *Before = nullptr, *Own = nullptr;
  llvm::SmallVector<llvm::Instruction *> Chain; ///< in the order it is done in
  llvm::DenseMap<llvm::PHINode *, llvm::Value *> Steps; ///< of inductions
  /// What an iteration leaves for the chain; of a phi of it, where it came from.
  llvm::MapVector<llvm::Instruction *, llvm::AllocaInst *> Made, CameFrom;
  /// What a sum, or a header's phi of the chain, is before the thread's next iteration.
  llvm::MapVector<llvm::PHINode *, llvm::AllocaInst *> Now;
  /// What an iteration adds to each sum.
  llvm::SmallVector<llvm::AllocaInst *> Added;
  /// What code behind the loop needs, of the last iteration so far.
  llvm::MapVector<llvm::Instruction *, llvm::AllocaInst *> Last;
};

} // namespace reconverge::remedies::share

#endif
