//===- warpvm/Policy.cpp - Which lanes run next, where they meet ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frontier (the default). Regions are numbered in an order in which loops lie
// together (Regions.cpp). The split with the lowest number runs; lanes that
// come to the same region merge at once. For structured code that is
// reconvergence at the immediate post-dominator; where a `break` or `return`
// leaves a nested branch it is better, as in compiled code for recent GPUs:
// lanes meet at the join, not at the loop's exit. It is also exactly what fused
// regions do inside, so that both tiers count the same warp executions.
//
// Progress. A loop in which lanes may wait for others never runs inside a
// region, so its back edges pass here. A split that goes round BackEdgeLimit
// times with the same lanes is deferred: splits further on run first (the
// lock's holder, say), and if all are deferred the warp yields to other warps
// and blocks. Other loops go on however long they take, or the tiers would
// count differently. Splits that ran apart can hold different values in slots
// that the analysis proved uniform for lanes that run together, so from then on
// each has scalars of its own, and two merge only where those agree that
// someone may yet read (RegionPlan::LiveScalars). They do at any join that the
// analysis relied on, as uniform values are pure functions of uniform ones; a
// loop's own counters are dead behind it.
//
// PostDominator. The classic stack: at a split the two sides run one after the
// other to the branch's immediate post-dominator. No progress between lanes of
// a warp, as on GPUs before Volta: a barrier for which lanes wait on one side
// while others are held up at the join is a fault. Splits that hold no lanes of
// one another (sides that meet nowhere) may pass each other, and lanes at a
// collective go through it last, together. It needs a region a block
// (Tier::Blocks).
//
//===----------------------------------------------------------------------===//

#include "warpvm/Warp.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <cstring>

namespace reconverge::warpvm {

uint64_t *Warp::newScalars() {
  if (Spare.empty()) {
    Owned.push_back(std::make_unique<uint64_t[]>(Plan->NumScalars));
    return Owned.back().get();
  }
  uint64_t *S = Spare.back();
  Spare.pop_back();
  return S;
}

Mask Warp::alive() const {
  Mask Alive = 0;
  for (const Split &S : Splits)
    if (!Plan->Regions[S.Region].Returns)
      Alive |= S.Lanes;
  return Alive;
}

void Policy::start(Warp &W, Mask Lanes) {
  for (Split &S : W.Splits)
    W.freeScalars(S.Scalars);
  W.Splits.clear();
  W.Apart = W.Finished = false;
  W.forgetLoops();
  W.Splits.push_back({0, EdgeKind::Plain, false, Lanes, W.newScalars()});
}

const RegionPlan &Policy::execute(Warp &W, const Split &S, Mask *Out) {
  const RegionPlan &R = W.Plan->Regions[S.Region];
  if (W.Plan->HasEarlyExit)
    W.Context.Exited = W.Context.Valid & ~W.alive();
  R.Run(W.Frame, S.Scalars, &W.Context, S.Lanes, Out);
  return R;
}

bool Warp::spins(uint32_t Region, Mask Lanes) {
  if (Loops.size() <= Region)
    Loops.resize(Plan->NumRegions);
  LoopState &L = Loops[Region];
  if (L.Lanes != Lanes) {
    L.Lanes = Lanes;
    L.Rounds = 0;
  }
  if (++L.Rounds < BackEdgeLimit)
    return false;
  L.Rounds = 0;
  return true;
}

bool Policy::loopsLong(Warp &W, uint32_t From, const Target &To, Mask Lanes) {
  const bool MayWait = W.Plan->Regions[To.Region].MayWait;
  if (To.Region > From) {
    if (MayWait)
      W.entersLoop(To.Region);
    return false;
  }
  return --W.Context.Budget < 0 || (MayWait && W.spins(To.Region, Lanes));
}

//===----------------------------------------------------------------------===//
// Frontier
//===----------------------------------------------------------------------===//

namespace {

class Frontier : public Policy {
public:
  Status run(Warp &W) override;
  void release(Warp &W) override;

private:
  static bool runWhole(Warp &W, Mask *Out);
  static bool canRun(const Warp &W, const Split &S, bool Force);
  static Split *pick(Warp &W);
  static void arrive(Warp &W, uint32_t Region, EdgeKind Wait, Mask Lanes,
                     uint64_t *Scalars);
  static void runApart(Warp &W);
  static void runTogether(Warp &W);
};

bool Frontier::canRun(const Warp &W, const Split &S, bool Force) {
  if (S.Wait == EdgeKind::Plain)
    return true;
  if (S.Wait != EdgeKind::Sync)
    return false;
  if (Force)
    return true;
  // Lanes that some lane here names but that are not here. Lanes that wait at
  // another collective count as having come (__syncwarp in both arms).
  Mask Named = 0;
  for (Mask Left = S.Lanes; Left; Left &= Left - 1) {
    unsigned Lane = __builtin_ctzll(Left);
    Named |= (W.Context.SyncMask[Lane] & 0xffffffff) << (Lane & 32);
  }
  Mask Missing = Named & W.alive() & ~S.Lanes;
  for (const Split &Other : W.Splits)
    if (Other.Wait == EdgeKind::Sync)
      Missing &= ~Other.Lanes;
  return !Missing;
}

/// The lowest region that can run and was not deferred; failing that, deferred
/// ones are left for later, and a collective whose named lanes can no longer
/// come runs with those that are there (undefined in CUDA).
Split *Frontier::pick(Warp &W) {
  Split *Best = nullptr;
  for (bool Force : {false, true}) {
    bool Deferred = false;
    for (Split &S : W.Splits) {
      Deferred |= S.Deferred;
      if (!S.Deferred && canRun(W, S, Force) &&
          (!Best || S.Region < Best->Region))
        Best = &S;
    }
    if (Best || Deferred)
      return Best;
  }
  return nullptr;
}

/// What lanes bring to \p R, and may read, is the same for both.
static bool agree(const RegionPlan &R, const uint64_t *A, const uint64_t *B) {
  return llvm::all_of(llvm::ArrayRef(R.LiveScalars, R.NumLiveScalars),
                      [&](uint32_t I) { return A[I] == B[I]; });
}

void Frontier::arrive(Warp &W, uint32_t Region, EdgeKind Wait, Mask Lanes,
                      uint64_t *Scalars) {
  const RegionPlan &R = W.Plan->Regions[Region];
  for (Split &S : W.Splits) {
    if (S.Region != Region || S.Wait != Wait)
      continue;
    if (S.Scalars != Scalars && !agree(R, S.Scalars, Scalars))
      continue;
    S.Lanes |= Lanes;
    return;
  }
  uint64_t *Own = Scalars;
  if (W.Apart) {
    Own = W.newScalars();
    std::memcpy(Own, Scalars, 8 * W.Plan->NumScalars);
  }
  W.Splits.push_back({Region, Wait, false, Lanes, Own});
}

void Frontier::runApart(Warp &W) {
  if (W.Apart || W.Splits.size() < 2)
    return;
  W.Apart = true;
  for (Split &S : llvm::drop_begin(W.Splits)) {
    uint64_t *Own = W.newScalars();
    std::memcpy(Own, S.Scalars, 8 * W.Plan->NumScalars);
    S.Scalars = Own;
  }
}

void Frontier::runTogether(Warp &W) {
  if (W.Splits.size() == 1)
    W.Apart = false;
}

/// The common case, and the fast one: all lanes that are left are together and
/// stay so. Runs them until they part, wait, end or have looped long; true if
/// they wait at a barrier or have ended.
bool Frontier::runWhole(Warp &W, Mask *Out) {
  Split &S = W.Splits.front();
  for (;;) {
    const RegionPlan &R = W.Plan->Regions[S.Region];
    if (!R.Returns)
      W.Context.Exited = W.Context.Valid & ~S.Lanes;
    R.Run(W.Frame, S.Scalars, &W.Context, S.Lanes, Out);
    const Target *Only = nullptr;
    unsigned Sides = 0;
    for (uint32_t K = 0; K < R.NumTargets; ++K)
      if (Out[K]) {
        ++Sides;
        Only = &R.Targets[K];
      }
    if (Sides == 0) {
      W.freeScalars(S.Scalars);
      W.Splits.clear();
      return true;
    }
    if (Sides > 1) {
      Split From = S;
      W.Splits.clear();
      for (uint32_t K = 0; K < R.NumTargets; ++K)
        if (Out[K])
          arrive(W, R.Targets[K].Region, R.Targets[K].Kind, Out[K],
                 From.Scalars);
      return false;
    }
    S.Lanes = Out[Only - R.Targets];
    S.Deferred = loopsLong(W, S.Region, *Only, S.Lanes);
    S.Region = Only->Region;
    S.Wait = Only->Kind;
    if (S.Wait != EdgeKind::Plain)
      return S.Wait != EdgeKind::Sync;
    if (S.Deferred)
      return false;
  }
}

Status Frontier::run(Warp &W) {
  Mask Out[MaxTargets];
  for (;;) {
    if (W.Splits.size() == 1 && W.Splits.front().Wait == EdgeKind::Plain &&
        !W.Splits.front().Deferred && runWhole(W, Out))
      return W.Splits.empty() ? Status::Done : Status::Waiting;
    Split *Next = pick(W);
    if (!Next) {
      if (W.Splits.empty())
        return Status::Done;
      bool Deferred = false;
      for (Split &S : W.Splits) {
        Deferred |= S.Deferred;
        S.Deferred = false;
      }
      return Deferred ? Status::Yielded : Status::Waiting;
    }
    Split S = *Next;
    *Next = W.Splits.back();
    W.Splits.pop_back();
    // The running lanes must count as alive while the others are looked at.
    W.Splits.push_back(S);
    const RegionPlan &R = execute(W, S, Out);
    W.Splits.pop_back();
    for (uint32_t K = 0; K < R.NumTargets; ++K) {
      if (!Out[K])
        continue;
      const Target &T = R.Targets[K];
      arrive(W, T.Region, T.Kind, Out[K], S.Scalars);
      if (loopsLong(W, S.Region, T, Out[K])) {
        runApart(W);
        for (Split &Looping : W.Splits)
          if (Looping.Region == T.Region && Looping.Lanes & Out[K])
            Looping.Deferred = true;
      }
    }
    bool Shared = false;
    for (const Split &Other : W.Splits)
      Shared |= Other.Scalars == S.Scalars;
    if (!Shared)
      W.freeScalars(S.Scalars);
    runTogether(W);
  }
}

void Frontier::release(Warp &W) {
  if (W.Splits.size() == 1) {
    W.Splits.front().Wait = EdgeKind::Plain;
    return;
  }
  llvm::SmallVector<Split, 4> Waiting;
  std::swap(Waiting, W.Splits);
  for (const Split &S : Waiting) {
    if (S.Wait == EdgeKind::Sync || S.Wait == EdgeKind::Plain) {
      W.Splits.push_back(S);
      continue;
    }
    arrive(W, S.Region, EdgeKind::Plain, S.Lanes, S.Scalars);
    if (W.Apart)
      W.freeScalars(S.Scalars);
  }
  runTogether(W);
}

//===----------------------------------------------------------------------===//
// PostDominator
//===----------------------------------------------------------------------===//

/// Splits is the stack, its top at the back. A split waits for those above it
/// that hold lanes of its own; the topmost without such can go on.
class PostDominator : public Policy {
public:
  Status run(Warp &W) override;
  void release(Warp &W) override {
    for (Split &S : W.Splits)
      if (S.Wait != EdgeKind::Sync)
        S.Wait = EdgeKind::Plain;
  }

private:
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
    if (S.Wait == EdgeKind::Plain)
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

Status PostDominator::run(Warp &W) {
  Mask Out[MaxTargets];
  for (;;) {
    if (W.Splits.empty())
      return Status::Done;
    const size_t At = pick(W);
    if (At == W.Splits.size())
      return Status::Waiting;
    Split &Top = W.Splits[At];
    if (!Top.Lanes || Top.Region == Top.Reconverge) {
      leave(W, At);
      continue;
    }
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

std::unique_ptr<Policy> Policy::create(PolicyKind Kind) {
  if (Kind == PolicyKind::Frontier)
    return std::make_unique<Frontier>();
  return std::make_unique<PostDominator>();
}

const char *Policy::name(PolicyKind Kind) {
  return Kind == PolicyKind::Frontier ? "frontier" : "ipdom";
}

} // namespace reconverge::warpvm
