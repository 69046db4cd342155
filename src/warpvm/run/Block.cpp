//===- warpvm/run/Block.cpp - One thread block on one CPU thread ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp runs until it meets a barrier, ends or yields. The barrier opens when
// every lane of the block that has not left waits at one. Warps that yield are
// tried again after the others; if nobody but them is left, the whole block
// yields, and the CPU thread may start another block in the meantime. So it may
// after many barriers: a block may wait for another in a loop with one. Where
// the rest waits at the cluster's barrier, other blocks of the cluster go on.
//
// A frame is not cleared: code reads no lane of a value that it has not written, and
// finds there what other blocks have left. To clear the frames of a launch, some
// hundred KB, can take longer than the launch. Local arrays are cleared, but for
// blocks that follow others in the same launch: a thread may read what it has not
// written.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Cluster.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace reconverge::warpvm {

/// Barriers that open, without the block's end, before others have a turn.
static constexpr unsigned BarrierLimit = 1 << 16;

static uint64_t roundUp(uint64_t X, uint64_t To) {
  return (X + To - 1) / To * To;
}

/// A warp's frame and its lanes' local memory.
static uint64_t privateBytes(const KernelPlan &Plan) {
  return roundUp(Plan.FrameBytes, 64) +
         roundUp(uint64_t(Plan.LocalBytes) * Plan.WarpSize, 64);
}

Block::Block(const LaunchContext &L, Cluster &Of, uint64_t Stride,
             uint8_t *Shared)
    : L(L), Of(Of), Plan(&L.plan()), WarpSize(Plan->WarpSize),
      Threads(L.threads()), Warps((Threads + WarpSize - 1) / WarpSize),
      Scalars(Warps.size() * Plan->NumScalars), Turns(Warps.size()),
      SharedBytes(Plan->StaticShared + L.Shape.DynamicShared),
      Memory(Shared ? 0 : SharedBytes, privateBytes(*Plan) * Warps.size()),
      SharedBase(Shared ? Shared : Memory.shared()) {
  if (!Memory)
    return;
  if (L.Races)
    Races = std::make_unique<BlockRaces>(*L.Races);
  if (L.TracksWrites)
    Writes = std::make_unique<BlockWrites>();
  std::iota(Turns.begin(), Turns.end(), 0);
  uint8_t *Base = Memory.privates();
  const uint64_t Frame = roundUp(Plan->FrameBytes, 64);
  const uint64_t Each = privateBytes(*Plan);
  const uint64_t Local = Each - Frame;
  uint32_t Index[3] = {0, 0, 0}; // of the next thread
  for (unsigned I = 0; I < Warps.size(); ++I) {
    Warp &W = Warps[I];
    W.Plan = Plan;
    W.Frame = Base + Each * I;
    W.freeScalars(Scalars.data() + size_t(I) * Plan->NumScalars);
    WarpContext &C = W.Context;
    std::memset(&C, 0, sizeof(C));
    C.Params = L.Params;
    C.Shared = SharedBase;
    C.Local = W.Frame + Frame;
    if (Local && !Memory.isZero())
      std::memset(C.Local, 0, Local);
    C.Globals = L.Globals;
    const unsigned Lanes = std::min(WarpSize, Threads - I * WarpSize);
    C.Valid = Lanes == 64 ? ~Mask(0) : (Mask(1) << Lanes) - 1;
    C.SharedBytes = SharedBytes;
    for (unsigned D = 0; D < 3; ++D) {
      C.BlockDim[D] = L.Shape.Block[D];
      C.GridDim[D] = L.Shape.Grid[D];
    }
    C.WarpId = I;
    C.LaneStep = 1;
    C.DynamicSharedBytes = L.Shape.DynamicShared;
    C.StaticSharedBytes = Plan->StaticShared;
    C.Block = this;
    C.Grid = L.Grid.get();
    C.Touched = &Touched;
    C.WarpSize = WarpSize;
    C.InCluster = L.Shape.Cluster[0] != 0;
    C.ClusterStride = Stride;
    // Thread indices stay the same from block to block.
    auto *Ids = reinterpret_cast<uint32_t *>(W.Frame);
    for (unsigned Lane = 0; Lane < WarpSize; ++Lane) {
      for (unsigned D = 0; D < 3; ++D)
        Ids[D * WarpSize + Lane] = Index[D];
      if (++Index[0] == L.Shape.Block[0]) {
        Index[0] = 0;
        if (++Index[1] == L.Shape.Block[1]) {
          Index[1] = 0;
          ++Index[2];
        }
      }
    }
  }
}

llvm::Expected<std::unique_ptr<Block>> Block::create(const LaunchContext &L,
                                                     Cluster &Of,
                                                     uint64_t Stride,
                                                     uint8_t *Shared) {
  std::unique_ptr<Block> B(new Block(L, Of, Stride, Shared));
  if (B->Memory)
    return B;
  const uint64_t Private = privateBytes(*B->Plan) * B->Warps.size();
  return llvm::make_error<FaultError>(
      FaultKind::OutOfMemory,
      "kernel " + llvm::demangle(L.Kernel) + ": a block of " +
          std::to_string(B->Threads) + " threads needs " +
          std::to_string(Private) +
          " bytes for its values and local arrays, and the system has not that "
          "many");
}

void Block::start(uint64_t LinearBlock, const Code &With, Policy &P,
                  uint64_t *Into, AccessCounts *Accesses, bool Vectors) {
  Linear = LinearBlock;
  Counters = Into;
  WithVectors = Vectors;
  Runs = &With;
  Plan = With.Plan;
  Divergent = 0;
  Round = 0;
  UsesNamed = UsesCluster = false;
  std::fill(std::begin(Arrived), std::end(Arrived), 0);
  Output.clear();
  Touched.clear();
  std::memset(SharedBase, 0, SharedBytes);
  if (Races)
    Races->start(Linear, Threads, SharedBase, SharedBytes, Of.shared());
  if (Writes) {
    Writes->start(SharedBase, SharedBytes, Memory.privates(),
                  privateBytes(*Plan) * Warps.size());
    if (uint8_t *Given = Writes->of(uint64_t(SharedBase + Plan->ReservedShared),
                                    Plan->ReservedSharedBytes))
      std::fill_n(Given, Plan->ReservedSharedBytes, 1);
  }
  if (With.Vectors) {
    const size_t Rows = size_t(Warps.size()) * Plan->NumBlocks * WarpSize;
    VectorRows.assign(Rows + 16, 0);
    VectorBase = reinterpret_cast<uint32_t *>(
        roundUp(reinterpret_cast<uintptr_t>(VectorRows.data()), 64));
  }
  const auto &Grid = L.Shape.Grid;
  for (unsigned I = 0; I < Warps.size(); ++I) {
    Warp &W = Warps[I];
    WarpContext &C = W.Context;
    W.Plan = Plan;
    C.BlockId[0] = Linear % Grid[0];
    C.BlockId[1] = Linear / Grid[0] % Grid[1];
    C.BlockId[2] = Linear / (uint64_t(Grid[0]) * Grid[1]);
    L.Clusters.place(C);
    C.Accesses = Accesses;
    C.Exited = 0;
    C.AtCluster = 0;
    C.HasSplit = 0;
    C.BarrierPredicate = 0;
    C.Budget = L.StepLimit ? int64_t(L.StepLimit) : INT64_MAX;
    const bool Partial = I + 1 == Warps.size() && Threads % WarpSize;
    C.Counters = Counters + (Partial ? Plan->NumCounters : 0);
    C.Vectors = With.Vectors
                    ? VectorBase + size_t(I) * Plan->NumBlocks * WarpSize
                    : nullptr;
    if (L.FreeSplits)
      W.Free = Choices(L.Seed, Linear * Warps.size() + I);
    P.start(W, C.Valid);
  }
}

/// Puts warps, and the lanes of each, in the order that the seed has for this
/// round.
void Block::shuffleTurns() {
  ++Round;
  if (L.Seed == ReverseOrder)
    std::iota(Turns.rbegin(), Turns.rend(), 0);
  else
    for (size_t N = Turns.size(); N > 1; --N)
      std::swap(Turns[N - 1],
                Turns[mixed(mixed(L.Seed, Linear), Round * N) % N]);
  for (Warp &W : Warps) {
    const uint64_t Seed =
        L.Seed == ReverseOrder
            ? L.Seed
            : mixed(mixed(L.Seed, Linear), Round << 8 | W.Context.WarpId) | 2;
    const auto [First, Step] = Order(WarpSize, Seed).firstAndStep();
    W.Context.LaneFirst = uint32_t(First);
    W.Context.LaneStep = uint32_t(Step);
  }
}

/// Every warp waits where a region begins, and frames are alike in all code: if
/// there is better code by now, the block goes on in it.
void Block::takeBetterCode() {
  if (Runs->By != Effort::Fast || !L.Running)
    return;
  L.Running();
  const Code &Now = L.code(WithVectors);
  auto InCall = [](const Warp &W) {
    return llvm::any_of(W.Splits, [](const Split &S) { return S.Callee; });
  };
  if (&Now == Runs || Now.Vectors != Runs->Vectors ||
      llvm::any_of(Warps, InCall))
    return;
  Runs = &Now;
  Plan = Now.Plan;
  for (Warp &W : Warps)
    W.Plan = Plan;
}

llvm::Expected<Status> Block::run(Policy &P, bool MayPause,
                                  llvm::function_ref<void()> AfterWarp) {
  FaultGuard Guard;
  Guard.Tolerant = L.Tolerant;
  // Volatile: read after a jump out of compiled code.
  Warp *volatile Acting = nullptr;
  FaultGuard *Outer = currentGuard();
  if (sigsetjmp(Guard.Landing, 0)) {
    currentGuard() = Outer;
    Warp *Faulting = Acting;
    if (!Faulting && Guard.Context)
      Faulting = &Warps[Guard.Context->WarpId];
    if (Faulting && Guard.HasAddress)
      replay(Guard, *Faulting);
    return fault(Guard, Faulting);
  }
  currentGuard() = &Guard;
  Status Result = Status::Done;
  for (unsigned Rounds = 0;; ++Rounds) {
    bool Yielded = false, Paused = false, Waiting = false, Opened = false;
    if (L.Seed != NaturalOrder)
      shuffleTurns();
    for (unsigned Turn : Turns) {
      Warp &W = Warps[Turn];
      if (W.Finished)
        continue;
      Acting = &W;
      W.Tired = false;
      W.MayPause = MayPause;
      switch (P.run(W)) {
      case Status::Done:
        W.Finished = true;
        Divergent += W.Context.HasSplit != 0;
        break;
      case Status::Waiting:
        Waiting = true;
        W.forEachSplit([&](const Warp &, const Split &S) {
          UsesNamed |= S.Wait == EdgeKind::NamedBarrier;
          UsesCluster |= S.Wait == EdgeKind::ClusterBarrier;
        });
        break;
      case Status::Yielded:
        Yielded = true;
        break;
      case Status::Paused:
        Paused = true;
        break;
      }
      Acting = nullptr;
      if (AfterWarp)
        AfterWarp();
      if (L.StepLimit && W.Context.Budget < 0)
        raiseStepLimit(W);
      // At once: whoever comes later waits for the next round.
      if (UsesNamed)
        Opened |= openNamedBarriers(P);
    }
    if (UsesCluster)
      Opened |= leaveClusterBarrier(P);
    if (Opened && Rounds < BarrierLimit)
      continue;
    if (Yielded || Rounds >= BarrierLimit) {
      Result = Status::Yielded;
      break;
    }
    if (Paused) {
      takeBetterCode();
      Result = Status::Paused;
      break;
    }
    if (!Waiting)
      break;
    if (UsesCluster && waitsForCluster()) {
      Result = Status::Waiting;
      break;
    }
    if (llvm::Error E = openBarrier(P)) {
      currentGuard() = Outer;
      return std::move(E);
    }
    takeBetterCode();
  }
  currentGuard() = Outer;
  return Result;
}

uint64_t Block::digest() const {
  auto Add = [](uint64_t H, const void *Data, uint64_t Bytes) {
    return mixed(H, llvm::xxh3_64bits(llvm::ArrayRef(
                        static_cast<const uint8_t *>(Data), Bytes)));
  };
  for (const Warp &W : Warps)
    if (!W.Finished)
      W.forgetClocks();
  uint64_t H = Add(0, SharedBase, SharedBytes);
  H = Add(H, Memory.privates(), privateBytes(*Plan) * Warps.size());
  H = Add(H, Arrived, sizeof(Arrived));
  for (const Warp &W : Warps)
    H = mixed(H, W.digest());
  return H;
}

std::vector<uint32_t> Block::takeVectors() const {
  std::vector<uint32_t> Rows(size_t(Threads) * Plan->NumBlocks);
  for (unsigned T = 0; T < Threads; ++T) {
    const uint32_t *Warp =
        VectorBase + size_t(T / WarpSize) * Plan->NumBlocks * WarpSize;
    for (uint32_t B = 0; B < Plan->NumBlocks; ++B)
      Rows[size_t(T) * Plan->NumBlocks + B] =
          Warp[size_t(B) * WarpSize + T % WarpSize];
  }
  return Rows;
}

} // namespace reconverge::warpvm
