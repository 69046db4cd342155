//===- remedies/collect/Rewrite.cpp - A kernel that collects --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   entry:    frame; are these blocks sorted?     of whole warps, not too large
//      |  \
//      |   sort (Sort.cpp), with, for each turn of a thread,
//      |      is there such a block?  --no--+
//      |      slice, with the block's number|     a copy of what is needed of it
//      |      |    |    |                   |
//      |      ends: the path                |
//      |      +----+----+-------------------+
//      |  /
//   head:     turn, from 0; sorted: take, else: this thread of the next block
//      |   \--- nothing left ---> done: ret
//   item:     numbers of that thread of that block (Items.h)
//      |
//   body:     the kernel as it was
//      |
//   latch:    where it returned, and lanes without an item; back to the head
//
// A block of the new launch has the shape of the program's, and does the work of
// Items of its blocks in a row. So a thread's own numbers are those of its item
// in the slice, at every turn, and only the number of the block is another.
//
// Blocks that are not sorted do their work as it comes, a block of the program's
// at each turn. They may have a last warp that is not whole; nothing that lanes
// do together is on their way.
//
// Numbers of blocks have 32 bits, for there are at most 2^31 items: a division of
// 64 would cost four times as much.
//
// Why right: each thread of each block of the program's launch is one item: of
// turn 0 to Items - 1 of the thread with its number in the block that has its
// block. All are taken once, but those that would have done nothing; and run
// all of the kernel with their own numbers.
//
//===----------------------------------------------------------------------===//

#include "remedies/collect/Rewrite.h"

#include "analysis/device/Intrinsics.h"
#include "remedies/collect/Sort.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace reconverge::remedies::collect {

static constexpr unsigned WarpSize = 32;

namespace {
class Rewrite {
public:
  Rewrite(const CollectPlan &Plan, Function &F, unsigned First)
      : Plan(Plan), Options(Plan.Options), F(F), B(F.getContext()),
        First(First), By(F, Plan.Deciding.Paths, Plan.Threads, Options) {
    B.SetCurrentDebugLocation(Plan.Branch->getDebugLoc());
  }
  uint64_t run();

private:
  BasicBlock *block(const char *Name) {
    return BasicBlock::Create(F.getContext(), Name, &F);
  }
  void enter();
  Value *blockAt(Value *Turn);
  Value *isBlock(Value *Number);
  Value *pathAt(Value *Turn);
  BasicBlock *copyOf(const BasicBlock &BB);
  void fill(const BasicBlock &From, BasicBlock &To);
  Value *copyOf(Value *V) {
    auto Found = Copies.find(V);
    return Found == Copies.end() ? V : Found->second;
  }
  /// Blocks as they were when the plan was made.
  BasicBlock *now(BasicBlock *BB) { return BB == Entry ? Body : BB; }
  void turn();

  const CollectPlan &Plan;
  const CollectOptions &Options;
  Function &F;
  IRBuilder<> B;
  const unsigned First; ///< of the parameters
  Sort By;

  BasicBlock *Entry = nullptr, *Body = nullptr, *Head = nullptr;
  LaunchValues Of;
  Value *Thread = nullptr, *Threads = nullptr, *FirstBlock = nullptr,
        *Blocks = nullptr, *IsSorted = nullptr;

  DenseMap<const Value *, Value *> Copies;
  DenseMap<const BasicBlock *, BasicBlock *> CopiedBlocks;
  SmallVector<CallBase *> Reads; ///< in the copies, of the block's number
};
} // namespace

/// What is the same at all turns.
void Rewrite::enter() {
  Entry = &F.getEntryBlock();
  Instruction *At = splitEntry(F);
  Body = At->getSuccessor(0);
  B.SetInsertPoint(At);
  B.SetCurrentDebugLocation(Plan.Branch->getDebugLoc());
  Of = readLaunch(B);
  auto Read = [&](Intrinsic::ID Id) { return B.CreateIntrinsic(Id, {}, {}); };
  Value *X = Read(Intrinsic::nvvm_read_ptx_sreg_tid_x),
        *Y = Read(Intrinsic::nvvm_read_ptx_sreg_tid_y),
        *Z = Read(Intrinsic::nvvm_read_ptx_sreg_tid_z);
  Value *Here = Read(Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
  Value *Rows = B.CreateAdd(B.CreateMul(Z, Of.Block[1]), Y);
  Thread = B.CreateAdd(B.CreateMul(Rows, Of.Block[0]), X, "thread");
  for (unsigned D : {0u, 1u, 2u}) {
    cast<Instruction>(Of.Grid[D])->eraseFromParent();
    Of.Grid[D] = F.getArg(First + 1 + D);
  }
  Blocks = B.CreateTrunc(F.getArg(First), B.getInt32Ty());
  FirstBlock = B.CreateMul(Here, B.getInt32(Options.Items), "block");
  Threads = B.CreateMul(B.CreateMul(Of.Block[0], Of.Block[1]), Of.Block[2]);
  IsSorted =
      B.CreateAnd(B.CreateICmpEQ(B.CreateAnd(Threads, B.getInt32(WarpSize - 1)),
                                 B.getInt32(0)),
                  B.CreateICmpULE(Threads, B.getInt32(Plan.Threads)), "sorted");
  At->eraseFromParent();
  B.SetInsertPoint(Entry);
}

Value *Rewrite::blockAt(Value *Turn) { return B.CreateAdd(FirstBlock, Turn); }

Value *Rewrite::isBlock(Value *Number) {
  return B.CreateICmpULT(Number, Blocks);
}

/// The block that stands for \p BB in the slice, or for going there.
BasicBlock *Rewrite::copyOf(const BasicBlock &BB) {
  BasicBlock *&Copy = CopiedBlocks[&BB];
  if (!Copy)
    Copy = block("collect.slice");
  return Copy;
}

/// What is needed of \p From.
void Rewrite::fill(const BasicBlock &From, BasicBlock &To) {
  for (const Instruction &I : From) {
    if (!Plan.Deciding.Needed.contains(&I))
      continue;
    Instruction *New = I.clone();
    New->insertInto(&To, To.end());
    Copies[&I] = New;
    if (auto *Call = dyn_cast<CallBase>(New)) {
      const auto Id = isa<IntrinsicInst>(Call) ? Call->getIntrinsicID()
                                               : Intrinsic::not_intrinsic;
      if (analysis::blockIndexDimension(Id) || analysis::gridSizeDimension(Id))
        Reads.push_back(Call);
    }
  }
}

/// The path of this thread's item at \p Turn: i32.
Value *Rewrite::pathAt(Value *Turn) {
  const Slice &S = Plan.Deciding;
  BasicBlock *Inside = block("collect.path"), *Join = block("collect.known"),
             *From = B.GetInsertBlock();
  Value *Number = blockAt(Turn);
  B.CreateCondBr(isBlock(Number), Inside, Join);
  PHINode *Path =
      PHINode::Create(B.getInt32Ty(), 1 + S.Ends.size(), "path", Join);
  Path->addIncoming(B.getInt32(S.Paths), From);
  for (auto [End, Which] : S.Ends) {
    if (S.Short.contains(End))
      continue;
    BasicBlock *To = copyOf(*now(End));
    To->setName("collect.end");
    BranchInst::Create(Join, To);
    Path->addIncoming(B.getInt32(Which == NoWork ? S.Paths : Which), To);
  }
  SmallVector<BasicBlock *, 16> All;
  for (BasicBlock *BB : concat<BasicBlock *const>(S.Blocks, S.Short))
    All.push_back(now(BB));
  for (BasicBlock *BB : All)
    fill(*BB, *copyOf(*BB));
  for (BasicBlock *BB : All)
    for (Instruction &I : *copyOf(*BB)) {
      if (auto *Phi = dyn_cast<PHINode>(&I))
        for (unsigned K = Phi->getNumIncomingValues(); K-- > 0;) {
          BasicBlock *Pred = Phi->getIncomingBlock(K);
          if (is_contained(All, Pred))
            Phi->setIncomingBlock(K, copyOf(*Pred));
          else
            Phi->removeIncomingValue(K, /*DeletePHIIfEmpty=*/false);
        }
      for (Use &U : I.operands())
        if (auto *To = dyn_cast<BasicBlock>(&U))
          U.set(copyOf(*To));
        else
          U.set(copyOf(U.get()));
      if (I.isTerminator())
        I.dropUnknownNonDebugMetadata();
    }
  for (BasicBlock *BB : S.Short) // who returns there is done
    if (BasicBlock *Copy = copyOf(*BB); isa<ReturnInst>(Copy->back())) {
      Copy->back().eraseFromParent();
      BranchInst::Create(Join, Copy);
      Path->addIncoming(B.getInt32(S.Paths), Copy);
    }
  B.SetInsertPoint(Inside);
  B.SetInsertPoint(B.CreateBr(copyOf(*now(*S.Blocks.begin()))));
  becomeBlock(BlocksPlan{Reads}, Number, Of, B);
  B.SetInsertPoint(Join);
  return Path;
}

/// The loop over items, around the kernel as it was.
void Rewrite::turn() {
  BasicBlock *Done = block("collect.done"), *Take = block("collect.take"),
             *Next = block("collect.next"), *Item = block("collect.item"),
             *Latch = block("collect.latch");
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (isa<ReturnInst>(I)) {
      BranchInst::Create(Latch, I.getIterator())->setDebugLoc(I.getDebugLoc());
      I.eraseFromParent();
    }
  B.SetInsertPoint(Head);
  PHINode *Turn = cast<PHINode>(&Head->front());
  B.CreateCondBr(IsSorted, Take, Next);

  B.SetInsertPoint(Take);
  PHINode *Place =
      PHINode::Create(B.getInt32Ty(), 2, "place", Head->getFirstNonPHIIt());
  for (BasicBlock *From : predecessors(Head))
    Place->addIncoming(B.getInt32(0), From);
  const Pick Sorted = By.take(B, Thread, Place, *Item, *Latch, *Done);
  BasicBlock *Taken = B.GetInsertBlock(), *None = Taken->getSinglePredecessor();

  B.SetInsertPoint(Next);
  B.CreateCondBr(B.CreateAnd(B.CreateICmpULT(Turn, B.getInt32(Options.Items)),
                             isBlock(blockAt(Turn))),
                 Item, Done);

  B.SetInsertPoint(Item);
  PHINode *Which = B.CreatePHI(B.getInt32Ty(), 2),
          *Who = B.CreatePHI(B.getInt32Ty(), 2),
          *At = B.CreatePHI(B.getInt32Ty(), 2);
  Which->addIncoming(Sorted.Turn, Taken);
  Which->addIncoming(Turn, Next);
  Who->addIncoming(Sorted.Thread, Taken);
  Who->addIncoming(Thread, Next);
  At->addIncoming(Sorted.Place, Taken);
  At->addIncoming(B.getInt32(0), Next);
  Value *Number = blockAt(Which);
  B.SetInsertPoint(B.CreateBr(Body));
  becomeThread(Plan.Items, Number, Who, Of, B);

  B.SetInsertPoint(Latch);
  PHINode *Last = B.CreatePHI(B.getInt32Ty(), 2);
  for (BasicBlock *From : predecessors(Latch))
    Last->addIncoming(From == None ? Sorted.Place : At, From);
  Turn->addIncoming(B.CreateAdd(Turn, B.getInt32(1)), Latch);
  Place->addIncoming(B.CreateAdd(Last, B.getInt32(WarpSize)), Latch);
  B.CreateBr(Head);
  RecursivelyDeleteTriviallyDeadInstructions(Place); // if claims are of 32
  ReturnInst::Create(F.getContext(), Done);
}

uint64_t Rewrite::run() {
  enter();
  BasicBlock *Sorts = block("collect.sort");
  Head = block("collect.head");
  PHINode *Turn = PHINode::Create(B.getInt32Ty(), 3, "turn", Head);
  Turn->addIncoming(B.getInt32(0), Entry);
  B.CreateCondBr(IsSorted, Sorts, Head);
  B.SetInsertPoint(Sorts);
  By.sort(B, Thread, Threads, [&](Value *At) { return pathAt(At); });
  Turn->addIncoming(B.getInt32(0), B.GetInsertBlock());
  B.CreateBr(Head);
  turn();
  return By.bytes();
}

uint64_t rewrite(const CollectPlan &Plan, Function &F, unsigned First) {
  return Rewrite(Plan, F, First).run();
}

} // namespace reconverge::remedies::collect
