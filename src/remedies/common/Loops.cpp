//===- remedies/common/Loops.cpp - What remedies ask of loops -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// To compare and swap with what was read before, and to try again if it failed,
// is no wait: then another has succeeded. To count something up is none either,
// unless by nothing, which is how to read it.
//
// A plain load whose address is the same in all rounds is a wait where a way out
// hangs on nothing else that changes: it stands in the loop because there is a
// fence, a barrier or a pause.
//
// To look at other places in each round, for as many rounds as are known before
// the first, is no wait: such a loop ends whatever the others do.
//
// A cycle that is entered at two places is no loop to LLVM. What leaves a part
// of it that goes round by itself is not told apart from its other branches, so
// all of them count as ways out.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Loops.h"

#include "analysis/AnalysisManagers.h"
#include "analysis/Numbering.h"
#include "analysis/device/AddressSpace.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;

namespace reconverge::remedies {

using analysis::UniformityResult;

bool divergesAt(const Loop &L, const UniformityResult &Known) {
  SmallVector<BasicBlock *> Exiting;
  L.getExitingBlocks(Exiting);
  return any_of(Exiting, [&](const BasicBlock *BB) {
    return Known.isDivergentBranch(*BB);
  });
}

bool goesOverItems(const Loop &L, const UniformityResult &Known) {
  const BasicBlock *From = L.getLoopPredecessor(), *Latch = L.getLoopLatch();
  if (!From || !Latch)
    return false;
  return any_of(L.getHeader()->phis(), [&](const PHINode &Item) {
    const auto *Next =
        dyn_cast<BinaryOperator>(Item.getIncomingValueForBlock(Latch));
    if (!Next || Next->getOpcode() != Instruction::Add ||
        !is_contained(Next->operands(), &Item))
      return false;
    const Value &Step = *Next->getOperand(Next->getOperand(0) == &Item);
    return Known.of(*Item.getIncomingValueForBlock(From)).Why ==
               analysis::Cause::ThreadId &&
           L.isLoopInvariant(&Step) &&
           Known.of(Step).L <= analysis::Level::Block;
  });
}

uint64_t weightOf(const Loop &L, const LoopInfo &Loops) {
  uint64_t Sum = 0;
  for (const BasicBlock *BB : L.blocks())
    Sum += BB->size() << 3 * std::min(Loops.getLoopDepth(BB), 10u);
  return Sum;
}

std::optional<SourceRequest> requestOf(const Loop &L, StringRef Remedy) {
  SmallVector<BasicBlock *> Latches;
  L.getLoopLatches(Latches);
  for (const BasicBlock *BB : Latches)
    if (auto Said = requestOf(*BB, Remedy))
      return Said;
  return std::nullopt;
}

BasicBlock *blockOfBranch(uint32_t Number, Function &F) {
  for (BasicBlock &BB : F)
    if (analysis::branchNumber(BB) == Number)
      return &BB;
  return nullptr;
}

Loop *loopLeftBy(uint32_t Number, Function &F, const LoopInfo &Loops,
                 const UniformityResult &Known) {
  BasicBlock *BB = blockOfBranch(Number, F);
  for (Loop *L = BB ? Loops.getLoopFor(BB) : nullptr; L; L = L->getParentLoop())
    if (L->isLoopExiting(BB))
      return divergesAt(*L, Known) ? L : nullptr;
  return nullptr;
}

SmallVector<const Cycle *> irreducibleCycles(const Function &F,
                                             const CycleInfo &Cycles) {
  SmallVector<const Cycle *> Found;
  for (const BasicBlock &BB : F)
    if (const Cycle *C = Cycles.getCycle(&BB);
        C && C->getHeader() == &BB && !C->isReducible())
      Found.push_back(C);
  return Found;
}

/// What other threads write, and a loop that \p Has these instructions may wait
/// for.
static bool readsOthers(const Instruction &I,
                        function_ref<bool(const Value *)> Has) {
  if (const auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
    return !Has(Swap->getCompareOperand());
  if (const auto *A = dyn_cast<AtomicRMWInst>(&I)) {
    const auto *By = dyn_cast<ConstantInt>(A->getValOperand());
    return A->getOperation() == AtomicRMWInst::Xchg || (By && By->isZero());
  }
  const auto *Load = dyn_cast<LoadInst>(&I);
  return Load && (Load->isVolatile() || Load->isAtomic()) &&
         !isa<AllocaInst>(getUnderlyingObject(Load->getPointerOperand()));
}

/// What is read of others in \p Region, a loop or cycle, and decides which of the
/// branches at the ends of \p Ways are taken, unless \p IsHarmless holds of it.
template <typename RegionT>
static const Instruction *
waitIn(const RegionT &Region, ArrayRef<BasicBlock *> Ways,
       function_ref<bool(const Instruction &)> IsHarmless) {
  SmallSetVector<const Instruction *, 16> Needed;
  auto Has = [&](const Value *V) {
    const auto *I = dyn_cast<Instruction>(V);
    return I && Region.contains(I->getParent());
  };
  auto Add = [&](const Value *V) {
    if (Has(V))
      Needed.insert(cast<Instruction>(V));
  };
  for (BasicBlock *BB : Ways)
    Add(BB->getTerminator());
  for (size_t I = 0; I != Needed.size(); ++I) {
    if (readsOthers(*Needed[I], Has) && !IsHarmless(*Needed[I]))
      return Needed[I];
    for (const Use &Operand : Needed[I]->operands())
      Add(Operand.get());
  }
  return nullptr;
}

/// Whether loop \p Header is gone round a number of times at most that is known
/// before, and \p Read reads another place in each round.
static bool endsByItself(const BasicBlock &Header, const Instruction &Read) {
  auto &F = const_cast<Function &>(*Header.getParent());
  analysis::AnalysisManagers Analyses;
  auto &SE = Analyses.Functions.getResult<ScalarEvolutionAnalysis>(F);
  const Loop *L =
      Analyses.Functions.getResult<LoopAnalysis>(F).getLoopFor(&Header);
  auto *At = const_cast<Value *>(getLoadStorePointerOperand(&Read));
  return At && !SE.isLoopInvariant(SE.getSCEV(At), L) &&
         !isa<SCEVCouldNotCompute>(SE.getSymbolicMaxBackedgeTakenCount(L));
}

/// Memory moves on, or a thread gives others time: a load behind it is another.
static bool lets(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  return isa<FenceInst>(I) ||
         (Call && Call->mayWriteToMemory() && !isa<MemIntrinsic>(Call) &&
          !Call->isAssumeLikeIntrinsic());
}

/// Whether only this thread, or its block, has what is at \p Address.
static bool isNear(const Value *Address) {
  const Value *Object = getUnderlyingObject(Address);
  return isa<AllocaInst>(Object) ||
         Object->getType()->getPointerAddressSpace() == analysis::SharedSpace;
}

/// The load of one place in memory on which alone it hangs whether \p L is left
/// at the end of \p Way; null: it hangs on more.
static const Instruction *soleLoad(const Loop &L, const BasicBlock &Way) {
  SmallSetVector<const Instruction *, 16> Needed;
  Needed.insert(Way.getTerminator());
  const Instruction *Found = nullptr;
  for (size_t N = 0; N != Needed.size(); ++N) {
    const Instruction *I = Needed[N];
    const auto *Load = dyn_cast<LoadInst>(I);
    if (Load && (!L.isLoopInvariant(Load->getPointerOperand()) ||
                 isNear(Load->getPointerOperand())))
      return nullptr;
    if (isa<PHINode>(I) || (!Load && I->mayReadOrWriteMemory()))
      return nullptr;
    Found = Load ? Load : Found;
    for (const Use &Operand : I->operands())
      if (const auto *Of = dyn_cast<Instruction>(Operand); Of && L.contains(Of))
        Needed.insert(Of);
  }
  return Found;
}

/// A plain load for whose value \p L, which is left at \p Ways, goes round;
/// null: there is none.
static const Instruction *pollsIn(const Loop &L, ArrayRef<BasicBlock *> Ways) {
  if (none_of(L.blocks(),
              [](const BasicBlock *BB) { return any_of(*BB, lets); }))
    return nullptr;
  for (const BasicBlock *Way : Ways)
    if (const Instruction *I = soleLoad(L, *Way))
      return I;
  return nullptr;
}

const Instruction *waitsFor(Function &F, const LoopInfo &Loops,
                            const Loop *Within) {
  for (const Loop *L : Loops.getLoopsInPreorder()) {
    SmallVector<BasicBlock *> Exiting;
    L->getExitingBlocks(Exiting);
    if (Within && !Within->contains(L))
      continue;
    if (const Instruction *I =
            waitIn(*L, Exiting, [&](const Instruction &Read) {
              return endsByItself(*L->getHeader(), Read);
            }))
      return I;
    if (const Instruction *I = pollsIn(*L, Exiting))
      return I;
  }
  CycleInfo Cycles;
  Cycles.compute(F);
  for (const Cycle *C : irreducibleCycles(F, Cycles)) {
    const SmallVector<BasicBlock *> All(C->block_begin(), C->block_end());
    if (!Within ||
        all_of(All, [&](const BasicBlock *BB) { return Within->contains(BB); }))
      if (const Instruction *I =
              waitIn(*C, All, [](const Instruction &) { return false; }))
        return I;
  }
  return nullptr;
}

void leadElsewhere(BasicBlock *To,
                   function_ref<void(IRBuilderBase &, BasicBlock *)> Fill) {
  SmallSetVector<BasicBlock *, 8> From(pred_begin(To), pred_end(To));
  for (BasicBlock *Pred : From) {
    auto *Edge = BasicBlock::Create(To->getContext(), To->getName() + ".edge",
                                    To->getParent(), Pred->getNextNode());
    Pred->getTerminator()->replaceSuccessorWith(To, Edge);
    IRBuilder<> B(Edge);
    Fill(B, Pred);
  }
}

bool unrollRounds(Loop &L, unsigned Count, FunctionAnalysisManager &All,
                  bool Remainder) {
  Function &F = *L.getHeader()->getParent();
  auto &Loops = All.getResult<LoopAnalysis>(F);
  auto &Dominance = All.getResult<DominatorTreeAnalysis>(F);
  formLCSSARecursively(L, Dominance, &Loops, nullptr);
  UnrollLoopOptions How = {};
  How.Count = Count;
  How.Force = true;
  How.Runtime = How.AllowExpensiveTripCount = Remainder;
  return UnrollLoop(&L, How, &Loops, &All.getResult<ScalarEvolutionAnalysis>(F),
                    &Dominance, &All.getResult<AssumptionAnalysis>(F),
                    &All.getResult<TargetIRAnalysis>(F), nullptr,
                    /*PreserveLCSSA=*/true) != LoopUnrollResult::Unmodified;
}

void removeDead(Function &F) {
  for (BasicBlock &BB : F) {
    DeleteDeadPHIs(&BB);
    SmallVector<WeakTrackingVH> Dead;
    for (Instruction &I : BB)
      if (isInstructionTriviallyDead(&I))
        Dead.push_back(&I);
    RecursivelyDeleteTriviallyDeadInstructions(Dead);
  }
}
} // namespace reconverge::remedies
