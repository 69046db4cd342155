//===- remedies/herd/Rounds.cpp - Votes in loops --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop that lanes leave by `way`, among others; `mask` are those who came, and
// L is what the loop was.
//
//   again: <----------------------------------------+
//    |  \  is this lane inside?                     |
//    |   enter: left = every                        |
//    |    |                                         |
//    |    L's header: <----------------+            |
//    |    |  a way back, left > 0 -----+            |
//    |    |  a way back, left = 0: inside           |
//    |    |  a way out: left by that                |
//    |   /                                          |
//    vote: more than threshold inside? -------------+
//     |  no
//    leave: by the ways out
//
//   1. A lane that left goes round with the others, from vote to vote, where it
//      would wait for them behind the loop anyway. So the mask is the same for all
//      votes, and a round without a vote costs a counter.
//   2. A vote: inside = ballot(mask, is inside); another turn if
//      popc(inside) > threshold popc(mask) / 32. So none is had once all left.
//   3. Those who are inside when too few are leave by `way`. If that stands at
//      the loop's end, they do so at once, with the values of that round. Else
//      everybody notes that it is over, they go on, and leave where they come to
//      it the next time, without another vote.
//   4. Phis of the header and of the ways out become slots, and then values
//      again (mem2reg).
//
//   5. If rounds are short, the loop is unrolled first, so that the vote stands
//      behind every so many rounds, and no counter is needed: it would take a
//      third of a short round.
//
// Why it ends, if the original does: each turn takes some lane further, and a
// lane has no rounds that it did not have before.
//
//===----------------------------------------------------------------------===//

#include "remedies/herd/Rounds.h"

#include "analysis/AnalysisManagers.h"
#include "remedies/common/Loops.h"
#include "remedies/herd/Dropped.h"
#include "remedies/herd/Rewrite.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace reconverge::remedies::herd {

/// Instructions of a loop that is unrolled up to its votes.
static constexpr size_t MostUnrolled = 512;

namespace {
class RoundWriter {
public:
  RoundWriter(const HerdPoint &Point, Value *Mask, Value *Few, Function &F,
              DroppedLanes *Dropped);
  void run();

private:
  using PhiSlots = SmallVector<std::pair<PHINode *, AllocaInst *>>;

  AllocaInst *slot(Type *T, const Twine &Name);
  PhiSlots slotsOf(BasicBlock *BB);
  void give(IRBuilderBase &B, const BasicBlock *From, const PhiSlots &To);
  void forget(IRBuilderBase &B, const PhiSlots &No);
  Value *load(IRBuilderBase &B, AllocaInst *Slot);
  void leadBack(BasicBlock *From);
  void leaveBy(IRBuilderBase &B, const BasicBlock *To);
  void leadIn();
  void leadOut();
  void takeWayOutIfOver();
  void writeVote();
  void writeLeave();

  const HerdPoint &Point;
  Value *Mask, *Few;
  Function &F;
  DroppedLanes *Dropped; ///< null: nobody counts
  BasicBlock *Header, *Before, *Out;
  SmallVector<BasicBlock *> Latches;
  MapVector<BasicBlock *, PhiSlots> Exits;
  PhiSlots Starts; ///< of the header
  SmallVector<AllocaInst *> Slots;
  AllocaInst *Inside;          ///< or has left
  AllocaInst *Which = nullptr; ///< has been left by; null: there is one way
  AllocaInst *Left = nullptr;
  AllocaInst *Over = nullptr; ///< null: `way` stands at the loop's end
  BasicBlock *Again, *Enter, *Met, *Vote, *Leave;
};
} // namespace

/// Whether another round begins where \p P does not leave the loop.
static bool isAtEnd(const HerdPoint &P) {
  return P.Branch->getTerminator()->getSuccessor(1 - P.Out) == P.Header;
}

RoundWriter::RoundWriter(const HerdPoint &Point, Value *Mask, Value *Few,
                         Function &F, DroppedLanes *Dropped)
    : Point(Point), Mask(Mask), Few(Few), F(F), Dropped(Dropped),
      Header(Point.Header),
      Out(Point.Branch->getTerminator()->getSuccessor(Point.Out)) {
  DominatorTree Dominance(F);
  LoopInfo Loops(Dominance);
  Loop *L = Loops.getLoopFor(Header);
  assert(L && L->getHeader() == Header && L->getLoopPreheader() &&
         "the plan's loop is still one, and canonical");
  // Loops inside it have been changed.
  formLCSSARecursively(*L, Dominance, &Loops, nullptr);
  assert(L->hasDedicatedExits() && "the loop is canonical");
  Before = L->getLoopPreheader();
  for (BasicBlock &BB : F) { // in program order
    const bool IsInside = L->contains(&BB);
    if (IsInside && is_contained(successors(&BB), Header))
      Latches.push_back(&BB);
    if (!IsInside && any_of(predecessors(&BB), [&](BasicBlock *From) {
          return L->contains(From);
        }))
      Exits[&BB] = slotsOf(&BB);
  }
  Starts = slotsOf(Header);
  Type *I32 = Type::getInt32Ty(F.getContext());
  Inside = slot(Type::getInt1Ty(F.getContext()), "herd.in");
  if (Exits.size() > 1)
    Which = slot(I32, "herd.which");
  if (Point.Options.Every > 1)
    Left = slot(I32, "herd.left");
  if (!isAtEnd(Point))
    Over = slot(Type::getInt1Ty(F.getContext()), "herd.over");
  auto Block = [&](const char *Name) {
    return BasicBlock::Create(F.getContext(), Twine("herd.") + Name, &F);
  };
  Again = Block("again");
  Enter = Block("enter");
  Vote = Block("vote");
  Met = Over ? Block("met") : Vote;
  Leave = Block("leave");
}

AllocaInst *RoundWriter::slot(Type *T, const Twine &Name) {
  return Slots.emplace_back(
      new AllocaInst(T, F.getDataLayout().getAllocaAddrSpace(), Name,
                     F.getEntryBlock().getFirstInsertionPt()));
}

RoundWriter::PhiSlots RoundWriter::slotsOf(BasicBlock *BB) {
  PhiSlots All;
  for (PHINode &Phi : BB->phis())
    All.push_back({&Phi, slot(Phi.getType(), Phi.getName())});
  return All;
}

/// Writes what the phis \p To get from \p From.
void RoundWriter::give(IRBuilderBase &B, const BasicBlock *From,
                       const PhiSlots &To) {
  for (auto [Phi, Slot] : To)
    B.CreateStore(Phi->getIncomingValueForBlock(From), Slot);
}

/// No longer needed: they would take registers meanwhile.
void RoundWriter::forget(IRBuilderBase &B, const PhiSlots &No) {
  for (auto [Phi, Slot] : No)
    B.CreateStore(PoisonValue::get(Slot->getAllocatedType()), Slot);
}

Value *RoundWriter::load(IRBuilderBase &B, AllocaInst *Slot) {
  return B.CreateLoad(Slot->getAllocatedType(), Slot, Slot->getName());
}

/// Between the end of \p From and another round: a vote, every so many times.
void RoundWriter::leadBack(BasicBlock *From) {
  auto *Pause = BasicBlock::Create(F.getContext(), "herd.pause", &F, Again);
  IRBuilder<> B(Pause);
  give(B, From, Starts);
  if (!Over) { // what it has if it is to leave
    give(B, From, Exits[Out]);
    leaveBy(B, Out);
  }
  B.CreateStore(B.getTrue(), Inside);
  B.CreateBr(Met);
  auto *Round = BasicBlock::Create(F.getContext(), "herd.round", &F, Pause);
  B.SetInsertPoint(Round);
  Value *GoesOn = nullptr;
  if (Left) {
    Value *Less = B.CreateSub(load(B, Left), B.getInt32(1));
    B.CreateStore(Less, Left);
    GoesOn = B.CreateICmpNE(Less, B.getInt32(0));
  }
  if (Over)
    GoesOn = GoesOn ? B.CreateOr(GoesOn, load(B, Over)) : load(B, Over);
  From->getTerminator()->replaceSuccessorWith(Header, Round);
  if (GoesOn) {
    B.CreateCondBr(GoesOn, Header, Pause);
    Header->replacePhiUsesWith(From, Round);
    return;
  }
  B.CreateBr(Pause);
  for (PHINode &Phi : Header->phis())
    Phi.removeIncomingValue(From, /*DeletePHIIfEmpty=*/false);
}

/// The lane is to leave the loop to \p To.
void RoundWriter::leaveBy(IRBuilderBase &B, const BasicBlock *To) {
  if (!Which)
    return;
  const auto *At = find_if(Exits, [&](const auto &E) { return E.first == To; });
  B.CreateStore(B.getInt32(unsigned(At - Exits.begin())), Which);
}

void RoundWriter::leadIn() {
  Instruction *End = Before->getTerminator();
  IRBuilder<> B(End);
  give(B, Before, Starts);
  for (auto &[To, Phis] : Exits)
    forget(B, Phis);
  B.CreateStore(B.getTrue(), Inside);
  if (Which)
    B.CreateStore(PoisonValue::get(B.getInt32Ty()), Which);
  if (Left)
    B.CreateStore(PoisonValue::get(B.getInt32Ty()), Left);
  if (Over)
    B.CreateStore(B.getFalse(), Over);
  End->replaceSuccessorWith(Header, Again);
  B.SetInsertPoint(Again);
  B.CreateCondBr(load(B, Inside), Enter, Met);
  B.SetInsertPoint(Enter);
  for (auto [Phi, Slot] : Starts) {
    Phi->removeIncomingValue(Before, /*DeletePHIIfEmpty=*/false);
    Phi->addIncoming(load(B, Slot), Enter);
  }
  forget(B, Starts);
  for (auto &[To, Phis] : Exits)
    forget(B, Phis);
  if (Left)
    B.CreateStore(B.getInt32(Point.Options.Every), Left);
  B.CreateBr(Header);
}

/// Has the block of \p B be one in machine code, too. Else each way to it would
/// bring what it says, and of an unrolled loop each round has one.
static void keepBlock(IRBuilderBase &B) {
  B.CreateIntrinsic(Intrinsic::sideeffect, {}, {});
}

/// Phis of the ways out have what lanes brought to the vote.
void RoundWriter::leadOut() {
  for (auto &[To, Phis] : Exits) {
    auto *Gone = BasicBlock::Create(F.getContext(), "herd.gone", &F, Again);
    leadElsewhere(To, [&, Phis = &Phis](IRBuilderBase &B, BasicBlock *From) {
      give(B, From, *Phis);
      B.CreateBr(Gone);
    });
    IRBuilder<> B(Gone);
    keepBlock(B);
    forget(B, Starts);
    leaveBy(B, To);
    B.CreateStore(B.getFalse(), Inside);
    B.CreateBr(Met);
    B.SetInsertPoint(To, To->getFirstNonPHIIt());
    for (auto [Phi, Slot] : Phis) {
      Value *Given = load(B, Slot);
      Given->takeName(Phi);
      Phi->replaceAllUsesWith(Given);
      Phi->eraseFromParent();
    }
  }
}

void RoundWriter::takeWayOutIfOver() {
  auto *Br = cast<BranchInst>(Point.Branch->getTerminator());
  IRBuilder<> B(Br);
  Value *Now = load(B, Over), *If = Br->getCondition();
  if (Dropped) // those who would have stayed
    Dropped->note(B, B.CreateAnd(Now, Point.Out == 0 ? B.CreateNot(If) : If));
  Br->setCondition(Point.Out == 0 ? B.CreateOr(If, Now)
                                  : B.CreateAnd(If, B.CreateNot(Now)));
}

void RoundWriter::writeVote() {
  IRBuilder<> B(Vote);
  Value *Votes =
      B.CreateIntrinsic(Intrinsic::nvvm_vote_ballot_sync, {},
                        {Mask, load(B, Inside)}, nullptr, "herd.inside");
  Value *Enough =
      B.CreateICmpUGT(countOf(B, Votes, Point.Options), Few, "herd.enough");
  if (!Over) {
    B.CreateCondBr(Enough, Again, Leave);
    return;
  }
  B.CreateStore(B.CreateNot(Enough), Over);
  B.CreateBr(Again);
  B.SetInsertPoint(Met);
  B.CreateCondBr(load(B, Over), Leave, Vote);
}

void RoundWriter::writeLeave() {
  IRBuilder<> B(Leave);
  if (Dropped && !Over)
    Dropped->note(B, load(B, Inside));
  if (Exits.size() == 1) {
    B.CreateBr(Out);
    return;
  }
  SwitchInst *Where = B.CreateSwitch(load(B, Which), Out, Exits.size() - 1);
  for (unsigned Number = 0; auto &[To, Phis] : Exits)
    if (const unsigned At = Number++; To != Out)
      Where->addCase(B.getInt32(At), To);
}

void RoundWriter::run() {
  if (Over)
    for (BasicBlock *From : Latches)
      leadBack(From);
  else
    leadBack(Point.Branch);
  leadIn();
  if (Over)
    takeWayOutIfOver();
  leadOut();
  writeVote();
  writeLeave();
  DominatorTree Dominance(F);
  PromoteMemToReg(Slots, Dominance);
}

static constexpr StringLiteral AnchorKind = "rc.herd.way";

/// Unrolling simplifies loops, and would join a way out with another one that
/// leads to the same place: lanes that left by the one would not be told from
/// those that left by the other. So something that happens stands before each.
static void anchor(ArrayRef<WeakVH> Ways) {
  for (const WeakVH &Way : Ways)
    if (Way) {
      IRBuilder<> B(cast<Instruction>(Way));
      B.CreateIntrinsic(Intrinsic::sideeffect, {}, {})
          ->setMetadata(AnchorKind, MDNode::get(B.getContext(), {}));
    }
}

static void removeAnchors(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (I.hasMetadata(AnchorKind))
      I.eraseFromParent();
}

/// Has the loop of \p Point rounds of as many of its own as there are from one
/// vote to the next, if they are short, and then a vote in each. None: seen so,
/// nobody leaves the loop there, or everybody does. \p Ways stay what they are.
static std::optional<HerdPoint> unrolled(HerdPoint Point, Function &F,
                                         ArrayRef<WeakVH> Ways) {
  analysis::AnalysisManagers Analyses;
  auto &All = Analyses.Functions;
  auto &Loops = All.getResult<LoopAnalysis>(F);
  Loop *L = Loops.getLoopFor(Point.Header);
  size_t Instructions = 0;
  for (const BasicBlock *BB : L->blocks())
    Instructions += BB->size();
  const bool AtEnd = isAtEnd(Point);
  auto &Counts = All.getResult<ScalarEvolutionAnalysis>(F);
  const unsigned Every = Point.Options.Every,
                 Most = Counts.getSmallConstantMaxTripCount(L);
  if (Every == 1 || !L->isLoopSimplifyForm() || !L->isSafeToClone() ||
      (AtEnd && L->getLoopLatch() != Point.Branch) ||
      (Most && Most <= Every) || // it would be a loop no longer
      Instructions * Every > MostUnrolled)
    return Point;
  const WeakVH Way(Point.Branch);
  anchor(Ways);
  const bool Unrolls = unrollRounds(*L, Every, All);
  removeAnchors(F);
  if (!Unrolls)
    return Point;
  // Conditions that turned out to be constant are gone.
  Point.Options.Every = 1;
  Point.Branch = AtEnd ? L->getLoopLatch() : cast_or_null<BasicBlock>(Way);
  if (!Point.Branch || Point.Branch->getTerminator()->getNumSuccessors() != 2 ||
      L->contains(Point.Branch->getTerminator()->getSuccessor(Point.Out)))
    return std::nullopt;
  return Point;
}

void herdLoop(const HerdPoint &Point, Value *Mask, Value *Few, Function &F,
              ArrayRef<WeakVH> Ways, DroppedLanes *Dropped) {
  const WeakTrackingVH Who(Mask), Bound(Few); // phis may be simplified
  if (const auto Now = unrolled(Point, F, Ways))
    RoundWriter(*Now, Who, Bound, F, Dropped).run();
}

} // namespace reconverge::remedies::herd
