//===- remedies/herd/Dropped.cpp - Who was dropped ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dropped = false                               where the kernel begins
//   dropped |= this lane is dropped               at each vote
//   votes = ballot(all lanes, dropped)            where it ends, at one place
//   if (votes)
//     if (dropped && no lane of votes is before this one)
//       atomicAdd(counter, popc(votes))
//
// A thread counts once, however often it is dropped. All lanes that the warp has
// come to the end: what ends threads otherwise is not herded, and a trap ends the
// launch.
//
//===----------------------------------------------------------------------===//

#include "remedies/herd/Dropped.h"

#include "analysis/device/AddressSpace.h"
#include "remedies/common/Notes.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace reconverge::remedies::herd {

DroppedLanes::DroppedLanes(Function &F)
    : F(F), Slot(makeSlot(F, Type::getInt1Ty(F.getContext()), "herd.dropped")) {
}

void DroppedLanes::note(IRBuilderBase &B, Value *Now) {
  B.CreateStore(B.CreateOr(B.CreateLoad(B.getInt1Ty(), Slot), Now), Slot);
}

/// Where all threads of \p F end.
static Instruction *oneEnd(Function &F) {
  SmallVector<ReturnInst *> Ends;
  for (BasicBlock &BB : F)
    if (auto *End = dyn_cast<ReturnInst>(BB.getTerminator()))
      Ends.push_back(End);
  if (Ends.size() == 1)
    return Ends.front();
  auto *Last = BasicBlock::Create(F.getContext(), "herd.end", &F);
  for (ReturnInst *End : Ends) {
    IRBuilder<>(End).CreateBr(Last);
    End->eraseFromParent();
  }
  return ReturnInst::Create(F.getContext(), Last);
}

void DroppedLanes::count(Value &Lanes, Value &Counter) {
  Instruction *End = oneEnd(F);
  IRBuilder<> B(End);
  Value *Mine = B.CreateLoad(B.getInt1Ty(), Slot);
  Value *Votes = B.CreateIntrinsic(Intrinsic::nvvm_vote_ballot_sync, {},
                                   {&Lanes, Mine}, nullptr, "herd.all");
  B.SetInsertPoint(SplitBlockAndInsertIfThen(B.CreateIsNotNull(Votes), End,
                                             /*Unreachable=*/false));
  Value *Before = B.CreateAnd(
      Votes,
      B.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_lanemask_lt, {}, {}));
  B.SetInsertPoint(SplitBlockAndInsertIfThen(
      B.CreateAnd(Mine, B.CreateIsNull(Before)), &*B.GetInsertPoint(),
      /*Unreachable=*/false));
  B.CreateAtomicRMW(
      AtomicRMWInst::Add,
      B.CreateAddrSpaceCast(
          &Counter, PointerType::get(F.getContext(), analysis::GlobalSpace)),
      B.CreateUnaryIntrinsic(Intrinsic::ctpop, Votes), Align(4),
      AtomicOrdering::Monotonic);
  DominatorTree Dominance(F);
  PromoteMemToReg({Slot}, Dominance);
}

} // namespace reconverge::remedies::herd
