//===- remedies/regroup/Choose.cpp - What to sort by ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches that are named, by pragmas or else by parameters, but for those that
// cannot be known beforehand. Where nobody names one: of those that part a warp, those that
// control the most instructions, counted as in loops eight times, as long as
// their bits fit and all of it can be known beforehand for less than half of
// the kernel. Not those on the thread's number alone: its order is one already.
// Where an estimate, a tree or a net says how long a thread takes, none is looked for.
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Slice.h"

#include "analysis/Numbering.h"
#include "analysis/Uniformity.h"
#include "analysis/device/Architecture.h"
#include "remedies/common/Notes.h"
#include "remedies/common/Requests.h"
#include "remedies/regroup/Refusals.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::remedies::regroup {

/// Branches that are tried one after the other.
static constexpr size_t MostTried = 8;
/// sm_NN: mma of 16 x 8 x 16.
static constexpr unsigned FirstWithTiles = 80;

namespace {
struct Choice {
  uint32_t Number;
  uint64_t Weight;
  const void *Pragma = nullptr; ///< that names it
  DebugLoc Where = {};
};

class Chooser {
public:
  Chooser(Function &F, const RegroupOptions &Options)
      : F(F), Options(Options), Known(analysis::computeUniformity(F)),
        Dominance(F), Loops(Dominance) {}
  bool parts(uint32_t Branch) const;
  /// Whether the source, or a parameter, lets threads be sorted by it.
  bool allows(uint32_t Branch) const;
  /// Whether it forbids one that parts a warp.
  bool forbids() const;
  /// What pragmas name, and why not the rest of it.
  std::vector<Choice> named(std::vector<Refusal> &Others) const;
  std::vector<Choice> byWeight() const;
  std::optional<uint32_t> gather() const;

private:
  std::optional<SourceRequest> saidOf(const BasicBlock &BB) const;
  bool mayTake(const BasicBlock &BB) const;
  bool isWorth(const BasicBlock &BB) const;
  uint64_t weightOf(const BasicBlock &Branch) const;

  Function &F;
  const RegroupOptions &Options;
  analysis::UniformityResult Known;
  DominatorTree Dominance;
  LoopInfo Loops;
};
} // namespace

static void sortByWeight(std::vector<Choice> &All) {
  sort(All, [](const Choice &A, const Choice &B) {
    return std::pair(B.Weight, A.Number) < std::pair(A.Weight, B.Number);
  });
}

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

/// Of the branch that ends \p BB, or of the loop that it leaves.
std::optional<SourceRequest> Chooser::saidOf(const BasicBlock &BB) const {
  if (auto Said = requestOf(BB, Name))
    return Said;
  SmallVector<BasicBlock *, 2> Latches;
  if (const Loop *L = loopLeftBy(BB, Loops))
    L->getLoopLatches(Latches);
  for (const BasicBlock *Latch : Latches)
    if (auto Said = requestOf(*Latch, Name))
      return Said;
  return requestOf(F, Name);
}

bool Chooser::mayTake(const BasicBlock &BB) const {
  const auto Said = saidOf(BB);
  return Said ? Said->On : !Options.Marked;
}

bool Chooser::allows(uint32_t Branch) const {
  return any_of(F, [&](const BasicBlock &BB) {
    return analysis::branchNumber(BB) == Branch && mayTake(BB);
  });
}

bool Chooser::forbids() const {
  return any_of(F, [&](const BasicBlock &BB) {
    const auto Said = saidOf(BB);
    return Said && !Said->On && Known.isDivergentBranch(BB);
  });
}

std::vector<Choice> Chooser::named(std::vector<Refusal> &Others) const {
  std::vector<Choice> All;
  SmallPtrSet<const Loop *, 4> Left;
  SmallPtrSet<const void *, 4> Told; // pragmas
  std::vector<std::pair<const void *, Refusal>> Uniform;
  const auto OfKernel = requestOf(F, Name);
  for (const BasicBlock &BB : F) {
    const auto Said = saidOf(BB);
    if (!Said || !Said->On || !Said->AtAnyCost || !conditionOf(BB) ||
        !analysis::branchNumber(BB) || (OfKernel && Said->Id == OfKernel->Id))
      continue;
    const Loop *L = loopLeftBy(BB, Loops);
    if (!Known.isDivergentBranch(BB))
      Uniform.push_back(
          {Said->Id, refusal(refuse::Uniform, *BB.getTerminator())});
    else if (Told.insert(Said->Id); !L || Left.insert(L).second)
      All.push_back({*analysis::branchNumber(BB), weightOf(BB), Said->Id,
                     BB.getTerminator()->getDebugLoc()});
  }
  for (const auto &[Id, Why] : Uniform)
    if (Told.insert(Id).second)
      Others.push_back(Why);
  sortByWeight(All);
  return All;
}

bool Chooser::isWorth(const BasicBlock &BB) const {
  const Value *Condition = conditionOf(BB);
  return Condition && analysis::branchNumber(BB) && mayTake(BB) &&
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
  sortByWeight(All);
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

bool isOf(StringRef Copy, StringRef Kernel) {
  return Copy.consume_front(Kernel) &&
         (Copy.empty() || Copy.starts_with("$") || Copy.starts_with("__rc"));
}

PlanOr<ChosenKey> chooseKey(Function &Kernel, const RegroupOptions &Options) {
  const Instruction &Start = *Kernel.getEntryBlock().getTerminator();
  const Chooser Choices(Kernel, Options);
  ChosenKey Chosen;
  Key &K = Chosen.By;
  std::optional<Refusal> Why;
  unsigned Bits = 0;
  auto add = [&](uint32_t Branch) {
    K.Branches.push_back(Branch);
    Why = whyNot(Kernel, K, &Bits);
    if (!Why && Bits > MostClassBits)
      Why = refusal(refuse::Full, Start);
    if (Why)
      K.Branches.pop_back();
  };
  const std::vector<Choice> Named = Choices.named(Chosen.Others);
  SmallPtrSet<const void *, 4> Taken; // pragmas; of a loop there may be copies
  std::vector<std::pair<const void *, Refusal>> NotTaken;
  for (const Choice &C : Named) {
    add(C.Number);
    if (Why)
      NotTaken.push_back({C.Pragma, {Why->Kind, C.Where, Why->Detail}});
    else
      Taken.insert(C.Pragma);
  }
  for (const auto &[Pragma, Why] : NotTaken)
    if (Taken.insert(Pragma).second)
      Chosen.Others.push_back(Why);
  const bool IsNamed = !Named.empty() || !Chosen.Others.empty();
  bool IsOff = false;
  for (uint32_t Branch : Options.Branches) {
    if (!Choices.parts(Branch))
      return refusal(refuse::Branch, Start, std::to_string(Branch));
    IsOff |= !Choices.allows(Branch);
    if (!IsNamed && Choices.allows(Branch))
      add(Branch);
  }
  const bool IsPredicted = Options.Net || !Options.Tree.Nodes.empty();
  const bool IsTold = !Options.Estimate.empty() || IsPredicted;
  if (!IsNamed && Options.Branches.empty() && !IsTold) {
    const std::vector<Choice> Found = Choices.byWeight();
    for (const Choice &C : ArrayRef(Found).take_front(MostTried))
      add(C.Number);
  }
  // A gather that nobody names may be left out.
  const auto OfKernel = requestOf(Kernel, Name);
  IsOff |= OfKernel && !OfKernel->On;
  const bool MayHavePlace = !IsOff || !K.Branches.empty();
  if (IsPredicted && MayHavePlace) {
    if (Options.Net && !isOf(Kernel.getName(), Options.Net->Kernel))
      return refusal(refuse::OtherNet, Start, demangle(Options.Net->Kernel));
    K.Tree = Options.Tree;
    K.Net = Options.Net;
    K.OnTensorCores = Options.OnTensorCores;
    if (K.OnTensorCores && analysis::architectureOf(Kernel).value_or(
                               FirstWithTiles) < FirstWithTiles)
      return refusal(refuse::NoTiles, Start);
    if (auto Unknown = whyNot(Kernel, K, &Bits))
      return *Unknown;
    if (Bits > MostClassBits)
      return refusal(refuse::Full, Start);
  }
  if (!Options.Estimate.empty() && MayHavePlace) {
    K.Estimate = Options.Estimate;
    if (auto Unknown = whyNot(Kernel, K))
      return *Unknown;
  } else if (Options.Locality && MayHavePlace &&
             (K.Gather = Options.Gather ? Options.Gather : Choices.gather()))
    if (auto Unknown = whyNot(Kernel, K)) {
      if (Options.Gather)
        return *Unknown;
      K.Gather.reset();
    }
  if (!K.Branches.empty() || K.hasPrediction() || K.hasPlace())
    return Chosen;
  if (!Chosen.Others.empty())
    return Chosen.Others.front();
  if (IsOff || (!Why && Choices.forbids()))
    return refusal(refuse::Off, Start);
  return Why ? *Why : refusal(refuse::NoKey, Start);
}

} // namespace reconverge::remedies::regroup
