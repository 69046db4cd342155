//===- warpvm/run/PostDominator.cpp - The stack of the textbooks ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The classic stack: at a split the two sides run one after the other to the
// branch's immediate post-dominator. As on GPUs before Volta, lanes of a warp
// do not progress independently. If lanes wait at a barrier on one side while
// others wait at the join, that is a fault. Splits that hold no lanes of one
// another (sides that meet nowhere) may pass each other, and lanes at a
// collective run it when no other split can go on, together with all lanes at
// the same collective. Each region must be one basic block (Tier::Blocks).
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Policy.h"

#include <cstring>
#include <memory>

namespace reconverge::warpvm {

namespace {

/// Splits is the stack, its top at the back. A split waits for those above it
/// that hold lanes of its own; the topmost without such can go on.
class PostDominator : public Policy {
  std::optional<Status> step(Warp &W, bool &Force) override;
  void open(Warp &W, Mask Lanes) override {
    for (Split &S : W.Splits)
      if (waitsAtBarrier(S.Wait) && S.Lanes & Lanes)
        S.Wait = EdgeKind::Plain;
  }
  void returned(Warp &W, Warp &Callee, Status S) override;
  std::optional<Status> call(Warp &W, size_t At);
  static size_t pick(Warp &W);
  static void leave(Warp &W, size_t At);
  static void push(Warp &W, uint32_t Region, EdgeKind Wait, Mask Lanes,
                   const uint64_t *Scalars, uint32_t Reconverge) {
    uint64_t *Own = W.newScalars();
    std::memcpy(Own, Scalars, 8 * W.Plan->NumScalars);
    W.Splits.push_back({Region, Wait, false, Lanes, Own, Reconverge});
  }
};

/// Index of the split to run, or the number of splits if all wait at a barrier.
/// Lanes that reach a collective go through it when nobody else can go on, all
/// that are at the same one together.
size_t PostDominator::pick(Warp &W) {
  Mask Above = 0;
  size_t Best = W.Splits.size();
  for (size_t I = W.Splits.size(); I-- > 0;) {
    Split &S = W.Splits[I];
    const bool Leaf = !(S.Lanes & Above);
    Above |= S.Lanes;
    if (!Leaf)
      continue;
    if (S.Wait == EdgeKind::Plain ||
        (S.Wait == EdgeKind::Call && !(S.Callee && S.Callee->Blocked)))
      return I;
    if (S.Wait == EdgeKind::Sync && Best == W.Splits.size())
      Best = I;
  }
  if (Best == W.Splits.size())
    return Best;
  Split &First = W.Splits[Best];
  Above = 0;
  for (size_t I = W.Splits.size(); I-- > 0;) {
    Split &S = W.Splits[I];
    const bool Leaf = !(S.Lanes & Above);
    Above |= S.Lanes;
    if (Leaf && I != Best && S.Wait == EdgeKind::Sync &&
        S.Region == First.Region && S.Reconverge == First.Reconverge) {
      First.Lanes |= S.Lanes;
      S.Lanes = 0;
    }
  }
  return Best;
}

/// Takes out a split that has no lanes or has reached its join.
void PostDominator::leave(Warp &W, size_t At) {
  Split S = W.Splits[At];
  W.Splits.erase(W.Splits.begin() + At);
  // What is uniform at the join was computed by the sides alike.
  if (S.Lanes)
    for (size_t I = At; I-- > 0;)
      if (Split &Join = W.Splits[I]; (Join.Lanes & S.Lanes) == S.Lanes) {
        std::memcpy(Join.Scalars, S.Scalars, 8 * W.Plan->NumScalars);
        break;
      }
  W.freeScalars(S.Scalars);
}

/// Begins the call that a split waits for, or goes on with it. Lanes that call
/// different functions are sides of a branch that meet behind the call.
std::optional<Status> PostDominator::call(Warp &W, size_t At) {
  Split &Top = W.Splits[At];
  if (Top.Deferred) {
    Top.Deferred = false;
    return Status::Yielded;
  }
  if (!Top.Callee) {
    Split Side = Top;
    Mask Rest = 0;
    begin(W, Side, Rest);
    if (Rest) {
      const uint32_t Join = Top.Region;
      Top.Wait = EdgeKind::Plain;
      push(W, Join, EdgeKind::Call, Rest, Side.Scalars, Join);
      push(W, Join, EdgeKind::Call, Side.Lanes, Side.Scalars, Join);
      W.Splits.back().Callee = Side.Callee;
      W.Calling = Side.Callee;
      return std::nullopt;
    }
    Top.Callee = Side.Callee;
  }
  W.Calling = Top.Callee;
  return std::nullopt;
}

void PostDominator::returned(Warp &W, Warp &Callee, Status S) {
  for (Split &At : W.Splits) {
    At.Lanes &= ~W.Context.Ended;
    if (At.Callee != &Callee)
      continue;
    At.Deferred = S == Status::Yielded;
    if (S == Status::Done) {
      At.Callee = nullptr;
      At.Wait = EdgeKind::Plain;
    }
  }
}

std::optional<Status> PostDominator::step(Warp &W, bool &) {
  Mask *const Out = outMasks();
  for (;;) {
    if (W.Splits.empty())
      return Status::Done;
    const size_t At = pick(W);
    if (At == W.Splits.size())
      return Status::Waiting;
    Split &Top = W.Splits[At];
    if (Top.Lanes && Top.Wait == EdgeKind::Call)
      return call(W, At);
    if (!Top.Lanes || Top.Region == Top.Reconverge) {
      leave(W, At);
      continue;
    }
    W.Running = At;
    const RegionPlan &R = execute(W, Top, Out);
    Mask Going = 0;
    unsigned Sides = 0;
    for (uint32_t K = 0; K < R.NumTargets; ++K) {
      Going |= Out[K];
      Sides += Out[K] != 0;
    }
    // Lanes that returned leave every split below, too.
    if (Mask Gone = Top.Lanes & ~Going)
      for (Split &S : W.Splits)
        S.Lanes &= ~Gone;
    if (!Sides)
      continue;
    bool Long = false;
    if (Sides == 1) {
      for (uint32_t K = 0; K < R.NumTargets; ++K)
        if (Out[K]) {
          Long = loopsLong(W, Top.Region, R.Targets[K], Out[K]);
          Top.Region = R.Targets[K].Region;
          Top.Wait = R.Targets[K].Kind;
        }
    } else {
      const uint32_t Join = R.PostDominator;
      const Split Parent = Top;
      if (Join == NoRegion) { // the sides meet only outside the kernel
        W.Splits.erase(W.Splits.begin() + At);
      } else {
        Top.Region = Join;
        Top.Wait = EdgeKind::Plain;
      }
      for (uint32_t K = R.NumTargets; K-- > 0;)
        if (Out[K] && R.Targets[K].Region != Join)
          push(W, R.Targets[K].Region, R.Targets[K].Kind, Out[K],
               Parent.Scalars, Join == NoRegion ? Parent.Reconverge : Join);
      if (Join == NoRegion)
        W.freeScalars(Parent.Scalars);
    }
    if (Long)
      return Status::Yielded;
  }
}

} // namespace

std::unique_ptr<Policy> createPostDominator() {
  return std::make_unique<PostDominator>();
}

} // namespace reconverge::warpvm
