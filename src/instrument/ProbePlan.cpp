//===- instrument/ProbePlan.cpp - Which counters suffice ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes. As many threads enter a block as leave it, so the counts of a spanning
// tree's edges follow from those of the others: of E edges among N nodes only
// E - N + 1 need a probe (Knuth, TAOCP 1, 2.3.4.1; Ball and Larus, "Optimally
// Profiling and Tracing Programs", TOPLAS 1994). The outside is a node too, and
// the edge into a kernel is known from the launch. The tree takes the edges
// whose probes would cost most:
//
//   the probe of an edge stands in the edge's target if that has no other
//   incoming edge; in its source if that has no other outgoing edge; else in
//   the source, where it adds the branch condition (0 or 1). No edge is ever
//   split. A probe costs more the more cycles are around it; at the same depth,
//   one that adds a condition costs more.
//
// Warps. One warp can take both sides of a branch, so warp counts obey no such
// law. But lanes that no divergent branch has parted run a block together:
//
//   1. A block is divided if it is control-dependent, directly or through other
//      branches, on a branch that can diverge; if control cannot return from
//      it; or if it is in a function that is no kernel, which a part of a warp
//      may call. All lanes of a warp run all other blocks together: the warp
//      count is the lane count / 32, rounded up (partial warps are counted
//      apart, by their own size).
//   2. Divided blocks that are control-equivalent (one dominates, the other
//      post-dominates, same cycle) form a group with one probe. A block whose
//      own branch can diverge, once some branch has, begins a group of its own,
//      divided or not: the hardware may not have reconverged the warp there,
//      and each part of the warp that comes must be counted to judge the
//      branch.
//   3. A probe adds 1 in one lane of those that run it, their leader: the
//      lowest. Each probe reads the active mask anew. (An answer carried along
//      from where lanes part or may meet would do if they always ran on
//      together from there; on hardware they need not, and a leader that is
//      elsewhere counts nothing.)
//   4. A branch has split if fewer lanes come to a side than ran the branch.
//      The probe stands in a side of the branch if the branch is the side's
//      only predecessor, both are in the same cycle, and the side has no
//      convergent call and is no bare return; it then costs nothing where no
//      lane takes the side. Otherwise it stands in a loop header that only this
//      branch jumps back to, one iteration later. Where there is neither, the
//      branch asks with votes.
//
// Exited lanes. Lanes that a branch sends straight to a return are idle in all
// that the others of their warp do from then on. (Those that leave a loop wait
// behind it for the rest, also where only a return stands there.) Each thread
// carries how many it has seen leave. Where no further branch leaves, that
// number times the warp count will do at the end; elsewhere the products are
// summed up.
//
// Limitation: a group is counted at its first block. Where hardware has not
// brought the lanes together again before a later block of it, or before a
// block that is neither divided nor ends in a branch that can diverge, that
// block runs more often than we say. A side that tells of a split tells twice
// if the lanes that take it come in two parts. A thread's
// counters have 32 bits and wrap after as many runs. A lane that is elsewhere
// when others of its warp leave does not see them go; they count as idle for
// divergence then.
//
//===----------------------------------------------------------------------===//

#include "instrument/ProbePlan.h"

#include "analysis/Numbering.h"
#include "analysis/Regions.h"
#include "analysis/Uniformity.h"
#include "analysis/device/Annotations.h"
#include "instrument/ProbeWords.h"

#include "llvm/ADT/IntEqClasses.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::instrument {

bool onlyReturns(const BasicBlock &BB) {
  return isa<ReturnInst>(BB.getTerminator()) &&
         BB.getFirstNonPHIOrDbg() == BB.getTerminator();
}

Instruction &endOfPath(BasicBlock &BB) {
  for (Instruction &I : BB)
    if (auto *Call = dyn_cast<IntrinsicInst>(&I);
        Call && Call->getIntrinsicID() == Intrinsic::nvvm_exit)
      return I;
  return *BB.getTerminator();
}

namespace {
class Planner {
public:
  Planner(Function &F, ProbePlan &P);
  void run();

private:
  void findFlow();
  void placeFlowProbes();
  void solveFlow();
  void findDivided();
  void findLeaving();
  void formGroups();
  bool isPureSide(unsigned Branch, const BasicBlock &Side) const;
  bool goesRound(unsigned Branch, const BasicBlock &Header) const;
  void placeSplits();
  void findMasks();

  unsigned depth(unsigned B) const { return Cycles.getCycleDepth(P.Code[B]); }
  unsigned at(const BasicBlock *BB) const { return Index.lookup(BB); }
  bool diverges(unsigned B) const {
    return Uniform.isDivergentBranch(*P.Code[B]);
  }
  /// Blocks with a branch that parts of a warp may come to one by one.
  std::vector<bool> piecewise() const;
  /// Blocks that control can come to from those in \p Work, these included.
  std::vector<bool> reachable(SmallVector<unsigned> Work) const;
  bool equivalent(unsigned A, unsigned B) const;

  Function &F;
  ProbePlan &P;
  CycleInfo Cycles;
  DominatorTree Dominators;
  analysis::PostDominance PostDominance;
  analysis::UniformityResult Uniform;
  DenseMap<const BasicBlock *, unsigned> Index;
  std::vector<bool> Divided;
};
} // namespace

Planner::Planner(Function &F, ProbePlan &P)
    : F(F), P(P), Dominators(F), PostDominance(F),
      Uniform(analysis::computeUniformity(F)) {
  Cycles.compute(F);
  for (BasicBlock &BB : F)
    if (Dominators.isReachableFromEntry(&BB)) {
      Index[&BB] = P.Code.size();
      P.Code.push_back(&BB);
    }
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

void Planner::findFlow() {
  const unsigned Outside = P.Code.size();
  P.Edges.push_back({Outside, 0, 0, std::nullopt, 0, false});
  for (unsigned B = 0; B != Outside; ++B) {
    BasicBlock *BB = P.Code[B];
    const bool Ends = !endOfPath(*BB).isTerminator();
    if (succ_empty(BB) || Ends)
      P.Edges.push_back({B, Outside, 0, std::nullopt, B, false});
    if (Ends)
      continue;
    for (auto [I, S] : enumerate(successors(BB))) {
      FlowEdge E{B, at(S), unsigned(I), std::nullopt, B, false};
      if (succ_size(BB) > 1) {
        // getSinglePredecessor: exactly one edge.
        if (S->getSinglePredecessor())
          E.Site = E.To;
        else
          E.Conditional = true;
      }
      P.Edges.push_back(E);
    }
  }
}

void Planner::placeFlowProbes() {
  std::vector<unsigned> Order;
  // The way into a kernel is known, that into a function is counted.
  for (unsigned E = 1; E != P.Edges.size(); ++E)
    Order.push_back(E);
  llvm::sort(Order, [&](unsigned A, unsigned B) {
    auto Rank = [&](unsigned I) { // dearest first, then in order
      const FlowEdge &E = P.Edges[I];
      return std::tuple(-int(depth(E.Site)), !E.Conditional, I);
    };
    return Rank(A) < Rank(B);
  });
  IntEqClasses Connected(P.Code.size() + 1);
  if (!P.IsKernel)
    P.Edges[0].Probe.emplace();
  for (unsigned I : Order) {
    FlowEdge &E = P.Edges[I];
    if (Connected.findLeader(E.From) != Connected.findLeader(E.To))
      Connected.join(E.From, E.To);
    else
      E.Probe.emplace();
  }
}

void Planner::solveFlow() {
  // Leaves of the tree first: a node with one unknown edge gives that edge.
  const unsigned Nodes = P.Code.size() + 1;
  std::vector<SmallVector<unsigned, 4>> Unknown(Nodes);
  for (unsigned I = 1; I != P.Edges.size(); ++I)
    if (const FlowEdge &E = P.Edges[I]; !E.Probe) {
      Unknown[E.From].push_back(I);
      Unknown[E.To].push_back(I);
    }
  SmallVector<unsigned> Work;
  for (unsigned N = 0; N != Nodes; ++N)
    if (Unknown[N].size() == 1)
      Work.push_back(N);
  while (!Work.empty()) {
    unsigned N = Work.pop_back_val();
    if (Unknown[N].size() != 1)
      continue;
    unsigned I = Unknown[N].front();
    P.Solution.push_back({N, I});
    for (unsigned End : {P.Edges[I].From, P.Edges[I].To}) {
      llvm::erase(Unknown[End], I);
      if (Unknown[End].size() == 1)
        Work.push_back(End);
    }
  }
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

void Planner::findDivided() {
  // A function may be called by a part of a warp.
  Divided.assign(P.Code.size(), !P.IsKernel);
  // Block -> those that are control-dependent on its branch.
  std::vector<SmallVector<unsigned, 4>> Depends(P.Code.size());
  SmallVector<unsigned> Work;
  for (unsigned B = 0; B != P.Code.size(); ++B) {
    const BasicBlock *End = PostDominance.immediate(*P.Code[B]);
    if (succ_size(P.Code[B]) < 2)
      continue;
    for (const BasicBlock *S : successors(P.Code[B])) {
      SmallPtrSet<const BasicBlock *, 8> Seen;
      for (; S && S != End && Seen.insert(S).second;
           S = PostDominance.immediate(*S))
        Depends[B].push_back(at(S));
    }
    if (diverges(B))
      Work.push_back(B);
  }
  // What never returns has no place in the post-dominator tree.
  for (unsigned B = 0; B != P.Code.size(); ++B)
    if (!PostDominance.returns(*P.Code[B]) && !Divided[B]) {
      Divided[B] = true;
      Work.push_back(B);
    }
  while (!Work.empty())
    for (unsigned D : Depends[Work.pop_back_val()])
      if (!Divided[D]) {
        Divided[D] = true;
        Work.push_back(D);
      }
}

/// A call that other lanes of the warp take part in, and may wait for.
static bool hasCollective(const BasicBlock &BB) {
  return any_of(BB, [](const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    return Call && Call->isConvergent();
  });
}

std::vector<bool> Planner::reachable(SmallVector<unsigned> Work) const {
  std::vector<bool> Seen(P.Code.size());
  for (unsigned B : Work)
    Seen[B] = true;
  while (!Work.empty())
    for (const BasicBlock *S : successors(P.Code[Work.pop_back_val()]))
      if (unsigned To = at(S); !Seen[To]) {
        Seen[To] = true;
        Work.push_back(To);
      }
  return Seen;
}

void Planner::findLeaving() {
  P.Leaves.resize(P.Code.size());
  if (!P.IsKernel)
    return;
  for (unsigned B = 0; B != P.Code.size(); ++B)
    P.Leaves[B] =
        diverges(B) && !depth(B) &&
        any_of(successors(P.Code[B]), [](auto *S) { return onlyReturns(*S); });
}

bool Planner::equivalent(unsigned A, unsigned B) const {
  const Cycle *C = Cycles.getCycle(P.Code[A]);
  if (C != Cycles.getCycle(P.Code[B]) || (C && !C->isReducible()) ||
      !Dominators.dominates(P.Code[A], P.Code[B]))
    return false;
  for (const BasicBlock *At = P.Code[A]; At; At = PostDominance.immediate(*At))
    if (At == P.Code[B])
      return true;
  return false;
}

std::vector<bool> Planner::piecewise() const {
  SmallVector<unsigned> Sides;
  for (unsigned B = 0; B != P.Code.size(); ++B)
    if (diverges(B))
      for (const BasicBlock *S : successors(P.Code[B]))
        Sides.push_back(at(S));
  std::vector<bool> May = reachable(Sides);
  for (unsigned B = 0; B != P.Code.size(); ++B)
    May[B] = (May[B] || !P.IsKernel) && diverges(B);
  return May;
}

void Planner::formGroups() {
  SmallVector<unsigned> Staying;
  for (unsigned B = 0; B != P.Code.size(); ++B)
    if (P.Leaves[B])
      for (BasicBlock *S : successors(P.Code[B]))
        if (!onlyReturns(*S))
          Staying.push_back(at(S));
  std::vector<bool> AfterExit = reachable(Staying);

  const std::vector<bool> Piecewise = piecewise();
  P.GroupOf.assign(P.Code.size(), ProbePlan::NoGroup);
  for (unsigned B = 0; B != P.Code.size(); ++B) {
    if (!Divided[B] && !Piecewise[B])
      continue;
    for (unsigned G = 0; G != P.Groups.size() && !Piecewise[B]; ++G)
      if (equivalent(P.Groups[G].Site, B)) {
        P.GroupOf[B] = G;
        break;
      }
    if (P.GroupOf[B] != ProbePlan::NoGroup)
      continue;
    P.GroupOf[B] = P.Groups.size();
    WarpGroup &G = P.Groups.emplace_back();
    G.Site = B;
    if (!AfterExit[B] || onlyReturns(*P.Code[B]))
      continue;
    std::vector<bool> Ahead = reachable({B});
    bool Settled = true;
    for (unsigned L = 0; L != P.Code.size(); ++L)
      Settled &= !(P.Leaves[L] && Ahead[L]);
    G.Exited = Settled ? WarpGroup::AtEnd : WarpGroup::Summed;
    G.ExitedCell = P.ExitCells++;
  }
}

/// What runs \p Side is a part of what ran \p Branch just before: nobody else
/// comes there, and nobody waits there for others.
bool Planner::isPureSide(unsigned Branch, const BasicBlock &Side) const {
  const BasicBlock *From = P.Code[Branch];
  return Side.getSinglePredecessor() == From && &Side != From &&
         Cycles.getCycle(&Side) == Cycles.getCycle(From) &&
         !onlyReturns(Side) && !hasCollective(Side);
}

/// \p Branch goes back to \p Header, the only one to do so: what begins the
/// next iteration together is what it has left of those that ended this one.
bool Planner::goesRound(unsigned Branch, const BasicBlock &Header) const {
  const Cycle *C = Cycles.getCycle(&Header);
  if (!C || !C->isReducible() || C->getHeader() != &Header ||
      hasCollective(Header))
    return false;
  unsigned Back = 0;
  for (const BasicBlock *From : predecessors(&Header))
    if (C->contains(From) && (++Back > 1 || From != P.Code[Branch]))
      return false;
  return Back == 1;
}

void Planner::placeSplits() {
  for (unsigned B = 0; B != P.Code.size(); ++B) {
    if (!diverges(B))
      continue;
    SplitProbe &S = P.Splits.emplace_back();
    S.Block = B;
    const Instruction &T = *P.Code[B]->getTerminator();
    if (T.getNumSuccessors() != 2)
      continue;
    SmallVector<unsigned, 2> Sides;
    for (const BasicBlock *Side : successors(P.Code[B]))
      if (isPureSide(B, *Side))
        Sides.push_back(at(Side));
    if (Sides.empty()) {
      for (const BasicBlock *Side : successors(P.Code[B]))
        if (goesRound(B, *Side)) {
          S.Side = at(Side);
          S.Around = true;
        }
      continue;
    }
    // The end of a chain of tests rather than its next test.
    if (Sides.size() == 2 && succ_size(P.Code[Sides[0]]) > 1)
      std::swap(Sides[0], Sides[1]);
    S.Side = Sides[0];
  }
}

void Planner::findMasks() {
  P.FindsMask.resize(P.Code.size());
  for (const WarpGroup &G : P.Groups)
    P.FindsMask[G.Site] = true;
  for (const SplitProbe &S : P.Splits) {
    P.FindsMask[S.Block] = true;
    if (S.Side)
      P.FindsMask[*S.Side] = true;
  }
}

void Planner::run() {
  P.IsKernel = analysis::isKernel(F);
  findFlow();
  placeFlowProbes();
  solveFlow();
  findDivided();
  findLeaving();
  formGroups();
  placeSplits();
  findMasks();
  assignWords(P, F, Cycles, Dominators);
}

ProbePlan::ProbePlan(Function &F) { Planner(F, *this).run(); }

} // namespace reconverge::instrument
