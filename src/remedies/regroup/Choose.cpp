//===- remedies/regroup/Choose.cpp - What to sort by ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches that are named, but for those that cannot be known beforehand. Where
// nobody names one: of those that part a warp, those that
// control the most instructions, counted as in loops eight times, as long as
// their bits fit and all of it can be known beforehand for less than half of
// the kernel. Not those on the thread's number alone: its order is one already.
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Slice.h"

#include "analysis/Numbering.h"
#include "analysis/Uniformity.h"
#include "remedies/regroup/Points.h"
#include "remedies/regroup/Refusals.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::remedies::regroup {

/// Branches that are tried one after the other.
static constexpr size_t MostTried = 8;

namespace {
struct Choice {
  uint32_t Number;
  uint64_t Weight;
};

class Chooser {
public:
  explicit Chooser(Function &F)
      : F(F), Known(analysis::computeUniformity(F)), Dominance(F),
        Loops(Dominance) {}
  bool parts(uint32_t Branch) const;
  std::vector<Choice> byWeight() const;
  std::optional<uint32_t> gather() const;

private:
  bool isWorth(const BasicBlock &BB) const;
  uint64_t weightOf(const BasicBlock &Branch) const;

  Function &F;
  analysis::UniformityResult Known;
  DominatorTree Dominance;
  LoopInfo Loops;
};
} // namespace

static const Value *conditionOf(const BasicBlock &BB) {
  if (const auto *If = dyn_cast<BranchInst>(BB.getTerminator()))
    return If->isConditional() ? If->getCondition() : nullptr;
  const auto *Switch = dyn_cast<SwitchInst>(BB.getTerminator());
  return Switch ? Switch->getCondition() : nullptr;
}

bool Chooser::parts(uint32_t Branch) const {
  return any_of(F, [&](const BasicBlock &BB) {
    return analysis::branchNumber(BB) == Branch && Known.isDivergentBranch(BB);
  });
}

bool Chooser::isWorth(const BasicBlock &BB) const {
  const Value *Condition = conditionOf(BB);
  return Condition && analysis::branchNumber(BB) &&
         Known.isDivergentBranch(BB) &&
         Known.of(*Condition).Why != analysis::Cause::ThreadId;
}

/// Of what it controls.
uint64_t Chooser::weightOf(const BasicBlock &Branch) const {
  const Loop *Left = loopLeftBy(Branch, Loops);
  uint64_t Sum = 0;
  for (const BasicBlock &BB : F) {
    const bool Controls =
        Left ? Left->contains(&BB)
             : any_of(successors(&Branch), [&](const BasicBlock *To) {
                 return Dominance.dominates(BasicBlockEdge(&Branch, To), &BB);
               });
    if (Controls)
      Sum += uint64_t(BB.sizeWithoutDebug())
             << 3 * std::min(Loops.getLoopDepth(&BB), 10u);
  }
  return Sum;
}

std::vector<Choice> Chooser::byWeight() const {
  std::vector<Choice> All;
  SmallPtrSet<const Loop *, 4> Left;
  for (const BasicBlock &BB : F) {
    const Loop *L = loopLeftBy(BB, Loops);
    // All exits of a loop tell the same.
    if (isWorth(BB) && (!L || Left.insert(L).second))
      All.push_back({*analysis::branchNumber(BB), weightOf(BB)});
  }
  sort(All, [](const Choice &A, const Choice &B) {
    return std::pair(B.Weight, A.Number) < std::pair(A.Weight, B.Number);
  });
  return All;
}

/// The last that reads where its thread says: searches are over by then.
std::optional<uint32_t> Chooser::gather() const {
  std::optional<uint32_t> Found;
  for (const BasicBlock *BB : ReversePostOrderTraversal<const Function *>(&F))
    for (const Instruction &I : *BB) {
      const auto *Load = dyn_cast<LoadInst>(&I);
      if (Load && analysis::accessNumber(I) &&
          Known.of(*Load->getPointerOperand()).L ==
              analysis::Level::Divergent &&
          !isa<AllocaInst>(getUnderlyingObject(Load->getPointerOperand(), 0)))
        Found = analysis::accessNumber(I);
    }
  return Found;
}

/// Why \p K cannot be known; nothing: it can.
static std::optional<Refusal> whyNot(Function &F, const Key &K,
                                     unsigned *ClassBits = nullptr) {
  PlanOr<KeyKernel> Made = makeKeyKernel(F, "reconverge.tried", K);
  if (const auto *Why = std::get_if<Refusal>(&Made))
    return *Why;
  const KeyKernel &Tried = std::get<KeyKernel>(Made);
  if (ClassBits)
    *ClassBits = Tried.ClassBits;
  Tried.Kernel->eraseFromParent();
  return std::nullopt;
}

PlanOr<Key> chooseKey(Function &Kernel, const RegroupOptions &Options) {
  const Instruction &Start = *Kernel.getEntryBlock().getTerminator();
  const Chooser Choices(Kernel);
  Key K;
  std::optional<Refusal> Why;
  unsigned Bits = 0;
  auto add = [&](uint32_t Branch) {
    K.Branches.push_back(Branch);
    if ((Why = whyNot(Kernel, K, &Bits)) || Bits > MostClassBits)
      K.Branches.pop_back();
  };
  for (uint32_t Branch : Options.Branches) {
    if (!Choices.parts(Branch))
      return refusal(refuse::Branch, Start, std::to_string(Branch));
    add(Branch);
  }
  if (Options.Branches.empty()) {
    const std::vector<Choice> Found = Choices.byWeight();
    for (const Choice &C : ArrayRef(Found).take_front(MostTried))
      add(C.Number);
  }
  // A gather that nobody names may be left out.
  if (Options.Locality &&
      (K.Gather = Options.Gather ? Options.Gather : Choices.gather()))
    if (auto Unknown = whyNot(Kernel, K)) {
      if (Options.Gather)
        return *Unknown;
      K.Gather.reset();
    }
  if (K.Branches.empty() && !K.Gather)
    return Why ? *Why : refusal(refuse::NoKey, Start);
  return K;
}

} // namespace reconverge::remedies::regroup
