//===- unittests/remedies/HerdRule.cpp - Votes by the rule ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each block of the kernel tells the host that a thread has come to it. So the
// host knows where the thread is in the order of the program: of each loop around
// it, from the outermost in, the place of its header among the blocks (in reverse
// post-order) and the round; then the place of the block. Threads only go on in
// that order, so when all of a warp wait, those that are the least far have
// come together: none that is further can come to where they are.
//
//   if      all wait at the end of its block; each side is asked for by itself
//   loop    all wait in front of it: they are the group; a thread that goes
//           round for the n-th time waits if `every` divides n; those who do are
//           still inside
//
// Nothing of Masks.cpp, Rewrite.cpp and Rounds.cpp is used; which branches are
// herded, and what a dropped lane has instead, the plan says (Legality.h).
//
//===----------------------------------------------------------------------===//

#include "HerdRule.h"

#include "LaneByLane.h"

#include "analysis/Numbering.h"
#include "remedies/herd/Legality.h"
#include "remedies/herd/Masks.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace reconverge::remedies {
namespace {

/// Of those who wait for the others of a loop: behind all of its rounds.
constexpr uint32_t BehindRounds = UINT32_MAX;

struct Block {
  std::vector<uint32_t> Headers; ///< of the loops around it, by place
  bool IsHeader = false;
};

struct Point {
  HerdOptions Options;
  bool Drops[2];
  bool IsInverse; ///< of an arm, the second side
  unsigned Depth; ///< of its loop
};

/// Where a thread is.
struct Where {
  std::vector<std::pair<uint32_t, uint32_t>> Rounds; ///< header, round
  uint32_t Place = 0;
  struct Loop {
    unsigned Group = 0, Rounds = 0;
    bool IsOver = false;
  };
  std::map<uint32_t, Loop> In; ///< by point
  uint32_t Wants = 0, Takes = 0;
  bool Dropped = false;
};

struct Run {
  std::vector<Block> Blocks;
  std::vector<Point> Points;
  std::map<unsigned, Where> Threads;
};
Run *Now = nullptr;

Where &here() { return Now->Threads[runningThread()]; }

/// Of a thread, the rounds of the loops around it, \p Depth of them.
std::vector<uint32_t> roundsOf(const Where &W, size_t Depth) {
  std::vector<uint32_t> Key;
  for (size_t I = 0; I != Depth; ++I) {
    Key.push_back(W.Rounds[I].first);
    Key.push_back(W.Rounds[I].second);
  }
  return Key;
}

std::vector<uint32_t> keyOf(const Where &W) {
  std::vector<uint32_t> Key = roundsOf(W, W.Rounds.size());
  Key.push_back(W.Place);
  return Key;
}

void arrive(uint32_t Place) {
  Where &W = here();
  const Block &B = Now->Blocks[Place];
  size_t Same = 0;
  while (Same != W.Rounds.size() && Same != B.Headers.size() &&
         W.Rounds[Same].first == B.Headers[Same])
    ++Same;
  const bool GoesRound = B.IsHeader && Same == B.Headers.size();
  W.Rounds.resize(Same);
  for (size_t I = Same; I != B.Headers.size(); ++I)
    W.Rounds.push_back({B.Headers[I], 0});
  if (GoesRound)
    ++W.Rounds.back().second;
  W.Place = Place;
}

bool areEnough(unsigned Lanes, unsigned Of, const HerdOptions &By) {
  return 32 * Lanes > By.Threshold * Of;
}

/// The side that a thread takes: 0, 1, or 2: it is dropped to where they meet.
uint32_t atIf(uint32_t Number, uint32_t Wants) {
  Where &W = here();
  W.Wants = Wants;
  waitTogether(keyOf(W), [Number](ArrayRef<unsigned> All) {
    const Point &P = Now->Points[Number];
    unsigned Want[2] = {0, 0};
    for (unsigned T : All)
      ++Want[Now->Threads[T].Wants];
    for (unsigned T : All) {
      Where &W = Now->Threads[T];
      W.Takes = W.Wants;
      if (P.Options.TwoWays) {
        // Of an arm, those are asked who want it.
        const unsigned Arm = P.IsInverse;
        W.Takes = areEnough(Want[Arm], All.size(), P.Options) ? Arm : 1 - Arm;
      } else if (P.Drops[W.Wants] &&
                 !areEnough(Want[W.Wants], All.size(), P.Options)) {
        W.Takes = 2;
      }
      W.Dropped |= W.Takes != W.Wants;
    }
  });
  return W.Takes;
}

void enterLoop(uint32_t Number) {
  waitTogether(keyOf(here()), [Number](ArrayRef<unsigned> All) {
    for (unsigned T : All)
      Now->Threads[T].In[Number] = {unsigned(All.size()), 0, false};
  });
}

/// A thread is to go round: whether it may.
uint32_t goRound(uint32_t Number) {
  Where &W = here();
  Where::Loop &L = W.In[Number];
  const Point &P = Now->Points[Number];
  if (++L.Rounds % P.Options.Every || L.IsOver)
    return 1;
  std::vector<uint32_t> Key = roundsOf(W, P.Depth);
  Key.back() = BehindRounds;
  waitTogether(Key, [Number](ArrayRef<unsigned> All) {
    const Point &P = Now->Points[Number];
    for (unsigned T : All) {
      Where &W = Now->Threads[T];
      W.In[Number].IsOver =
          !areEnough(All.size(), W.In[Number].Group, P.Options);
    }
  });
  return !L.IsOver;
}

/// Where rounds end and the loop is left: whether a thread leaves.
uint32_t endRound(uint32_t Number, uint32_t Leaves) {
  if (Leaves || goRound(Number))
    return Leaves;
  here().Dropped = true;
  return 1;
}

/// At a way out in the midst of rounds: the same.
uint32_t comeToWay(uint32_t Number, uint32_t Leaves) {
  const bool IsOver = here().In[Number].IsOver;
  here().Dropped |= IsOver && !Leaves;
  return Leaves || IsOver;
}

const HostFunctions Rules = {
    {"rule.arrive", reinterpret_cast<void *>(arrive)},
    {"rule.if", reinterpret_cast<void *>(atIf)},
    {"rule.enter", reinterpret_cast<void *>(enterLoop)},
    {"rule.end", reinterpret_cast<void *>(endRound)},
    {"rule.round", reinterpret_cast<void *>(goRound)},
    {"rule.way", reinterpret_cast<void *>(comeToWay)}};

CallInst *call(IRBuilderBase &B, StringRef Name, bool Answers,
               ArrayRef<Value *> Arguments) {
  SmallVector<Type *> Types(Arguments.size(), B.getInt32Ty());
  Module &M = *B.GetInsertBlock()->getModule();
  return B.CreateCall(
      M.getOrInsertFunction(
          Name, FunctionType::get(Answers ? B.getInt32Ty() : B.getVoidTy(),
                                  Types, false)),
      Arguments);
}

/// What the phis where the sides of \p P meet are for who is dropped from a side.
struct Given {
  SmallVector<Value *> Of[2];
};

Given valuesOf(const herd::HerdPoint &P, const DominatorTree &Dominance) {
  Given All;
  if (!P.Header)
    for (const PHINode &Phi : P.Join->phis())
      for (unsigned Side : {0, 1})
        All.Of[Side].push_back(
            P.Drops[Side]
                ? herd::valueFromOtherSide(Phi, *P.Branch, Side, Dominance)
                : PoisonValue::get(Phi.getType()));
  return All;
}

/// Has the branch of \p P ask which side to take.
void askAtIf(const herd::HerdPoint &P, uint32_t Number, const Given &Values) {
  auto *Br = cast<BranchInst>(P.Branch->getTerminator());
  IRBuilder<> B(Br);
  Value *First = Br->getCondition();
  auto *Elsewhere =
      BasicBlock::Create(B.getContext(), "", P.Branch->getParent());
  for (auto [N, Phi] : enumerate(P.Join->phis()))
    Phi.addIncoming(B.CreateSelect(First, Values.Of[0][N], Values.Of[1][N]),
                    Elsewhere);
  SwitchInst *Switch =
      B.CreateSwitch(call(B, "rule.if", true,
                          {B.getInt32(Number),
                           B.CreateZExt(B.CreateNot(First), B.getInt32Ty())}),
                     Elsewhere, 2);
  for (unsigned Side : {0, 1})
    Switch->addCase(B.getInt32(Side), Br->getSuccessor(Side));
  Br->eraseFromParent();
  BranchInst::Create(P.Join, Elsewhere);
}

/// Has the loop of \p P ask in front of it, where it goes round, and where it is
/// left. \p Latches go round.
void askInLoop(const herd::HerdPoint &P, uint32_t Number, BasicBlock &Before,
               ArrayRef<BasicBlock *> Latches) {
  IRBuilder<> B(Before.getTerminator());
  Value *Name = B.getInt32(Number);
  call(B, "rule.enter", false, {Name});
  auto *Way = cast<BranchInst>(P.Branch->getTerminator());
  B.SetInsertPoint(Way);
  Value *If = Way->getCondition();
  Value *Leaves = P.Out ? B.CreateNot(If) : If;
  const bool IsEnd = Way->getSuccessor(1 - P.Out) == P.Header;
  Leaves =
      B.CreateIsNotNull(call(B, IsEnd ? "rule.end" : "rule.way", true,
                             {Name, B.CreateZExt(Leaves, B.getInt32Ty())}));
  Way->setCondition(P.Out ? B.CreateNot(Leaves) : Leaves);
  if (IsEnd)
    return;
  for (BasicBlock *From : Latches) {
    B.SetInsertPoint(SplitEdge(From, P.Header)->getTerminator());
    call(B, "rule.round", true, {Name});
  }
}

/// Has kernel \p F ask by the rule, and \p All know it.
void askByRule(Function &F, const HerdOptions &Options, Run &All) {
  herd::canonicalize(F);
  const herd::HerdPlan Plan = herd::planHerd(F, Options);
  DominatorTree Dominance(F);
  LoopInfo Loops(Dominance);
  DenseMap<const BasicBlock *, uint32_t> Places;
  SmallVector<BasicBlock *> Order;
  for (BasicBlock *BB : ReversePostOrderTraversal<Function *>(&F)) {
    Places[BB] = Order.size();
    Order.push_back(BB);
  }
  SmallVector<Given> Values;
  SmallVector<SmallVector<BasicBlock *>> Latches;
  SmallVector<BasicBlock *> Before;
  for (const herd::HerdPoint &P : Plan.Points) {
    Values.push_back(valuesOf(P, Dominance));
    const Loop *L = P.Header ? Loops.getLoopFor(P.Header) : nullptr;
    if (L)
      L->getLoopLatches(Latches.emplace_back());
    else
      Latches.emplace_back();
    Before.push_back(L ? L->getLoopPreheader() : nullptr);
    All.Points.push_back(
        {P.Options,
         {P.Drops[0], P.Drops[1]},
         P.Join && P.Branch->getTerminator()->getSuccessor(0) == P.Join,
         L ? L->getLoopDepth() : 0});
  }
  for (BasicBlock *BB : Order) {
    Block &B = All.Blocks.emplace_back();
    for (const Loop *L = Loops.getLoopFor(BB); L; L = L->getParentLoop())
      B.Headers.insert(B.Headers.begin(), Places[L->getHeader()]);
    B.IsHeader = Loops.isLoopHeader(BB);
    IRBuilder<> At(BB, BB->getFirstInsertionPt());
    call(At, "rule.arrive", false, {At.getInt32(Places[BB])});
  }
  for (const auto &[N, P] : enumerate(Plan.Points))
    if (P.Header)
      askInLoop(P, N, *Before[N], Latches[N]);
    else
      askAtIf(P, N, Values[N]);
}

} // namespace

std::string runByRule(const Module &Original, const HerdOptions &Options,
                      uint64_t Seed, unsigned Blocks, unsigned Threads,
                      const std::vector<uint32_t> &In,
                      std::vector<uint32_t> &Out, std::vector<uint32_t> &Sums,
                      uint32_t N, unsigned &Dropped) {
  Run All;
  const auto M = CloneModule(Original);
  analysis::numberBlocks(*M);
  askByRule(*M->getFunction("k"), Options, All);
  Now = &All;
  std::string Problem =
      runLaneByLane(*M, Seed, Blocks, Threads, In, Out, Sums, N, Rules);
  Now = nullptr;
  Dropped = 0;
  for (const auto &[Number, W] : All.Threads)
    Dropped += W.Dropped;
  return Problem;
}

} // namespace reconverge::remedies
