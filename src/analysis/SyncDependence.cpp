//===- analysis/SyncDependence.cpp - What a branch's split reaches --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A branch D splits a warp. Give each edge out of D its own label and let
// labels flow along the edges: a block that receives one label is reached only
// by lanes of one side (or of lanes that have met again); a block that receives
// two is where sides meet, and hands on a label of its own.
//
//          D                 D sends label DA to A and DB to B,
//         / \                J receives {A, B}: a join; below it: label J
//        A   B
//         \ /                K receives {J}: no join, the warp is whole
//          J -> K
//
// Loops that contain D need one more idea: lanes may meet in a later iteration.
// Lanes count as together only if they are in the same iteration of every loop
// around them, so a label that arrives at the header H of such a loop does not
// flow into the body again. It stands for "lanes that began the next
// iteration", which may in time leave through any exit, so H's label flows to
// all of the loop's exit blocks at once.
//
//      H <--.        D leaves the loop with label DX, and goes on to H
//      |    |        with label DH; X receives {DX, DH}: lanes arrive there
//      D ---'        after different numbers of iterations. The loop's exit
//      |             diverges, and what the loop computed differs at X.
//      X
//
//   1. Seed the sides of D.
//   2. Visit blocks in reverse post-order, those of inner loops first, and a
//      loop's header after its body, so that one visit does, save in
//      irreducible cycles, where it iterates. A block that once received two
//      labels keeps its own: labels only ever grow apart, so this ends.
//   3. A block is a join if two labels arrive and more than one of its edges
//      can carry lanes (a PHI with one live edge picks nothing).
//   4. A loop around D diverges at its exits if one of them receives another
//      label than the loop's header.
//
// Irreducible cycles have no header at which iterations could be counted. If D
// lies in one, or if sides of D meet within one, the (outermost) cycle is wild:
// nothing in it is said to be uniform, and each of its exit edges starts a
// label.
//
// Correct because a label names a set of lanes that is known to be together:
// two lanes with the same label at a block came there through the same last
// meeting point, in the same iteration, and by uniform branches since, or by
// other branches whose own effect is computed on its own.
//
// The idea is that of Karrenberg and Hack, "Improving Performance of OpenCL on
// CPUs", CC 2012, and of LLVM's uniformity analysis; the placement of joins is
// that of PHIs in the construction of SSA form.
//
//===----------------------------------------------------------------------===//

#include "analysis/SyncDependence.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"

#include <set>
#include <tuple>

using namespace llvm;

namespace reconverge::analysis {

SyncDependence::SyncDependence(const Function &F, const CycleInfo &Cycles)
    : Cycles(Cycles) {
  for (const BasicBlock *BB : ReversePostOrderTraversal<const Function *>(&F)) {
    Index[BB] = Order.size();
    Order.push_back(BB);
  }
}

/// One branch's labels. An instance lives for one call of effectOf.
class Propagation {
public:
  Propagation(const SyncDependence &S, const BasicBlock &Branch);
  SyncEffect run();

private:
  /// Lanes that took an edge, or with null first: that met at a block.
  using Label = std::pair<const BasicBlock *, const BasicBlock *>;
  struct Arrivals {
    SmallSet<Label, 4> Labels;
    unsigned Edges = 0; ///< predecessors that carry lanes
    void add(const Label &L) { Labels.insert(L); }
  };

  const Cycle *outermostIrreducible(const BasicBlock *BB) const;
  const Cycle *wildCycleOf(const BasicBlock *BB) const;
  bool isBackEdgeOfOther(const BasicBlock *From, const BasicBlock *To) const;
  SmallVector<Label, 4> along(const BasicBlock *From,
                              const BasicBlock *To) const;
  Arrivals arrivals(const BasicBlock *BB) const;
  void enqueue(const BasicBlock *BB);
  void enqueueExits(const Cycle *C);
  void visit(const BasicBlock *BB);

  const SyncDependence &S;
  const BasicBlock &Branch;
  SmallVector<const Cycle *, 4> Around; ///< reducible, contain Branch, inner
                                        ///< first; none within a wild cycle
  DenseMap<const BasicBlock *, unsigned> HeaderLevel; ///< of Around's headers
  SmallVector<const Cycle *, 1> Wild;
  std::optional<Label> labelOf(const BasicBlock *BB) const {
    auto Found = Labels.find(BB);
    return Found == Labels.end() ? std::nullopt : std::optional(Found->second);
  }

  DenseMap<const BasicBlock *, Label> Labels;
  SmallPtrSet<const BasicBlock *, 8> Merged, Joins;
  /// (loop level, header last, reverse post-order)
  using Key = std::tuple<unsigned, bool, unsigned>;
  std::set<Key> Work;
};

Propagation::Propagation(const SyncDependence &S, const BasicBlock &Branch)
    : S(S), Branch(Branch) {
  const Cycle *Inner = S.Cycles.getCycle(&Branch);
  if (const Cycle *C = outermostIrreducible(&Branch)) {
    Wild.push_back(C);
    Inner = C->getParentCycle();
  }
  for (const Cycle *C = Inner; C; C = C->getParentCycle()) {
    HeaderLevel[C->getHeader()] = Around.size();
    Around.push_back(C);
  }
}

const Cycle *Propagation::outermostIrreducible(const BasicBlock *BB) const {
  const Cycle *Found = nullptr;
  for (const Cycle *C = S.Cycles.getCycle(BB); C; C = C->getParentCycle())
    if (!C->isReducible())
      Found = C;
  return Found;
}

const Cycle *Propagation::wildCycleOf(const BasicBlock *BB) const {
  for (const Cycle *C : Wild)
    if (C->contains(BB))
      return C;
  return nullptr;
}

/// Whether the edge closes a reducible loop that does not contain the branch:
/// its header dominates its body, so the edge brings nothing new.
bool Propagation::isBackEdgeOfOther(const BasicBlock *From,
                                    const BasicBlock *To) const {
  if (HeaderLevel.contains(To))
    return false;
  for (const Cycle *C = S.Cycles.getCycle(To); C; C = C->getParentCycle())
    if (C->isReducible() && C->getHeader() == To && C->contains(From))
      return true;
  return false;
}

/// The labels of lanes that take the edge.
SmallVector<Propagation::Label, 4>
Propagation::along(const BasicBlock *From, const BasicBlock *To) const {
  SmallVector<Label, 4> Result;
  if (const Cycle *C = wildCycleOf(From)) {
    if (!C->contains(To))
      Result.push_back({From, To});
    // Lanes within a wild cycle are not told apart.
  } else if (From == &Branch) {
    Result.push_back({From, To});
  } else if (!HeaderLevel.contains(From) && !isBackEdgeOfOther(From, To)) {
    if (auto L = labelOf(From))
      Result.push_back(*L);
  }
  for (const Cycle *C : Around)
    if (C->contains(From) && !C->contains(To))
      if (auto L = labelOf(C->getHeader()))
        Result.push_back(*L);
  return Result;
}

Propagation::Arrivals Propagation::arrivals(const BasicBlock *BB) const {
  Arrivals A;
  SmallPtrSet<const BasicBlock *, 8> Seen;
  for (const BasicBlock *Pred : predecessors(BB)) {
    if (!S.Index.contains(Pred) || !Seen.insert(Pred).second)
      continue;
    auto Carried = along(Pred, BB);
    A.Edges += !Carried.empty();
    for (const Label &L : Carried)
      A.add(L);
  }
  return A;
}

void Propagation::enqueue(const BasicBlock *BB) {
  auto Header = HeaderLevel.find(BB);
  if (Header != HeaderLevel.end()) {
    Work.insert({Header->second, true, S.Index.lookup(BB)});
    return;
  }
  unsigned Level = 0;
  while (Level < Around.size() && !Around[Level]->contains(BB))
    ++Level;
  Work.insert({Level, false, S.Index.lookup(BB)});
}

void Propagation::enqueueExits(const Cycle *C) {
  SmallVector<BasicBlock *, 4> Exits;
  C->getExitBlocks(Exits);
  for (const BasicBlock *Exit : Exits)
    enqueue(Exit);
}

void Propagation::visit(const BasicBlock *BB) {
  if (wildCycleOf(BB))
    return;
  Arrivals A = arrivals(BB);
  if (A.Labels.empty())
    return;
  if (A.Labels.size() > 1) {
    Merged.insert(BB);
    if (A.Edges > 1)
      Joins.insert(BB);
    if (const Cycle *C = outermostIrreducible(BB)) {
      Wild.push_back(C);
      enqueueExits(C);
      return;
    }
  }
  Label New = Merged.contains(BB) ? Label(nullptr, BB) : *A.Labels.begin();
  auto [Slot, First] = Labels.try_emplace(BB, New);
  if (!First && Slot->second == New)
    return;
  Slot->second = New;
  if (auto Header = HeaderLevel.find(BB); Header != HeaderLevel.end()) {
    enqueueExits(Around[Header->second]);
  } else if (BB != &Branch) {
    for (const BasicBlock *Succ : successors(BB))
      enqueue(Succ);
  }
}

SyncEffect Propagation::run() {
  if (Wild.empty())
    for (const BasicBlock *Succ : successors(&Branch))
      enqueue(Succ);
  else
    enqueueExits(Wild.front());
  while (!Work.empty()) {
    const BasicBlock *BB = S.Order[std::get<2>(*Work.begin())];
    Work.erase(Work.begin());
    visit(BB);
  }

  SyncEffect Effect;
  for (const BasicBlock *BB : S.Order)
    if (Joins.contains(BB))
      Effect.Joins.push_back(BB);
  for (const Cycle *C : Around) {
    auto Next = labelOf(C->getHeader());
    if (!Next)
      continue; // no lane that reached the branch begins another iteration
    bool Diverges = false;
    for (const BasicBlock *BB : S.Order)
      if (C->contains(BB))
        for (const BasicBlock *Succ : successors(BB))
          if (!C->contains(Succ))
            for (const Label &L : along(BB, Succ))
              Diverges |= L != *Next;
    if (Diverges)
      Effect.DivergentExits.push_back(C);
  }
  Effect.Wild.assign(Wild.begin(), Wild.end());
  return Effect;
}

SyncEffect SyncDependence::effectOf(const BasicBlock &BB) const {
  return Propagation(*this, BB).run();
}

} // namespace reconverge::analysis
