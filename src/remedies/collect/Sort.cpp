//===- remedies/collect/Sort.cpp - The items of a block, sorted -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library's block_collect as code, for blocks of whole warps. Turns are not
// a loop, so that what they read is under way together, and what they found
// stays in registers.
//
// An item is a number: of the program's block among those that this block does
// the work of, its turn, and of the thread in it. V warps, from a multiple of V
// on, share V blocks: each takes all that the V warps would do in one of them,
// so that its items lie side by side, as do most of the 32 of one path that a
// warp takes later. Of fewer warps each does in all blocks what it would.
//
//           totals = 0
//   barrier
//   four turns at once:
//           path = ...
//           ballots, one for each bit of a path
//           rank = those of my path that the warp has had     from lane `path`
//                  + lanes before mine that have it
//           lane p: had += lanes with path p
//           lane p: before = total[p], total[p] += had        an atomic addition
//   barrier
//           lane p: path p begins at the sum of the totals of lower paths, each
//                   rounded up to a whole warp; end[p] = where the next begins
//   turns:  queue[place of `path` + rank] = item
//           queue[what is left of the last warp of a path] = none
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
// A path begins at a whole warp, so that what a warp takes has one path, which a
// ballot tells: ptxas knows then that branches on it do not diverge. One path,
// of items that have work or have not, is the usual case: then lanes need not
// ask each other for what they know of paths.
//
// Words: 32 totals and 32 ends. There are at most 31 paths, so the last total is
// nobody's: it is `next`.
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

static constexpr unsigned WarpSize = 32, WarpBits = 5, ThreadBits = 10,
                          NumberBits = 13, // so ranks have as many, and paths 5
    Next = WarpSize - 1, Ends = WarpSize, None = 0xffff;
/// Turns whose reads are under way together: of eight, registers would be more
/// than most kernels have.
static constexpr unsigned AtOnce = 4;

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

Sort::Sort(Function &Of, unsigned Paths, unsigned Threads,
           const CollectOptions &Options)
    : F(Of), Paths(Paths), Items(Options.Items), Chunk(Options.Chunk),
      Forgets(Options.PlantedBug) {
  assert(Paths < WarpSize && "a lane each, and one for `next`");
  assert(Items <= 1u << (NumberBits - ThreadBits) &&
         Threads <= 1u << ThreadBits && "as many as numbers");
  LLVMContext &C = F.getContext();
  Words =
      sharedArray(F, Type::getInt32Ty(C), 2 * WarpSize, "__reconverge_counts_");
  Queue = sharedArray(F, Type::getInt16Ty(C),
                      uint64_t(Items) * Threads + Paths * (WarpSize - 1),
                      "__reconverge_items_");
}

uint64_t Sort::bytes() const {
  const DataLayout &Layout = F.getDataLayout();
  return Layout.getTypeAllocSize(Words->getValueType()) +
         Layout.getTypeAllocSize(Queue->getValueType());
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

/// \p V of the lane that knows about \p Path.
Value *Sort::ofPath(IRBuilderBase &B, Value *V, Value *Path) {
  return Paths == 1 ? V : fromLane(B, V, Path);
}

Value *Sort::atPlace(IRBuilderBase &B, Value *Place) {
  return B.CreateGEP(B.getInt16Ty(), Queue, Place);
}

Value *Sort::atWord(IRBuilderBase &B, Value *Number) {
  return B.CreateGEP(B.getInt32Ty(), Words, Number);
}

Value *Sort::rounded(IRBuilderBase &B, Value *Count) {
  return B.CreateAnd(B.CreateAdd(Count, B.getInt32(WarpSize - 1)),
                     B.getInt32(-WarpSize));
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

Sort::Own Sort::itemsOf(IRBuilderBase &B, Value *Thread, Value *There) {
  auto Number = [&](unsigned N) { return B.getInt32(N); };
  Value *Warp = B.CreateLShr(Thread, WarpBits),
        *Warps = B.CreateLShr(There, WarpBits);
  Value *First = B.CreateAnd(Warp, Number(-Items)),
        *IsWhole = B.CreateICmpULE(B.CreateAdd(First, Number(Items)), Warps);
  Value *Turn = B.CreateAnd(Warp, Number(Items - 1)),
        *Leader = B.CreateOr(B.CreateShl(First, WarpBits), laneOf(B, Thread));
  return {B.CreateSelect(IsWhole,
                         B.CreateOr(B.CreateShl(Turn, ThreadBits), Leader),
                         Thread),
          B.CreateSelect(IsWhole, Number(WarpSize), Number(1u << ThreadBits))};
}

Value *Sort::numberAt(IRBuilderBase &B, const Own &Items, unsigned Turn) {
  return B.CreateAdd(Items.First, B.CreateMul(Items.Step, B.getInt32(Turn)));
}

Item Sort::itemOf(IRBuilderBase &B, Value *Number) {
  return {B.CreateLShr(Number, ThreadBits),
          B.CreateAnd(Number, B.getInt32((1u << ThreadBits) - 1))};
}

void Sort::reset(IRBuilderBase &B, Value *Thread) {
  onlyIf(B, B.CreateICmpULT(Thread, B.getInt32(WarpSize)), "collect.reset",
         [&] { B.CreateStore(B.getInt32(0), atWord(B, Thread)); });
  call(B, Intrinsic::nvvm_barrier0);
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
                  Value *&Had) {
  auto Ballot = [&](Value *Mine) {
    return call(B, Intrinsic::nvvm_vote_ballot_sync, {B.getInt32(~0u), Mine});
  };
  Value *Same = nullptr, *OfLane = nullptr;
  if (Paths == 1) {
    Same = OfLane = Ballot(B.CreateICmpEQ(Path, B.getInt32(0)));
  } else {
    auto Narrow = [&](Value *&Lanes, Value *By) {
      Lanes = Lanes ? B.CreateAnd(Lanes, By) : By;
    };
    for (auto [Bit, OfThisLane] : enumerate(Lane.Bits)) {
      Value *Mine = isSet(B, Path, Bit), *Lanes = Ballot(Mine),
            *Others = B.CreateNot(Lanes);
      Narrow(Same, B.CreateSelect(Mine, Lanes, Others));
      Narrow(OfLane, B.CreateSelect(OfThisLane, Lanes, Others));
    }
  }
  Value *Rank = B.CreateAdd(ofPath(B, Had, Path),
                            count(B, B.CreateAnd(Same, Lane.Before)));
  Had = B.CreateAdd(Had, count(B, OfLane));
  return Rank;
}

Sort::PathEnds Sort::findEnds(IRBuilderBase &B, Value *Thread, Value *Had) {
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
  Value *Total = B.CreateLoad(B.getInt32Ty(),
                              atWord(B, Paths == 1 ? B.getInt32(0) : Lane));
  Value *Rounded = rounded(B, Total), *Until = Rounded;
  for (unsigned Step = 1; Step < Paths; Step *= 2) {
    Value *Below =
        call(B, Intrinsic::nvvm_shfl_sync_up_i32,
             {B.getInt32(~0u), Until, B.getInt32(Step), B.getInt32(0)});
    Until = B.CreateAdd(Until,
                        B.CreateSelect(B.CreateICmpUGE(Lane, B.getInt32(Step)),
                                       Below, B.getInt32(0)));
  }
  // All lanes' words, for all lanes read one (take()).
  onlyIf(B, B.CreateICmpULT(Thread, B.getInt32(Paths == 1 ? 1 : WarpSize)),
         "collect.end", [&] {
           B.CreateStore(Until,
                         atWord(B, B.CreateAdd(Thread, B.getInt32(Ends))));
         });
  Value *Begin = B.CreateSub(Until, Rounded);
  return {B.CreateAdd(Begin,
                      Paths == 1 ? fromLane(B, Before, B.getInt32(0)) : Before),
          B.CreateAdd(Begin, Total), Until};
}

void Sort::give(IRBuilderBase &B, Value *Number, Value *Path, Value *Place) {
  Value *Works = B.CreateICmpULT(Path, B.getInt32(Paths));
  if (Forgets)
    Works = B.CreateAnd(Works, B.CreateICmpNE(Place, B.getInt32(0)));
  onlyIf(B, Works, "collect.queue", [&] {
    B.CreateStore(B.CreateTrunc(Number, B.getInt16Ty()), atPlace(B, Place));
  });
}

/// Warps take turns at the paths.
void Sort::fillGaps(IRBuilderBase &B, Value *Thread, Value *There,
                    const PathEnds &Of) {
  auto *I32 = B.getInt32Ty();
  auto WarpsIn = [&](Value *Threads) {
    return B.CreateLShr(Threads, WarpBits);
  };
  BasicBlock *From = B.GetInsertBlock(), *Head = block("collect.gaps"),
             *Path = block("collect.gap"), *Behind = block("collect.behind");
  Value *First = WarpsIn(Thread), *Step = WarpsIn(There),
        *Lane = laneOf(B, Thread);
  B.CreateBr(Head);
  B.SetInsertPoint(Head);
  PHINode *At = B.CreatePHI(I32, 2);
  At->addIncoming(First, From);
  B.CreateCondBr(B.CreateICmpULT(At, B.getInt32(Paths)), Path, Behind);
  B.SetInsertPoint(Path);
  Value *Place = B.CreateAdd(ofPath(B, Of.Full, At), Lane);
  onlyIf(B, B.CreateICmpULT(Place, ofPath(B, Of.Until, At)), "collect.none",
         [&] { B.CreateStore(B.getInt16(None), atPlace(B, Place)); });
  At->addIncoming(B.CreateAdd(At, Step), B.GetInsertBlock());
  B.CreateBr(Head);
  B.SetInsertPoint(Behind);
}

void Sort::sort(IRBuilderBase &B, Value *Thread, Value *There,
                function_ref<Value *(Item)> PathOf) {
  reset(B, Thread);
  const Own Mine = itemsOf(B, Thread, There);
  const LaneFacts Lane = factsOf(B, laneOf(B, Thread));
  const unsigned PathBits = Lane.Bits.size();
  // Of each turn the path, above it the rank, and above that the number: a
  // register each.
  SmallVector<Value *, 8> Found;
  Value *Had = B.getInt32(0);
  for (unsigned Turn = 0; Turn < Items;) {
    SmallVector<std::pair<Value *, Value *>, AtOnce> Some;
    do {
      Value *Number = numberAt(B, Mine, Turn);
      Some.emplace_back(Number, PathOf(itemOf(B, Number)));
    } while (++Turn < Items && Turn % AtOnce);
    for (auto [Number, Path] : Some) {
      Value *Above =
          B.CreateOr(B.CreateShl(Number, NumberBits), rank(B, Path, Lane, Had));
      Found.push_back(B.CreateOr(B.CreateShl(Above, PathBits), Path));
    }
  }
  const PathEnds Of = findEnds(B, Thread, Had);
  auto Bits = [&](Value *V, unsigned Count) {
    return B.CreateAnd(V, B.getInt32((1u << Count) - 1));
  };
  for (Value *All : Found) {
    Value *Path = Bits(All, PathBits),
          *Rank = Bits(B.CreateLShr(All, PathBits), NumberBits);
    give(B, B.CreateLShr(All, PathBits + NumberBits), Path,
         B.CreateAdd(ofPath(B, Of.Mine, Path), Rank));
  }
  fillGaps(B, Thread, There, Of);
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
  Value *Path = B.getInt32(0);
  if (Paths > 1) {
    Value *Until = B.CreateLoad(
        I32, atWord(B, B.CreateAdd(Lane, B.getInt32(Ends))), "ends");
    Value *Over = call(B, Intrinsic::nvvm_vote_ballot_sync,
                       {B.getInt32(~0u), B.CreateICmpULE(Until, At)});
    Path = count(B, B.CreateAnd(Over, B.getInt32((1u << Paths) - 1)));
  }
  Value *Number = B.CreateZExt(
      B.CreateLoad(B.getInt16Ty(), atPlace(B, B.CreateAdd(At, Lane))), I32);
  B.CreateCondBr(B.CreateICmpNE(Number, B.getInt32(None)), Get, &Other);
  B.SetInsertPoint(Get);
  const Pick Taken = {itemOf(B, Number), Path, At};
  B.CreateBr(&Take);
  return Taken;
}

} // namespace reconverge::remedies::collect
