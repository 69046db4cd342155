//===- remedies/reorder_blocks/BlockCost.cpp - Work of a block ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much a thread block will do hangs on branches that not all threads of the
// launch take alike. Each has its share of the kernel's instructions:
//
//   for (i = start[b]; i < start[b + 1]; ++i)      rounds * 5
//     if (x[i] > 0)                                + times * (9 or 2)
//       ...
//
// 1. Code belongs to the innermost loop or side of such a branch that it is in.
//    In other loops inside of that it counts eight times.
// 2. An exact slice of the kernel (common/Slice.h) adds up, for a thread, the
//    rounds of these loops and the sides of these branches by their shares. Where
//    a loop's rounds are known before it, the loop is gone from the slice.
// 3. If not all of them can be known beforehand, and for less than half of the
//    kernel: those that can, the largest shares first, if that is half of all.
// 4. A block takes as long as its longest thread. Where the slice reads nothing by
//    a thread's number in the block, as with `for (i = threadIdx.x; i < n[b]; ...)`,
//    the first thread stands for its block, and the slice is launched with a
//    thread a block. Else all threads run it, and the greatest counts.
//
// Limitation: a loop's rounds are those that it goes back, so that none and one
// are the same. What a barrier or memory costs is not in it.
//
//===----------------------------------------------------------------------===//

#include "remedies/reorder_blocks/BlockCost.h"

#include "analysis/AnalysisManagers.h"
#include "analysis/Costs.h"
#include "analysis/Uniformity.h"
#include "analysis/device/AddressSpace.h"
#include "analysis/device/Intrinsics.h"
#include "remedies/common/HiddenParameters.h"
#include "remedies/common/Items.h"
#include "remedies/common/Notes.h"
#include "remedies/common/Redirection.h"
#include "remedies/common/Slice.h"
#include "remedies/reorder_blocks/Refusals.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

namespace reconverge::remedies::reorder_blocks {

/// Branches that are tried one after the other.
static constexpr size_t MostTried = 8;

namespace {
/// A loop or a branch that not all threads of a launch take alike.
struct Controller {
  BasicBlock *At; ///< who ends in it; of a loop, one of its exits
  const Loop *L;  ///< null: a branch
  size_t Number;  ///< in program order
  /// Of a round; of the first side of a branch, and of others.
  uint64_t Weight[2] = {0, 0};
  uint64_t Share =
      0; ///< of what the kernel may cost, loops counted eight times
};

class Controllers {
public:
  explicit Controllers(Function &F);
  std::vector<Controller> All; ///< that have a share, the largest first

private:
  void find(Function &F);
  /// Loops in which what it controls is.
  unsigned around(const Controller &C) const;
  /// How deep in the kernel \p C begins to control.
  unsigned depthOf(const Controller &C) const;
  std::optional<unsigned> sideTo(const Controller &C,
                                 const BasicBlock &BB) const;
  void share(const BasicBlock &BB);

  analysis::UniformityResult Known;
  DominatorTree Dominance;
  LoopInfo Loops;
};
} // namespace

Controllers::Controllers(Function &F)
    : Known(analysis::computeUniformity(F)), Dominance(F), Loops(Dominance) {
  find(F);
  for (const BasicBlock &BB : F)
    if (Dominance.isReachableFromEntry(&BB))
      share(BB);
  for (Controller &C : All) {
    const auto [Less, More] = std::minmax(C.Weight[0], C.Weight[1]);
    C.Share = (More - Less) << 3 * std::min(around(C), 10u);
  }
  erase_if(All, [](const Controller &C) { return C.Share == 0; });
  sort(All, [](const Controller &A, const Controller &B) {
    return std::pair(B.Share, A.Number) < std::pair(A.Share, B.Number);
  });
}

static const Value *conditionOf(const BasicBlock &BB) {
  if (const auto *If = dyn_cast<BranchInst>(BB.getTerminator()))
    return If->isConditional() ? If->getCondition() : nullptr;
  const auto *Switch = dyn_cast<SwitchInst>(BB.getTerminator());
  return Switch ? Switch->getCondition() : nullptr;
}

void Controllers::find(Function &F) {
  SmallPtrSet<const Loop *, 8> Left;
  for (BasicBlock &BB : F) {
    const Value *Condition = conditionOf(BB);
    if (!Condition)
      continue;
    const Loop *L = loopLeftBy(BB, Loops);
    if (Known.of(*Condition).L != analysis::Level::Grid &&
        (!L || Left.insert(L).second))
      All.push_back({&BB, L, All.size()});
  }
}

unsigned Controllers::around(const Controller &C) const {
  return C.L ? C.L->getLoopDepth() : Loops.getLoopDepth(C.At);
}

unsigned Controllers::depthOf(const Controller &C) const {
  const BasicBlock *Begin = C.L ? C.L->getHeader() : C.At;
  return 2 * Dominance.getNode(Begin)->getLevel() + !C.L;
}

/// Which of its weights \p BB adds to; none: it does not control it.
std::optional<unsigned> Controllers::sideTo(const Controller &C,
                                            const BasicBlock &BB) const {
  if (C.L)
    return C.L->contains(&BB) ? std::optional(0u) : std::nullopt;
  for (auto [Side, To] : enumerate(sidesOf(*C.At->getTerminator())))
    if (Dominance.dominates(BasicBlockEdge(C.At, To), &BB))
      return Side != 0;
  return std::nullopt;
}

/// Adds the instructions of \p BB to its innermost controller.
void Controllers::share(const BasicBlock &BB) {
  Controller *Of = nullptr;
  unsigned Side = 0;
  for (Controller &C : All)
    if (const auto To = sideTo(C, BB))
      if (!Of || depthOf(*Of) < depthOf(C)) {
        Of = &C;
        Side = *To;
      }
  if (!Of)
    return;
  const unsigned Around =
      Of->L ? Of->L->getLoopDepth() : Loops.getLoopDepth(Of->At);
  const unsigned Deeper = Loops.getLoopDepth(&BB) - Around;
  Of->Weight[Side] += uint64_t(analysis::machineInstructions(BB))
                      << 3 * std::min(Deeper, 10u);
}

/// Adds up in \p F, of which \p Map has what the kernel's blocks are there, what
/// \p All cost: the slot (i64).
static AllocaInst *addUp(Function &F, ArrayRef<Controller> All,
                         ValueToValueMapTy &Map) {
  analysis::AnalysisManagers Analyses;
  LoopSimplifyPass().run(F, Analyses.Functions);
  Analyses.Functions.clear();
  auto &Loops = Analyses.Functions.getResult<LoopAnalysis>(F);
  auto &Rounds = Analyses.Functions.getResult<ScalarEvolutionAnalysis>(F);
  AllocaInst *Cost = makeSlot(F, Type::getInt64Ty(F.getContext()), "cost");
  for (const Controller &C : All) {
    auto &Here = *cast<BasicBlock>(Map.lookup(C.At));
    if (C.L) {
      if (Loop *L = loopLeftBy(Here, Loops))
        forRounds(*L, Rounds, [&](IRBuilderBase &B, Value *More) {
          addTo(B, *Cost,
                B.CreateMul(B.CreateZExt(More, B.getInt64Ty()),
                            B.getInt64(C.Weight[0])));
        });
      continue;
    }
    IRBuilder<> B(Here.getTerminator());
    Value *Side = sideOf(B, *Here.getTerminator());
    addTo(B, *Cost,
          B.CreateSelect(B.CreateIsNull(Side), B.getInt64(C.Weight[0]),
                         B.getInt64(C.Weight[1])));
  }
  return Cost;
}

/// Whether what threads read hangs on their number in the block: then they may
/// have quite different things to do.
static bool readsByThread(const ItemsPlan &Plan) {
  SmallVector<const Value *> Work;
  for (const CallBase *Read : Plan.Reads)
    if (analysis::threadIndexDimension(
            cast<IntrinsicInst>(Read)->getIntrinsicID()))
      Work.push_back(Read);
  SmallPtrSet<const Value *, 32> Seen;
  while (!Work.empty())
    for (const User *U : Work.pop_back_val()->users()) {
      if (cast<Instruction>(U)->mayReadFromMemory())
        return true;
      if (Seen.insert(U).second)
        Work.push_back(U);
    }
  return false;
}

/// The kernel that \p All make; none if ForWhole, and a thread cannot stand for
/// its block.
static std::optional<PlanOr<CostKernel>> makeBy(ArrayRef<Controller> All,
                                                bool ForWhole, Function &Kernel,
                                                const Twine &Name) {
  ValueToValueMapTy Map;
  Function &Copy = copyToReduce(Kernel, Name, Map);
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Function &F = addParameters(
      Copy, {PointerType::getUnqual(Kernel.getContext())}, {"costs"});
  AllocaInst *Slot = nullptr;
  const auto Note = [&]() -> std::optional<Refusal> {
    Slot = addUp(F, All, Map);
    return std::nullopt;
  };
  const auto Write = [&](BasicBlock &End) {
    IRBuilder<> B(End.getTerminator());
    Value *Sum = B.CreateFreeze(B.CreateLoad(B.getInt64Ty(), Slot));
    Value *Cost = B.CreateTrunc(
        B.CreateBinaryIntrinsic(Intrinsic::umin, Sum, B.getInt64(UINT32_MAX)),
        B.getInt32Ty());
    Value *Costs = B.CreateAddrSpaceCast(
        F.getArg(OfProgram),
        PointerType::get(B.getContext(), analysis::GlobalSpace));
    Value *At = B.CreateGEP(B.getInt32Ty(), Costs, readBlock(B));
    if (ForWhole)
      B.CreateStore(Cost, At);
    else
      raise(B, At, Cost);
  };
  if (auto Why = reduceTo(F, Kernel, Note, [] { return nullptr; }, Write))
    return PlanOr<CostKernel>(*Why);
  if (!ForWhole)
    return PlanOr<CostKernel>(CostKernel{&F, false, unsigned(All.size())});
  PlanOr<ItemsPlan> Free = planItems(F);
  if (const auto *Plan = std::get_if<ItemsPlan>(&Free);
      Plan && !readsByThread(*Plan)) {
    Function &Whole = redirectToFirstThreads(F, *Plan, blockWithin(F, 256));
    return PlanOr<CostKernel>(CostKernel{&Whole, true, unsigned(All.size())});
  }
  F.eraseFromParent();
  return std::nullopt;
}

/// A thread of its own for each block if one can stand for all of it.
static PlanOr<CostKernel> makeBy(ArrayRef<Controller> All, Function &Kernel,
                                 const Twine &Name) {
  if (auto Made = makeBy(All, /*ForWhole=*/true, Kernel, Name))
    return *Made;
  return *makeBy(All, /*ForWhole=*/false, Kernel, Name);
}

PlanOr<CostKernel> makeCostKernel(Function &Kernel, const Twine &Name) {
  const Controllers Found(Kernel);
  if (Found.All.empty())
    return refusal(refuse::Alike, *Kernel.getEntryBlock().getTerminator());
  PlanOr<CostKernel> Made = makeBy(Found.All, Kernel, Name);
  if (std::holds_alternative<CostKernel>(Made))
    return Made;
  std::vector<Controller> Taken;
  std::optional<Refusal> Why;
  uint64_t Whole = 0, Known = 0;
  for (const auto &[Number, C] : enumerate(Found.All)) {
    Whole += C.Share;
    if (Number >= MostTried)
      continue;
    Taken.push_back(C);
    PlanOr<CostKernel> Tried = makeBy(Taken, Kernel, Name);
    if (auto *Good = std::get_if<CostKernel>(&Tried)) {
      Good->Kernel->eraseFromParent();
      Known += C.Share;
      continue;
    }
    if (!Why)
      Why = std::get<Refusal>(Tried);
    Taken.pop_back();
  }
  if (Known < Whole / 2)
    return *Why;
  return makeBy(Taken, Kernel, Name);
}

} // namespace reconverge::remedies::reorder_blocks
