//===- warpvm/run/Frontier.cpp - The nearest lanes run first --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The default policy. Regions are numbered in an order in which loops lie
// together (Regions.cpp). A split is a set of lanes that are at the same
// region. Of the splits that can run, the one whose region has the lowest
// number runs. Lanes that come to the same region merge into one split. Under a
// seed another split may run (pickFreely). For structured code this is
// reconvergence at the immediate post-dominator; where a `break` or `return`
// leaves a nested branch it is better, as in compiled code for recent GPUs:
// lanes meet at the join, not at the loop's exit. Code inside a fused region
// runs in the same order, so Tier::Fused and Tier::Blocks count the same warp
// executions.
//
// Progress. A loop in which lanes may wait for others never runs inside a
// region, so its back edges pass here. A split that goes round BackEdgeLimit
// times with the same lanes is deferred: splits further on run first (the
// lock's holder, say), and if only deferred splits could run, the warp yields
// to other warps and blocks. These have a turn every PauseLimit rounds as well:
// that changes nothing in the warp. Splits in other loops are never deferred, unless
// the launch has a step limit and it is reached; otherwise the two tiers would
// count differently. Splits that ran apart can hold different values in slots
// that the analysis proved uniform for lanes that run together, so from then on
// each split has its own scalars. Two splits merge only if all scalars that are
// live at the region (RegionPlan::LiveScalars) are equal. At every join that
// the analysis relied on the live scalars are equal, because a uniform value is
// a pure function of uniform values and a loop's counters are dead after the
// loop.
//
// Collectives. A split at a collective waits until all named lanes are there, or
// at another collective that names the same lanes. If they can no longer come,
// it runs with the lanes that are there (undefined in CUDA). Lanes that nobody
// waits for may overtake those that wait, go round a loop and join them from
// another round: code for such loops has no scalar for what differs from round
// to round (EmitKernel.cpp), or the two would hold different ones and not merge.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Policy.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <cstring>
#include <memory>

namespace reconverge::warpvm {

namespace {

class Frontier : public Policy {
  std::optional<Status> step(Warp &W, bool &Force) override;
  void open(Warp &W, Mask Lanes) override;
  void returned(Warp &W, Warp &Callee, Status S) override;
  void call(Warp &W, Split &S);
  static bool runWhole(Warp &W, Mask *Out);
  /// Who must have come to a collective before it runs.
  enum class Need { All, AllOfSome, Nobody };
  static bool canRun(const Warp &W, const Split &S, Need Of);
  static Split *pick(Warp &W, bool &Force);
  static Split *pickFreely(Warp &W, Split *Natural);
  static Split *letThrough(Warp &W, Split *S);
  static Split *leaveBehind(Warp &W, Split *S, Mask Lanes);
  static Split *divide(Warp &W, Split *S);
  static Mask missing(const Warp &W, const Split &S);
  static Mask complete(const Warp &W, const Split &S);
  static bool overtakes(const Warp &W, const Split &S);
  static void releaseOthers(Warp &W, const Split &S);
  static void arrive(Warp &W, uint32_t Region, EdgeKind Wait, Mask Lanes,
                     uint64_t *Scalars);
  static void runApart(Warp &W);
  static void runTogether(Warp &W);
};

/// The lanes that \p Lane names at the collective where it waits.
static Mask namedBy(const Warp &W, unsigned Lane) {
  return (W.Context.SyncMask[Lane] & 0xffffffff) << (Lane & 32);
}

/// Lanes that some lane at \p S's collective names but that are not there.
Mask Frontier::missing(const Warp &W, const Split &S) {
  const Mask Others = W.Root->alive() & ~W.Context.Ended & ~S.Lanes;
  if (!Others)
    return 0; // mostly: who is left is here, whoever is named
  Mask Named = 0;
  for (Mask Left = S.Lanes; Left; Left &= Left - 1)
    Named |= namedBy(W, __builtin_ctzll(Left));
  return Named & Others;
}

/// The lanes of \p S whose named ones are all there. Who waits for the same ones
/// at another collective counts as having come (__syncwarp in both arms).
Mask Frontier::complete(const Warp &W, const Split &S) {
  const Mask Missing = missing(W, S);
  if (!Missing)
    return S.Lanes;
  const Mask Waiting = Missing & W.atCollectives();
  Mask Complete = 0;
  for (Mask Left = S.Lanes; Left; Left &= Left - 1) {
    const Mask Named = namedBy(W, __builtin_ctzll(Left));
    Mask Absent = Named & Missing;
    for (Mask At = Absent & Waiting; At; At &= At - 1)
      if (namedBy(W, __builtin_ctzll(At)) == Named)
        Absent &= ~(At & -At);
    if (!Absent)
      Complete |= Left & -Left;
  }
  return Complete;
}

/// \p S, at a collective, goes through because others wait for the same lanes at
/// another: they have met there, and go through as well, whenever that is.
void Frontier::releaseOthers(Warp &W, const Split &S) {
  const Mask Met = missing(W, S);
  if (!Met)
    return;
  for (Split &Other : W.Splits)
    if (Other.Wait == EdgeKind::Sync && !(Other.Lanes & ~Met) &&
        complete(W, Other) == Other.Lanes)
      Other.Wait = EdgeKind::Plain;
}

/// \p S goes past lanes that wait. It may come to them again in another round
/// of a loop, and must not change the scalars of theirs.
bool Frontier::overtakes(const Warp &W, const Split &S) {
  return llvm::any_of(W.Splits, [&](const Split &Other) {
    return Other.Wait != EdgeKind::Plain && Other.Region <= S.Region &&
           &Other != &S;
  });
}

bool Frontier::canRun(const Warp &W, const Split &S, Need Of) {
  if (S.Wait == EdgeKind::Plain)
    return true;
  if (S.Wait == EdgeKind::Call)
    return !S.Callee || !S.Callee->Blocked;
  if (S.Wait != EdgeKind::Sync)
    return false;
  if (Of == Need::Nobody)
    return true;
  const Mask Complete = complete(W, S);
  return Of == Need::All ? Complete == S.Lanes : Complete != 0;
}

/// The lowest region that can run and was not deferred, or the call before it.
/// Failing that, a collective to which all lanes have come that some of its
/// lanes name. Failing that, deferred ones are left for later, and a collective
/// whose named lanes can no longer come runs with those that are there
/// (undefined in CUDA).
Split *Frontier::pick(Warp &W, bool &Force) {
  Split *Best = nullptr;
  for (Need Of : {Need::All, Need::AllOfSome, Need::Nobody}) {
    if (Of == Need::Nobody && !Force)
      break;
    bool Deferred = false;
    for (Split &S : W.Splits) {
      Deferred |= S.Deferred;
      if (!S.Deferred && canRun(W, S, Of) &&
          (!Best || S.Region < Best->Region ||
           (S.Region == Best->Region && S.Wait == EdgeKind::Call)))
        Best = &S;
    }
    if (Of == Need::Nobody && Best)
      Force = false;
    if (Best)
      return Best;
    if (Of == Need::AllOfSome && Deferred)
      return nullptr;
  }
  return nullptr;
}

/// Of a collective that some lanes can go through, leaves the others.
Split *Frontier::letThrough(Warp &W, Split *S) {
  if (S->Wait != EdgeKind::Sync)
    return S;
  const Mask Complete = complete(W, *S);
  return Complete ? leaveBehind(W, S, S->Lanes & ~Complete) : S;
}

/// Parts \p Lanes from \p S, for later.
Split *Frontier::leaveBehind(Warp &W, Split *S, Mask Lanes) {
  if (!Lanes)
    return S;
  const size_t At = S - W.Splits.begin();
  Split Rest = *S;
  Rest.Lanes = Lanes;
  S->Lanes &= ~Lanes;
  if (W.Apart) {
    Rest.Scalars = W.newScalars();
    std::memcpy(Rest.Scalars, S->Scalars, 8 * W.Plan->NumScalars);
  }
  W.Splits.push_back(Rest);
  return &W.Splits[At];
}

/// Under a seed, any split may be next that CUDA lets run: mostly the natural
/// one all the same, or lanes would hardly ever meet again. A collective for
/// which lanes are missing keeps its natural place.
Split *Frontier::pickFreely(Warp &W, Split *Natural) {
  llvm::SmallVector<Split *, 8> Ready;
  for (Split &S : W.Splits)
    if (!S.Deferred && canRun(W, S, Need::All) &&
        (S.Wait != EdgeKind::Sync || !missing(W, S)))
      Ready.push_back(&S);
  if (Ready.empty() || !(W.Free.reversed() || W.Free.oneIn(4)))
    return divide(W, Natural);
  if (!W.Free.reversed())
    return divide(W, Ready[W.Free.next() % Ready.size()]);
  return divide(W, *llvm::max_element(Ready, [](Split *A, Split *B) {
                  return A->Region < B->Region;
                }));
}

/// Leaves some lanes of \p S behind, now and then and always at the kernel's
/// entry: lanes of straight-line code may run apart, too. Returns the part to
/// run.
Split *Frontier::divide(Warp &W, Split *S) {
  const size_t At = S - W.Splits.begin();
  Mask Part = S->Lanes & W.Free.next();
  if (W.Free.reversed()) // the upper half of the lanes
    Part = S->Lanes & (~Mask(0) << W.Plan->WarpSize / 2);
  const bool Now = W.Free.oneIn(4) || S->Region == 0;
  if (Now && Part && !S->Callee && !W.Plan->Regions[S->Region].Collective)
    leaveBehind(W, S, S->Lanes & ~Part);
  runApart(W);
  return &W.Splits[At];
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
    if (S.Region != Region || S.Wait != Wait || S.Callee)
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
  W.Running = 0;
  for (;;) {
    const RegionPlan &R = W.Plan->Regions[S.Region];
    if (W.Plan->HasEarlyExit && !R.Returns)
      W.Context.Exited = W.Context.Valid & ~S.Lanes;
    W.Root->Ran = true;
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
    // Nobody is elsewhere for a collective to wait for, but in a call.
    const bool Stops = S.Deferred || W.wantsPause();
    if (S.Wait == EdgeKind::Sync && W.Root == &W && !Stops)
      continue;
    if (S.Wait != EdgeKind::Plain)
      return S.Wait != EdgeKind::Sync && S.Wait != EdgeKind::Call;
    if (Stops)
      return false;
  }
}

/// Begins the call that \p S waits for, or goes on with it.
void Frontier::call(Warp &W, Split &S) {
  Mask Rest = 0;
  W.Calling = S.Callee ? S.Callee : &begin(W, S, Rest);
  if (!Rest)
    return;
  Split Others = S;
  Others.Lanes = Rest;
  Others.Callee = nullptr;
  if (W.Apart) {
    Others.Scalars = W.newScalars();
    std::memcpy(Others.Scalars, S.Scalars, 8 * W.Plan->NumScalars);
  }
  W.Splits.push_back(Others);
}

void Frontier::returned(Warp &W, Warp &Callee, Status S) {
  Split &At = *llvm::find_if(
      W.Splits, [&](const Split &S) { return S.Callee == &Callee; });
  const Split Call = At;
  const Mask Left = S == Status::Done ? 0 : Callee.lanes();
  const Mask Back = Call.Lanes & ~Left & ~W.Context.Ended;
  if (Left) {
    At.Lanes = Left;
    At.Deferred = S == Status::Yielded;
  } else {
    At = W.Splits.back();
    W.Splits.pop_back();
  }
  if (Back)
    arrive(W, Call.Region, EdgeKind::Plain, Back, Call.Scalars);
  if (Left) {
    runApart(W); // some go ahead of others
    return;
  }
  if (llvm::none_of(W.Splits, [&](const Split &Other) {
        return Other.Scalars == Call.Scalars;
      }))
    W.freeScalars(Call.Scalars);
  runTogether(W);
}

std::optional<Status> Frontier::step(Warp &W, bool &Force) {
  Mask *const Out = outMasks();
  for (;;) {
    if (W.wantsPause()) {
      W.Tired = false;
      return Status::Paused;
    }
    if (W.Splits.size() == 1 && W.Splits.front().Wait == EdgeKind::Plain &&
        !W.Splits.front().Deferred && !W.Free && runWhole(W, Out))
      return W.Splits.empty() ? Status::Done : Status::Waiting;
    Split *Next = pick(W, Force);
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
    if (W.Free)
      Next = pickFreely(W, Next);
    if (Next->Wait == EdgeKind::Call) {
      call(W, *Next);
      return std::nullopt;
    }
    Next = letThrough(W, Next);
    W.Root->Forced = Next->Wait == EdgeKind::Sync && !complete(W, *Next);
    if (overtakes(W, *Next))
      runApart(W);
    if (Next->Wait == EdgeKind::Sync && !W.Root->Forced)
      releaseOthers(W, *Next);
    Split S = *Next;
    *Next = W.Splits.back();
    W.Splits.pop_back();
    // The running lanes must count as alive while the others are looked at.
    W.Splits.push_back(S);
    W.Running = W.Splits.size() - 1;
    const RegionPlan &R = execute(W, S, Out);
    W.Root->Forced = false;
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

void Frontier::open(Warp &W, Mask Lanes) {
  auto Goes = [&](const Split &S) {
    return waitsAtBarrier(S.Wait) && S.Lanes & Lanes;
  };
  if (W.Splits.size() == 1 && Goes(W.Splits.front()) &&
      !(W.Splits.front().Lanes & ~Lanes)) {
    W.Splits.front().Wait = EdgeKind::Plain;
    return;
  }
  // Named barriers, and the cluster's, may let some lanes go on while others of
  // the warp wait.
  for (size_t I = 0, N = W.Splits.size(); I < N; ++I) {
    Split Rest = W.Splits[I];
    Rest.Lanes &= ~Lanes;
    if (!Goes(W.Splits[I]) || !Rest.Lanes)
      continue;
    W.Splits[I].Lanes &= Lanes;
    if (W.Apart) {
      Rest.Scalars = W.newScalars();
      std::memcpy(Rest.Scalars, W.Splits[I].Scalars, 8 * W.Plan->NumScalars);
    }
    W.Splits.push_back(Rest);
  }
  if (llvm::any_of(W.Splits, [&](const Split &S) {
        return waitsAtBarrier(S.Wait) && !Goes(S);
      }))
    runApart(W);
  llvm::SmallVector<Split, 4> Waiting;
  std::swap(Waiting, W.Splits);
  for (const Split &S : Waiting) {
    if (!Goes(S)) {
      W.Splits.push_back(S);
      continue;
    }
    arrive(W, S.Region, EdgeKind::Plain, S.Lanes, S.Scalars);
    if (W.Apart)
      W.freeScalars(S.Scalars);
  }
  runTogether(W);
}

} // namespace

std::unique_ptr<Policy> createFrontier() {
  return std::make_unique<Frontier>();
}

} // namespace reconverge::warpvm
