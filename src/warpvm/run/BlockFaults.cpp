//===- warpvm/run/BlockFaults.cpp - What a thread block did wrong ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A wild access is caught by its signal, out of the middle of a region: the
// address is known, but neither the lane nor the line. So the region is run
// again in checked code (EmitCheck.cpp), which tests each access first and says
// all there is to say:
//
//   signal -> siglongjmp to Block::run -> replay(): the running split's region,
//             checked, same frame, scalars and mask -> rcvm_check raises
//
// The frame may be entered twice because a region reads of it only what others
// left there: its own PHIs' slots are written last, as it ends, and any other
// slot of its own is written before it is read. Memory is not set back: what
// the first run stored is there already when the second comes by, and a region
// whose course depends on what it has itself overwritten may take another one.
// Then the replay ends without a fault, or at its limit of rounds, and what the
// signal told is all that is said.
//
//===----------------------------------------------------------------------===//

#include "warpvm/memory/DeviceMemory.h"
#include "warpvm/run/Block.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"

namespace reconverge::warpvm {

/// Rounds of loops that a replay may take; what faulted within seconds can be
/// found within a minute.
static constexpr int64_t ReplayRounds = int64_t(1) << 24;

CheckedMemory memoryOf(const WarpContext *C) {
  const Block &B = *static_cast<const Block *>(C->Block);
  CheckedMemory M;
  M.Shared = C->Shared;
  M.SharedBytes = C->SharedBytes;
  for (const Warp *W = B.Warps[C->WarpId].Inside; W; W = W->Caller)
    M.Local.push_back({W->Local, W->Plan->LocalBytes});
  M.Params = C->Params;
  M.ParamBytes = B.L.ParamBytes;
  M.Grid = B.L.Grid.get();
  M.ClusterStride = C->ClusterStride;
  M.ClusterBase = uint64_t(C->Shared) - C->ClusterRank * C->ClusterStride;
  M.ClusterBlocks = C->ClusterBlocks;
  M.WarpSize = B.WarpSize;
  M.OwnMemory = B.L.OwnMemory;
  M.Tolerant = B.L.Tolerant;
  M.Replay = B.Replaying;
  M.Suspect = B.Suspect;
  return M;
}

void printFromBlock(WarpContext *Context, const std::string &Text) {
  static_cast<Block *>(Context->Block)->output() += Text;
}

/// Finds out who made the access that \p Guard caught, and where. False if it
/// does not happen again.
bool Block::replay(FaultGuard &Guard, Warp &Kernel) {
  Warp &W = *Kernel.Inside;
  if (!L.Checked || W.Running >= W.Splits.size())
    return false;
  const KernelPlan *Checked = L.Checked();
  if (Checked)
    Checked = Checked->Family[W.Plan->Index];
  if (!Checked)
    return false;
  const Split S = W.Splits[W.Running];
  FaultGuard *const Outer = currentGuard();
  FaultGuard Again;
  Again.Tolerant = L.Tolerant;
  Replaying = true;
  Suspect = Guard.Address;
  W.Context.Budget = ReplayRounds;
  if (!sigsetjmp(Again.Landing, 0)) {
    currentGuard() = &Again;
    Checked->Regions[S.Region].Run(W.Frame, S.Scalars, &W.Context, S.Lanes,
                                   outMasks());
    currentGuard() = Outer;
    Replaying = false;
    return false;
  }
  currentGuard() = Outer;
  Replaying = false;
  if (Again.HasAddress || Again.Kind == FaultKind::StepLimit)
    return false;
  Guard.Kind = Again.Kind;
  Guard.Text = std::move(Again.Text);
  Guard.Place = std::move(Again.Place);
  Guard.Lanes = Again.Lanes;
  Guard.HasAddress = false;
  return true;
}

/// Lanes of \p W that have not returned, in a loop if \p Spins; they become
/// what runs. Null if there are none.
const Split *Block::waiting(Warp &W, bool Spins) {
  for (Warp *In : W.withCalls())
    for (auto [I, S] : llvm::enumerate(In->Splits)) {
      const RegionPlan &R = In->Plan->Regions[S.Region];
      if (R.Returns || S.Callee || (Spins && !R.MayWait))
        continue;
      W.Inside = In;
      In->Running = I;
      return &S;
    }
  return nullptr;
}

void Block::raiseStepLimit(Warp &W) {
  const Split *S = waiting(W, /*Spins=*/true);
  const RegionPlan *R = S ? &W.Inside->Plan->Regions[S->Region] : nullptr;
  raiseFault(FaultKind::StepLimit, "a loop went past the step limit",
             &W.Context, S ? S->Lanes : 0,
             R ? placeText(R->File, R->Line) : "");
}

llvm::Error Block::deadlock() {
  FaultGuard Guard;
  Guard.Kind = FaultKind::Deadlock;
  Guard.Text = "deadlock: every thread that is left waits for what no other "
               "will do";
  // Of those that wait, best one that spins.
  for (bool Spins : {true, false})
    for (Warp &W : Warps)
      if (const Split *S = waiting(W, Spins)) {
        Guard.Lanes = S->Lanes;
        return fault(Guard, &W);
      }
  return fault(Guard, nullptr);
}

static std::string textOf(const std::array<uint32_t, 3> &I) {
  return "(" + std::to_string(I[0]) + "," + std::to_string(I[1]) + "," +
         std::to_string(I[2]) + ")";
}

/// threadIdx of a lane.
std::array<uint32_t, 3> Block::threadIndex(const Warp &W, unsigned Lane) const {
  auto *Ids = reinterpret_cast<const uint32_t *>(W.Frame);
  return {Ids[Lane], Ids[WarpSize + Lane], Ids[2 * WarpSize + Lane]};
}

std::string Block::threadName(const Warp &W, unsigned Lane) const {
  return textOf(threadIndex(W, Lane));
}

llvm::Error Block::fault(const FaultGuard &Guard, const Warp *W) {
  FaultDetails D;
  D.Text = Guard.Text;
  if (Guard.HasAddress)
    D.Text += "an illegal access at address 0x" +
              llvm::utohexstr(Guard.Address, /*LowerCase=*/true) + ", " +
              DeviceMemory::instance().describe(Guard.Address);
  std::string Message = "kernel " + llvm::demangle(L.Kernel) + ": " + D.Text;
  if (!W)
    return llvm::make_error<FaultError>(Guard.Kind, Message, std::move(D));
  const uint32_t *Id = W->Context.BlockId;
  D.Block = {Id[0], Id[1], Id[2]};
  D.Place = Guard.Place;
  Message += "\n  ";
  if (!Guard.Place.empty())
    Message += "at " + Guard.Place + ", ";
  Message += "in block " + textOf(*D.Block);
  if (Guard.Lanes) {
    const unsigned Others = __builtin_popcountll(Guard.Lanes) - 1;
    D.Thread = threadIndex(*W, __builtin_ctzll(Guard.Lanes));
    Message += ", thread " + textOf(*D.Thread);
    if (Others)
      Message += " and " + std::to_string(Others) + " more of its warp";
  } else {
    Message += ", warp " + std::to_string(W->Context.WarpId);
  }
  const Warp &In = *W->Inside;
  if (Guard.Place.empty() && In.Running < In.Splits.size()) {
    const RegionPlan &R = In.Plan->Regions[In.Splits[In.Running].Region];
    if (R.Line) {
      D.Place = placeText(R.File, R.Line);
      Message += ", in the code that begins at " + D.Place;
    }
  }
  return llvm::make_error<FaultError>(Guard.Kind, Message, std::move(D));
}

} // namespace reconverge::warpvm
