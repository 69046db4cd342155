//===- remedies/common/Counted.h - What counts tell of kernels --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_COUNTED_H
#define RECONVERGE_REMEDIES_COMMON_COUNTED_H

#include "core/Cost.h"
#include "core/Profile.h"
#include "model/Slots.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace reconverge::remedies {

/// Its own shared memory, or what launches add to it.
inline bool usesShared(const KernelProfile &K) {
  return K.Info.StaticShared ||
         std::ranges::any_of(K.Shapes, [](const LaunchShape &S) {
           return S.DynamicShared != 0;
         });
}

/// Threads of the largest block that was launched.
inline uint64_t largestBlock(const KernelProfile &K) {
  uint64_t Most = 0;
  for (const LaunchShape &S : K.Shapes)
    Most = std::max(Most, S.blockThreads());
  return Most;
}

/// The branch is on the thread's number alone: analysis::describe(ThreadId).
inline bool isByThread(const BranchInfo &Branch) {
  return Branch.Reason == "thread id";
}

/// The branch that ends the loop over the grid which \p K is; null: it is none.
inline const BranchInfo *endOfGridLoop(const KernelProfile &K) {
  for (const BranchInfo &Branch : K.Info.Branches)
    if (Branch.EndsGridLoop)
      return &Branch;
  return nullptr;
}

/// Of all launches: threads, or the iterations of a loop over the grid, each of
/// which straighten() makes a thread of.
inline uint64_t itemsOf(const KernelProfile &K) {
  const BranchInfo *End = endOfGridLoop(K);
  return End ? K.Blocks[End->Block].Lanes : K.Threads;
}

/// Lanes that branch \p B sends out of its loop.
inline double leaving(const KernelProfile &K, uint32_t B) {
  const BranchInfo &Info = K.Info.Branches[B];
  const std::vector<uint64_t> &To = K.Branches[B].LanesTo;
  double Out = 0, Least = To.empty() ? 0 : double(To[0]);
  bool Known = false;
  for (size_t S = 0; S != To.size(); ++S) {
    Least = std::min(Least, double(To[S]));
    if (!model::inRegion(Info, Info.Successors[S])) {
      Out += double(To[S]);
      Known = true;
    }
  }
  return Known ? Out : Least; // else both sides have code before they meet
}

/// Branches that part lanes at the exits of loops, loop by loop: those of one
/// have one region. Positions, ascending in each.
inline std::vector<std::vector<uint32_t>> loopExits(const KernelProfile &K) {
  std::map<std::vector<uint32_t>, std::vector<uint32_t>> ByRegion;
  for (uint32_t B = 0; B != K.Info.Branches.size(); ++B)
    if (K.Info.Branches[B].Kind == BranchKind::LoopExit && K.Branches[B].Splits)
      ByRegion[K.Info.Branches[B].Region].push_back(B);
  std::vector<std::vector<uint32_t>> All;
  for (auto &[Region, Exits] : ByRegion)
    All.push_back(std::move(Exits));
  return All;
}

/// A branch in a loop by which lanes work, or skip the work.
struct CountedSkip {
  double Working = 0;         ///< lanes
  std::vector<uint32_t> Work; ///< blocks of the work
};

/// What branch \p B skips; none: it is in no loop, or has not parted lanes.
inline std::optional<CountedSkip> skipOf(const KernelProfile &K, uint32_t B) {
  const BranchInfo &Info = K.Info.Branches[B];
  if (Info.Kind != BranchKind::If ||
      K.Info.Blocks[Info.Block].Entries.empty() || !K.Branches[B].Splits)
    return std::nullopt;
  CountedSkip Skip;
  for (size_t S = 0; S != Info.Successors.size(); ++S)
    if (model::inRegion(Info, Info.Successors[S]))
      Skip.Working += double(K.Branches[B].LanesTo[S]);
  if (Skip.Working <= 0)
    return std::nullopt;
  for (uint32_t Block = 0; Block != K.Info.Blocks.size(); ++Block)
    if (model::inRegion(Info, Block))
      Skip.Work.push_back(Block);
  return Skip;
}

/// The block whose executions are the rounds of a loop: the first of the ifs that
/// a round passes on its way to block \p At. \p Loop: blocks of the loop.
inline uint32_t roundBlock(const KernelProfile &K, uint32_t At,
                           llvm::ArrayRef<uint32_t> Loop) {
  uint32_t Round = At;
  for (const BranchInfo &If : K.Info.Branches)
    if (If.Kind != BranchKind::LoopExit && is_contained(Loop, If.Block) &&
        model::inRegion(If, At) &&
        K.Blocks[If.Block].Lanes > K.Blocks[Round].Lanes)
      Round = If.Block;
  return Round;
}

/// Slots wasted at each branch itself.
inline std::vector<double> selfSlots(const KernelCost &Cost) {
  std::vector<double> Self;
  for (const BranchCost &C : Cost.Branches)
    Self.push_back(C.SelfSlots);
  return Self;
}

} // namespace reconverge::remedies

#endif
