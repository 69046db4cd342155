//===- remedies/collect/Sort.h - The items of a block, sorted ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COLLECT_SORT_H
#define RECONVERGE_REMEDIES_COLLECT_SORT_H

#include "remedies/collect/Options.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace llvm {
class Function;
class GlobalVariable;
} // namespace llvm

namespace reconverge::remedies::collect {

/// An item of a block: thread Thread of the block that is number Turn of those
/// that this one does the work of. Both i32.
struct Item {
  llvm::Value *Turn, *Thread;
};

/// What a lane has taken.
struct Pick : Item {
  llvm::Value *Path;  ///< of all lanes of the warp, i32
  llvm::Value *Place; ///< of the warp's first item among all, i32
};

/// Makes code that sorts the items of a block of whole warps by path, in shared
/// memory of its own, and has warps take them.
class Sort {
public:
  /// \p Of: the kernel; \p Threads at most. Of \p Options it takes how many
  /// items a thread has and a claim takes, which has to be known.
  Sort(llvm::Function &Of, unsigned Paths, unsigned Threads,
       const CollectOptions &Options);

  /// Sorts, from \p B on, which then stands where all is sorted. \p PathsOf goes
  /// on at the builder for some items of this thread, at most \p AtOnce, with
  /// their paths: i32, Paths if there is no work; all threads are to come to the
  /// end of it.
  /// \p Thread: the linear number, \p There: how many there are, i32.
  void sort(
      llvm::IRBuilderBase &B, llvm::Value *Thread, llvm::Value *There,
      unsigned AtOnce,
      llvm::function_ref<llvm::SmallVector<llvm::Value *>(llvm::ArrayRef<Item>)>
          PathsOf);

  /// What this lane has of the next items of its warp: goes on at \p Take where
  /// it has one, at \p Other where it has none, and at \p Done where the warp
  /// has none. \p B is left behind the last jump. \p Place: that of the last
  /// pick and 32 more, at first 0; a multiple of the claims' size asks for the
  /// next claim, and so nobody looks at it if that is 32. If warps take turns, it
  /// is 32 times the number of the turn.
  Pick take(llvm::IRBuilderBase &B, llvm::Value *Thread, llvm::Value *There,
            llvm::Value *Place, llvm::BasicBlock &Take, llvm::BasicBlock &Other,
            llvm::BasicBlock &Done);

  uint64_t bytes() const;

private:
  llvm::BasicBlock *block(const char *Name);
  llvm::Value *call(llvm::IRBuilderBase &B, llvm::Intrinsic::ID Id,
                    llvm::ArrayRef<llvm::Value *> Arguments = {});
  llvm::Value *count(llvm::IRBuilderBase &B, llvm::Value *Mask);
  llvm::Value *fromLane(llvm::IRBuilderBase &B, llvm::Value *V,
                        llvm::Value *Lane);
  /// A value (i32) of each path, if they are few, in all lanes; or else one,
  /// in lane p that of path p.
  using OfPaths = llvm::SmallVector<llvm::Value *, 3>;
  llvm::Value *ofPath(llvm::IRBuilderBase &B,
                      llvm::ArrayRef<llvm::Value *> Each, llvm::Value *Path);
  llvm::Value *ofLane(llvm::IRBuilderBase &B,
                      llvm::ArrayRef<llvm::Value *> Each, llvm::Value *Lane);
  OfPaths known(llvm::IRBuilderBase &B, llvm::Value *V);
  llvm::Value *laneOf(llvm::IRBuilderBase &B, llvm::Value *Thread);
  llvm::Value *warpsIn(llvm::IRBuilderBase &B, llvm::Value *Threads);
  llvm::Value *claim(llvm::IRBuilderBase &B, llvm::Value *Lane,
                     llvm::Value *Place);
  llvm::Value *atPlace(llvm::IRBuilderBase &B, llvm::Value *Place);
  llvm::Value *atWord(llvm::IRBuilderBase &B, llvm::Value *Number);
  llvm::Value *atEnd(llvm::IRBuilderBase &B, llvm::Value *Path);
  llvm::Value *atFull(llvm::IRBuilderBase &B, llvm::Value *Path);
  llvm::Value *rounded(llvm::IRBuilderBase &B, llvm::Value *Count);
  void onlyIf(llvm::IRBuilderBase &B, llvm::Value *If, const char *Name,
              llvm::function_ref<void()> Do);

  /// The same at all turns.
  struct LaneFacts {
    llvm::SmallVector<llvm::Value *, 5> Bits; ///< of the lane's number
    llvm::Value *Before;                      ///< a bit for each lane before
  };
  LaneFacts factsOf(llvm::IRBuilderBase &B, llvm::Value *Lane);

  /// The items of a thread, as numbers: First, and others Step apart.
  struct Own {
    llvm::Value *First, *Step;
  };
  Own itemsOf(llvm::IRBuilderBase &B, llvm::Value *Thread, llvm::Value *There);
  llvm::Value *numberAt(llvm::IRBuilderBase &B, const Own &Items,
                        unsigned Turn);
  Item itemOf(llvm::IRBuilderBase &B, llvm::Value *Number);

  void reset(llvm::IRBuilderBase &B, llvm::Value *Thread);
  llvm::Value *rank(llvm::IRBuilderBase &B, llvm::Value *Path,
                    const LaneFacts &Lane, OfPaths &Had);
  /// Where this warp's items of each path begin, of which it has \p Had.
  OfPaths findPlaces(llvm::IRBuilderBase &B, llvm::Value *Thread,
                     const OfPaths &Had);
  void give(llvm::IRBuilderBase &B, llvm::Value *Number, llvm::Value *Path,
            llvm::Value *Place);

  llvm::Function &F;
  const unsigned Paths, Items, Chunk;
  const bool Forgets;
  llvm::GlobalVariable *Words, *Queue;
};

} // namespace reconverge::remedies::collect

#endif
