//===- analysis/Uniformity.cpp - Which values differ across lanes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lattice  Grid < Block < Warp < Affine < Divergent  for each value, solved
// from below: every value starts unknown and only ever rises, so the least
// solution is found, and it is the same in every run.
//
//   1. Instructions are visited in reverse post-order, and again when an
//      operand rises. Sources.cpp says where levels come from, Transfer.cpp how
//      they pass through an instruction. An instruction with an unknown operand
//      waits; a PHI takes what is known.
//   2. When the condition of a branch rises above Grid, SyncDependence says
//      what a split there would reach, and the branch's level becomes a floor:
//      - for the PHIs of its joins, which tell lanes apart by where they came
//        from, unless all incoming values are the same value;
//      - for uses, outside a loop, of values from inside, if the loop's exit
//        depends on the branch: lanes leave in different iterations (temporal
//        divergence);
//      - for everything in an irreducible cycle that the split makes wild.
//      A branch on a block-uniform condition works the same way with level
//      Block: what it selects is the same within a block, not over the grid.
//   3. Affine conditions split warps: their floor is Divergent.
//
// What "uniform" promises: a value is the same for those lanes of a warp that
// compute it together, in the same iteration of every loop around it. With
// UniformLoads off it is a function of uniform inputs alone: lanes that run
// apart compute the same value for the same iteration. With SameIteration off
// as well, header PHIs of cycles that a divergent branch can reach are
// Divergent, and a value called uniform does not depend on the iteration:
// whatever order lanes run in, they compute the same value.
//
// Limitation: one function at a time. Arguments of device functions are
// Divergent, and so is what calls return.
//
//===----------------------------------------------------------------------===//

#include "analysis/Uniformity.h"
#include "analysis/Sources.h"
#include "analysis/SyncDependence.h"
#include "analysis/Transfer.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::analysis {

class UniformitySolver {
public:
  UniformitySolver(Function &F, const UniformityOptions &Options)
      : Options(Options), Cycles(computeCycles(F)), Sync(F, Cycles) {
    for (BasicBlock *BB : ReversePostOrderTraversal<Function *>(&F)) {
      Blocks.push_back(BB);
      for (Instruction &I : *BB) {
        Index[&I] = Program.size();
        Program.push_back(&I);
      }
    }
    for (const Argument &A : F.args())
      Result.Values[&A] = argumentLevel(A);
    Pending.resize(Program.size(), true);
  }

  UniformityResult solve();

private:
  using Known = std::optional<Uniformity>; ///< nothing: not visited yet

  static CycleInfo computeCycles(Function &F) {
    CycleInfo Cycles;
    Cycles.compute(F);
    return Cycles;
  }

  Known valueLevel(const Value &V) const;
  Level exitFloor(const Use &U) const;
  Known useLevel(const Use &U) const;
  Known evaluatePhi(const PHINode &Phi) const;
  Known evaluate(const Instruction &I) const;
  Known conditionLevel(const Instruction &Term) const;

  void enqueue(const Instruction &I);
  void visit(Instruction &I);
  void visitTerminator(const Instruction &Term);
  void applySplit(const BasicBlock &BB, Level L);
  void forgetIterations(const BasicBlock &BB);
  void recordTemporalUses();

  const UniformityOptions &Options;
  CycleInfo Cycles;
  SyncDependence Sync;
  SmallVector<BasicBlock *, 32> Blocks; ///< reverse post-order
  std::vector<Instruction *> Program;   ///< in the order of Blocks
  DenseMap<const Instruction *, unsigned> Index;
  BitVector Pending;

  DenseMap<const BasicBlock *, Level> BranchLevel, JoinLevel;
  DenseMap<const Cycle *, Level> ExitLevel, WildLevel;
  SmallPtrSet<const BasicBlock *, 8> Mixed; ///< headers without SameIteration
  UniformityResult Result;
};

static bool isUniform(Level L) { return L <= Level::Warp; }

/// A condition of level \p L gives what it controls at least this level.
static Level floorOf(Level L) { return isUniform(L) ? L : Level::Divergent; }

static void raise(Uniformity &U, Level Floor) {
  if (Floor == Level::Divergent && U.L != Level::Divergent)
    U = {Level::Divergent, Cause::Sync, {}};
  else if (Floor > U.L)
    U.L = Floor;
}

UniformitySolver::Known UniformitySolver::valueLevel(const Value &V) const {
  if (const auto *I = dyn_cast<Instruction>(&V)) {
    auto Found = Result.Values.find(I);
    return Found == Result.Values.end() ? Known() : Known(Found->second);
  }
  return Result.of(V);
}

/// How widely the exits of the loops between \p U and its value agree.
Level UniformitySolver::exitFloor(const Use &U) const {
  const auto *Def = dyn_cast<Instruction>(U.get());
  if (!Def || ExitLevel.empty())
    return Level::Grid;
  const BasicBlock *UserBlock = cast<Instruction>(U.getUser())->getParent();
  Level Floor = Level::Grid;
  for (const Cycle *C = Cycles.getCycle(Def->getParent());
       C && !C->contains(UserBlock); C = C->getParentCycle())
    Floor = std::max(Floor, ExitLevel.lookup(C));
  return Floor;
}

UniformitySolver::Known UniformitySolver::useLevel(const Use &U) const {
  Known K = valueLevel(*U.get());
  if (K)
    raise(*K, exitFloor(U));
  return K;
}

UniformitySolver::Known
UniformitySolver::evaluatePhi(const PHINode &Phi) const {
  Known Joined;
  const Value *Only = nullptr;
  bool Same = true;
  for (const Use &U : Phi.incoming_values()) {
    const BasicBlock *From = Phi.getIncomingBlock(U);
    if (!Index.contains(From->getTerminator()))
      continue; // never reached
    Same &= !Only || Only == U.get();
    Only = U.get();
    if (Known K = useLevel(U))
      Joined = Joined ? meetOf(*Joined, *K) : *K;
  }
  if (Joined && !Same) {
    raise(*Joined, JoinLevel.lookup(Phi.getParent()));
    if (Mixed.contains(Phi.getParent()))
      raise(*Joined, Level::Divergent);
  }
  return Joined;
}

UniformitySolver::Known UniformitySolver::evaluate(const Instruction &I) const {
  Known K;
  if (const auto *Phi = dyn_cast<PHINode>(&I)) {
    K = evaluatePhi(*Phi);
  } else {
    SmallVector<Uniformity, 8> Operands;
    for (const Use &U : I.operands()) {
      Known Operand = useLevel(U);
      if (!Operand)
        return std::nullopt;
      Operands.push_back(*Operand);
    }
    K = transfer(I, Operands, Options);
  }
  if (K && !WildLevel.empty())
    for (const Cycle *C = Cycles.getCycle(I.getParent()); C;
         C = C->getParentCycle())
      raise(*K, WildLevel.lookup(C));
  return K;
}

void UniformitySolver::enqueue(const Instruction &I) {
  if (auto Found = Index.find(&I); Found != Index.end())
    Pending.set(Found->second);
}

void UniformitySolver::visit(Instruction &I) {
  if (I.isTerminator())
    visitTerminator(I);
  if (I.getType()->isVoidTy())
    return;
  Known New = evaluate(I);
  if (!New)
    return;
  auto [Slot, First] = Result.Values.try_emplace(&I, *New);
  if (!First) {
    // Levels only rise, and a value keeps the cause for which it rose.
    Uniformity Old = Slot->second;
    Uniformity Raised = meetOf(Old, *New);
    if (Raised.L == Old.L)
      Raised.Why = Old.Why;
    if (Raised == Old)
      return;
    Slot->second = Raised;
  }
  for (const User *U : I.users())
    enqueue(*cast<Instruction>(U));
}

/// Of what decides where \p Term goes; nothing if it always goes the same way.
UniformitySolver::Known
UniformitySolver::conditionLevel(const Instruction &Term) const {
  SmallPtrSet<const BasicBlock *, 4> Sides;
  for (const BasicBlock *Succ : successors(&Term))
    Sides.insert(Succ);
  if (Sides.size() < 2)
    return std::nullopt;
  if (isa<BranchInst, SwitchInst, IndirectBrInst>(Term))
    return useLevel(Term.getOperandUse(0));
  return Uniformity{Level::Divergent, Cause::Call, {}};
}

void UniformitySolver::visitTerminator(const Instruction &Term) {
  Known Condition = conditionLevel(Term);
  if (!Condition)
    return;
  const BasicBlock &BB = *Term.getParent();
  Level Floor = floorOf(Condition->L);
  Level &Old = BranchLevel[&BB];
  if (Floor <= Old)
    return;
  Old = Floor;
  applySplit(BB, Floor);
}

/// The branch at the end of \p BB parts threads at level \p L.
void UniformitySolver::applySplit(const BasicBlock &BB, Level L) {
  SyncEffect Effect = Sync.effectOf(BB);
  for (const BasicBlock *Join : Effect.Joins) {
    JoinLevel[Join] = std::max(JoinLevel.lookup(Join), L);
    for (const PHINode &Phi : Join->phis())
      enqueue(Phi);
  }
  auto EnqueueCycle = [&](const Cycle *C, bool UsersOutside) {
    for (BasicBlock *Inside : Blocks) {
      if (!C->contains(Inside))
        continue;
      for (const Instruction &I : *Inside) {
        if (!UsersOutside)
          enqueue(I);
        else
          for (const User *U : I.users())
            if (!C->contains(cast<Instruction>(U)->getParent()))
              enqueue(*cast<Instruction>(U));
      }
    }
  };
  for (const Cycle *C : Effect.DivergentExits) {
    ExitLevel[C] = std::max(ExitLevel.lookup(C), L);
    EnqueueCycle(C, /*UsersOutside=*/true);
  }
  for (const Cycle *C : Effect.Wild) {
    WildLevel[C] = std::max(WildLevel.lookup(C), L);
    EnqueueCycle(C, /*UsersOutside=*/false);
  }
  if (L == Level::Divergent && !Options.SameIteration)
    forgetIterations(BB);
}

/// After the split at \p BB lanes may enter any cycle behind it at different
/// times, and meet in it in different iterations.
void UniformitySolver::forgetIterations(const BasicBlock &BB) {
  SmallSetVector<const BasicBlock *, 32> Behind(succ_begin(&BB), succ_end(&BB));
  for (unsigned I = 0; I < Behind.size(); ++I) {
    const BasicBlock *B = Behind[I];
    Behind.insert(succ_begin(B), succ_end(B));
    for (const Cycle *C = Cycles.getCycle(B); C; C = C->getParentCycle())
      if (C->isEntry(B) && Mixed.insert(B).second)
        for (const PHINode &Phi : B->phis())
          enqueue(Phi);
  }
}

/// Uses that see a value of another iteration than their neighbours do.
void UniformitySolver::recordTemporalUses() {
  for (const Instruction *I : Program)
    for (const Use &U : I->operands())
      if (exitFloor(U) == Level::Divergent)
        Result.TemporalUses.insert(&U);
}

UniformityResult UniformitySolver::solve() {
  for (int Next = Pending.find_first(); Next >= 0;
       Next = Pending.find_first()) {
    Pending.reset(Next);
    visit(*Program[Next]);
  }
  for (const BasicBlock *BB : Blocks)
    if (BranchLevel.lookup(BB) == Level::Divergent)
      Result.DivergentBranches.insert(BB);
  recordTemporalUses();
  return std::move(Result);
}

UniformityResult computeUniformity(Function &F,
                                   const UniformityOptions &Options) {
  assert(!F.isDeclaration() && "a declaration has no values");
  return UniformitySolver(F, Options).solve();
}

Uniformity UniformityResult::of(const Value &V) const {
  if (auto Found = Values.find(&V); Found != Values.end())
    return Found->second;
  if (const auto *C = dyn_cast<Constant>(&V))
    return constantLevel(*C);
  if (isa<Instruction>(V)) // in code that is never reached
    return {Level::Divergent, Cause::Sync, {}};
  return {};
}

bool UniformityResult::isUniformUse(const Use &U) const {
  return isUniform(*U.get()) && !TemporalUses.contains(&U);
}

bool UniformityResult::isDivergentBranch(const BasicBlock &BB) const {
  return DivergentBranches.contains(&BB);
}

} // namespace reconverge::analysis
