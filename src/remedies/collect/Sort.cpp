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
//   some turns at once:
//           path = ...
//           ballots, one for each bit of a path
//           rank = those of my path that the warp has had     from lane `path`
//                  + lanes before mine that have it
//           lane p: had += lanes with path p
//           lane p: before = total[p], total[p] += had        an atomic addition
//   barrier
//           lane p: path p begins at the sum of the totals of lower paths, each
//                   rounded up to a whole warp; end[p] = where the next begins,
//                   full[p] = behind its last item
//   turns:  queue[place of `path` + rank] = item
//   barrier
//
//   take:   at = next, next += 32                             by lane 0
//           (or, if warps take turns, 32 times the warps behind the last)
//           nothing left, if that is the end of the last path
//           its path: how many have ended there
//           my item: queue[at + lane], if that is before full[path]
//
// Which warp's items of a path come first is left to the atomic additions: all
// items are there once, and within a warp's share they are in order. That saves
// each warp the sums over all others.
//
// A path begins at a whole warp, so that what a warp takes has one path, which a
// ballot tells: ptxas knows then that branches on it do not diverge. Of up to
// three paths, the usual case, all lanes know everything, by a ballot for each
// path, and need not ask each other.
//
// Words: 32 totals, then pairs of an end and where a path is full. There are at
// most 31 paths, so the last total is nobody's: it is `next`.
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

static constexpr unsigned WarpSize = 32, WarpBits = 5, ThreadBits = 10;
/// Words: of `next`, and the first of the pairs.
static constexpr unsigned Next = WarpSize - 1, Ends = WarpSize;
/// Paths of which all lanes know everything.
static constexpr unsigned Few = 3;

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
    : F(Of), Paths(Paths), Items(Options.Items), Chunk(*Options.Chunk),
      Forgets(Options.PlantedBug) {
  assert(Paths < WarpSize && "a lane each, and one for `next`");
  assert(Items <= 1u << (16 - ThreadBits) && Threads <= 1u << ThreadBits &&
         "as many as numbers of 16 bits");
  LLVMContext &C = F.getContext();
  Words =
      sharedArray(F, Type::getInt32Ty(C), 3 * WarpSize, "__reconverge_counts_");
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

/// Of \p Path, or of any if there is no such.
Value *Sort::ofPath(IRBuilderBase &B, ArrayRef<Value *> Each, Value *Path) {
  if (Paths > Few)
    return fromLane(B, Each.front(), Path);
  Value *Found = Each.back();
  for (unsigned P = Paths - 1; P-- > 0;)
    Found = B.CreateSelect(B.CreateICmpEQ(Path, B.getInt32(P)), Each[P], Found);
  return Found;
}

/// Of what all lanes know of each path what is this lane's path's.
Value *Sort::ofLane(IRBuilderBase &B, ArrayRef<Value *> Each, Value *Lane) {
  return Paths > Few ? Each.front() : ofPath(B, Each, Lane);
}

/// \p V of lane p is of path p.
Sort::OfPaths Sort::known(IRBuilderBase &B, Value *V) {
  if (Paths > Few)
    return {V};
  OfPaths Each;
  for (unsigned P = 0; P != Paths; ++P)
    Each.push_back(fromLane(B, V, B.getInt32(P)));
  return Each;
}

Value *Sort::warpsIn(IRBuilderBase &B, Value *Threads) {
  return B.CreateLShr(Threads, WarpBits);
}

Value *Sort::atPlace(IRBuilderBase &B, Value *Place) {
  return B.CreateGEP(B.getInt16Ty(), Queue, Place);
}

Value *Sort::atWord(IRBuilderBase &B, Value *Number) {
  return B.CreateGEP(B.getInt32Ty(), Words, Number);
}

Value *Sort::atEnd(IRBuilderBase &B, Value *Path) {
  return atWord(B, B.CreateAdd(B.CreateShl(Path, 1), B.getInt32(Ends)));
}

Value *Sort::atFull(IRBuilderBase &B, Value *Path) {
  return atWord(B, B.CreateAdd(B.CreateShl(Path, 1), B.getInt32(Ends + 1)));
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
  Value *Warp = warpsIn(B, Thread), *Warps = warpsIn(B, There);
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
/// \p Had goes on.
Value *Sort::rank(IRBuilderBase &B, Value *Path, const LaneFacts &Lane,
                  OfPaths &Had) {
  auto Ballot = [&](Value *Mine) {
    return call(B, Intrinsic::nvvm_vote_ballot_sync, {B.getInt32(~0u), Mine});
  };
  OfPaths With; // lanes with a path
  Value *Same = nullptr;
  if (Paths <= Few) {
    for (unsigned P = 0; P != Paths; ++P)
      With.push_back(Ballot(B.CreateICmpEQ(Path, B.getInt32(P))));
    Same = ofPath(B, With, Path);
  } else {
    auto Narrow = [&](Value *&Lanes, Value *By) {
      Lanes = Lanes ? B.CreateAnd(Lanes, By) : By;
    };
    With.push_back(nullptr);
    for (auto [Bit, OfThisLane] : enumerate(Lane.Bits)) {
      Value *Mine = isSet(B, Path, Bit), *Lanes = Ballot(Mine),
            *Others = B.CreateNot(Lanes);
      Narrow(Same, B.CreateSelect(Mine, Lanes, Others));
      Narrow(With.front(), B.CreateSelect(OfThisLane, Lanes, Others));
    }
  }
  Value *Rank = B.CreateAdd(ofPath(B, Had, Path),
                            count(B, B.CreateAnd(Same, Lane.Before)));
  for (auto [So, Now] : zip_equal(Had, With))
    So = B.CreateAdd(So, count(B, Now));
  return Rank;
}

Sort::OfPaths Sort::findPlaces(IRBuilderBase &B, Value *Thread,
                               const OfPaths &Had) {
  Value *Lane = laneOf(B, Thread);
  Value *IsPath = B.CreateICmpULT(Lane, B.getInt32(Paths));
  BasicBlock *From = B.GetInsertBlock();
  Value *Old = nullptr;
  BasicBlock *Adds = nullptr;
  onlyIf(B, IsPath, "collect.add", [&] {
    Old = B.CreateAtomicRMW(AtomicRMWInst::Add, atWord(B, Lane),
                            ofLane(B, Had, Lane), Align(4),
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
  Value *Begin = B.CreateSub(Until, Rounded);
  // All lanes' words, for all lanes read one (take()).
  onlyIf(B, B.CreateICmpULT(Thread, B.getInt32(WarpSize)), "collect.end", [&] {
    B.CreateStore(Until, atEnd(B, Thread));
    B.CreateStore(B.CreateAdd(Begin, Total), atFull(B, Thread));
  });
  return known(B, B.CreateAdd(Begin, Before));
}

void Sort::give(IRBuilderBase &B, Value *Number, Value *Path, Value *Place) {
  Value *Works = B.CreateICmpULT(Path, B.getInt32(Paths));
  if (Forgets)
    Works = B.CreateAnd(Works, B.CreateICmpNE(Place, B.getInt32(0)));
  onlyIf(B, Works, "collect.queue", [&] {
    B.CreateStore(B.CreateTrunc(Number, B.getInt16Ty()), atPlace(B, Place));
  });
}

void Sort::sort(IRBuilderBase &B, Value *Thread, Value *There, unsigned AtOnce,
                function_ref<SmallVector<Value *>(ArrayRef<Item>)> PathsOf) {
  reset(B, Thread);
  const Own Mine = itemsOf(B, Thread, There);
  const LaneFacts Lane = factsOf(B, laneOf(B, Thread));
  const unsigned PathBits = Lane.Bits.size();
  // Of each turn the path, and above it the rank: a register.
  SmallVector<Value *, 8> Found;
  OfPaths Had(Paths > Few ? 1 : Paths, B.getInt32(0));
  for (unsigned Turn = 0; Turn < Items;) {
    SmallVector<Item, 4> Some;
    do
      Some.push_back(itemOf(B, numberAt(B, Mine, Turn)));
    while (++Turn < Items && Turn % AtOnce);
    for (Value *Path : PathsOf(Some))
      Found.push_back(
          B.CreateOr(B.CreateShl(rank(B, Path, Lane, Had), PathBits), Path));
  }
  const OfPaths Places = findPlaces(B, Thread, Had);
  for (auto [Turn, Both] : enumerate(Found)) {
    Value *Path = B.CreateAnd(Both, B.getInt32((1u << PathBits) - 1));
    give(B, numberAt(B, Mine, unsigned(Turn)), Path,
         B.CreateAdd(ofPath(B, Places, Path), B.CreateLShr(Both, PathBits)));
  }
  call(B, Intrinsic::nvvm_barrier0);
}

/// Where the next items of this warp are.
Value *Sort::claim(IRBuilderBase &B, Value *Lane, Value *Place) {
  BasicBlock *From = B.GetInsertBlock();
  Value *Claimed = nullptr, *Claims = B.CreateICmpULT(Lane, B.getInt32(1)),
        *IsUsed = nullptr; // the last claim, if there was one
  if (Chunk > WarpSize) {
    IsUsed =
        B.CreateICmpEQ(B.CreateURem(Place, B.getInt32(Chunk)), B.getInt32(0));
    Claims = B.CreateAnd(Claims, IsUsed);
  }
  // Had all lanes one address there, ptxas would have them elect one that adds,
  // as it does not see that there is just one.
  onlyIf(B, Claims, "collect.claim", [&] {
    Claimed = B.CreateAtomicRMW(
        AtomicRMWInst::Add, atWord(B, B.CreateAdd(Lane, B.getInt32(Next))),
        B.getInt32(Chunk), Align(4), AtomicOrdering::Monotonic);
  });
  PHINode *First = B.CreatePHI(B.getInt32Ty(), 2);
  First->addIncoming(B.getInt32(0), From);
  First->addIncoming(Claimed, cast<Instruction>(Claimed)->getParent());
  Value *At = fromLane(B, First, B.getInt32(0));
  return IsUsed ? B.CreateSelect(IsUsed, At, Place) : At;
}

Pick Sort::take(IRBuilderBase &B, Value *Thread, Value *There, Value *Place,
                BasicBlock &Take, BasicBlock &Other, BasicBlock &Done) {
  Type *I32 = B.getInt32Ty();
  Value *Lane = laneOf(B, Thread);
  call(B, Intrinsic::nvvm_bar_warp_sync, {B.getInt32(~0u)});
  Value *At = Chunk ? claim(B, Lane, Place)
                    : B.CreateAdd(B.CreateMul(Place, warpsIn(B, There)),
                                  B.CreateSub(Thread, Lane));
  BasicBlock *Some = block("collect.some"), *Get = block("collect.get");
  Value *Last = B.CreateLoad(I32, atEnd(B, B.getInt32(Paths - 1)));
  B.CreateCondBr(B.CreateICmpULT(At, Last), Some, &Done);
  B.SetInsertPoint(Some);
  Value *Path = B.getInt32(0);
  if (Paths > 1) {
    Value *Until = B.CreateLoad(I32, atEnd(B, Lane), "ends");
    Value *Over = call(B, Intrinsic::nvvm_vote_ballot_sync,
                       {B.getInt32(~0u), B.CreateICmpULE(Until, At)});
    Path = count(B, B.CreateAnd(Over, B.getInt32((1u << Paths) - 1)));
  }
  Value *Mine = B.CreateAdd(At, Lane),
        *Full = B.CreateLoad(I32, atFull(B, Path), "full");
  B.CreateCondBr(B.CreateICmpULT(Mine, Full), Get, &Other);
  B.SetInsertPoint(Get);
  Value *Number =
      B.CreateZExt(B.CreateLoad(B.getInt16Ty(), atPlace(B, Mine)), I32);
  const Pick Taken = {itemOf(B, Number), Path, Chunk ? At : Place};
  B.CreateBr(&Take);
  return Taken;
}

} // namespace reconverge::remedies::collect
