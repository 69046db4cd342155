//===- warpvm/run/Warp.h - A warp and its lanes -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_WARP_H
#define RECONVERGE_WARPVM_RUN_WARP_H

#include "warpvm/Layout.h"
#include "warpvm/Machine.h"
#include "warpvm/run/Order.h"

#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>
#include <vector>

namespace reconverge::warpvm {

struct Warp;

/// Lanes of a warp that are at the same place together.
struct Split {
  uint32_t Region;
  EdgeKind Wait;         ///< Plain: it can run
  bool Deferred = false; ///< it looped long; others first
  Mask Lanes;
  uint64_t *Scalars;
  /// PostDominator only: where these lanes stop and join the split below.
  uint32_t Reconverge = NoRegion;
  Warp *Callee = nullptr; ///< runs the call behind which these lanes are
};

inline bool waitsAtBarrier(EdgeKind Wait) {
  return Wait != EdgeKind::Plain && Wait != EdgeKind::Sync &&
         Wait != EdgeKind::Call;
}

enum class Status {
  Done,
  Waiting, ///< every lane is at a barrier or gone
  Yielded, ///< it looped long without anyone leaving: let others run
  Paused   ///< it looped for a while: whom it waits for may be in another warp
};

/// Rounds of a loop that may wait, without anybody leaving, before others have
/// a turn.
inline constexpr unsigned BackEdgeLimit = 2048;
/// ... before other warps have one, and lanes of the same warp still have none.
/// On a GPU warps run side by side, so this is no more than fair, and whoever
/// waits for another warp does not go round in vain for long.
inline constexpr unsigned PauseLimit = 64;

/// One warp's state, or that of its lanes inside of one call (Calls.cpp).
/// Splits that are not needed apart share one array of scalars; spare arrays
/// are kept for reuse.
struct Warp {
  Warp();
  Warp(Warp &Caller, const KernelPlan &Callee);
  ~Warp();

private:
  WarpContext Own; ///< of no use in a call
public:
  WarpContext &Context; ///< one for a warp and all its calls
  const KernelPlan *Plan = nullptr;
  uint8_t *Frame = nullptr;
  llvm::SmallVector<Split, 4> Splits;
  unsigned Running = 0; ///< which of Splits compiled code runs, if it does
  bool Apart = false;   ///< splits have scalars of their own
  bool Finished = false;
  bool MayPause = false; ///< others are there to run meanwhile
  bool Tired = false;    ///< a loop has gone round PauseLimit times since
  Choices Free; ///< which split runs next, and how much of it, if not given

  /// \p Lanes take the back edge to \p Region, whose loop may wait. True if
  /// they have done so BackEdgeLimit times with nobody leaving.
  bool spins(uint32_t Region, Mask Lanes);
  /// Whether it should stop for others: PauseLimit rounds are over.
  bool wantsPause() const { return Tired && MayPause && !Caller; }
  /// Lanes come to a loop from outside.
  void entersLoop(uint32_t Region) {
    if (Region < Loops.size())
      Loops[Region].clear();
  }
  void forgetLoops() { Loops.clear(); }

  /// A warp for a call of \p Callee by \p Lanes; a stack overflow is a fault.
  Warp &calls(const KernelPlan &Callee, const CallSite &Site, Mask Lanes);
  Mask lanes() const;         ///< all that have not left
  Mask atCollectives() const; ///< lanes that wait at one, in whatever call
  /// What is blocked, in whatever call, may be tried again.
  void unblock();
  /// This warp and all calls that its lanes are in, callers first.
  llvm::SmallVector<Warp *, 4> withCalls();
  /// All lanes that are left are together, in no call: the common case.
  bool isWhole() const { return Splits.size() == 1 && !Splits.front().Callee; }
  /// Calls \p Visit(warp or call, split) for all of their splits.
  template <typename Visitor> void forEachSplit(Visitor Visit) const {
    if (isWhole())
      return Visit(*this, Splits.front());
    for (const Warp *In : const_cast<Warp *>(this)->withCalls())
      for (const Split &S : In->Splits)
        Visit(*In, S);
  }

  uint64_t *newScalars();
  void freeScalars(uint64_t *S) { Spare.push_back(S); }
  Mask alive() const; ///< lanes that have not left, nor wait to leave
  /// Blanks what a clock has left in the frame and nobody may read any more.
  void forgetClocks() const;
  /// A hash of all that decides what the warp and its calls do next, but for a
  /// kernel's frame.
  uint64_t digest() const;

  Warp *Caller = nullptr;  ///< null: a kernel's warp
  Warp *Root;              ///< the kernel's warp
  Warp *Inside = nullptr;  ///< of the Root: what runs now, in some call
  Warp *Calling = nullptr; ///< the call that runs next
  bool Blocked = false;    ///< in a call: it waits, at a barrier or collective
  bool Ran = false;    ///< of the Root: something ran since the last unblock
  bool Forced = false; ///< of the Root: what runs goes through a collective
                       ///< without lanes that it names
  uint8_t *Local = nullptr; ///< these: WarpContext's, while this one runs
  const uint8_t *Arguments = nullptr;
  uint8_t *Result = nullptr;
  uint64_t StackBytes = 0; ///< a thread, this call and those around it

private:
  std::unique_ptr<uint8_t[]> Memory;          ///< of a call
  std::vector<std::unique_ptr<Warp>> Callees; ///< for reuse if Finished
  /// How often lanes that go round a loop together have done so.
  struct LoopState {
    Mask Lanes = 0;
    unsigned Rounds = 0;
  };
  /// By region; grown by the first that spins. Splits whose scalars differ go
  /// round one loop apart.
  std::vector<llvm::SmallVector<LoopState, 1>> Loops;
  std::vector<std::unique_ptr<uint64_t[]>> Owned;
  llvm::SmallVector<uint64_t *, 4> Spare;
};

} // namespace reconverge::warpvm

#endif
