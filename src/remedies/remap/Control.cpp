//===- remedies/remap/Control.cpp - Who comes to a block together --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A branch parts the threads of a block unless its condition is the same for
// all of them. They are together again at the nearest block that all ways from
// the branch pass, its immediate post-dominator. So all threads come together
// to a block X that no parting branch has between itself and its immediate
// post-dominator.
//
//        S  i < n ?            S: threads leave by the edge to `ret`, so no
//       / \                    block after it has all of them. With that edge
//      /   a                   led to X, X post-dominates S.
//     /    |
//   ret    X  c ?
//
// Threads that have something to do before they leave, as in `if (...) { out[i] = 0;
// return; }`, come there behind it, by the edge from that to `ret`.
//
// Blocks from which no return can be reached (traps, endless loops) do not
// count: the launch fails, or never ends.
//
//===----------------------------------------------------------------------===//

#include "remedies/remap/Control.h"

#include "remedies/common/Controlled.h"

#include "analysis/Costs.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::remedies::remap {

bool isBlockUniform(const Value &V, const BasicBlock &At, const Facts &Now) {
  if (Now.Uniformity.of(V).L > analysis::Level::Block)
    return false;
  // What a loop leaves behind may be of different iterations.
  const auto *I = dyn_cast<Instruction>(&V);
  const Cycle *C = I ? Now.Cycles.getCycle(I->getParent()) : nullptr;
  return !C || C->contains(&At);
}

/// Threads of one block may leave \p BB on different edges.
static bool parts(const BasicBlock &BB, const Facts &Now) {
  const Instruction &Term = *BB.getTerminator();
  if (Term.getNumSuccessors() < 2)
    return false;
  return !isa<BranchInst, SwitchInst>(Term) ||
         !isBlockUniform(*Term.getOperand(0), BB, Now);
}

SmallVector<ExitEdge, 2> exitsBefore(BasicBlock &BB, const Facts &Now) {
  SmallVector<ExitEdge, 2> Exits;
  for (BasicBlock &From : *BB.getParent()) {
    const Instruction &Term = *From.getTerminator();
    if (&From == &BB || !isa<BranchInst>(Term) || !parts(From, Now) ||
        !Now.Dominance.dominates(&From, &BB))
      continue;
    for (unsigned I : {0u, 1u})
      if (onlyReturns(*Term.getSuccessor(I)) &&
          !onlyReturns(*Term.getSuccessor(1 - I)))
        Exits.push_back({&From, I});
  }
  return Exits;
}

/// Of what threads do before they leave: for more, the others would wait.
static constexpr ptrdiff_t FewInstructions = 32;

void addWorkingExits(SmallVectorImpl<ExitEdge> &Exits, BasicBlock &BB,
                     const Facts &Now) {
  SmallPtrSet<const BasicBlock *, 16> After;
  SmallVector<const BasicBlock *, 16> Work(successors(&BB));
  while (!Work.empty())
    if (const BasicBlock *Next = Work.pop_back_val(); After.insert(Next).second)
      Work.append(succ_begin(Next), succ_end(Next));
  for (BasicBlock &From : *BB.getParent()) {
    const Instruction &Term = *From.getTerminator();
    const BasicBlock *Parting = From.getUniquePredecessor();
    if (&From != &BB && Parting && isa<BranchInst>(Term) &&
        Term.getNumSuccessors() == 1 && onlyReturns(*Term.getSuccessor(0)) &&
        !onlyReturns(From) && From.sizeWithoutDebug() <= FewInstructions &&
        !After.contains(&From) && !Now.Cycles.getCycle(&From) &&
        Now.Dominance.dominates(Parting, &BB))
      Exits.push_back({&From, 0});
  }
}

namespace {
/// The control flow that can return, with exits led to a block.
class Flow {
public:
  Flow(const BasicBlock &To, ArrayRef<ExitEdge> Exits, const Facts &Now);
  void solve();
  /// \p X is on a way from \p From to its immediate post-dominator.
  bool isBetween(unsigned From, unsigned X) const;

  std::vector<const BasicBlock *> Blocks; ///< reverse post-order
  DenseMap<const BasicBlock *, unsigned> Index;
  std::vector<SmallVector<unsigned, 2>> Succs;

private:
  std::vector<BitVector> PostDominators;
};
} // namespace

Flow::Flow(const BasicBlock &To, ArrayRef<ExitEdge> Exits, const Facts &Now) {
  ReversePostOrderTraversal<const Function *> Order(To.getParent());
  for (const BasicBlock *BB : Order)
    if (Now.PostDominance.returns(*BB)) {
      Index[BB] = Blocks.size();
      Blocks.push_back(BB);
    }
  Succs.resize(Blocks.size());
  for (auto [I, BB] : enumerate(Blocks))
    for (auto [N, Succ] : enumerate(successors(BB))) {
      const bool Leaves = any_of(Exits, [&, BB = BB, N = N](const ExitEdge &E) {
        return E.From == BB && E.Successor == N;
      });
      auto Found = Index.find(Leaves ? &To : Succ);
      if (Found != Index.end() && !is_contained(Succs[I], Found->second))
        Succs[I].push_back(Found->second);
    }
}

void Flow::solve() {
  const unsigned Count = Blocks.size();
  PostDominators.assign(Count, BitVector(Count, true));
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned I = Count; I-- > 0;) {
      BitVector New(Count, !Succs[I].empty());
      for (unsigned Succ : Succs[I])
        New &= PostDominators[Succ];
      New.set(I);
      Changed |= New != PostDominators[I];
      PostDominators[I] = std::move(New);
    }
  }
}

bool Flow::isBetween(unsigned From, unsigned X) const {
  BitVector Seen(Blocks.size());
  SmallVector<unsigned, 16> Work{From};
  while (!Work.empty())
    for (unsigned Succ : Succs[Work.pop_back_val()]) {
      if (Seen.test(Succ) || (Succ != From && PostDominators[From].test(Succ)))
        continue;
      Seen.set(Succ);
      Work.push_back(Succ);
    }
  return Seen.test(X);
}

bool comeTogether(const BasicBlock &BB, ArrayRef<ExitEdge> Exits,
                  const Facts &Now) {
  Flow All(BB, Exits, Now);
  auto At = All.Index.find(&BB);
  if (At == All.Index.end())
    return false;
  All.solve();
  for (auto [I, From] : enumerate(All.Blocks))
    if (All.Succs[I].size() > 1 && parts(*From, Now) &&
        All.isBetween(I, At->second))
      return false;
  return true;
}

} // namespace reconverge::remedies::remap
