//===- remedies/collect/Rewrite.cpp - A kernel that collects --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   entry:    frame
//      |
//   sort (Sort.cpp), with the paths of a thread's items (Paths.cpp)
//      |
//   head:     take 32 items of a path; none left? ---> done: ret
//      |
//   item:     numbers of that thread of that block (Items.h)
//      |
//   body:     the kernel as it was, but for the branches that tell paths apart:
//      |      the path says which way they go
//      |
//   latch:    where it returned, and lanes without an item; back to the head
//
// A block of the new launch has the shape of the program's, and does the work of
// Items of its blocks in a row.
//
// Numbers of blocks have 32 bits, for there are at most 2^31 items: a division of
// 64 would cost four times as much.
//
// Why right: each thread of each block of the program's launch is one item, and
// somebody's in the block that does the work of its block (Sort.cpp). All are
// taken once, but those that would have done nothing; and run all of the kernel
// with their own numbers. They go the way that the slice went, on what it has
// read; nobody else writes that, or threads might not change places.
//
//===----------------------------------------------------------------------===//

#include "remedies/collect/Rewrite.h"

#include "analysis/AnalysisManagers.h"
#include "remedies/collect/Paths.h"
#include "remedies/collect/Sort.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
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
  SmallVector<Value *> pathsOf(ArrayRef<Item> Items);
  /// Blocks as they were when the plan was made.
  BasicBlock *now(BasicBlock *BB) { return BB == Entry ? Body : BB; }
  uint32_t pathsAt(const BasicBlock *BB);
  void decide(BasicBlock &From, Value *Path);
  void turn();

  const CollectPlan &Plan;
  const CollectOptions &Options;
  Function &F;
  IRBuilder<> B;
  const unsigned First; ///< of the parameters
  Sort By;

  BasicBlock *Entry = nullptr, *Body = nullptr;
  LaunchValues Of;
  Value *Thread = nullptr, *Threads = nullptr, *FirstBlock = nullptr,
        *Blocks = nullptr;

  DenseMap<const BasicBlock *, uint32_t> Reached; ///< pathsAt
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
  for (unsigned D : {0u, 1u, 2u}) {
    cast<Instruction>(Of.Grid[D])->eraseFromParent();
    Of.Grid[D] = F.getArg(First + 1 + D);
  }
  if (Plan.OneDimension) {
    Y = Z = B.getInt32(0);
    Of.Grid[1] = Of.Grid[2] = Of.Block[1] = Of.Block[2] = B.getInt32(1);
  }
  Value *Rows = B.CreateAdd(B.CreateMul(Z, Of.Block[1]), Y);
  Thread = B.CreateAdd(B.CreateMul(Rows, Of.Block[0]), X, "thread");
  Blocks = B.CreateTrunc(F.getArg(First), B.getInt32Ty());
  FirstBlock = B.CreateMul(Here, B.getInt32(Options.Items), "block");
  Threads = B.CreateMul(B.CreateMul(Of.Block[0], Of.Block[1]), Of.Block[2]);
  At->eraseFromParent();
  B.SetInsertPoint(Entry);
}

Value *Rewrite::blockAt(Value *Turn) { return B.CreateAdd(FirstBlock, Turn); }

Value *Rewrite::isBlock(Value *Number) {
  return B.CreateICmpULT(Number, Blocks);
}

/// The paths of \p Items: i32.
SmallVector<Value *> Rewrite::pathsOf(ArrayRef<Item> Items) {
  SmallVector<Value *> Numbers, Exist, Paths;
  for (Item Which : Items) {
    Numbers.push_back(blockAt(Which.Turn));
    Exist.push_back(isBlock(Numbers.back()));
  }
  Instruction *Before = B.CreateBr(block("collect.slice"));
  B.SetInsertPoint(Before->getSuccessor(0));
  const auto Found = findPaths(
      Plan.Deciding, Exist, [&](BasicBlock *BB) { return now(BB); }, B);
  IRBuilder<> Who(Before);
  Who.SetCurrentDebugLocation(B.getCurrentDebugLocation());
  for (auto [Which, Number, Its] : zip_equal(Items, Numbers, Found)) {
    becomeThread(ItemsPlan{Its.Reads}, Number, Which.Thread, Of, Who);
    Paths.push_back(Its.Path);
  }
  return Paths;
}

/// The paths of items that come to \p BB from the slice, a bit each.
uint32_t Rewrite::pathsAt(const BasicBlock *BB) {
  const Slice &S = Plan.Deciding;
  if (auto End = S.Ends.find(const_cast<BasicBlock *>(BB));
      End != S.Ends.end() && !S.Short.contains(End->first))
    return End->second == NoWork ? 0 : 1u << End->second;
  auto [Found, IsNew] = Reached.try_emplace(BB, 0);
  if (!IsNew || !S.Blocks.contains(const_cast<BasicBlock *>(BB)))
    return Found->second; // of a short path: none
  uint32_t All = 0;
  for (const BasicBlock *To : successors(now(const_cast<BasicBlock *>(BB))))
    All |= pathsAt(To);
  return Reached[BB] = All;
}

/// Has the branch at the end of \p From, in the slice, go where items of
/// \p Path go, if each path has one way.
void Rewrite::decide(BasicBlock &From, Value *Path) {
  Instruction *Old = From.getTerminator();
  SmallMapVector<BasicBlock *, uint32_t, 4> Ways;
  uint32_t Seen = 0;
  for (BasicBlock *To : successors(&From)) {
    const uint32_t Mine = pathsAt(To);
    if (!Mine || !Ways.insert({To, Mine}).second)
      continue;
    if (Mine & Seen)
      return;
    Seen |= Mine;
  }
  if (Old->getNumSuccessors() < 2 || Ways.empty())
    return;
  SmallMapVector<BasicBlock *, unsigned, 4> Edges; // as they were
  for (BasicBlock *To : successors(&From))
    ++Edges[To];
  B.SetInsertPoint(Old);
  B.SetCurrentDebugLocation(Old->getDebugLoc());
  BasicBlock *First = Ways.front().first;
  if (Ways.size() == 1) {
    B.CreateBr(First);
  } else if (Ways.size() == 2) {
    Value *Bit = B.CreateAnd(B.CreateShl(B.getInt32(1), Path),
                             B.getInt32(Ways.front().second));
    B.CreateCondBr(B.CreateICmpNE(Bit, B.getInt32(0)), First,
                   Ways.back().first);
  } else {
    SwitchInst *Switch = B.CreateSwitch(Path, First);
    for (auto [To, Those] : drop_begin(Ways))
      for (uint32_t Left = Those; Left; Left &= Left - 1)
        Switch->addCase(B.getInt32(countr_zero(Left)), To);
  }
  Value *Condition = isa<SwitchInst>(Old)
                         ? cast<SwitchInst>(Old)->getCondition()
                         : cast<BranchInst>(Old)->getCondition();
  Old->eraseFromParent();
  RecursivelyDeleteTriviallyDeadInstructions(Condition);
  for (auto [To, Before] : Edges) {
    const auto After = unsigned(llvm::count(successors(&From), To));
    for (PHINode &Phi : To->phis()) {
      Value *V = Phi.getIncomingValueForBlock(&From);
      for (unsigned I = After; I < Before; ++I)
        Phi.removeIncomingValue(&From, /*DeletePHIIfEmpty=*/false);
      for (unsigned I = Before; I < After; ++I)
        Phi.addIncoming(V, &From);
    }
  }
}

/// The loop over items, around the kernel as it was.
void Rewrite::turn() {
  BasicBlock *Done = block("collect.done"), *Item = block("collect.item"),
             *Latch = block("collect.latch");
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (isa<ReturnInst>(I)) {
      BranchInst::Create(Latch, I.getIterator())->setDebugLoc(I.getDebugLoc());
      I.eraseFromParent();
    }
  BasicBlock *From = B.GetInsertBlock(), *Head = block("collect.head");
  B.CreateBr(Head);
  B.SetInsertPoint(Head);
  PHINode *Place = B.CreatePHI(B.getInt32Ty(), 2, "place");
  Place->addIncoming(B.getInt32(0), From);
  const Pick Taken = By.take(B, Thread, Threads, Place, *Item, *Latch, *Done);

  B.SetInsertPoint(Item);
  Value *Number = blockAt(Taken.Turn);
  B.SetInsertPoint(B.CreateBr(Body));
  becomeThread(Plan.Items, Number, Taken.Thread, Of, B);

  B.SetInsertPoint(Latch);
  Place->addIncoming(B.CreateAdd(Taken.Place, B.getInt32(WarpSize)), Latch);
  B.CreateBr(Head);
  RecursivelyDeleteTriviallyDeadInstructions(Place); // if claims are of 32
  ReturnInst::Create(F.getContext(), Done);
  // Not where code of a path comes back to: that item's path says nothing there.
  SmallSetVector<BasicBlock *, 16> Deciding;
  for (BasicBlock *BB : Plan.Deciding.Blocks)
    if (BB == Entry || all_of(predecessors(BB), [&](BasicBlock *From) {
          return Deciding.contains(From);
        }))
      Deciding.insert(now(BB));
  for (BasicBlock *BB : Deciding)
    decide(*BB, Taken.Path);
  removeUnreachableBlocks(F);
}

uint64_t Rewrite::run() {
  enter();
  By.sort(B, Thread, Threads, itemsAtOnce(Plan.Deciding),
          [&](ArrayRef<Item> Some) { return pathsOf(Some); });
  turn();
  return By.bytes();
}

uint64_t rewrite(const CollectPlan &Plan, Function &F, unsigned First) {
  const uint64_t Bytes = Rewrite(Plan, F, First).run();
  analysis::AnalysisManagers Analyses; // what all turns have alike
  EarlyCSEPass().run(F, Analyses.Functions);
  return Bytes;
}

} // namespace reconverge::remedies::collect
