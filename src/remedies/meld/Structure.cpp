//===- remedies/meld/Structure.cpp - An arm as a sequence ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sequence grows block by block from its first one. At the end of a block:
//
//   1. if a region starts there, it becomes an item and the sequence goes on
//      after it. A region starts at the end of B if, for some block E that
//      post-dominates B, the blocks between them are entered from B alone, do
//      not lead back to B, and E is entered from them (or B) alone;
//   2. if the only successor has no other predecessor, its instructions follow;
//   3. otherwise the sequence ends: the terminator belongs to the graph of the
//      region around it.
//
// Simplify.cpp splits blocks beforehand so that (1) finds every if and loop.
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Structure.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::remedies::meld {

std::optional<BlockSet> blocksBetween(const BasicBlock &From,
                                      const BasicBlock &To) {
  BlockSet Between;
  SmallVector<const BasicBlock *, 16> Work{&From};
  while (!Work.empty())
    for (const BasicBlock *Succ : successors(Work.pop_back_val()))
      if (Succ != &To && Between.insert(const_cast<BasicBlock *>(Succ)))
        Work.push_back(Succ);
  for (BasicBlock *BB : Between) {
    if (BB == &From || isa<ReturnInst>(BB->getTerminator()))
      return std::nullopt;
    for (const BasicBlock *Pred : predecessors(BB))
      if (Pred != &From && !Between.contains(const_cast<BasicBlock *>(Pred)))
        return std::nullopt;
  }
  return Between;
}

Value *conditionOf(const Instruction &Term) {
  if (const auto *Br = dyn_cast<BranchInst>(&Term))
    return Br->isConditional() ? Br->getCondition() : nullptr;
  const auto *Switch = dyn_cast<SwitchInst>(&Term);
  return Switch ? Switch->getCondition() : nullptr;
}

namespace {

class Parser {
public:
  explicit Parser(const analysis::PostDominance &Dominance)
      : Dominance(Dominance) {}

  /// \p Within: the blocks that the sequence may take.
  Sequence sequence(BasicBlock &First, const BlockSet &Within);

private:
  std::unique_ptr<Region> regionAt(BasicBlock &Before, const BlockSet &Within);
  void buildNodes(Region &R, const BlockSet &Blocks);

  const analysis::PostDominance &Dominance;
};

} // namespace

static void addInstructions(BasicBlock &BB, Sequence &To) {
  for (Instruction &I : BB)
    if (!isa<PHINode>(I) && !I.isTerminator() && !I.isDebugOrPseudoInst())
      To.Items.push_back({&I, nullptr});
}

Sequence Parser::sequence(BasicBlock &First, const BlockSet &Within) {
  Sequence S;
  S.First = S.Last = &First;
  addInstructions(First, S);
  while (true) {
    BasicBlock *Next = nullptr;
    if (auto R = regionAt(*S.Last, Within)) {
      Next = R->After;
      S.Items.push_back({nullptr, std::move(R)});
    } else {
      Next = S.Last->getSingleSuccessor();
      if (!Next || Next->getSinglePredecessor() != S.Last ||
          !Within.contains(Next) || Next == &First)
        return S;
    }
    S.Last = Next;
    addInstructions(*Next, S);
  }
}

std::unique_ptr<Region> Parser::regionAt(BasicBlock &Before,
                                         const BlockSet &Within) {
  BasicBlock *Only = Before.getSingleSuccessor();
  if (succ_empty(&Before) || (Only && Only->getSinglePredecessor()))
    return nullptr;
  const BasicBlock *After = Dominance.immediate(Only ? *Only : Before);
  for (; After && Within.contains(const_cast<BasicBlock *>(After));
       After = Dominance.immediate(*After)) {
    auto Blocks = blocksBetween(Before, *After);
    if (!Blocks || Blocks->empty() ||
        !all_of(*Blocks, [&](BasicBlock *BB) { return Within.contains(BB); }))
      continue;
    auto Inside = [&](const BasicBlock *Pred) {
      return Pred == &Before ||
             Blocks->contains(const_cast<BasicBlock *>(Pred));
    };
    if (!all_of(predecessors(After), Inside))
      continue;
    auto R = std::make_unique<Region>();
    R->Before = &Before;
    R->After = const_cast<BasicBlock *>(After);
    buildNodes(*R, *Blocks);
    return R;
  }
  return nullptr;
}

/// Depth first without recursion over nodes: regions can have many.
void Parser::buildNodes(Region &R, const BlockSet &Blocks) {
  DenseMap<const BasicBlock *, unsigned> Index;
  auto Add = [&](BasicBlock &First) {
    Index[&First] = unsigned(R.Nodes.size());
    R.Nodes.push_back({sequence(First, Blocks), {}});
  };
  if (BasicBlock *Only = R.Before->getSingleSuccessor()) {
    Add(*Only);
  } else {
    R.Nodes.emplace_back();
    R.Nodes[0].Code.Last = R.Before;
  }
  // A node on the stack has the successors before Succs.size() done.
  SmallVector<unsigned, 16> Stack{0};
  SmallVector<bool, 16> OnStack{true};
  while (!Stack.empty()) {
    unsigned Current = Stack.back();
    Instruction *Term = R.Nodes[Current].Code.terminator();
    unsigned Next = R.Nodes[Current].Succs.size();
    if (Next == Term->getNumSuccessors()) {
      OnStack[Current] = false;
      Stack.pop_back();
      continue;
    }
    BasicBlock *To = Term->getSuccessor(Next);
    if (To == R.After) {
      R.Nodes[Current].Succs.push_back(Node::Exit);
      continue;
    }
    auto [Found, New] = Index.try_emplace(To, unsigned(R.Nodes.size()));
    R.Nodes[Current].Succs.push_back(Found->second);
    if (New) {
      Stack.push_back(Found->second);
      OnStack.push_back(true);
      R.Nodes.push_back({sequence(*To, Blocks), {}});
    } else if (OnStack[Found->second]) {
      R.Cyclic = true;
    }
  }
}

std::optional<Sequence> parseArm(BasicBlock &First, const BlockSet &Blocks,
                                 const analysis::PostDominance &Dominance) {
  Sequence S = Parser(Dominance).sequence(First, Blocks);
  BasicBlock *Out = S.Last->getSingleSuccessor();
  if (!Out || Blocks.contains(Out))
    return std::nullopt;
  return S;
}

} // namespace reconverge::remedies::meld
