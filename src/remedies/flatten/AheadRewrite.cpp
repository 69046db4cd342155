//===- remedies/flatten/AheadRewrite.cpp - Rounds looked ahead ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   for (k = 0; k < n; ++k) {        for (k = 0; k < n; k = next) {
//     d = distance(k);                 for (hits = 0; of 32 rounds; ++k)
//     if (d < limit)         ->          hits |= (distance(k) < limit) << round
//       sum += much(d);                while (hits) {
//   }                                    k' = k at the round of its lowest bit
//                                        d = distance(k'); sum += much(d);
//                                      }
//                                    }
//
//   group:  what each step has come to; no hits
//     |  \
//     |   header ... branch ... latch: the next of 32 rounds, or
//     |                           \     the loop is left
//     |                            \   |
//     |                            drain: <--------------------------+
//     |                             | \   are there hits?            |
//     |                             |  pick: steps at the lowest     |
//     |                             |   |                            |
//     |                             |  copy of header ... branch     |
//     |                             |   |                            |
//     |                             |  work -------------------------+
//     |                           after:  is the loop left?
//     +------------------------------+  \
//                                         exit
//
//   1. Of the rounds' blocks, those on ways to the branch are copied for `pick`.
//      In the copy the branch leads to the work; other ways out of it, which no
//      round that had a hit goes, lead to `drain`.
//   2. The work moves behind the copy, and what it used of the round it now has
//      of the copy. In the rounds themselves the branch leads past it.
//   3. The lowest bit first, so that a thread's rounds work in order.
//   4. Sums, the bits, and what exits take along are slots while this is written.
//   5. Where the loop's rounds can be counted before it, a group knows how many of
//      them it has, so that its rounds ask for that alone. Then four of them become
//      one, if they are short: four loads at once, and one test. Rounds that may
//      also leave the loop stay as they are: four of these in a row are slower
//      (docs/flatten.md).
//
// Why right: AheadLegality.cpp has that rounds without work are the same ones
// whether or when the work is done, and that the copy finds what the round found.
//
// A warp makes as many rounds of `drain` as its lane with the most hits in 32
// rounds: with p hits a round about 32 p + 2 sqrt(32 p), which is what it takes
// the original in so many rounds for p = 1 alone.
//
//===----------------------------------------------------------------------===//

#include "remedies/flatten/Ahead.h"

#include "analysis/AnalysisManagers.h"
#include "remedies/common/Loops.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace reconverge::remedies::flatten {

static constexpr unsigned Rounds = 32; ///< bits of Hits
/// Rounds that become one, and the most instructions that may come of them.
static constexpr unsigned Unrolled = 4, MostUnrolled = 256;
/// Instructions that may be computed to count rounds.
static constexpr unsigned MostToCount = 8;

namespace {
class Looker {
public:
  Looker(const AheadPlan &Plan, Function &F, bool PlantedBug);
  void run();

private:
  AllocaInst *slot(Type *T, const Twine &Name);
  BasicBlock *block(const Twine &Name);
  Value *load(IRBuilderBase &B, AllocaInst *Slot);
  void findLoop();
  void copyRounds();
  void leadIntoGroups();
  void noteHits();
  void leadOut();
  void takeOut(IRBuilderBase &B);
  void moveWork();
  void unroll();

  const AheadPlan &Plan;
  Function &F;
  const bool PlantedBug;
  SmallVector<BasicBlock *> Work;
  SmallSetVector<BasicBlock *, 8> ToBranch; ///< blocks on ways to the branch
  BasicBlock *Branch, *From = nullptr, *Latch = nullptr, *Exiting = nullptr,
                      *Exit = nullptr;
  BasicBlock *Group, *Drain, *Pick, *After, *Left;

  AllocaInst *Hits, *Round, *IsLeft;
  // Null where the loop's rounds cannot be counted before it.
  Value *Back = nullptr;      ///< how often the loop goes back
  AllocaInst *Rest = nullptr; ///< of that, from a group's first round on
  Value *Here = nullptr;      ///< rounds of a group, i32
  Value *IsLast = nullptr;    ///< the group has the last round
  SmallVector<AllocaInst *> Slots;
  SmallVector<AllocaInst *> Sums;  ///< of Plan.Sums
  SmallVector<AllocaInst *> Nexts; ///< of Plan.Steps: at the next group's start
  SmallVector<Value *> Starts;     ///< the same, at this one's
  ValueToValueMapTy Map;           ///< to the copy
};
} // namespace

Looker::Looker(const AheadPlan &Plan, Function &F, bool PlantedBug)
    : Plan(Plan), F(F), PlantedBug(PlantedBug),
      Branch(Plan.Skipped.Work->getSinglePredecessor()) {
  findLoop();
  Type *I32 = Type::getInt32Ty(F.getContext());
  Group = block("group");
  Drain = block("drain");
  Pick = block("pick");
  After = block("after");
  Left = block("left");
  Hits = slot(I32, "hits");
  Round = slot(I32, "round");
  IsLeft = slot(Type::getInt1Ty(F.getContext()), "left");
  for (auto [Phi, Behind] : Plan.Sums)
    Sums.push_back(slot(Phi->getType(), Phi->getName()));
  for (PHINode *Phi : Plan.Steps)
    Nexts.push_back(slot(Phi->getType(), Phi->getName()));
}

BasicBlock *Looker::block(const Twine &Name) {
  return BasicBlock::Create(F.getContext(), "ahead." + Name, &F);
}

AllocaInst *Looker::slot(Type *T, const Twine &Name) {
  return Slots.emplace_back(
      new AllocaInst(T, F.getDataLayout().getAllocaAddrSpace(), Name,
                     F.getEntryBlock().getFirstInsertionPt()));
}

Value *Looker::load(IRBuilderBase &B, AllocaInst *Slot) {
  return B.CreateLoad(Slot->getAllocatedType(), Slot, Slot->getName());
}

/// How often \p L goes back, computed at the end of \p Before; null: that is not
/// known there.
static Value *goesBack(const Loop &L, BasicBlock &Before,
                       ScalarEvolution &Counts,
                       const TargetTransformInfo &Costs) {
  const SCEV *Often = Counts.getBackedgeTakenCount(&L);
  if (isa<SCEVCouldNotCompute>(Often))
    return nullptr;
  Type *I32 = Type::getInt32Ty(Before.getContext());
  if (Counts.getTypeSizeInBits(Often->getType()) < 32)
    Often = Counts.getZeroExtendExpr(Often, I32);
  Instruction *At = Before.getTerminator();
  SCEVExpander Expander(Counts, Before.getDataLayout(), "rounds");
  if (!Expander.isSafeToExpandAt(Often, At) ||
      Expander.isHighCostExpansion(Often, const_cast<Loop *>(&L), MostToCount,
                                   &Costs, At))
    return nullptr;
  return Expander.expandCodeFor(Often, Often->getType(), At);
}

void Looker::findLoop() {
  analysis::AnalysisManagers Analyses;
  auto &All = Analyses.Functions;
  auto &Dominance = All.getResult<DominatorTreeAnalysis>(F);
  auto &Loops = All.getResult<LoopAnalysis>(F);
  Loop *L = Loops.getLoopFor(Plan.Header);
  assert(L && L->getHeader() == Plan.Header && "the plan's loop is still one");
  formDedicatedExitBlocks(L, &Dominance, &Loops, nullptr,
                          /*PreserveLCSSA=*/false);
  formLCSSARecursively(*L, Dominance, &Loops, nullptr);
  From = L->getLoopPredecessor();
  Latch = L->getLoopLatch();
  Exiting = L->getExitingBlock();
  Exit = L->getExitBlock();
  Work = blocksOfWork(*L, Plan.Skipped, Dominance);
  ToBranch.insert(Branch);
  for (size_t I = 0; I != ToBranch.size(); ++I)
    if (ToBranch[I] != Plan.Header)
      for (BasicBlock *Before : predecessors(ToBranch[I]))
        ToBranch.insert(Before);
  if (Exiting == Latch)
    Back = goesBack(*L, *From, All.getResult<ScalarEvolutionAnalysis>(F),
                    All.getResult<TargetIRAnalysis>(F));
}

/// For `pick`. The phis of the header are not in the copy.
void Looker::copyRounds() {
  SmallVector<BasicBlock *> Copies;
  for (BasicBlock *BB : ToBranch) {
    BasicBlock *Copy = CloneBasicBlock(BB, Map, ".hit", &F);
    Map[BB] = Copy;
    Copies.push_back(Copy);
  }
  for (PHINode &Phi : Plan.Header->phis()) {
    cast<PHINode>(Map[&Phi])->eraseFromParent();
    Map.erase(&Phi);
  }
  IRBuilder<> B(Pick);
  Value *Before = load(B, Hits);
  B.CreateStore(B.CreateAnd(Before, B.CreateSub(Before, B.getInt32(1))), Hits);
  Value *At = B.CreateIntrinsic(Intrinsic::cttz, {B.getInt32Ty()},
                                {Before, B.getTrue()}, nullptr, "at");
  for (auto [Phi, Start] : zip_equal(Plan.Steps, Starts)) {
    const auto *Next = cast<Instruction>(Phi->getIncomingValueForBlock(Latch));
    const auto *Address = dyn_cast<GetElementPtrInst>(Next);
    Value *Step = Next->getOperand(Next->getOperand(0) == Phi);
    if (Address) // an index has a sign
      Step = B.CreateSExtOrTrunc(
          Step, F.getDataLayout().getIndexType(Phi->getType()));
    Value *Way = B.CreateMul(Step, B.CreateZExtOrTrunc(At, Step->getType()));
    Map[Phi] = Address
                   ? B.CreateGEP(Address->getSourceElementType(), Start, Way)
                   : B.CreateAdd(Start, Way);
  }
  for (auto [Sum, Slot] : zip_equal(Plan.Sums, Sums))
    Map[Sum.first] = load(B, Slot);
  B.CreateBr(cast<BasicBlock>(Map[Plan.Header]));
  remapInstructionsInBlocks(Copies, Map);
  for (BasicBlock *BB : ToBranch) {
    Instruction *Ends = cast<BasicBlock>(Map[BB])->getTerminator();
    for (unsigned I = 0; I != Ends->getNumSuccessors(); ++I)
      if (!is_contained(Copies, Ends->getSuccessor(I)))
        Ends->setSuccessor(I, Drain);
  }
  auto *Found = cast<BasicBlock>(Map[Branch]);
  Found->getTerminator()->eraseFromParent();
  BranchInst::Create(Plan.Skipped.Work, Found);
}

void Looker::leadIntoGroups() {
  IRBuilder<> Before(From->getTerminator());
  for (auto [Phi, Slot] : zip_equal(Plan.Steps, Nexts))
    Before.CreateStore(Phi->getIncomingValueForBlock(From), Slot);
  for (auto [Sum, Slot] : zip_equal(Plan.Sums, Sums))
    Before.CreateStore(Sum.first->getIncomingValueForBlock(From), Slot);
  From->getTerminator()->replaceSuccessorWith(Plan.Header, Group);
  IRBuilder<> B(Group);
  B.CreateStore(B.getInt32(0), Hits);
  B.CreateStore(B.getInt32(0), Round);
  for (auto [Phi, Slot] : zip_equal(Plan.Steps, Nexts)) {
    Value *Start = load(B, Slot);
    Phi->replaceIncomingBlockWith(From, Group);
    Phi->setIncomingValueForBlock(Group, Start);
    Starts.push_back(Start);
  }
  if (Back) {
    Rest = slot(Back->getType(), "rest");
    Before.CreateStore(Back, Rest);
    Value *Many = load(B, Rest);
    const auto Number = [&](unsigned N) {
      return ConstantInt::get(Many->getType(), N);
    };
    Value *More = B.CreateIntrinsic(Intrinsic::umin, {Many->getType()},
                                    {Many, Number(Rounds - 1)});
    Here =
        B.CreateAdd(B.CreateTrunc(More, B.getInt32Ty()), B.getInt32(1), "here",
                    /*HasNUW=*/true, /*HasNSW=*/true);
    IsLast = B.CreateICmpULT(Many, Number(Rounds), "last");
    B.CreateStore(B.CreateSub(Many, Number(Rounds)), Rest);
  }
  B.CreateBr(Plan.Header);
}

/// In the rounds, the branch leads past the work.
void Looker::noteHits() {
  auto *Ends = cast<BranchInst>(Branch->getTerminator());
  IRBuilder<> B(Ends);
  Value *Hit = Ends->getSuccessor(0) == Plan.Skipped.Work
                   ? Ends->getCondition()
                   : B.CreateNot(Ends->getCondition());
  Value *Bit = B.CreateShl(B.CreateZExt(Hit, B.getInt32Ty()), load(B, Round));
  B.CreateStore(B.CreateOr(load(B, Hits), Bit), Hits);
  B.CreateBr(Plan.Skipped.Other);
  Ends->eraseFromParent();
}

/// What is used behind the loop: before \p B it is known for the last time.
void Looker::takeOut(IRBuilderBase &B) {
  IRBuilder<> Behind(Left);
  for (PHINode &Phi : Exit->phis()) {
    Value *Out = Phi.getIncomingValueForBlock(Exiting);
    AllocaInst *Slot = nullptr;
    for (auto [Sum, Of] : zip_equal(Plan.Sums, Sums))
      if (Out == Sum.first || Out == Sum.second)
        Slot = Of;
    if (!Slot) {
      Slot = slot(Phi.getType(), Phi.getName());
      B.CreateStore(Out, Slot);
    }
    Phi.replaceIncomingBlockWith(Exiting, Left);
    Phi.setIncomingValueForBlock(Left, load(Behind, Slot));
  }
  Behind.CreateBr(Exit);
}

/// The edges back, and out of the loop, and what is behind it.
void Looker::leadOut() {
  auto *Next = block("next");
  IRBuilder<> B(Next);
  Value *Done = B.CreateAdd(load(B, Round), B.getInt32(1));
  B.CreateStore(Done, Round);
  for (auto [Phi, Slot] : zip_equal(Plan.Steps, Nexts)) {
    B.CreateStore(Phi->getIncomingValueForBlock(Latch), Slot);
    Phi->replaceIncomingBlockWith(Latch, Next);
  }
  if (Back) {
    takeOut(B);
    auto *Ends = cast<BranchInst>(Latch->getTerminator());
    Value *Condition = Ends->getCondition();
    Ends->eraseFromParent();
    BranchInst::Create(Next, Latch);
    RecursivelyDeleteTriviallyDeadInstructions(Condition);
  } else {
    B.CreateStore(B.getFalse(), IsLeft);
    Latch->getTerminator()->replaceSuccessorWith(Plan.Header, Next);
    auto *Leaving = block("leaving");
    Exiting->getTerminator()->replaceSuccessorWith(Exit, Leaving);
    IRBuilder<> Out(Leaving);
    Out.CreateStore(Out.getTrue(), IsLeft);
    for (AllocaInst *Slot : Nexts) // there is no next group
      Out.CreateStore(PoisonValue::get(Slot->getAllocatedType()), Slot);
    takeOut(Out);
    Out.CreateBr(Drain);
  }
  B.CreateCondBr(B.CreateICmpULT(Done, Here ? Here : B.getInt32(Rounds)),
                 Plan.Header, Drain);
  B.SetInsertPoint(Drain);
  B.CreateCondBr(B.CreateICmpNE(load(B, Hits), B.getInt32(0)), Pick, After);
  B.SetInsertPoint(After);
  B.CreateCondBr(Back ? IsLast : load(B, IsLeft), Left, Group);
}

void Looker::moveWork() {
  remapInstructionsInBlocks(Work, Map);
  for (BasicBlock *BB : Work)
    for (BasicBlock *To :
         SmallSetVector<BasicBlock *, 4>(succ_begin(BB), succ_end(BB))) {
      if (is_contained(Work, To))
        continue;
      BasicBlock *Edge = block("worked");
      IRBuilder<> B(Edge);
      for (auto [Sum, Slot] : zip_equal(Plan.Sums, Sums))
        if (Sum.second->getParent() == To && !PlantedBug) {
          Value *Made = Sum.second->getIncomingValueForBlock(BB);
          Value *Copy = Map.lookup(Made);
          B.CreateStore(Copy ? Copy : Made, Slot);
        }
      B.CreateBr(Drain);
      BB->getTerminator()->replaceSuccessorWith(To, Edge);
    }
  for (auto [Phi, Behind] : Plan.Sums) {
    // Only they ask for each other now.
    Phi->replaceAllUsesWith(PoisonValue::get(Phi->getType()));
    Behind->replaceAllUsesWith(PoisonValue::get(Phi->getType()));
  }
  for (auto [Phi, Behind] : Plan.Sums) {
    Phi->eraseFromParent();
    Behind->eraseFromParent();
  }
}

/// The rounds of a group, which have no way out but their end.
void Looker::unroll() {
  if (!Back)
    return;
  analysis::AnalysisManagers Analyses;
  auto &All = Analyses.Functions;
  auto &Loops = All.getResult<LoopAnalysis>(F);
  Loop *L = Loops.getLoopFor(Plan.Header);
  assert(L && L->getHeader() == Plan.Header && "rounds are a loop");
  size_t Instructions = 0;
  for (const BasicBlock *BB : L->blocks())
    Instructions += BB->size();
  if (Instructions * Unrolled > MostUnrolled || !L->isSafeToClone())
    return;
  formDedicatedExitBlocks(L, &All.getResult<DominatorTreeAnalysis>(F), &Loops,
                          nullptr, /*PreserveLCSSA=*/false);
  unrollRounds(*L, Unrolled, All, /*Remainder=*/true);
}

void Looker::run() {
  leadIntoGroups();
  copyRounds();
  noteHits();
  leadOut();
  moveWork();
  DominatorTree Dominance(F);
  PromoteMemToReg(Slots, Dominance);
  removeDead(F);
  unroll();
}

void rewriteAhead(const AheadPlan &Plan, Function &F, bool PlantedBug) {
  Looker(Plan, F, PlantedBug).run();
}

} // namespace reconverge::remedies::flatten
