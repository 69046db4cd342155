//===- remedies/share/Rewrite.cpp - A loop dealt out ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//        fork                          fork
//       /    \                        /    \ state = 1, n = 0
//     then    |                     then    |
//       \     |                       | n   |
//      loop   |                      meet <-+
//       |     |                       | all 32 lanes here?  no --+
//      exit   |                      weigh                       |
//       |     |                       | it pays?         no ---> alone
//       |     |                      shared form               /     |
//       |    else                    /     |                 loop    |
//       |     /                   exit  dispatch               |     |
//        ...                                 else            exit  dispatch
//
// 1. The fork is the outermost branch in the same iteration of the loop around
//    it by which lanes may miss the loop, its own guard at least. Lanes that take
//    another way come by the meeting, with no iterations, and go on from there.
// 2. Who is there is read once, by lanes that are together; so either all 32 see
//    all 32 and go to be weighed, or none does. Passes and hardware may part
//    them; then the loop runs as it did.
// 3. Each lane tells how many iterations it has. If some lane's own would take
//    as many issue slots as sharing takes (Options.Threshold), or more, they
//    are shared. Counts beyond 2^20 are not. Before lanes add up their counts,
//    they look whether any is so large that it might pay.
// 4. The shared form is in Round.cpp.
// 5. What is known before the meeting goes past it in slots, which become phis.
//
// The warp meets in memory before the shared form and behind it: a thread's
// iteration on another lane sees what the thread has written, and the thread what
// its iterations have.
//
//===----------------------------------------------------------------------===//

#include "remedies/share/Rewrite.h"

#include "analysis/AnalysisManagers.h"
#include "analysis/Uniformity.h"
#include "remedies/common/Loops.h"
#include "remedies/share/Hand.h"
#include "remedies/share/Round.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace reconverge::remedies::share {

namespace {

/// Iterations of a lane from which on they are not shared: of 32 lanes the sum
/// is far from 2^32, and so are the weights.
constexpr unsigned Many = 1 << 20;

class Sharer {
public:
  Sharer(const SharePlan &Plan, Function &F);
  void run();

private:
  AllocaInst *slot(Type *T);
  BasicBlock *block(const char *Name);
  void findFork();
  Value *countIterations(ScalarEvolution &SE, Loop &L);
  void leadHere();
  void leadPast(BasicBlock *From, BasicBlock *To);
  Dealing weigh(Value *Count, BasicBlock *Shared, BasicBlock *Alone);
  void leadOn(BasicBlock *At, BasicBlock *Own);
  void keepValues();
  bool differs(Value *V) const;

  const SharePlan &Plan;
  const ShareOptions &Options;
  Function &F;
  const analysis::UniformityResult Strict; ///< also where lanes run apart
  DenseSet<const Value *> AsItWas;
  BasicBlock *Before, *Fork, *Own;
  SetVector<BasicBlock *> Between; ///< fork and the loop, Before among them
  MapVector<BasicBlock *, SmallVector<std::pair<PHINode *, AllocaInst *>>> Past;
  SmallVector<AllocaInst *> Slots;
  AllocaInst *State, *Iterations;
  BasicBlock *Meet;
};

} // namespace

/// A phi where \p L, which has one way out, leads, for each value that is used
/// behind it.
static void closeValues(const Loop &L) {
  BasicBlock *Exit = L.getUniqueExitBlock();
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      SmallVector<Use *> Behind;
      for (Use &U : I.uses()) {
        auto *User = cast<Instruction>(U.getUser());
        if (!L.contains(User) &&
            !(isa<PHINode>(User) && User->getParent() == Exit))
          Behind.push_back(&U);
      }
      if (Behind.empty())
        continue;
      PHINode *Phi = PHINode::Create(I.getType(), 1, "", Exit->begin());
      Phi->addIncoming(&I, L.getLoopLatch());
      for (Use *U : Behind)
        U->set(Phi);
    }
}

/// Of any executor, lanes together or not.
static analysis::UniformityResult strictly(Function &F) {
  return analysis::computeUniformity(
      F, {.UniformLoads = false, .SameIteration = false});
}

Sharer::Sharer(const SharePlan &Plan, Function &F)
    : Plan(Plan), Options(Plan.Options), F(F), Strict(strictly(F)) {
  for (BasicBlock &BB : F) {
    AsItWas.insert(&BB);
    for (Instruction &I : BB)
      AsItWas.insert(&I);
  }
  DominatorTree Dominance(F);
  LoopInfo Loops(Dominance);
  Loop *L = Loops.getLoopFor(Plan.Header);
  assert(L && L->getHeader() == Plan.Header && "the plan's loop is still one");
  if (!L->getLoopPreheader())
    InsertPreheaderForLoop(L, &Dominance, &Loops, nullptr, false);
  formDedicatedExitBlocks(L, &Dominance, &Loops, nullptr, false);
  closeValues(*L);
  Before = L->getLoopPreheader();
  Own =
      SplitEdge(Before, Plan.Header, &Dominance, &Loops, nullptr, "share.own");
  if (Own == Before) // it came before it
    Before = Own->getSinglePredecessor();
  State = slot(Type::getInt32Ty(F.getContext()));
  Iterations = slot(Type::getInt32Ty(F.getContext()));
  Meet = block("meet");
  findFork();
}

BasicBlock *Sharer::block(const char *Name) {
  return BasicBlock::Create(F.getContext(), Twine("share.") + Name, &F);
}

AllocaInst *Sharer::slot(Type *T) {
  return Slots.emplace_back(
      new AllocaInst(T, F.getDataLayout().getAllocaAddrSpace(), "",
                     F.getEntryBlock().getFirstInsertionPt()));
}

void Sharer::findFork() {
  DominatorTree Dominance(F);
  PostDominatorTree After(F);
  LoopInfo Loops(Dominance);
  const Loop *Around = Loops.getLoopFor(Before);
  Fork = Before;
  const auto *Node = Dominance.getNode(Before);
  for (Node = Node->getIDom(); Node; Node = Node->getIDom()) {
    BasicBlock *BB = Node->getBlock();
    if (Around && !Around->contains(BB))
      break;
    if (Loops.getLoopFor(BB) == Around && Strict.isDivergentBranch(*BB) &&
        !After.dominates(Before, BB))
      Fork = BB;
  }
  if (Fork == Before)
    return;
  Between.insert(Before);
  for (size_t N = 0; N != Between.size(); ++N)
    for (BasicBlock *From : predecessors(Between[N]))
      if (From != Fork)
        Between.insert(From);
}

/// At the end of Before: a number from 1 to Many + 1.
Value *Sharer::countIterations(ScalarEvolution &SE, Loop &L) {
  SCEVExpander Expander(SE, F.getDataLayout(), "share");
  const SCEV *Again = SE.getBackedgeTakenCount(&L);
  Value *More = Expander.expandCodeFor(Again, nullptr,
                                       Before->getTerminator()->getIterator());
  IRBuilder<> B(Before->getTerminator());
  if (More->getType()->getIntegerBitWidth() > 20)
    More = B.CreateBinaryIntrinsic(Intrinsic::umin, More,
                                   ConstantInt::get(More->getType(), Many));
  More = B.CreateZExtOrTrunc(More, B.getInt32Ty());
  return B.CreateAdd(More, B.getInt32(1), "iterations");
}

/// The edge from \p From to \p To goes by the meeting.
void Sharer::leadPast(BasicBlock *From, BasicBlock *To) {
  const bool IsFirst = !Past.count(To);
  auto &Phis = Past[To];
  if (IsFirst)
    for (PHINode &Phi : To->phis())
      Phis.push_back({&Phi, slot(Phi.getType())});
  BasicBlock *Edge = block("past");
  From->getTerminator()->replaceSuccessorWith(To, Edge);
  IRBuilder<> B(Edge);
  for (auto [Phi, Kept] : Phis) {
    B.CreateStore(Phi->getIncomingValueForBlock(From), Kept);
    while (Phi->getBasicBlockIndex(From) >= 0)
      Phi->removeIncomingValue(From, /*DeletePHIIfEmpty=*/false);
  }
  const auto *At = Past.find(To);
  B.CreateStore(B.getInt32(unsigned(At - Past.begin()) + 1), State);
  B.CreateStore(B.getInt32(0), Iterations);
  B.CreateBr(Meet);
}

void Sharer::leadHere() {
  if (Fork == Before)
    return;
  SmallVector<std::pair<BasicBlock *, BasicBlock *>> Edges;
  for (BasicBlock &From : F)
    if (&From == Fork || (Between.contains(&From) && &From != Before))
      for (BasicBlock *To :
           SmallSetVector<BasicBlock *, 4>(succ_begin(&From), succ_end(&From)))
        if (!Between.contains(To))
          Edges.push_back({&From, To});
  for (auto [From, To] : Edges)
    leadPast(From, To);
}

bool Sharer::differs(Value *V) const {
  if (isa<Argument>(V))
    return false;
  auto *I = cast<Instruction>(V);
  return !AsItWas.contains(I) || !Strict.isUniform(*I) ||
         Between.contains(I->getParent());
}

/// Ends the meeting: at \p Shared are all lanes of a warp.
Dealing Sharer::weigh(Value *Count, BasicBlock *Shared, BasicBlock *Alone) {
  BasicBlock *Look = block("look"), *Weigh = block("weigh");
  IRBuilder<> B(Meet);
  Value *Here = B.CreateIntrinsic(Intrinsic::nvvm_activemask, {}, {});
  Count = B.CreateLoad(B.getInt32Ty(), Iterations);
  B.CreateCondBr(B.CreateICmpEQ(Here, B.getInt32(~0u)), Look, Alone);

  B.SetInsertPoint(Look);
  Value *MayPay = B.CreateICmpUGE(Count, B.getInt32(Plan.By.least()));
  B.CreateCondBr(inAnyLane(B, MayPay), Weigh, Alone);

  B.SetInsertPoint(Weigh);
  Dealing Of;
  Of.Lane = B.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_laneid, {}, {});
  Of.End = sumUpTo(B, Count, Of.Lane);
  Of.First = B.CreateSub(Of.End, Count);
  Of.Total = fromLane(B, Of.End, B.getInt32(31));
  Value *TooMany = inAnyLane(B, B.CreateICmpUGT(Count, B.getInt32(Many)));
  Value *Pays = B.getTrue();
  if (Options.Threshold) {
    const Weights &By = Plan.By;
    auto Wide = [&](Value *V) { return B.CreateZExt(V, B.getInt64Ty()); };
    Value *Rounds = B.CreateLShr(B.CreateAdd(Of.Total, B.getInt32(31)), 5);
    Value *Steps =
              B.CreateBinaryIntrinsic(Intrinsic::umin, Count, B.getInt32(32)),
          *OfRound =
              B.CreateAdd(B.CreateMul(Wide(Steps), B.getInt64(By.PerStep)),
                          B.getInt64(By.PerRound)),
          *Price = B.CreateAdd(B.CreateMul(Wide(Rounds), OfRound),
                               B.getInt64(By.Once));
    Pays = inAnyLane(
        B,
        B.CreateICmpUGE(B.CreateMul(Wide(Count), B.getInt64(By.Alone)), Price));
  }
  B.CreateCondBr(B.CreateAnd(Pays, B.CreateNot(TooMany)), Shared, Alone);
  return Of;
}

/// Ends \p At: lanes of the loop go to \p To, others where they were going.
void Sharer::leadOn(BasicBlock *At, BasicBlock *To) {
  IRBuilder<> B(At);
  if (Past.empty()) {
    B.CreateBr(To);
    return;
  }
  BasicBlock *Dispatch = block("dispatch");
  Value *Where = B.CreateLoad(B.getInt32Ty(), State);
  B.CreateCondBr(B.CreateICmpEQ(Where, B.getInt32(0)), To, Dispatch);
  B.SetInsertPoint(Dispatch);
  SwitchInst *Switch =
      B.CreateSwitch(Where, Past.begin()->first, unsigned(Past.size()));
  for (auto [N, Each] : enumerate(drop_begin(Past)))
    Switch->addCase(B.getInt32(unsigned(N) + 2), Each.first);
  B.SetInsertPoint(Switch);
  for (auto &[Other, Phis] : Past)
    for (auto [Phi, Kept] : Phis)
      Phi->addIncoming(B.CreateLoad(Phi->getType(), Kept), Dispatch);
}

/// Values of blocks between the fork and the loop, that others use.
void Sharer::keepValues() {
  SmallVector<Instruction *> Crossing;
  for (BasicBlock *BB : Between)
    for (Instruction &I : *BB)
      if (!isa<AllocaInst>(I) && any_of(I.users(), [&](const User *U) {
            return isa<PHINode>(U) || cast<Instruction>(U)->getParent() != BB;
          }))
        Crossing.push_back(&I);
  for (Instruction *I : Crossing)
    if (AllocaInst *Kept = DemoteRegToStack(
            *I, false, F.getEntryBlock().getFirstInsertionPt()))
      Slots.push_back(Kept);
}

void Sharer::run() {
  analysis::AnalysisManagers Analyses;
  auto &SE = Analyses.Functions.getResult<ScalarEvolutionAnalysis>(F);
  auto &Loops = Analyses.Functions.getResult<LoopAnalysis>(F);
  Loop &L = *Loops.getLoopFor(Plan.Header);
  BasicBlock *Exit = L.getUniqueExitBlock();
  assert(Exit && "one way out");

  Rounds Dealt(
      L, Loops, Plan.Values, SE, [this](Value *V) { return differs(V); },
      [this](Type *T) { return slot(T); }, Options.PlantedBug);
  Value *Count = countIterations(SE, L);
  Dealt.prepare(Before, Own);
  IRBuilder<> B(Before->getTerminator());
  B.CreateStore(Count, Iterations);
  B.CreateStore(B.getInt32(0), State);
  Before->getTerminator()->setSuccessor(0, Meet);
  leadHere();

  BasicBlock *Shared = block("shared"), *Alone = block("alone");
  const Dealing Of = weigh(Count, Shared, Alone);
  leadOn(Alone, Own);
  BasicBlock *Done = Dealt.write(Shared, Of);
  B.SetInsertPoint(Done);
  for (PHINode &Phi : Exit->phis()) {
    Value *V = Phi.getIncomingValueForBlock(L.getLoopLatch());
    auto *I = dyn_cast<Instruction>(V);
    Phi.addIncoming(I && L.contains(I) ? Dealt.leftIn(B, I) : V, Done);
  }
  leadOn(Done, Exit);

  // An earlier time through is forgotten.
  B.SetInsertPoint(Fork->getTerminator());
  keepValues();
  if (Fork != Before)
    for (AllocaInst *Each : Slots)
      B.CreateStore(PoisonValue::get(Each->getAllocatedType()), Each);
  DominatorTree Dominance(F);
  PromoteMemToReg(Slots, Dominance);
  removeDead(F);
}

void rewrite(const SharePlan &Plan, Function &F) {
  Sharer(Plan, F).run();
  F.addFnAttr(Attribute::Convergent);
  F.removeFnAttr(Attribute::NoSync);
  F.removeFnAttr(Attribute::Memory);
}

} // namespace reconverge::remedies::share
