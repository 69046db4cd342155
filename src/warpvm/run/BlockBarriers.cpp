//===- warpvm/run/BlockBarriers.cpp - Where threads of a block meet -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `__syncthreads` and its reductions open when every thread of the block that
// has not returned waits at one. CUDA wants it to be the same one for all.
// Hardware counts arrivals and does not ask where; so do we, as programs live
// by that (one on each side of a branch that warps take whole). Where
// everything is tested (MachineOptions::Check), threads that wait at different
// ones are a fault. "The same" is the same place in the source: the optimiser
// may have made several of one (a loop unrolled, a function inlined twice), so
// that copies of one place never count as different, and a barrier whose place
// was lost, or that the program wrote as PTX's unaligned `barrier.sync`, is
// never compared. A correct program is never accused; one that meets the same
// line in different rounds of a loop goes unnoticed.
//
// Named barriers (PTX, 16 a block) open when as many threads have come as those
// who wait ask for, whether they stay (`bar.sync`) or not (`bar.arrive`). A
// warp comes as a whole: its lanes that have returned count with the others.
// They are looked at after each warp's turn, so that threads that come after
// enough have come belong to the next round. Producers and consumers meet at
// them from different places, on purpose. The cluster's is in Cluster.cpp.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Cluster.h"

#include <cstring>

namespace reconverge::warpvm {

static Mask lanesOf(unsigned Count) {
  return Count >= 64 ? ~Mask(0) : (Mask(1) << Count) - 1;
}

/// Lanes of \p S that wait at barrier \p Named, number and count.
static Mask waitingAt(const Warp &W, const Split &S, uint32_t Named) {
  if (S.Wait != EdgeKind::NamedBarrier)
    return 0;
  Mask Lanes = 0;
  for (Mask Left = S.Lanes; Left; Left &= Left - 1) {
    const unsigned Lane = __builtin_ctzll(Left);
    if (W.Context.Barriers[Lane] == Named)
      Lanes |= Mask(1) << Lane;
  }
  return Lanes;
}

/// Lanes of \p S that wait for the whole block at its barrier 0.
static Mask waitingForBlock(const Warp &W, const Split &S) {
  if (S.Wait == EdgeKind::NamedBarrier)
    return waitingAt(W, S, 0);
  return waitsAtBarrier(S.Wait) && S.Wait != EdgeKind::ClusterBarrier ? S.Lanes
                                                                      : 0;
}

static bool samePlace(const RegionPlan &A, const RegionPlan &B) {
  return A.BarrierLine == B.BarrierLine && A.BarrierColumn == B.BarrierColumn &&
         (A.BarrierFile == B.BarrierFile ||
          !std::strcmp(A.BarrierFile, B.BarrierFile));
}

/// Opens the block's barrier if every lane that has not left waits at it, else
/// says why nobody here can ever go on: called when nobody can.
llvm::Error Block::openBarrier(Policy &P) {
  bool Reduces = false;
  const Warp *FirstWarp = nullptr, *OtherWarp = nullptr;
  const Split *First = nullptr, *Other = nullptr;
  const RegionPlan *Place = nullptr;
  for (const Warp &W : Warps) {
    Mask Waiting = 0;
    W.forEachSplit([&](const Warp &In, const Split &S) {
      Waiting |= waitingForBlock(In, S);
      Reduces |= S.Wait != EdgeKind::Barrier;
      const RegionPlan &R = In.Plan->Regions[S.Region];
      if (!L.ComparesBarriers || !waitsAtBarrier(S.Wait) || !R.BarrierLine)
        return;
      if (!First) {
        First = &S;
        FirstWarp = &In;
        Place = &R;
      } else if (Place != &R && !Other && !samePlace(*Place, R)) {
        Other = &S;
        OtherWarp = &In;
      }
    });
    if (Other)
      return metElsewhere(*FirstWarp, *First, *OtherWarp, *Other);
    const bool Whole = W.isWhole() && Waiting == W.Splits.front().Lanes;
    if (!Whole && (W.alive() & ~W.Context.Ended & ~Waiting))
      return stuckAtBarrier();
  }
  if (Races)
    Races->Clocks.meetAll();
  if (Reduces)
    reducePredicates();
  for (Warp &W : Warps)
    if (W.isWhole()) // what every policy's release comes to
      W.Splits.front().Wait = EdgeKind::Plain;
    else if (!W.Finished)
      P.release(W, ~Mask(0));
  return llvm::Error::success();
}

/// What bar.red gives: over the lanes that wait, in all warps.
void Block::reducePredicates() {
  uint64_t Here = 0, True = 0;
  for (const Warp &W : Warps)
    W.forEachSplit([&](const Warp &, const Split &S) {
      if (!waitsAtBarrier(S.Wait))
        return; // on their way out, or the stack's sums of others
      Here += __builtin_popcountll(S.Lanes);
      True += __builtin_popcountll(S.Lanes & W.Context.BarrierPredicate);
    });
  for (Warp &W : Warps) {
    W.forEachSplit([&](const Warp &, const Split &S) {
      if (S.Wait == EdgeKind::BarrierPopc)
        W.Context.BarrierResult = True;
      else if (S.Wait == EdgeKind::BarrierAnd)
        W.Context.BarrierResult = True == Here;
      else if (S.Wait == EdgeKind::BarrierOr)
        W.Context.BarrierResult = True != 0;
    });
    W.Context.BarrierPredicate = 0;
  }
}

/// Opens every named barrier to which enough threads have come.
bool Block::openNamedBarriers(Policy &P) {
  // Who waits at which, by number and count; few are in use at once.
  llvm::SmallVector<uint32_t, 4> InUse;
  for (const Warp &W : Warps)
    W.forEachSplit([&](const Warp &, const Split &S) {
      if (S.Wait == EdgeKind::NamedBarrier)
        for (Mask Left = S.Lanes; Left; Left &= Left - 1) {
          const uint32_t Named = W.Context.Barriers[__builtin_ctzll(Left)];
          if (Named && !llvm::is_contained(InUse, Named))
            InUse.push_back(Named);
        }
    });
  bool Any = false;
  for (uint32_t Named : InUse) {
    uint32_t &Passing = Arrived[barrierId(Named)];
    uint64_t Come = Passing;
    bool All = true;
    for (const Warp &W : Warps) {
      Mask Here = 0;
      W.forEachSplit([&](const Warp &In, const Split &S) {
        Here |= waitingAt(In, S, Named);
      });
      All &= !(W.alive() & ~Here);
      if (Here)
        Come += __builtin_popcountll(Here | (lanesOf(WarpSize) & ~W.alive()));
    }
    const uint32_t Count = barrierCount(Named);
    if (Count ? Come < Count : !All)
      continue;
    Passing = 0;
    Any = true;
    llvm::SmallVector<unsigned> Together; // the threads, if they matter
    for (Warp &W : Warps) {
      Mask Here = 0;
      W.forEachSplit([&](const Warp &In, const Split &S) {
        Here |= waitingAt(In, S, Named);
      });
      if (Here)
        P.release(W, Here);
      for (; Races && Here; Here &= Here - 1)
        Together.push_back(W.Context.WarpId * WarpSize + __builtin_ctzll(Here));
    }
    if (Races)
      Races->Clocks.meet(barrierId(Named), Together);
  }
  return Any;
}

void arriveAtBarriers(WarpContext *Context, Mask Lanes, const uint32_t *Named) {
  Block &B = *static_cast<Block *>(Context->Block);
  const Mask Gone = lanesOf(B.WarpSize) & ~B.Warps[Context->WarpId].alive();
  Mask Seen = 0; // barriers to which this warp's absent lanes have come
  for (Mask Left = Lanes; Left; Left &= Left - 1) {
    const unsigned Lane = __builtin_ctzll(Left);
    const uint32_t Id = barrierId(Named[Lane]);
    ++B.Arrived[Id];
    if (B.Races)
      B.Races->Clocks.arrive(Id, Context->WarpId * B.WarpSize + Lane);
    if (!(Seen >> Id & 1))
      B.Arrived[Id] += __builtin_popcountll(Gone & ~Lanes);
    Seen |= Mask(1) << Id;
  }
  B.UsesNamed = true;
}

//===----------------------------------------------------------------------===//
// The cluster's
//===----------------------------------------------------------------------===//

bool Block::hasArrived() const {
  return llvm::all_of(Warps, [](const Warp &W) {
    return W.Finished || !(W.alive() & ~W.Context.Ended & ~W.Context.AtCluster);
  });
}

void Block::leaveArrival() {
  for (Warp &W : Warps)
    W.Context.AtCluster = 0;
}

bool Block::waitsForCluster() const {
  bool Waits = false;
  for (const Warp &W : Warps)
    if (!W.Finished)
      W.forEachSplit([&](const Warp &, const Split &S) {
        Waits |= S.Wait == EdgeKind::ClusterBarrier;
      });
  return Waits;
}

/// Lets those go on who wait at the cluster's barrier and for whom it is open.
bool Block::leaveClusterBarrier(Policy &P) {
  auto Leave = [&] {
    bool Any = false;
    for (Warp &W : Warps) {
      Mask Free = 0;
      if (!W.Finished)
        W.forEachSplit([&](const Warp &, const Split &S) {
          if (S.Wait == EdgeKind::ClusterBarrier &&
              !(S.Lanes & W.Context.AtCluster))
            Free |= S.Lanes;
        });
      if (!Free)
        continue;
      Any = true;
      P.release(W, Free);
    }
    return Any;
  };
  return Leave() || (waitsForCluster() && Of.openBarrier() && Leave());
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

llvm::Error Block::metElsewhere(const Warp &W, const Split &S,
                                const Warp &Other, const Split &There) {
  const RegionPlan &A = W.Plan->Regions[S.Region],
                   &B = Other.Plan->Regions[There.Region];
  FaultGuard Guard;
  Guard.Kind = FaultKind::BarrierDivergence;
  Guard.Text = "__syncthreads() is met at different places: thread " +
               threadName(Other, __builtin_ctzll(There.Lanes)) + " waits at " +
               placeText(B.BarrierFile, B.BarrierLine);
  Guard.Place = placeText(A.BarrierFile, A.BarrierLine);
  Guard.Lanes = S.Lanes;
  return fault(Guard, W.Root);
}

/// Some lane waits at a barrier, and nobody can go on.
llvm::Error Block::stuckAtBarrier() {
  FaultGuard Guard;
  Guard.Kind = FaultKind::BarrierDivergence;
  Guard.Text = "__syncthreads() is not reached by all threads of the block";
  const Split *First = nullptr;
  const Warp *FirstIn = nullptr;
  for (const Warp &Each : Warps)
    Each.forEachSplit([&](const Warp &In, const Split &S) {
      if (First || !waitsAtBarrier(S.Wait))
        return;
      First = &S;
      FirstIn = &In;
    });
  if (!First)
    return fault(Guard, nullptr);
  const Warp &W = *FirstIn;
  const Split &S = *First;
  const uint32_t Named = W.Context.Barriers[__builtin_ctzll(S.Lanes)];
  if (S.Wait == EdgeKind::NamedBarrier && Named) {
    uint64_t Come = Arrived[barrierId(Named)];
    for (const Warp &Each : Warps)
      Each.forEachSplit([&](const Warp &In, const Split &Of) {
        Come += __builtin_popcountll(waitingAt(In, Of, Named));
      });
    Guard.Kind = FaultKind::Deadlock;
    Guard.Text =
        "barrier " + std::to_string(barrierId(Named)) + " waits for " +
        (barrierCount(Named) ? std::to_string(barrierCount(Named)) : "all") +
        " threads, " + std::to_string(Come) +
        " have come, and no other thread can go on";
  }
  const RegionPlan &R = W.Plan->Regions[S.Region];
  Guard.Place = placeText(R.BarrierFile, R.BarrierLine);
  Guard.Lanes = S.Lanes;
  return fault(Guard, W.Root);
}

} // namespace reconverge::warpvm
