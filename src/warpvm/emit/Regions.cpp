//===- warpvm/emit/Regions.cpp - Block order and fused regions ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order. Within a scope (the function or one loop) inner loops count as one
// node; a depth-first search over that acyclic graph gives reverse postorder;
// then each loop's node is replaced by the loop's own order, header first,
// latch last (all its blocks reach the latch, so every lane of an iteration is
// there before any takes the back edge).
//
// Regions. From each uncovered position a region grows while every predecessor
// of the next block lies inside and the edge is plain; a loop is taken whole or
// not at all. What ends a region:
//   - an edge behind a barrier or a call, or into a collective that must wait
//   - a block entered from outside (a join whose other side was cut)
//   - a loop in which a lane may wait for another: its back edge must return to
//     the scheduler, which owes every lane progress (WaitingLoops.cpp)
//   - the size limit (EmitOptions::RegionLimit): some of LLVM's passes take
//     time with the square of a function's blocks
//   - a switch of hundreds of cases: with some of them in its region, the masks
//     of all others live through these, and allocating registers takes time
//     that grows with the square
// The tier Blocks grows nothing: a region a block.
//
// Converged blocks. A collective needs no check if it runs with all lanes that
// are left. A block fails that if it lies between a divergent branch and the
// branch's post-dominator; edges straight to the return are left out first,
// because lanes that return are no longer waited for. It also fails behind a
// loop in which lanes may wait, which the scheduler lets some lanes leave for
// good before others. Where lanes may wait at a collective while others go round
// the loop around it (mixesRounds), whether that loop goes on counts as
// divergent (EmitKernel.cpp), so that nothing in it is taken for converged.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Regions.h"
#include "warpvm/prepare/Callees.h"
#include "warpvm/prepare/Prepare.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::warpvm {

namespace {
constexpr unsigned RegionSuccessorLimit = 256;

bool endsRegion(const BasicBlock &BB) {
  return BB.getTerminator()->getNumSuccessors() > RegionSuccessorLimit;
}
} // namespace

RegionPlanner::RegionPlanner(Function &F, LoopInfo &LI,
                             const analysis::UniformityResult &Uniform,
                             Tier Code, unsigned Limit, bool LanesRunApart,
                             bool CallsMayWait)
    : LI(LI), DT(F), Code(Code), Limit(Limit), CallsMayWait(CallsMayWait) {
  for (const Loop *L : LI.getLoopsInPreorder())
    if (findsWait(*L))
      Waiting.insert(L);
  orderBlocks(F);
  if (!LanesRunApart)
    findConverged(F, Uniform);
  cut(F);
}

bool RegionPlanner::onlyReturns(const BasicBlock &BB) const {
  return isa<ReturnInst>(BB.getTerminator()) &&
         BB.getFirstNonPHIOrDbg() == BB.getTerminator();
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

namespace {
/// Orders the blocks of one scope, loops nested in it included.
class ScopeOrder {
public:
  ScopeOrder(LoopInfo &LI, std::vector<BasicBlock *> &Order)
      : LI(LI), Order(Order) {}

  void run(BasicBlock *Entry, Loop *Scope) {
    std::vector<BasicBlock *> Post; // a loop is represented by its header
    DenseSet<BasicBlock *> Seen;
    visit(Entry, Scope, Entry, Seen, Post);
    for (BasicBlock *BB : reverse(Post)) {
      Loop *Inner = innerLoop(BB, Scope);
      if (Inner)
        run(Inner->getHeader(), Inner);
      else
        Order.push_back(BB);
    }
  }

private:
  /// The outermost loop inside Scope that holds BB, or null.
  Loop *innerLoop(BasicBlock *BB, Loop *Scope) {
    Loop *L = LI.getLoopFor(BB);
    if (L == Scope)
      return nullptr;
    while (L && L->getParentLoop() != Scope)
      L = L->getParentLoop();
    return L;
  }

  void visit(BasicBlock *BB, Loop *Scope, BasicBlock *Entry,
             DenseSet<BasicBlock *> &Seen, std::vector<BasicBlock *> &Post) {
    Loop *Inner = innerLoop(BB, Scope);
    BasicBlock *Node = Inner ? Inner->getHeader() : BB;
    if (!Seen.insert(Node).second)
      return;
    SmallSetVector<BasicBlock *, 8> Next;
    if (Inner) {
      SmallVector<BasicBlock *, 8> Exits;
      Inner->getExitBlocks(Exits);
      Next.insert(Exits.begin(), Exits.end());
    } else {
      Next.insert(succ_begin(BB), succ_end(BB));
    }
    // Last successor first, so that the first one comes first in the result.
    for (BasicBlock *S : reverse(Next))
      if (S != Entry && (!Scope || Scope->contains(S)))
        visit(S, Scope, Entry, Seen, Post);
    Post.push_back(Node);
  }

  LoopInfo &LI;
  std::vector<BasicBlock *> &Order;
};
} // namespace

void RegionPlanner::orderBlocks(Function &F) {
  ScopeOrder(LI, Order).run(&F.getEntryBlock(), nullptr);
  std::vector<BasicBlock *> Returning;
  llvm::erase_if(Order, [&](BasicBlock *BB) {
    if (!onlyReturns(*BB))
      return false;
    Returning.push_back(BB);
    return true;
  });
  llvm::append_range(Order, Returning);
  for (auto [I, BB] : enumerate(Order))
    Position[BB] = I;
  for (Loop *L : LI.getLoopsInPreorder()) {
    unsigned End = 0;
    for (BasicBlock *BB : L->blocks())
      End = std::max(End, Position[BB] + 1);
    LoopEnd[L->getHeader()] = End;
    assert(End - Position[L->getHeader()] == L->getNumBlocks() &&
           "a loop's blocks must lie together");
  }
}

//===----------------------------------------------------------------------===//
// Converged blocks
//===----------------------------------------------------------------------===//

void RegionPlanner::findConverged(Function &F,
                                  const analysis::UniformityResult &Uniform) {
  const unsigned N = Order.size(), Exit = N;
  std::vector<SmallVector<unsigned, 2>> Next(N);
  for (unsigned I = 0; I < N; ++I) {
    SmallSetVector<unsigned, 4> All, Staying;
    for (BasicBlock *S : successors(Order[I])) {
      All.insert(Position[S]);
      if (!onlyReturns(*S))
        Staying.insert(Position[S]);
    }
    for (unsigned S : Staying.empty() ? All : Staying)
      Next[I].push_back(S);
    if (Next[I].empty())
      Next[I].push_back(Exit);
  }
  // Post-dominator sets by iteration to the greatest fixed point.
  std::vector<BitVector> PostDom(N + 1, BitVector(N + 1, true));
  PostDom[Exit].reset();
  PostDom[Exit].set(Exit);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned I = N; I-- > 0;) {
      BitVector New(N + 1, true);
      for (unsigned S : Next[I])
        New &= PostDom[S];
      New.set(I);
      if (New != PostDom[I]) {
        PostDom[I] = New;
        Changed = true;
      }
    }
  }
  BitVector Apart(N + 1);
  for (unsigned I = 0; I < N; ++I) {
    if (Next[I].size() < 2 || !Uniform.isDivergentBranch(*Order[I]))
      continue;
    // Everything reachable before a common post-dominator of the sides.
    BitVector Stop = PostDom[I];
    Stop.reset(I);
    SmallVector<unsigned> Work(Next[I].begin(), Next[I].end());
    BitVector Seen(N + 1);
    while (!Work.empty()) {
      unsigned B = Work.pop_back_val();
      if (B == Exit || Stop.test(B) || Seen.test(B))
        continue;
      Seen.set(B);
      Work.append(Next[B]);
    }
    Apart |= Seen;
  }
  // From a loop in which lanes may wait, the scheduler sends some ahead.
  SmallVector<BasicBlock *> Ahead;
  DenseSet<const BasicBlock *> Sent;
  for (const Loop *L : LI.getLoopsInPreorder())
    if (mayWait(*L))
      append_range(Ahead, L->blocks());
  // So it may from a call in which others wait.
  for (BasicBlock *BB : Order)
    if (endsInCall(*BB))
      append_range(Ahead, successors(BB));
  while (!Ahead.empty()) {
    BasicBlock *BB = Ahead.pop_back_val();
    if (!Sent.insert(BB).second)
      continue;
    Apart.set(Position.lookup(BB));
    append_range(Ahead, successors(BB));
  }
  for (unsigned I = 0; I < N; ++I)
    if (!Apart.test(I))
      Converged.insert(Order[I]);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

bool RegionPlanner::mixesRounds() const {
  return any_of(Order, [&](const BasicBlock *BB) {
    return LI.getLoopFor(BB) && !Converged.contains(BB) &&
           isCollective(*BB->getFirstNonPHIOrDbg());
  });
}

bool RegionPlanner::opensWait(const BasicBlock &BB) const {
  return LI.isLoopHeader(&BB) && mayWait(*LI.getLoopFor(&BB));
}

EdgeKind RegionPlanner::edgeKind(const BasicBlock &From,
                                 const BasicBlock &To) const {
  if (From.size() >= 2)
    if (auto *II = dyn_cast<IntrinsicInst>(From.getTerminator()->getPrevNode());
        II && isBarrier(*II))
      switch (II->getIntrinsicID()) {
      case Intrinsic::nvvm_barrier0_popc:
        return EdgeKind::BarrierPopc;
      case Intrinsic::nvvm_barrier0_and:
        return EdgeKind::BarrierAnd;
      case Intrinsic::nvvm_barrier0_or:
        return EdgeKind::BarrierOr;
      case Intrinsic::nvvm_barrier0:
        return EdgeKind::Barrier;
      case Intrinsic::nvvm_barrier_cluster_wait:
      case Intrinsic::nvvm_barrier_cluster_wait_aligned:
        return EdgeKind::ClusterBarrier;
      default:
        return EdgeKind::NamedBarrier;
      }
  if (endsInCall(From))
    return EdgeKind::Call;
  const Instruction *First = To.getFirstNonPHIOrDbg();
  if (First && isCollective(*First) && !Converged.contains(&To))
    return EdgeKind::Sync;
  return EdgeKind::Plain;
}

unsigned RegionPlanner::grow(unsigned First) const {
  if (Code == Tier::Blocks)
    return First;
  unsigned Size = Order[First]->size();
  auto Enterable = [&](unsigned I, unsigned Last) {
    for (const BasicBlock *P : predecessors(Order[I])) {
      unsigned At = Position.lookup(P);
      if (At < First || At > Last || edgeKind(*P, *Order[I]) != EdgeKind::Plain)
        return false;
    }
    return true;
  };
  // The loop that opens at position I, with its nested loops, fits.
  auto TakesLoop = [&](unsigned I, unsigned &Grown) {
    unsigned End = LoopEnd.lookup(Order[I]);
    for (unsigned J = I; J < End; ++J) {
      if ((J != First && !Enterable(J, End - 1)) || endsRegion(*Order[J]) ||
          (LI.isLoopHeader(Order[J]) && mayWait(*LI.getLoopFor(Order[J]))))
        return false;
      Grown += J == First ? 0 : Order[J]->size();
    }
    return Grown <= Limit;
  };
  // Lanes that leave a loop wait for those that stay: unless the loop is taken
  // whole, the region ends with the loop.
  unsigned Last = First, Bound = Order.size();
  if (const Loop *L = LI.getLoopFor(Order[First])) {
    unsigned Grown = Size;
    if (L->getHeader() == Order[First] && TakesLoop(First, Grown)) {
      Size = Grown;
      Last = LoopEnd.lookup(Order[First]) - 1;
      L = L->getParentLoop();
    }
    if (L)
      Bound = LoopEnd.lookup(L->getHeader());
  }
  while (Last + 1 < Bound && !endsRegion(*Order[Last])) {
    unsigned I = Last + 1, Grown = Size;
    if (LI.isLoopHeader(Order[I])) {
      if (!TakesLoop(I, Grown))
        break;
      Last = LoopEnd.lookup(Order[I]) - 1;
    } else {
      Grown += Order[I]->size();
      if (!Enterable(I, I) || Grown > Limit)
        break;
      Last = I;
    }
    Size = Grown;
  }
  return Last;
}

bool RegionPlanner::isInternal(const BasicBlock &From,
                               const BasicBlock &To) const {
  unsigned R = RegionOf.lookup(&From);
  if (R != RegionOf.lookup(&To) || edgeKind(From, To) != EdgeKind::Plain)
    return false;
  // Back to the region's own entry: a loop only if all of it is inside and
  // nobody can be waiting in it.
  if (Position.lookup(&To) == Regions[R].First) {
    const Loop *L = LI.getLoopFor(&To);
    return Code == Tier::Fused && LoopEnd.lookup(&To) <= Regions[R].Last + 1 &&
           !mayWait(*L);
  }
  return true;
}

void RegionPlanner::cut(Function &F) {
  for (unsigned First = 0; First < Order.size();) {
    Region R;
    R.First = First;
    R.Last = grow(First);
    for (unsigned I = R.First; I <= R.Last; ++I)
      RegionOf[Order[I]] = Regions.size();
    First = R.Last + 1;
    Regions.push_back(R);
  }
  for (Region &R : Regions) {
    SmallDenseSet<std::pair<BasicBlock *, EdgeKind>> Seen;
    for (unsigned I = R.First; I <= R.Last; ++I)
      for (BasicBlock *S : successors(Order[I])) {
        if (isInternal(*Order[I], *S))
          continue;
        EdgeKind Kind = edgeKind(*Order[I], *S);
        if (Seen.insert({S, Kind}).second)
          R.Targets.push_back({S, Kind});
      }
  }
}

} // namespace reconverge::warpvm
