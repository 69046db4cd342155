//===- warpvm/Block.cpp - One thread block on one CPU thread --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp runs until it meets a barrier, ends or yields. The barrier opens when
// every lane of the block that has not left waits at one. Warps that yield are
// tried again after the others; if nobody but them is left, the whole block
// yields, and the CPU thread may start another block in the meantime.
//
//===----------------------------------------------------------------------===//

#include "warpvm/Block.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace reconverge::warpvm {

static uint64_t roundUp(uint64_t X, uint64_t To) {
  return (X + To - 1) / To * To;
}

/// A warp's frame and its lanes' local memory.
static uint64_t privateBytes(const KernelPlan &Plan) {
  return roundUp(Plan.FrameBytes, 64) +
         roundUp(uint64_t(Plan.LocalBytes) * Plan.WarpSize, 64);
}

Block::Block(const LaunchContext &L)
    : L(L), Plan(L.Plan), WarpSize(L.Plan->WarpSize), Threads(L.threads()),
      Warps((Threads + WarpSize - 1) / WarpSize),
      SharedBytes(L.Plan->StaticShared + L.Shape.DynamicShared),
      Memory(SharedBytes, privateBytes(*L.Plan) * Warps.size()),
      SharedBase(Memory.shared()) {
  uint8_t *Base = Memory.privates();
  const uint64_t Frame = roundUp(Plan->FrameBytes, 64);
  const uint64_t Stride = privateBytes(*Plan);
  std::memset(Base, 0, Stride * Warps.size());
  for (unsigned I = 0; I < Warps.size(); ++I) {
    Warp &W = Warps[I];
    W.Plan = Plan;
    W.Frame = Base + Stride * I;
    WarpContext &C = W.Context;
    std::memset(&C, 0, sizeof(C));
    C.Params = L.Params;
    C.Shared = SharedBase;
    C.Local = W.Frame + Frame;
    C.Globals = L.Globals;
    const unsigned Lanes = std::min(WarpSize, Threads - I * WarpSize);
    C.Valid = Lanes == 64 ? ~Mask(0) : (Mask(1) << Lanes) - 1;
    C.SharedBytes = SharedBytes;
    for (unsigned D = 0; D < 3; ++D) {
      C.BlockDim[D] = L.Shape.Block[D];
      C.GridDim[D] = L.Shape.Grid[D];
    }
    C.WarpId = I;
    C.DynamicSharedBytes = L.Shape.DynamicShared;
    C.StaticSharedBytes = Plan->StaticShared;
    C.Block = this;
    // Thread indices stay the same from block to block.
    auto *Ids = reinterpret_cast<uint32_t *>(W.Frame);
    for (unsigned Lane = 0; Lane < WarpSize; ++Lane) {
      const unsigned T = I * WarpSize + Lane;
      Ids[Lane] = T % L.Shape.Block[0];
      Ids[WarpSize + Lane] = T / L.Shape.Block[0] % L.Shape.Block[1];
      Ids[2 * WarpSize + Lane] = T / (L.Shape.Block[0] * L.Shape.Block[1]);
    }
  }
}

void Block::start(uint64_t LinearBlock, Policy &P, uint64_t *Into,
                  bool Vectors) {
  Linear = LinearBlock;
  Counters = Into;
  WithVectors = Vectors;
  Plan = Vectors ? L.VectorPlan : L.Plan;
  Divergent = 0;
  Output.clear();
  std::memset(SharedBase, 0, SharedBytes);
  if (Vectors) {
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
    C.Exited = 0;
    C.HasSplit = 0;
    C.BarrierPredicate = 0;
    C.Budget = L.StepLimit ? int64_t(L.StepLimit) : INT64_MAX;
    const bool Partial = I + 1 == Warps.size() && Threads % WarpSize;
    C.Counters = Counters + (Partial ? Plan->NumCounters : 0);
    C.Vectors =
        Vectors ? VectorBase + size_t(I) * Plan->NumBlocks * WarpSize : nullptr;
    P.start(W, C.Valid);
  }
}

llvm::Expected<Status> Block::run(Policy &P) {
  FaultGuard Guard;
  // Volatile: read after a jump out of compiled code.
  Warp *volatile Running = nullptr;
  FaultGuard *Outer = currentGuard();
  if (sigsetjmp(Guard.Landing, 0)) {
    currentGuard() = Outer;
    return fault(Guard, Running);
  }
  currentGuard() = &Guard;
  Status Result = Status::Done;
  for (;;) {
    bool Yielded = false, Waiting = false;
    for (unsigned N = 0; N < Warps.size(); ++N) {
      // A seed changes the order in which warps take their turns.
      Warp &W = Warps[(N + L.Seed) % Warps.size()];
      if (W.Finished)
        continue;
      Running = &W;
      switch (P.run(W)) {
      case Status::Done:
        W.Finished = true;
        Divergent += W.Context.HasSplit != 0;
        break;
      case Status::Waiting:
        Waiting = true;
        break;
      case Status::Yielded:
        Yielded = true;
        break;
      }
      Running = nullptr;
      if (L.StepLimit && W.Context.Budget < 0)
        raiseFault(FaultKind::StepLimit, "a loop went past the step limit",
                   &W.Context);
    }
    if (Yielded) {
      Result = Status::Yielded;
      break;
    }
    if (!Waiting)
      break;
    if (!releaseBarrier(P)) {
      currentGuard() = Outer;
      Guard.Kind = FaultKind::BarrierDivergence;
      Guard.Text = "__syncthreads() is not reached by all threads of the block";
      for (Warp &W : Warps)
        if (!W.Finished)
          return fault(Guard, &W);
    }
  }
  currentGuard() = Outer;
  return Result;
}

/// Opens the barrier if every lane that has not left waits at it.
bool Block::releaseBarrier(Policy &P) {
  bool Reduces = false;
  for (const Warp &W : Warps) {
    Mask Waiting = 0;
    for (const Split &S : W.Splits) {
      if (S.Wait != EdgeKind::Plain && S.Wait != EdgeKind::Sync)
        Waiting |= S.Lanes;
      Reduces |= S.Wait != EdgeKind::Barrier;
    }
    if (W.Splits.size() != 1 ? W.alive() & ~Waiting : !Waiting)
      return false;
  }
  if (Reduces)
    reducePredicates();
  for (Warp &W : Warps)
    if (!W.Finished)
      P.release(W);
  return true;
}

/// What bar.red gives: over the lanes that wait, in all warps.
void Block::reducePredicates() {
  uint64_t Arrived = 0, True = 0;
  for (const Warp &W : Warps)
    for (const Split &S : W.Splits) {
      if (S.Wait == EdgeKind::Plain || S.Wait == EdgeKind::Sync)
        continue; // on their way out, or the stack's sums of others
      Arrived += __builtin_popcountll(S.Lanes);
      True += __builtin_popcountll(S.Lanes & W.Context.BarrierPredicate);
    }
  for (Warp &W : Warps) {
    for (const Split &S : W.Splits)
      if (S.Wait == EdgeKind::BarrierPopc)
        W.Context.BarrierResult = True;
      else if (S.Wait == EdgeKind::BarrierAnd)
        W.Context.BarrierResult = True == Arrived;
      else if (S.Wait == EdgeKind::BarrierOr)
        W.Context.BarrierResult = True != 0;
    W.Context.BarrierPredicate = 0;
  }
}

llvm::Error Block::fault(const FaultGuard &Guard, const Warp *W) {
  std::string Place;
  if (W && !W->Splits.empty()) {
    const RegionPlan &R = Plan->Regions[W->Splits.back().Region];
    if (R.Line)
      Place = std::string(R.File) + ":" + std::to_string(R.Line) + ": ";
  }
  std::string Message = "kernel " + L.Kernel + ": " + Guard.Text;
  if (Guard.HasAddress)
    Message += "an access to address 0x" +
               llvm::utohexstr(Guard.Address, /*LowerCase=*/true) +
               ", which no allocation holds";
  if (W) {
    const WarpContext &C = W->Context;
    auto Triple = [](const uint32_t *X) {
      return "(" + std::to_string(X[0]) + "," + std::to_string(X[1]) + "," +
             std::to_string(X[2]) + ")";
    };
    Message += "\n  in block " + Triple(C.BlockId) + ", warp " +
               std::to_string(C.WarpId);
    if (!Place.empty())
      Message +=
          ", in the code that begins at " + Place.substr(0, Place.size() - 2);
  }
  return llvm::make_error<FaultError>(Guard.Kind, Message);
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

void printFromBlock(WarpContext *Context, const std::string &Text) {
  static_cast<Block *>(Context->Block)->output() += Text;
}

} // namespace reconverge::warpvm
