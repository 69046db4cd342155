//===- remedies/refill/Rounds.cpp - Where a warp meets --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The warp's own numbers are the same in all its lanes, and each lane computes
// them from votes. There are few, for they take registers beside all that an
// item needs: `next`, the next item to hand out, and with a counter the number
// of the slice. Where a slice ends follows from its number, and that of the only
// slice from the warp's.
//
//   fetch:  wanting = ballot(state is Wants)
//           rank    = those that want in lanes before this one
//           left    = end of the slice - next
//           a lane that wants gets next + rank, if rank < left
//           next   += min(left, those that want)
//
// With a counter, a slice that has too little left is followed by another, and
// ranks from `left` on are in that one. The first slice of warp w is number w;
// the next is as many slices behind all warps' first ones as the counter says,
// to which the first lane adds 1.
//
// Items are numbers of 32 bits, and launches have no more than 2^31, so that no
// sum here passes 2^32. Numbers of slices may be larger than there are any:
// these end where they begin, at the number of items.
//
//===----------------------------------------------------------------------===//

#include "remedies/refill/Rounds.h"

#include "analysis/device/AddressSpace.h"
#include "remedies/refill/Values.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::remedies::refill {

static constexpr unsigned WarpSize = 32;
/// Parameters of ours before the counter: the items, and the launch.
static constexpr unsigned SizesOurs = 7;

static Value *ballot(IRBuilderBase &B, Value *Vote, const Twine &Name) {
  return B.CreateIntrinsic(Intrinsic::nvvm_vote_ballot_sync, {},
                           {B.getInt32(~0u), Vote}, nullptr, Name);
}

static Value *countOf(IRBuilderBase &B, Value *Bits) {
  return B.CreateUnaryIntrinsic(Intrinsic::ctpop, Bits);
}

static Value *least(IRBuilderBase &B, Value *X, Value *Y) {
  return B.CreateBinaryIntrinsic(Intrinsic::umin, X, Y);
}

static Value *read(IRBuilderBase &B, Intrinsic::ID Register) {
  return B.CreateIntrinsic(Register, {}, {});
}

Rounds::Rounds(Function &F, BasicBlock &Entry, unsigned First,
               const RefillOptions &Options, Slots &Values, bool Flat)
    : F(F), Entry(Entry), FirstOurs(First), Options(Options), Flat(Flat) {
  LLVMContext &C = F.getContext();
  auto Block = [&](const char *Name) {
    return BasicBlock::Create(C, Twine("refill.") + Name, &F);
  };
  Go = Block("go");
  Ran = Block("ran");
  Refill = Block("refill");
  Leave = Block("leave");
  Fetch = Block("fetch");
  Hand = Block("hand");
  Refilled = Block("refilled");
  Done = Block("done");
  Type *I32 = Type::getInt32Ty(C);
  LaneState = Values.make(I32, "state");
  Next = Values.make(I32, "next");
  Limit = Values.make(I32, "limit");
  if (Options.Source == ItemSource::Counter)
    Slice = Values.make(I32, "slice");
  if (Options.Rounds > 1)
    Left = Values.make(I32, "left");
}

Value *Rounds::load(IRBuilderBase &B, AllocaInst *Slot) const {
  return B.CreateLoad(Slot->getAllocatedType(), Slot, Slot->getName());
}

void Rounds::setState(IRBuilderBase &B, unsigned To) const {
  B.CreateStore(B.getInt32(To), LaneState);
}

Value *Rounds::stateIs(IRBuilderBase &B, unsigned Which) const {
  return B.CreateICmpEQ(load(B, LaneState), B.getInt32(Which));
}

/// \p Number: of the slice, i32.
Rounds::Range Rounds::rangeOf(IRBuilderBase &B, Value *Number) {
  const uint32_t Size = Options.sliceOf() * WarpSize;
  Value *Items = B.CreateTrunc(F.getArg(FirstOurs), B.getInt32Ty());
  Value *Most = B.getInt32(Size);
  // That many slices begin in front of the last item, or at most behind it.
  Value *Slices = B.CreateUDiv(B.CreateAdd(Items, B.getInt32(Size - 1)), Most);
  Value *From = least(B, B.CreateMul(least(B, Number, Slices), Most), Items);
  return {From, least(B, B.CreateAdd(From, Most), Items)};
}

static Value *warpsOf(IRBuilderBase &B, Value *Threads) {
  return B.CreateUDiv(Threads, B.getInt32(WarpSize));
}

Value *Rounds::warpsOfBlock(IRBuilderBase &B) const {
  Value *Threads = read(B, Intrinsic::nvvm_read_ptx_sreg_ntid_x);
  if (!Flat)
    for (auto Id : {Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                    Intrinsic::nvvm_read_ptx_sreg_ntid_z})
      Threads = B.CreateMul(Threads, read(B, Id));
  return warpsOf(B, Threads);
}

Value *Rounds::warpOfBlock(IRBuilderBase &B) const {
  Value *X = read(B, Intrinsic::nvvm_read_ptx_sreg_tid_x);
  if (Flat)
    return warpsOf(B, X);
  Value *Row =
      B.CreateAdd(B.CreateMul(read(B, Intrinsic::nvvm_read_ptx_sreg_tid_z),
                              read(B, Intrinsic::nvvm_read_ptx_sreg_ntid_y)),
                  read(B, Intrinsic::nvvm_read_ptx_sreg_tid_y));
  Value *Before =
      B.CreateMul(Row, read(B, Intrinsic::nvvm_read_ptx_sreg_ntid_x));
  return warpsOf(B, B.CreateAdd(Before, X));
}

/// The number of the slice that the warp has by its place.
Value *Rounds::ownSlice(IRBuilderBase &B) {
  Value *Before = B.CreateMul(read(B, Intrinsic::nvvm_read_ptx_sreg_ctaid_x),
                              warpsOfBlock(B));
  return B.CreateAdd(Before, warpOfBlock(B));
}

void Rounds::writeEntry() {
  Instruction *Old = Entry.getTerminator();
  IRBuilder<> B(Old);
  Value *Own = ownSlice(B);
  if (Slice)
    B.CreateStore(Own, Slice);
  B.CreateStore(rangeOf(B, Own).From, Next);
  setState(B, Wants);
  B.CreateStore(B.getInt32(0), Limit);
  B.CreateBr(Fetch);
  Old->eraseFromParent();
}

void Rounds::goRound(IRBuilderBase &B, BasicBlock *Header) const {
  if (!Left) {
    B.CreateBr(Ran);
    return;
  }
  Value *Now = B.CreateSub(load(B, Left), B.getInt32(1));
  B.CreateStore(Now, Left);
  B.CreateCondBr(B.CreateICmpNE(Now, B.getInt32(0)), Header, Ran);
}

/// At the end of \p From, where the warp has come together.
void Rounds::meetAt(BasicBlock *From) {
  IRBuilder<> B(From);
  Value *Running = countOf(B, ballot(B, stateIs(B, Runs), "running"));
  B.CreateCondBr(B.CreateICmpUGT(Running, load(B, Limit)), Go, Refill);
}

void Rounds::writeMeetings(const LoopShape &L) {
  IRBuilder<> B(Go);
  if (Left)
    B.CreateStore(B.getInt32(Options.Rounds), Left);
  B.CreateCondBr(stateIs(B, Runs), L.Header, Ran);
  meetAt(Ran);
  meetAt(Refilled);
}

void Rounds::writeLeave(const LoopShape &L) {
  IRBuilder<> B(Refill);
  Value *Waiting = B.CreateICmpUGE(load(B, LaneState), B.getInt32(Waits));
  B.CreateCondBr(B.CreateICmpNE(ballot(B, Waiting, "waiting"), B.getInt32(0)),
                 Leave, Fetch);
  B.SetInsertPoint(Leave);
  auto *At = B.CreateSwitch(load(B, LaneState), Refilled, L.Exits.size());
  for (auto [I, Exit] : enumerate(L.Exits))
    At->addCase(B.getInt32(Waits + unsigned(I)), Exit);
}

/// What the first lane counts, in all lanes.
Value *Rounds::countSlice(IRBuilderBase &B) {
  LLVMContext &C = F.getContext();
  auto *First = BasicBlock::Create(C, "refill.first", &F, Hand),
       *Tell = BasicBlock::Create(C, "refill.tell", &F, Hand);
  BasicBlock *From = B.GetInsertBlock();
  Value *Lane = read(B, Intrinsic::nvvm_read_ptx_sreg_laneid);
  B.CreateCondBr(B.CreateICmpEQ(Lane, B.getInt32(0)), First, Tell);
  B.SetInsertPoint(First);
  Value *Counter =
      B.CreateAddrSpaceCast(F.getArg(FirstOurs + SizesOurs),
                            PointerType::get(C, analysis::GlobalSpace));
  Value *Taken = B.CreateAtomicRMW(AtomicRMWInst::Add, Counter, B.getInt32(1),
                                   Align(4), AtomicOrdering::Monotonic);
  B.CreateBr(Tell);
  B.SetInsertPoint(Tell);
  PHINode *Mine = B.CreatePHI(B.getInt32Ty(), 2);
  Mine->addIncoming(Taken, First);
  Mine->addIncoming(B.getInt32(0), From);
  return B.CreateIntrinsic(
      Intrinsic::nvvm_shfl_sync_idx_i32, {},
      {B.getInt32(~0u), Mine, B.getInt32(0), B.getInt32(WarpSize - 1)});
}

/// Another slice, if \p Wanting lanes are more than \p Left; then those that
/// are beyond have their items from it.
void Rounds::writeNextSlice(IRBuilderBase &B, Value *Wanting, Value *Left) {
  LLVMContext &C = F.getContext();
  auto *Ask = BasicBlock::Create(C, "refill.ask", &F, Hand),
       *Go = BasicBlock::Create(C, "refill.slice", &F, Hand);
  B.CreateCondBr(B.CreateICmpUGT(Wanting, Left), Ask, Go);
  B.SetInsertPoint(Ask);
  Value *Taken = countSlice(B);
  Value *Warps = B.CreateMul(read(B, Intrinsic::nvvm_read_ptx_sreg_nctaid_x),
                             warpsOfBlock(B));
  Value *Number = B.CreateAdd(Warps, Taken);
  B.CreateStore(Number, Slice);
  // As if the ranks of those before had been taken from it, too.
  B.CreateStore(B.CreateSub(rangeOf(B, Number).From, Left), Next);
  B.CreateBr(Go);
  B.SetInsertPoint(Go);
}

void Rounds::writeFetch(BasicBlock &Prologue, AllocaInst *Item) {
  IRBuilder<> B(Fetch);
  Value *Asks = stateIs(B, Wants), *Bits = ballot(B, Asks, "wanting");
  Value *Wanting = countOf(B, Bits);
  Value *Before = read(B, Intrinsic::nvvm_read_ptx_sreg_lanemask_lt);
  Value *Rank = countOf(B, B.CreateAnd(Bits, Before));
  Value *First = load(B, Next);
  Value *End = rangeOf(B, Slice ? load(B, Slice) : ownSlice(B)).To;
  Value *Mine = B.CreateAdd(First, Rank), *Gets = B.CreateICmpULT(Mine, End);
  if (Slice) {
    writeNextSlice(B, Wanting, B.CreateSub(End, First));
    First = load(B, Next);
    End = rangeOf(B, load(B, Slice)).To;
    Value *Later = B.CreateAdd(First, Rank);
    Mine = B.CreateSelect(Gets, Mine, Later);
    Gets = B.CreateOr(Gets, B.CreateICmpULT(Later, End));
  }
  B.CreateStore(least(B, B.CreateAdd(First, Wanting), End), Next);
  B.CreateStore(Mine, Item);
  Value *Starts = B.CreateAnd(Asks, Gets);
  Value *Ends = B.CreateAnd(Asks, B.CreateNot(Gets));
  B.CreateStore(B.CreateSelect(Ends, B.getInt32(Dead), load(B, LaneState)),
                LaneState);
  Value *Alive = countOf(B, ballot(B, B.CreateNot(stateIs(B, Dead)), "alive"));
  Value *Part = B.CreateLShr(B.CreateMul(Alive, B.getInt32(Options.Threshold)),
                             B.getInt32(Log2_32(WarpSize)));
  Value *Idle = B.CreateBinaryIntrinsic(Intrinsic::umax, Part, B.getInt32(1));
  B.CreateStore(B.CreateSub(Alive, Idle), Limit);
  B.CreateCondBr(B.CreateICmpEQ(Alive, B.getInt32(0)), Done, Hand);
  B.SetInsertPoint(Hand);
  B.CreateCondBr(Starts, &Prologue, Refilled);
  B.SetInsertPoint(Done);
  B.CreateRetVoid();
}

void Rounds::write(const LoopShape &L, BasicBlock &Prologue, AllocaInst *Item) {
  writeEntry();
  writeMeetings(L);
  writeLeave(L);
  writeFetch(Prologue, Item);
}

} // namespace reconverge::remedies::refill
