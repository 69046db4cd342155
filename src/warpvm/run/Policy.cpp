//===- warpvm/run/Policy.cpp - Which lanes run next, where they meet ------===//
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

#include "warpvm/run/Warp.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/xxhash.h"

#include <cstring>
#include <memory>

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

static uint64_t hashOf(const void *Data, size_t Bytes, uint64_t Before) {
  const llvm::ArrayRef<uint8_t> All(static_cast<const uint8_t *>(Data), Bytes);
  return mixed(Before, llvm::xxh3_64bits(All));
}

void Warp::forgetClocks() const {
  const unsigned Lanes = Plan->WarpSize;
  for (uint32_t I = 0; I < Plan->NumClocks;) {
    uint8_t *Part = Frame + Plan->Clocks[I];
    const uint32_t Bits = Plan->Clocks[I + 1], Regions = Plan->Clocks[I + 2];
    const llvm::ArrayRef<uint32_t> LiveIn(Plan->Clocks + I + 3, Regions);
    I += 3 + Regions;
    Mask Live = 0;
    for (const Split &S : Splits)
      if (llvm::is_contained(LiveIn, S.Region))
        Live |= S.Lanes;
    for (unsigned L = 0; L < Lanes; ++L) {
      if (Live >> L & 1)
        continue;
      if (Bits == 1)
        Part[L / 8] &= uint8_t(~(1u << L % 8));
      else
        std::memset(Part + size_t(L) * (Bits / 8), 0, Bits / 8);
    }
  }
}

uint64_t Warp::digest() const {
  if (Finished)
    return 1;
  uint64_t H = Apart + 2 * Blocked + 4 * Ran;
  if (Caller) {
    forgetClocks();
    H = hashOf(Frame, Plan->FrameBytes, H);
    H = hashOf(Local, uint64_t(Plan->LocalBytes) * Plan->WarpSize, H);
  } else { // the block looks at a kernel's frame itself
    WarpContext C;
    std::memcpy(&C, &Context, sizeof(C)); // padding is zeroed, as Block does
    C.Budget = 0;
    H = hashOf(&C, sizeof(C), H);
  }
  for (const Split &S : Splits) {
    const uint64_t Words[] = {S.Region, uint64_t(S.Wait), S.Deferred, S.Lanes,
                              S.Reconverge};
    H = hashOf(Words, sizeof(Words), H);
    H = hashOf(S.Scalars, 8 * Plan->NumScalars, H);
    if (S.Callee)
      H = mixed(H, S.Callee->digest());
  }
  for (llvm::ArrayRef<LoopState> Loop : Loops) {
    H = mixed(H, Loop.size());
    for (const LoopState &State : Loop) {
      const uint64_t Words[] = {State.Lanes, State.Rounds};
      H = hashOf(Words, sizeof(Words), H);
    }
  }
  return H;
}

void Policy::start(Warp &W, Mask Lanes) {
  for (Split &S : W.Splits)
    W.freeScalars(S.Scalars);
  W.Splits.clear();
  W.Apart = W.Finished = false;
  W.forgetLoops();
  W.Splits.push_back({0, EdgeKind::Plain, false, Lanes, W.newScalars()});
  if (W.Caller)
    return;
  W.Local = W.Context.Local;
  W.Context.Ended = 0;
}

// Too large for a stack that host threads share with the program.
Mask *outMasks() {
  thread_local const std::unique_ptr<Mask[]> Masks(new Mask[MaxTargets]);
  return Masks.get();
}

const RegionPlan &Policy::execute(Warp &W, const Split &S, Mask *Out) {
  const RegionPlan &R = W.Plan->Regions[S.Region];
  if (W.Plan->HasEarlyExit)
    W.Context.Exited = W.Context.Valid & ~W.alive();
  W.Root->Ran = true;
  R.Run(W.Frame, S.Scalars, &W.Context, S.Lanes, Out);
  return R;
}

bool Warp::spins(uint32_t Region, Mask Lanes) {
  if (Loops.size() <= Region)
    Loops.resize(Plan->NumRegions);
  auto &Loop = Loops[Region];
  if (Free) // lanes part all the time
    Lanes = Context.Valid;
  auto *Here = llvm::find_if(
      Loop, [&](const LoopState &State) { return State.Lanes == Lanes; });
  if (Here == Loop.end()) { // some have left, or met others
    llvm::erase_if(Loop,
                   [&](const LoopState &State) { return State.Lanes & Lanes; });
    Loop.push_back({Lanes, 0});
    Here = &Loop.back();
  }
  if (++Here->Rounds < BackEdgeLimit)
    return false;
  Here->Rounds = 0;
  return true;
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

//===----------------------------------------------------------------------===//
// Frontier
//===----------------------------------------------------------------------===//

namespace {

class Frontier : public Policy {
  std::optional<Status> step(Warp &W, bool &Force) override;
  void open(Warp &W, Mask Lanes) override;
  void returned(Warp &W, Warp &Callee, Status S) override;
  void call(Warp &W, Split &S);
  static bool runWhole(Warp &W, Mask *Out);
  static bool canRun(const Warp &W, const Split &S, bool Force);
  static Split *pick(Warp &W, bool &Force);
  static Split *pickFreely(Warp &W, Split *Natural);
  static Split *divide(Warp &W, Split *S);
  static Mask missing(const Warp &W, const Split &S);
  static void arrive(Warp &W, uint32_t Region, EdgeKind Wait, Mask Lanes,
                     uint64_t *Scalars);
  static void runApart(Warp &W);
  static void runTogether(Warp &W);
};

/// Lanes that some lane at \p S's collective names but that are not there.
Mask Frontier::missing(const Warp &W, const Split &S) {
  Mask Named = 0;
  for (Mask Left = S.Lanes; Left; Left &= Left - 1) {
    unsigned Lane = __builtin_ctzll(Left);
    Named |= (W.Context.SyncMask[Lane] & 0xffffffff) << (Lane & 32);
  }
  return Named & W.Root->alive() & ~W.Context.Ended & ~S.Lanes;
}

bool Frontier::canRun(const Warp &W, const Split &S, bool Force) {
  if (S.Wait == EdgeKind::Plain)
    return true;
  if (S.Wait == EdgeKind::Call)
    return !S.Callee || !S.Callee->Blocked;
  if (S.Wait != EdgeKind::Sync)
    return false;
  if (Force)
    return true;
  // Lanes that wait at another collective count as having come (__syncwarp in
  // both arms).
  const Mask Missing = missing(W, S);
  return !Missing || !(Missing & ~W.atCollectives());
}

/// The lowest region that can run and was not deferred, or the call before it.
/// Failing that, deferred ones are left for later, and a collective whose named
/// lanes can no longer come runs with those that are there (undefined in CUDA).
Split *Frontier::pick(Warp &W, bool &Force) {
  Split *Best = nullptr;
  for (bool Forced : {false, true}) {
    if (Forced && !Force)
      break;
    bool Deferred = false;
    for (Split &S : W.Splits) {
      Deferred |= S.Deferred;
      if (!S.Deferred && canRun(W, S, Forced) &&
          (!Best || S.Region < Best->Region ||
           (S.Region == Best->Region && S.Wait == EdgeKind::Call)))
        Best = &S;
    }
    if (Forced && Best)
      Force = false;
    if (Best || Deferred)
      return Best;
  }
  return nullptr;
}

/// Under a seed, any split may be next that CUDA lets run: mostly the natural
/// one all the same, or lanes would hardly ever meet again. A collective for
/// which lanes are missing keeps its natural place.
Split *Frontier::pickFreely(Warp &W, Split *Natural) {
  llvm::SmallVector<Split *, 8> Ready;
  for (Split &S : W.Splits)
    if (!S.Deferred && canRun(W, S, /*Force=*/false) &&
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
  if (Now && Part && Part != S->Lanes && !S->Callee &&
      !W.Plan->Regions[S->Region].Collective) {
    Split Rest = *S;
    Rest.Lanes &= ~Part;
    S->Lanes = Part;
    if (W.Apart) {
      Rest.Scalars = W.newScalars();
      std::memcpy(Rest.Scalars, S->Scalars, 8 * W.Plan->NumScalars);
    }
    W.Splits.push_back(Rest);
  }
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
    if (S.Wait != EdgeKind::Plain)
      return S.Wait != EdgeKind::Sync && S.Wait != EdgeKind::Call;
    if (S.Deferred)
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
    Split S = *Next;
    *Next = W.Splits.back();
    W.Splits.pop_back();
    // The running lanes must count as alive while the others are looked at.
    W.Splits.push_back(S);
    W.Running = W.Splits.size() - 1;
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

void Frontier::open(Warp &W, Mask Lanes) {
  auto Goes = [&](const Split &S) {
    return waitsAtBarrier(S.Wait) && S.Lanes & Lanes;
  };
  if (W.Splits.size() == 1 && Goes(W.Splits.front()) &&
      !(W.Splits.front().Lanes & ~Lanes)) {
    W.Splits.front().Wait = EdgeKind::Plain;
    return;
  }
  // A named barrier may let some lanes go on while others of the warp wait.
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
        return S.Wait == EdgeKind::NamedBarrier && !Goes(S);
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

//===----------------------------------------------------------------------===//
// PostDominator
//===----------------------------------------------------------------------===//

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

std::unique_ptr<Policy> Policy::create(PolicyKind Kind) {
  if (Kind == PolicyKind::Frontier)
    return std::make_unique<Frontier>();
  return std::make_unique<PostDominator>();
}

const char *Policy::name(PolicyKind Kind) {
  return Kind == PolicyKind::Frontier ? "frontier" : "ipdom";
}

} // namespace reconverge::warpvm
