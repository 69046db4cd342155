//===- remedies/collect/Sort.cpp - The items of a block, sorted -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library's block_collect as code, for blocks of whole warps; an item of a
// thread is a turn of it.
//
//           queue = none, totals = 0
//   turn:   path = ...
//           ballots, one for each bit of a path
//           rank = those of my path that the warp has had     from lane `path`
//                  + lanes before mine that have it
//           lane p: had += lanes with path p
//           slot[turn][thread] = path | rank << 5
//   barrier
//           lane p: before = total[p], total[p] += had        an atomic addition
//   barrier
//           lane p: path p begins at the sum of the totals of lower paths, each
//                   rounded up to a whole warp; end[p] = where the next begins
//   turn:   queue[place of `path` + rank] = turn << 10 | thread
//   barrier
//
//   take:   at = next, next += 32                             by lane 0
//           nothing left, if that is the end of the last path
//           its path: how many have ended there
//           my item: queue[at + lane], if it is not none
//
// Which warp's items of a path come first is left to the atomic additions: all
// items are there once, and within a warp's share they are in order. That saves
// each warp the sums over all others.
//
// A path begins at a whole warp, so that what a warp takes has one path.
//
// Words: 32 totals and 32 ends. There are at most 31 paths, so the last total is
// nobody's: it is `next`. Totals and ranks are below 2^14, of 8 items of 1024
// threads.
//
//===----------------------------------------------------------------------===//

#include "remedies/collect/Sort.h"

#include "analysis/device/AddressSpace.h"

#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace reconverge::remedies::collect {

static constexpr unsigned WarpSize = 32, PathBits = 5, ThreadBits = 10,
                          Next = WarpSize - 1, Ends = WarpSize, None = 0xffff;

static GlobalVariable *sharedArray(Function &F, Type *Element, uint64_t Count,
                                   const Twine &Name) {
  Type *T = ArrayType::get(Element, Count);
  auto *Memory = new GlobalVariable(
      *F.getParent(), T, /*isConstant=*/false, GlobalValue::InternalLinkage,
      PoisonValue::get(T), Name + F.getName(), nullptr,
      GlobalValue::NotThreadLocal, analysis::SharedSpace);
  Memory->setAlignment(Align(16));
  return Memory;
}

static uint64_t places(unsigned Paths, unsigned Items, unsigned Threads) {
  return alignTo(uint64_t(Items) * Threads + Paths * (WarpSize - 1), 2);
}

Sort::Sort(Function &Of, unsigned Paths, unsigned Threads,
           const CollectOptions &Options)
    : F(Of), Paths(Paths), Threads(Threads), Items(Options.Items),
      Chunk(Options.Chunk), Forgets(Options.PlantedBug) {
  assert(Paths < WarpSize && Items * Threads <= 1u << 13 && "as counted above");
  LLVMContext &C = F.getContext();
  Words =
      sharedArray(F, Type::getInt32Ty(C), 2 * WarpSize, "__reconverge_counts_");
  Queue = sharedArray(F, Type::getInt16Ty(C),
                      uint64_t(Items) * Threads + places(Paths, Items, Threads),
                      "__reconverge_items_");
}

uint64_t Sort::bytes() const {
  return 4 * 2 * WarpSize +
         2 * cast<ArrayType>(Queue->getValueType())->getNumElements();
}

//===----------------------------------------------------------------------===//
// Small parts
//===----------------------------------------------------------------------===//

BasicBlock *Sort::block(const char *Name) {
  return BasicBlock::Create(F.getContext(), Name, &F);
}

Value *Sort::call(IRBuilderBase &B, Intrinsic::ID Id,
                  ArrayRef<Value *> Arguments) {
  return B.CreateIntrinsic(Id, {}, Arguments);
}

Value *Sort::count(IRBuilderBase &B, Value *Mask) {
  return B.CreateUnaryIntrinsic(Intrinsic::ctpop, Mask);
}

/// \p V of lane \p Lane, which may differ.
Value *Sort::fromLane(IRBuilderBase &B, Value *V, Value *Lane) {
  return call(B, Intrinsic::nvvm_shfl_sync_idx_i32,
              {B.getInt32(~0u), V, Lane, B.getInt32(WarpSize - 1)});
}

Value *Sort::laneOf(IRBuilderBase &B, Value *Thread) {
  return B.CreateAnd(Thread, B.getInt32(WarpSize - 1));
}

/// Slots come first, then places.
Value *Sort::atPlace(IRBuilderBase &B, Value *Place) {
  return B.CreateGEP(B.getInt16Ty(), Queue,
                     B.CreateAdd(Place, B.getInt32(Items * Threads)));
}

Value *Sort::atSlot(IRBuilderBase &B, Value *Turn, Value *Thread) {
  Value *First = B.CreateMul(Turn, B.getInt32(Threads));
  return B.CreateGEP(B.getInt16Ty(), Queue, B.CreateAdd(First, Thread));
}

Value *Sort::atWord(IRBuilderBase &B, Value *Number) {
  return B.CreateGEP(B.getInt32Ty(), Words, Number);
}

Value *Sort::rounded(IRBuilderBase &B, Value *Count) {
  return B.CreateAnd(B.CreateAdd(Count, B.getInt32(WarpSize - 1)),
                     B.getInt32(-WarpSize));
}

/// Begins a loop over turns.
PHINode *Sort::loop(IRBuilderBase &B, const char *Name) {
  BasicBlock *From = B.GetInsertBlock(), *Body = block(Name);
  B.CreateBr(Body);
  B.SetInsertPoint(Body);
  PHINode *Turn = B.CreatePHI(B.getInt32Ty(), 2, "turn");
  Turn->addIncoming(B.getInt32(0), From);
  return Turn;
}

void Sort::endLoop(IRBuilderBase &B, PHINode *Turn) {
  BasicBlock *Behind = block("collect.behind");
  Value *Again = B.CreateAdd(Turn, B.getInt32(1));
  Turn->addIncoming(Again, B.GetInsertBlock());
  B.CreateCondBr(B.CreateICmpULT(Again, B.getInt32(Items)), Turn->getParent(),
                 Behind);
  B.SetInsertPoint(Behind);
}

void Sort::onlyIf(IRBuilderBase &B, Value *If, const char *Name,
                  function_ref<void()> Do) {
  BasicBlock *Then = block(Name), *Behind = block("collect.behind");
  B.CreateCondBr(If, Then, Behind);
  B.SetInsertPoint(Then);
  Do();
  B.CreateBr(Behind);
  B.SetInsertPoint(Behind);
}

//===----------------------------------------------------------------------===//
// The sort
//===----------------------------------------------------------------------===//

/// Totals are 0; the queue has none, two places a word.
void Sort::reset(IRBuilderBase &B, Value *Thread, Value *There) {
  onlyIf(B, B.CreateICmpULT(Thread, B.getInt32(WarpSize)), "collect.reset",
         [&] { B.CreateStore(B.getInt32(0), atWord(B, Thread)); });
  BasicBlock *From = B.GetInsertBlock(), *Body = block("collect.none"),
             *Behind = block("collect.behind");
  B.CreateBr(Body);
  B.SetInsertPoint(Body);
  PHINode *At = B.CreatePHI(B.getInt32Ty(), 2);
  Value *Next = B.CreateAdd(At, There);
  At->addIncoming(Thread, From);
  At->addIncoming(Next, Body);
  B.CreateAlignedStore(B.getInt32(~0u),
                       atPlace(B, B.CreateShl(At, B.getInt32(1))), Align(4));
  // Only as far as so many threads can fill it.
  Value *Last =
      B.CreateLShr(B.CreateAdd(B.CreateMul(There, B.getInt32(Items)),
                               B.getInt32(Paths * (WarpSize - 1) + 1)),
                   B.getInt32(1));
  B.CreateCondBr(B.CreateICmpULT(Next, Last), Body, Behind);
  B.SetInsertPoint(Behind);
}

static Value *isSet(IRBuilderBase &B, Value *V, unsigned Bit) {
  return B.CreateICmpNE(B.CreateAnd(V, B.getInt32(1u << Bit)), B.getInt32(0));
}

Sort::LaneFacts Sort::factsOf(IRBuilderBase &B, Value *Lane) {
  LaneFacts Facts;
  for (unsigned Bit = 0; Bit < Log2_32_Ceil(Paths + 1); ++Bit)
    Facts.Bits.push_back(isSet(B, Lane, Bit));
  Facts.Before = B.CreateSub(B.CreateShl(B.getInt32(1), Lane), B.getInt32(1));
  return Facts;
}

/// The rank of this lane's item among those of its path that the warp has had;
/// \p Had, of lane p those of path p, goes on.
Value *Sort::rank(IRBuilderBase &B, Value *Path, const LaneFacts &Lane,
                  PHINode *Had) {
  Value *Same = nullptr, *OfLane = nullptr;
  auto Narrow = [&](Value *&Lanes, Value *By) {
    Lanes = Lanes ? B.CreateAnd(Lanes, By) : By;
  };
  for (auto [Bit, OfThisLane] : enumerate(Lane.Bits)) {
    Value *Mine = isSet(B, Path, Bit);
    Value *Lanes =
        call(B, Intrinsic::nvvm_vote_ballot_sync, {B.getInt32(~0u), Mine});
    Value *Others = B.CreateNot(Lanes);
    Narrow(Same, B.CreateSelect(Mine, Lanes, Others));
    Narrow(OfLane, B.CreateSelect(OfThisLane, Lanes, Others));
  }
  Value *Rank = B.CreateAdd(fromLane(B, Had, Path),
                            count(B, B.CreateAnd(Same, Lane.Before)));
  Had->addIncoming(B.CreateAdd(Had, count(B, OfLane)), B.GetInsertBlock());
  return Rank;
}

/// In lane p: where this warp's items of path p go.
Value *Sort::findPlaces(IRBuilderBase &B, Value *Thread, Value *Had) {
  Value *Lane = laneOf(B, Thread);
  Value *IsPath = B.CreateICmpULT(Lane, B.getInt32(Paths));
  BasicBlock *From = B.GetInsertBlock();
  Value *Old = nullptr;
  BasicBlock *Adds = nullptr;
  onlyIf(B, IsPath, "collect.add", [&] {
    Old = B.CreateAtomicRMW(AtomicRMWInst::Add, atWord(B, Lane), Had, Align(4),
                            AtomicOrdering::Monotonic);
    Adds = B.GetInsertBlock();
  });
  PHINode *Before = B.CreatePHI(B.getInt32Ty(), 2);
  Before->addIncoming(B.getInt32(0), From);
  Before->addIncoming(Old, Adds);
  call(B, Intrinsic::nvvm_barrier0);
  Value *Total = B.CreateLoad(B.getInt32Ty(), atWord(B, Lane));
  Value *Rounded = rounded(B, Total), *Until = Rounded;
  for (unsigned Step = 1; Step < Paths; Step *= 2) {
    Value *Below =
        call(B, Intrinsic::nvvm_shfl_sync_up_i32,
             {B.getInt32(~0u), Until, B.getInt32(Step), B.getInt32(0)});
    Until = B.CreateAdd(Until,
                        B.CreateSelect(B.CreateICmpUGE(Lane, B.getInt32(Step)),
                                       Below, B.getInt32(0)));
  }
  onlyIf(B, B.CreateICmpULT(Thread, B.getInt32(Paths)), "collect.end", [&] {
    B.CreateStore(Until, atWord(B, B.CreateAdd(Thread, B.getInt32(Ends))));
  });
  return B.CreateAdd(B.CreateSub(Until, Rounded), Before);
}

void Sort::give(IRBuilderBase &B, Value *Thread, Value *Places) {
  PHINode *Turn = loop(B, "collect.give");
  Value *Slot = B.CreateZExt(
      B.CreateLoad(B.getInt16Ty(), atSlot(B, Turn, Thread)), B.getInt32Ty());
  Value *Path = B.CreateAnd(Slot, B.getInt32((1u << PathBits) - 1));
  Value *Place = B.CreateAdd(fromLane(B, Places, Path),
                             B.CreateLShr(Slot, B.getInt32(PathBits)));
  Value *Works = B.CreateICmpULT(Path, B.getInt32(Paths));
  if (Forgets)
    Works = B.CreateAnd(Works, B.CreateICmpNE(Place, B.getInt32(0)));
  onlyIf(B, Works, "collect.queue", [&] {
    Value *Item = B.CreateOr(B.CreateShl(Turn, B.getInt32(ThreadBits)), Thread);
    B.CreateStore(B.CreateTrunc(Item, B.getInt16Ty()), atPlace(B, Place));
  });
  endLoop(B, Turn);
}

void Sort::sort(IRBuilderBase &B, Value *Thread, Value *There,
                function_ref<Value *(Value *)> PathOf) {
  reset(B, Thread, There);
  const LaneFacts Lane = factsOf(B, laneOf(B, Thread));
  BasicBlock *From = B.GetInsertBlock();
  PHINode *Turn = loop(B, "collect.turn");
  PHINode *Had = B.CreatePHI(B.getInt32Ty(), 2, "had");
  Had->addIncoming(B.getInt32(0), From);
  Value *Path = PathOf(Turn);
  Value *Rank = rank(B, Path, Lane, Had);
  Value *Slot = B.CreateOr(Path, B.CreateShl(Rank, B.getInt32(PathBits)));
  B.CreateStore(B.CreateTrunc(Slot, B.getInt16Ty()), atSlot(B, Turn, Thread));
  Value *All = Had->getIncomingValue(1);
  endLoop(B, Turn);
  call(B, Intrinsic::nvvm_barrier0);
  give(B, Thread, findPlaces(B, Thread, All));
  call(B, Intrinsic::nvvm_barrier0);
}

Pick Sort::take(IRBuilderBase &B, Value *Thread, Value *Place, BasicBlock &Take,
                BasicBlock &Other, BasicBlock &Done) {
  Type *I32 = B.getInt32Ty();
  Value *Lane = laneOf(B, Thread);
  BasicBlock *From = B.GetInsertBlock();
  call(B, Intrinsic::nvvm_bar_warp_sync, {B.getInt32(~0u)});
  Value *Claimed = nullptr, *Claims = B.CreateICmpEQ(Lane, B.getInt32(0)),
        *IsUsed = nullptr; // the last claim, if there was one
  if (Chunk > WarpSize) {
    IsUsed =
        B.CreateICmpEQ(B.CreateURem(Place, B.getInt32(Chunk)), B.getInt32(0));
    Claims = B.CreateAnd(Claims, IsUsed);
  }
  onlyIf(B, Claims, "collect.claim", [&] {
    Claimed = B.CreateAtomicRMW(AtomicRMWInst::Add, atWord(B, B.getInt32(Next)),
                                B.getInt32(Chunk), Align(4),
                                AtomicOrdering::Monotonic);
  });
  PHINode *First = B.CreatePHI(I32, 2);
  First->addIncoming(B.getInt32(0), From);
  First->addIncoming(Claimed, cast<Instruction>(Claimed)->getParent());
  Value *At = fromLane(B, First, B.getInt32(0));
  if (IsUsed)
    At = B.CreateSelect(IsUsed, At, Place);
  BasicBlock *Some = block("collect.some"), *Get = block("collect.get");
  Value *Last = B.CreateLoad(I32, atWord(B, B.getInt32(Ends + Paths - 1)));
  B.CreateCondBr(B.CreateICmpULT(At, Last), Some, &Done);
  B.SetInsertPoint(Some);
  Value *Until =
      B.CreateLoad(I32, atWord(B, B.CreateAdd(Lane, B.getInt32(Ends))), "ends");
  Value *Over = call(B, Intrinsic::nvvm_vote_ballot_sync,
                     {B.getInt32(~0u), B.CreateICmpULE(Until, At)});
  Value *Path = count(B, B.CreateAnd(Over, B.getInt32((1u << Paths) - 1)));
  Value *Item = B.CreateZExt(
      B.CreateLoad(B.getInt16Ty(), atPlace(B, B.CreateAdd(At, Lane))), I32);
  B.CreateCondBr(B.CreateICmpNE(Item, B.getInt32(None)), Get, &Other);
  B.SetInsertPoint(Get);
  const Pick Found = {B.CreateLShr(Item, B.getInt32(ThreadBits)),
                      B.CreateAnd(Item, B.getInt32((1u << ThreadBits) - 1)),
                      Path, At};
  B.CreateBr(&Take);
  return Found;
}

} // namespace reconverge::remedies::collect
