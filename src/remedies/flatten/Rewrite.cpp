//===- remedies/flatten/Rewrite.cpp - Two loops become one ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// L is the outer loop, M the inner one.
//
//   enter:  mask = activemask; everyone is to begin at L's header
//     |
//    stop: <----------------------+------------+
//     |  \  all are through       |            |
//     |   leave: L's exits        |            |
//    turn:  does this lane wait?  |            |
//     |   \                       |            |
//     |   outer: <---------+      |            |
//     |    | L's header,   | L's  |            |
//     |    | or behind M --+ way  |            |
//     |    v                 back |            |
//    came:  vote: do enough wait? +            |
//     |  no                                    |
//    gate: <---------------------+             |
//     |  \  is this lane in M?   |             |
//     |   M's header ...         |             |
//     |  /                       |             |
//    ran:  vote: do enough wait? + no      yes +
//
//   1. Each edge to M's header or to an exit of M in L, and each out of L, leads
//      to a vote (of M: `ran`, of the rest of L: `came`), with a state that says
//      where the lane goes on. L's ways back lead to `outer`, so that a lane for
//      which M has no rounds goes on with L at once. Rounds of M may be several
//      from one vote to the next.
//   2. A vote: running = ballot(in M); stop if popc(running) <= limit, with which
//      those that wait go on. At `came`, also waiting = ballot(behind M), and
//      limit = alive - max(1, alive threshold / 32), alive = popc(running |
//      waiting); the limit is kept, so that `ran`, where most votes are, has few
//      instructions. Lanes that have since left L from M count as if they waited,
//      until the next stop.
//   3. With threshold=0 nobody votes: `came` and `ran` are one place, `met`, to
//      which lanes come first, from which those that are through with L leave,
//      and the others go either to M or to `outer`. Both ways come back to it. It
//      is the one loop's header, so that lanes of both wait for each other there:
//      L's ways back go straight to L's header, or `outer` would be one, too.
//   4. Phis of these places become slots that edges write, values of L but for
//      M's become slots, too, and then values again (mem2reg). A slot that is no
//      longer needed is given poison, or it would take a register meanwhile.
//      M's values need none: its header is still in front of each of its rounds.
//
// Why right: each lane runs the original's blocks in the original's order. Why
// it ends, if the original does: limit < alive, so at `came` either some lane
// waits, or more than limit are in M, or all are through. At `ran` it may be that
// none waits, since lanes have left; then the next vote, at `came`, sees all of
// them run. At `gate` some lane is in M; so each time round some lane goes on.
//
// At `met` each lane makes a round or goes on, whatever others do.
//
// Votes are by the lanes that entered together. None of them leaves before all
// are through, and no vote has other lanes. Where the hardware has already
// parted lanes that could be together, each part has its mask: slower, not
// wrong. Why two votes: see refill/Rewrite.cpp.
//
// Han and Abdelrahman, "Reducing Divergence in GPGPU Programs with Loop
// Merging", GPGPU-6, 2013; there a lane goes on at once (threshold=0), and L has
// one inner loop.
//
//===----------------------------------------------------------------------===//

#include "remedies/flatten/Rewrite.h"

#include "remedies/common/Loops.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace reconverge::remedies::flatten {

namespace {
class Flattener {
public:
  Flattener(const FlattenPlan &Plan, Function &F);
  void run();

private:
  AllocaInst *slot(Type *T, const Twine &Name);
  void addPlace(BasicBlock *BB);
  void forget(IRBuilderBase &B, BasicBlock *Place);
  void setState(IRBuilderBase &B, unsigned To);
  Value *load(IRBuilderBase &B, AllocaInst *Slot);
  void give(IRBuilderBase &B, BasicBlock *From, BasicBlock *To, unsigned State);
  void take(BasicBlock *Place);
  void leadEdges();
  void keepValues();
  void writeEnter();
  void writeVote(BasicBlock *At);
  void writeMeeting();
  void writeDispatch(BasicBlock *At, BasicBlock *Else,
                     ArrayRef<BasicBlock *> To, unsigned First);
  void writeRounds();

  const FlattenOptions Options;
  Function &F;
  BasicBlock *InnerHeader, *OuterHeader = nullptr;
  SmallPtrSet<BasicBlock *, 16> Inner, Outer; ///< blocks; M's are in both
  SmallVector<BasicBlock *> Behind;           ///< M's exits in L
  SmallVector<BasicBlock *> Out;              ///< L's exits

  /// Of a lane: 0 in M, 1 + n through by exit n, then `Again` at L's header, and
  /// Again + 1 + n behind M at exit n.
  AllocaInst *State;
  AllocaInst *None = nullptr; ///< all are through
  AllocaInst *Mask = nullptr, *Limit = nullptr, *Left = nullptr;
  unsigned Again = 0;
  /// What a place's phis get.
  MapVector<BasicBlock *, SmallVector<std::pair<PHINode *, AllocaInst *>>>
      Places;
  SmallVector<AllocaInst *> Slots, Kept;
  BasicBlock *Enter, *Leave, *ToOuter, *Came, *Gate, *Ran;
  BasicBlock *Stop = nullptr, *Turn = nullptr; ///< of votes
};
} // namespace

/// Blocks of \p F in \p Loops that \p L leads to, in program order, of which
/// \p Wanted holds.
static SmallVector<BasicBlock *>
exitsOf(const Loop &L, function_ref<bool(const BasicBlock *)> Wanted) {
  SmallVector<BasicBlock *> Found;
  for (BasicBlock &BB : *L.getHeader()->getParent())
    if (!L.contains(&BB) && Wanted(&BB) &&
        any_of(predecessors(&BB),
               [&](const BasicBlock *From) { return L.contains(From); }))
      Found.push_back(&BB);
  return Found;
}

Flattener::Flattener(const FlattenPlan &Plan, Function &F)
    : Options(Plan.Options), F(F), InnerHeader(Plan.Header) {
  DominatorTree Dominance(F);
  LoopInfo Loops(Dominance);
  Loop *M = Loops.getLoopFor(InnerHeader), *L = M->getParentLoop();
  assert(M->getHeader() == InnerHeader && L &&
         "the plan's loops are still two");
  // In this order: an exit of both must be L's alone in the end.
  for (Loop *Each : {M, L})
    formDedicatedExitBlocks(Each, &Dominance, &Loops, nullptr,
                            /*PreserveLCSSA=*/false);
  // L's other values are kept for all their uses.
  formLCSSARecursively(*M, Dominance, &Loops, nullptr);
  OuterHeader = L->getHeader();
  Inner.insert(M->block_begin(), M->block_end());
  Outer.insert(L->block_begin(), L->block_end());
  Behind = exitsOf(*M, [&](const BasicBlock *BB) { return L->contains(BB); });
  Out = exitsOf(*L, [](const BasicBlock *) { return true; });
  Again = 1 + Out.size();
  auto Block = [&](const char *Name) {
    return BasicBlock::Create(F.getContext(), Twine("flatten.") + Name, &F);
  };
  Type *I32 = Type::getInt32Ty(F.getContext());
  State = slot(I32, "state");
  Enter = Block("enter");
  if (Options.Threshold) {
    Stop = Block("stop");
    Turn = Block("turn");
    None = slot(Type::getInt1Ty(F.getContext()), "none");
    Mask = slot(I32, "mask");
    Limit = slot(I32, "limit");
  }
  Leave = Block("leave");
  ToOuter = Block("outer");
  Came = Block(Options.Threshold ? "came" : "met");
  Gate = Block("gate");
  Ran = Options.Threshold ? Block("ran") : Came;
  if (Options.Rounds > 1)
    Left = slot(I32, "left");
  addPlace(InnerHeader);
  addPlace(OuterHeader);
  for (BasicBlock *BB : concat<BasicBlock *>(Behind, Out))
    addPlace(BB);
}

AllocaInst *Flattener::slot(Type *T, const Twine &Name) {
  BasicBlock &Entry = F.getEntryBlock();
  return Slots.emplace_back(
      new AllocaInst(T, F.getDataLayout().getAllocaAddrSpace(), Name,
                     Entry.getFirstInsertionPt()));
}

void Flattener::addPlace(BasicBlock *BB) {
  auto &Phis = Places[BB];
  for (PHINode &Phi : BB->phis())
    Phis.push_back({&Phi, slot(Phi.getType(), Phi.getName())});
}

static void forgetSlot(IRBuilderBase &B, AllocaInst *Slot) {
  B.CreateStore(PoisonValue::get(Slot->getAllocatedType()), Slot);
}

void Flattener::forget(IRBuilderBase &B, BasicBlock *Place) {
  for (auto [Phi, Slot] : Places[Place])
    forgetSlot(B, Slot);
}

void Flattener::setState(IRBuilderBase &B, unsigned To) {
  B.CreateStore(B.getInt32(To), State);
}

Value *Flattener::load(IRBuilderBase &B, AllocaInst *Slot) {
  return B.CreateLoad(Slot->getAllocatedType(), Slot, Slot->getName());
}

/// On an edge that led from \p From to \p To.
void Flattener::give(IRBuilderBase &B, BasicBlock *From, BasicBlock *To,
                     unsigned NewState) {
  for (auto [Phi, Slot] : Places[To])
    B.CreateStore(Options.PlantedBug ? Constant::getNullValue(Phi->getType())
                                     : Phi->getIncomingValueForBlock(From),
                  Slot);
  setState(B, NewState);
}

void Flattener::take(BasicBlock *Place) {
  IRBuilder<> B(Place, Place->getFirstNonPHIIt());
  for (auto [Phi, Slot] : Places[Place]) {
    Value *Given = load(B, Slot);
    Given->takeName(Phi);
    Phi->replaceAllUsesWith(Given);
    Phi->eraseFromParent();
  }
  forget(B, Place);
}

void Flattener::leadEdges() {
  auto Meet = [&](IRBuilderBase &B, const BasicBlock *From) {
    B.CreateBr(Inner.contains(From) ? Ran : Came);
  };
  leadElsewhere(InnerHeader, [&](IRBuilderBase &B, BasicBlock *From) {
    give(B, From, InnerHeader, 0);
    if (!Left || !Inner.contains(From))
      return Meet(B, From);
    Value *Less = B.CreateSub(load(B, Left), B.getInt32(1));
    B.CreateStore(Less, Left);
    B.CreateCondBr(B.CreateICmpNE(Less, B.getInt32(0)), InnerHeader, Ran);
  });
  leadElsewhere(OuterHeader, [&](IRBuilderBase &B, BasicBlock *From) {
    give(B, From, OuterHeader, Again);
    B.CreateBr(!Outer.contains(From) ? Enter
               : Options.Threshold   ? ToOuter
                                     : OuterHeader);
  });
  auto LeadPlaces = [&](ArrayRef<BasicBlock *> All, unsigned First) {
    for (auto [I, To] : enumerate(All))
      leadElsewhere(To,
                    [&, To = To, I = I](IRBuilderBase &B, BasicBlock *From) {
                      give(B, From, To, First + unsigned(I));
                      Meet(B, From);
                    });
  };
  LeadPlaces(Behind, Again + 1);
  LeadPlaces(Out, 1);
  for (auto &Each : Places)
    take(Each.first);
}

/// Values of L, but for M's, that other blocks use.
void Flattener::keepValues() {
  SmallVector<Instruction *> Crossing;
  for (BasicBlock &BB : F)
    if (Outer.contains(&BB) && !Inner.contains(&BB))
      for (Instruction &I : BB)
        if (!isa<AllocaInst>(I) && any_of(I.users(), [&](const User *U) {
              return isa<PHINode>(U) ||
                     cast<Instruction>(U)->getParent() != &BB;
            }))
          Crossing.push_back(&I);
  for (Instruction *I : Crossing)
    if (AllocaInst *Slot = DemoteRegToStack(
            *I, false, F.getEntryBlock().getFirstInsertionPt()))
      Kept.push_back(Slot);
}

void Flattener::writeVote(BasicBlock *At) {
  IRBuilder<> B(At);
  forget(B, OuterHeader); // nobody is to begin any more
  Value *Now = load(B, State), *By = load(B, Mask);
  auto Ballot = [&](Value *Vote, const char *Name) {
    return B.CreateIntrinsic(Intrinsic::nvvm_vote_ballot_sync, {}, {By, Vote},
                             nullptr, Name);
  };
  auto Count = [&](Value *Bits) {
    return B.CreateUnaryIntrinsic(Intrinsic::ctpop, Bits);
  };
  Value *Running = Ballot(B.CreateICmpEQ(Now, B.getInt32(0)), "running");
  if (At == Came) {
    Value *Waiting = Ballot(B.CreateICmpUGT(Now, B.getInt32(Again)), "waiting");
    Value *Alive = Count(B.CreateOr(Running, Waiting));
    B.CreateStore(B.CreateICmpEQ(Alive, B.getInt32(0)), None);
    Value *Part = B.CreateLShr(
        B.CreateMul(Alive, B.getInt32(Options.Threshold)), B.getInt32(5));
    B.CreateStore(B.CreateSub(Alive, B.CreateBinaryIntrinsic(
                                         Intrinsic::umax, Part, B.getInt32(1))),
                  Limit);
  }
  // Where none is alive, the limit has become the largest number.
  Value *Enough = B.CreateICmpULE(Count(Running), load(B, Limit), "enough");
  B.CreateCondBr(Enough, Stop, Gate);
}

/// Where lanes meet that need no vote. Were it no convergent place, passes would
/// lead those of one state past it, and they would meet no others.
void Flattener::writeMeeting() {
  IRBuilder<> B(Came);
  B.CreateIntrinsic(Intrinsic::nvvm_activemask, {}, {});
  Value *Exit = B.CreateSub(load(B, State), B.getInt32(1), "exit");
  B.CreateCondBr(B.CreateICmpULT(Exit, B.getInt32(unsigned(Out.size()))), Leave,
                 Gate);
}

/// To where a lane goes on: to \p To[n] in state \p First + n.
void Flattener::writeDispatch(BasicBlock *At, BasicBlock *Else,
                              ArrayRef<BasicBlock *> To, unsigned First) {
  IRBuilder<> B(At);
  SwitchInst *Where = B.CreateSwitch(load(B, State), Else, To.size());
  for (auto [I, BB] : enumerate(To))
    Where->addCase(B.getInt32(First + unsigned(I)), BB);
}

void Flattener::writeEnter() {
  IRBuilder<> B(Enter);
  for (AllocaInst *Slot : Kept) // of an earlier time through L
    forgetSlot(B, Slot);
  for (auto &Each : Places)
    if (Each.first != OuterHeader)
      forget(B, Each.first);
  if (Left)
    forgetSlot(B, Left);
  if (Options.Threshold) {
    B.CreateStore(B.CreateIntrinsic(Intrinsic::nvvm_activemask, {}, {}), Mask);
    B.CreateStore(B.getFalse(), None);
  }
  B.CreateBr(Options.Threshold ? Stop : Came);
}

void Flattener::writeRounds() {
  writeEnter();
  writeDispatch(ToOuter, OuterHeader, Behind, Again + 1);
  if (Out.empty()) // it never ends
    new UnreachableInst(F.getContext(), Leave);
  else
    writeDispatch(Leave, Out[0], ArrayRef(Out).drop_front(), 2);
  IRBuilder<> B(Gate);
  if (Left)
    B.CreateStore(B.getInt32(Options.Rounds), Left);
  Value *IsInside = B.CreateICmpEQ(load(B, State), B.getInt32(0));
  B.CreateCondBr(IsInside, InnerHeader, Options.Threshold ? Ran : ToOuter);
  if (!Options.Threshold)
    return writeMeeting();
  B.SetInsertPoint(Stop);
  B.CreateCondBr(load(B, None), Leave, Turn);
  B.SetInsertPoint(Turn);
  B.CreateCondBr(B.CreateICmpUGE(load(B, State), B.getInt32(Again)), ToOuter,
                 Came);
  writeVote(Came);
  writeVote(Ran);
}

void Flattener::run() {
  leadEdges();
  keepValues();
  writeRounds();
  DominatorTree Dominance(F);
  append_range(Slots, Kept);
  PromoteMemToReg(Slots, Dominance);
  removeDead(F);
}

void rewrite(const FlattenPlan &Plan, Function &F) {
  if (Plan.Ahead)
    return rewriteAhead(*Plan.Ahead, F, Plan.Options.PlantedBug);
  if (Plan.Skipped.Work)
    separateSkips(Plan.Skipped, *Plan.Header);
  Flattener(Plan, F).run();
  F.addFnAttr(Attribute::Convergent);
  F.removeFnAttr(Attribute::NoSync);
  F.removeFnAttr(Attribute::Memory);
}

} // namespace reconverge::remedies::flatten
