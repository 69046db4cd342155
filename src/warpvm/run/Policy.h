//===- warpvm/run/Policy.h - Which lanes run next ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_POLICY_H
#define RECONVERGE_WARPVM_RUN_POLICY_H

#include "warpvm/run/Warp.h"

#include "llvm/Support/Compiler.h"

#include <memory>
#include <optional>

namespace reconverge::warpvm {

/// Decides which lanes of a warp run next and where they meet again.
class Policy {
public:
  virtual ~Policy() = default;
  static std::unique_ptr<Policy> create(PolicyKind Kind);
  static const char *name(PolicyKind Kind);

  /// All of \p Lanes at the kernel's entry.
  void start(Warp &W, Mask Lanes);
  /// Runs \p W, a kernel's, until it is done, waits at a barrier or has looped
  /// long.
  Status run(Warp &W);
  /// The barrier at which \p Lanes wait, in whatever call, is open. Of lanes
  /// that wait together, all or none.
  void release(Warp &W, Mask Lanes);

protected:
  /// Runs \p W as far as it goes without its calls; nothing if Warp::Calling is
  /// to run next. \p Force: a collective may go on without
  /// the lanes that it names, once, if nothing else can.
  virtual std::optional<Status> step(Warp &W, bool &Force) = 0;
  /// release for the splits of \p W itself.
  virtual void open(Warp &W, Mask Lanes) = 0;
  /// The call that \p Callee runs stopped for the time being or, if \p S is
  /// Done, for good.
  virtual void returned(Warp &W, Warp &Callee, Status S) = 0;
  /// Begins the call of \p S, for as many of its lanes as call the same
  /// function; the others are left to the caller.
  Warp &begin(Warp &W, Split &S, Mask &Rest);
  /// Runs \p S's region; \p Out receives the lanes for each of its targets.
  static const RegionPlan &execute(Warp &W, const Split &S, Mask *Out);
  /// \p Lanes go from \p From to \p To. True if they go round a loop so long
  /// that others should have a turn, or past the step limit.
  static bool loopsLong(Warp &W, uint32_t From, const Target &To, Mask Lanes);
};

std::unique_ptr<Policy> createFrontier();
std::unique_ptr<Policy> createPostDominator();

/// Where a region leaves the lanes for each of its targets: the thread's own,
/// until it executes another.
Mask *outMasks();

inline const RegionPlan &Policy::execute(Warp &W, const Split &S, Mask *Out) {
  const RegionPlan &R = W.Plan->Regions[S.Region];
  if (W.Plan->HasEarlyExit)
    W.Context.Exited = W.Context.Valid & ~W.alive();
  W.Root->Ran = true;
  R.Run(W.Frame, S.Scalars, &W.Context, S.Lanes, Out);
  return R;
}

LLVM_ATTRIBUTE_ALWAYS_INLINE bool
Policy::loopsLong(Warp &W, uint32_t From, const Target &To, Mask Lanes) {
  const bool MayWait = W.Plan->Regions[To.Region].MayWait;
  if (To.Region > From) {
    if (MayWait)
      W.entersLoop(To.Region);
    return false;
  }
  return --W.Context.Budget < 0 || (MayWait && W.spins(To.Region, Lanes));
}

} // namespace reconverge::warpvm

#endif
