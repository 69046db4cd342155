//===- remedies/refill/Rounds.cpp - Where a warp meets --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The warp's own numbers are the same in all its lanes, and each lane computes
// them from votes:
//
//   start, count   the slice: items start to start + count - 1
//   next           of these, how many are handed out
//   alive          lanes that are not dead
//
//   fetch:  wanting = ballot(state is Wants)
//           rank    = those that want in lanes before this one
//           left    = count - next
//           a lane that wants gets start + next + rank, if rank < left
//           next   += min(left, those that want)
//
// With a counter, a slice that has too little left is followed by another, and
// ranks from `left` on are in that one. The first slice of warp w is number w;
// the next is as many slices behind all warps' first ones as the counter says,
// to which the first lane adds 1.
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
               const RefillOptions &Options, Slots &Values)
    : F(F), Entry(Entry), FirstOurs(First), Options(Options) {
  LLVMContext &C = F.getContext();
  auto Block = [&](const char *Name) {
    return BasicBlock::Create(C, Twine("refill.") + Name, &F);
  };
  Meet = Block("meet");
  Go = Block("go");
  Ran = Block("ran");
  Refill = Block("refill");
  Leave = Block("leave");
  Fetch = Block("fetch");
  Hand = Block("hand");
  Refilled = Block("refilled");
  Done = Block("done");
  Type *I32 = Type::getInt32Ty(C), *I64 = Type::getInt64Ty(C);
  LaneState = Values.make(I32, "state");
  Start = Values.make(I64, "start");
  Count = Values.make(I32, "count");
  Next = Values.make(I32, "next");
  Alive = Values.make(I32, "alive");
  Limit = Values.make(I32, "limit");
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

/// \p Number: of the slice, i64.
void Rounds::openSlice(IRBuilderBase &B, Value *Number) {
  const uint64_t Size = uint64_t(Options.Slice) * WarpSize;
  Value *Items = F.getArg(FirstOurs), *Most = B.getInt64(Size);
  Value *From = B.CreateMul(Number, Most);
  Value *Left = B.CreateBinaryIntrinsic(Intrinsic::usub_sat, Items, From);
  B.CreateStore(From, Start);
  B.CreateStore(B.CreateTrunc(least(B, Left, Most), B.getInt32Ty()), Count);
  B.CreateStore(B.getInt32(0), Next);
}

/// Warps of a block, i64.
static Value *warpsOf(IRBuilderBase &B, Value *Threads) {
  return B.CreateZExt(B.CreateUDiv(Threads, B.getInt32(WarpSize)),
                      B.getInt64Ty());
}

void Rounds::writeEntry() {
  Instruction *Old = Entry.getTerminator();
  IRBuilder<> B(Old);
  Value *Block = B.CreateZExt(read(B, Intrinsic::nvvm_read_ptx_sreg_ctaid_x),
                              B.getInt64Ty());
  Value *Before = B.CreateMul(
      Block, warpsOf(B, read(B, Intrinsic::nvvm_read_ptx_sreg_ntid_x)));
  openSlice(
      B, B.CreateAdd(Before,
                     warpsOf(B, read(B, Intrinsic::nvvm_read_ptx_sreg_tid_x))));
  setState(B, Wants);
  B.CreateStore(B.getInt32(WarpSize), Alive);
  B.CreateStore(B.getInt32(0), Limit);
  B.CreateBr(Fetch);
  Old->eraseFromParent();
}

void Rounds::writeMeet(const LoopShape &L) {
  IRBuilder<> B(Meet);
  Value *Running = countOf(B, ballot(B, stateIs(B, Runs), "running"));
  B.CreateCondBr(B.CreateICmpUGT(Running, load(B, Limit)), Go, Refill);
  B.SetInsertPoint(Go);
  B.CreateCondBr(stateIs(B, Runs), L.Header, Ran);
  B.SetInsertPoint(Ran);
  B.CreateBr(Meet);
  B.SetInsertPoint(Refilled);
  B.CreateBr(Meet);
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

/// Another slice, if \p Wanting lanes are more than \p Left. Sets what follows
/// from it.
void Rounds::writeNextSlice(IRBuilderBase &B, Value *Wanting, Value *Left) {
  LLVMContext &C = F.getContext();
  auto *Ask = BasicBlock::Create(C, "refill.ask", &F, Hand),
       *Go = BasicBlock::Create(C, "refill.slice", &F, Hand);
  B.CreateCondBr(B.CreateICmpUGT(Wanting, Left), Ask, Go);
  B.SetInsertPoint(Ask);
  Value *Number = countSlice(B);
  Value *Warps =
      B.CreateMul(B.CreateZExt(read(B, Intrinsic::nvvm_read_ptx_sreg_nctaid_x),
                               B.getInt64Ty()),
                  warpsOf(B, read(B, Intrinsic::nvvm_read_ptx_sreg_ntid_x)));
  openSlice(B, B.CreateAdd(Warps, B.CreateZExt(Number, B.getInt64Ty())));
  Value *Behind = B.CreateSub(Wanting, Left),
        *Given = least(B, Behind, load(B, Count));
  B.CreateStore(Given, Next);
  B.CreateStore(B.CreateSub(load(B, Alive), B.CreateSub(Behind, Given)), Alive);
  B.CreateBr(Go);
  B.SetInsertPoint(Go);
}

void Rounds::writeFetch(BasicBlock &Prologue, AllocaInst *Item) {
  IRBuilder<> B(Fetch);
  auto Wide = [&](Value *V) { return B.CreateZExt(V, B.getInt64Ty()); };
  Value *Asks = stateIs(B, Wants), *Bits = ballot(B, Asks, "wanting");
  Value *Wanting = countOf(B, Bits);
  Value *Before = read(B, Intrinsic::nvvm_read_ptx_sreg_lanemask_lt);
  Value *Rank = countOf(B, B.CreateAnd(Bits, Before));
  Value *Handed = load(B, Next), *Left = B.CreateSub(load(B, Count), Handed);
  Value *Gets = B.CreateICmpULT(Rank, Left);
  Value *Mine = B.CreateAdd(load(B, Start), Wide(B.CreateAdd(Handed, Rank)));
  if (Options.Source == ItemSource::Counter) {
    B.CreateStore(B.CreateAdd(Handed, Wanting), Next);
    writeNextSlice(B, Wanting, Left);
    Value *Behind = B.CreateSub(Rank, Left);
    Mine =
        B.CreateSelect(Gets, Mine, B.CreateAdd(load(B, Start), Wide(Behind)));
    Gets = B.CreateOr(Gets, B.CreateICmpULT(Behind, load(B, Count)));
  } else {
    Value *Given = least(B, Left, Wanting);
    B.CreateStore(B.CreateAdd(Handed, Given), Next);
    B.CreateStore(B.CreateSub(load(B, Alive), B.CreateSub(Wanting, Given)),
                  Alive);
  }
  B.CreateStore(Mine, Item);
  Value *Lives = load(B, Alive);
  Value *Part = B.CreateLShr(B.CreateMul(Lives, B.getInt32(Options.Threshold)),
                             B.getInt32(Log2_32(WarpSize)));
  Value *Idle = B.CreateBinaryIntrinsic(Intrinsic::umax, Part, B.getInt32(1));
  B.CreateStore(B.CreateSub(Lives, Idle), Limit);
  B.CreateCondBr(B.CreateICmpEQ(Lives, B.getInt32(0)), Done, Hand);
  B.SetInsertPoint(Hand);
  Value *Starts = B.CreateAnd(Asks, Gets);
  Value *Ends = B.CreateAnd(Asks, B.CreateNot(Gets));
  B.CreateStore(B.CreateSelect(Ends, B.getInt32(Dead), load(B, LaneState)),
                LaneState);
  B.CreateCondBr(Starts, &Prologue, Refilled);
  B.SetInsertPoint(Done);
  B.CreateRetVoid();
}

void Rounds::write(const LoopShape &L, BasicBlock &Prologue, AllocaInst *Item) {
  writeEntry();
  writeMeet(L);
  writeLeave(L);
  writeFetch(Prologue, Item);
}

} // namespace reconverge::remedies::refill
