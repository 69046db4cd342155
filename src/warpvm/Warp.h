//===- warpvm/Warp.h - A warp and the policies that run it ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_WARP_H
#define RECONVERGE_WARPVM_WARP_H

#include "warpvm/Layout.h"
#include "warpvm/Machine.h"

#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <vector>

namespace reconverge::warpvm {

/// Lanes of a warp that are at the same place together.
struct Split {
  uint32_t Region;
  EdgeKind Wait;         ///< Plain: it can run
  bool Deferred = false; ///< it looped long; others first
  Mask Lanes;
  uint64_t *Scalars;
  /// PostDominator only: where these lanes stop and join the split below.
  uint32_t Reconverge = NoRegion;
};

enum class Status {
  Done,
  Waiting, ///< every lane is at a barrier or gone
  Yielded  ///< it looped long without anyone leaving: let others run
};

/// One warp's state. Splits that are not needed apart share one array of
/// scalars; spare arrays are kept for reuse.
struct Warp {
  WarpContext Context;
  const KernelPlan *Plan = nullptr;
  uint8_t *Frame = nullptr;
  llvm::SmallVector<Split, 4> Splits;
  bool Apart = false; ///< splits have scalars of their own
  bool Finished = false;

  /// \p Lanes take the back edge to \p Region, whose loop may wait. True if
  /// they have done so BackEdgeLimit times with nobody leaving.
  bool spins(uint32_t Region, Mask Lanes);
  /// Lanes come to a loop from outside.
  void entersLoop(uint32_t Region) {
    if (Region < Loops.size())
      Loops[Region].Rounds = 0;
  }
  void forgetLoops() { Loops.clear(); }

  uint64_t *newScalars();
  void freeScalars(uint64_t *S) { Spare.push_back(S); }
  Mask alive() const; ///< lanes that have not left, nor wait to leave

private:
  struct LoopState {
    Mask Lanes = 0;
    unsigned Rounds = 0;
  };
  std::vector<LoopState> Loops; ///< by region; grown by the first that spins
  std::vector<std::unique_ptr<uint64_t[]>> Owned;
  std::vector<uint64_t *> Spare;
};

/// Decides which lanes of a warp run next and where they meet again.
class Policy {
public:
  virtual ~Policy() = default;
  static std::unique_ptr<Policy> create(PolicyKind Kind);
  static const char *name(PolicyKind Kind);

  /// All of \p Lanes at the kernel's entry.
  void start(Warp &W, Mask Lanes);
  /// Runs \p W until it is done, waits at a barrier or has looped long.
  virtual Status run(Warp &W) = 0;
  /// The barrier that all of the block reached is open.
  virtual void release(Warp &W) = 0;

protected:
  /// Runs \p S's region; \p Out receives the lanes for each of its targets.
  static const RegionPlan &execute(Warp &W, const Split &S, Mask *Out);
  /// \p Lanes go from \p From to \p To. True if they go round a loop so long
  /// that others should have a turn, or past the step limit.
  static bool loopsLong(Warp &W, uint32_t From, const Target &To, Mask Lanes);
};

/// Rounds of a loop that may wait, without anybody leaving, before others have
/// a turn.
inline constexpr unsigned BackEdgeLimit = 2048;
/// Upper bound on a region's targets; the emitter keeps to it.
inline constexpr unsigned MaxTargets = 1024;

} // namespace reconverge::warpvm

#endif
