//===- frontend/Unrolling.cpp - Say which loops to unroll -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc unrolls nearly every innermost loop, most by four: a thread has nobody
// to reorder its instructions, so the loads of several iterations are in flight
// together only if they stand side by side. LLVM's unroller asks what a CPU
// gains. We mark the loops that it would leave alone; it still does the work,
// and a pragma in the source wins over our mark.
//
//   few iterations   At most eight, known at compile time, but the loop may
//                    also leave early:  for (D = 0; D < 8; ++D) ... break;
//                    LLVM joins both tests into one condition, then knows the
//                    largest count only, and wants to be told. Unrolled wholly;
//                    the early exits stay.
//
//   local arrays     At most eight iterations, each of which takes other
//                    elements of an array of the thread's own. Unrolled, the
//                    elements are registers; otherwise they lie in local memory
//                    or are picked by comparing the index with each.
//
//   many, by four    Counted at run time. Three cases that LLVM leaves: the
//                    count is dear to compute (a minimum or a division in it);
//                    the body is larger than a CPU would like; or no count can
//                    be computed, and then each copy keeps its test: the step
//                    is not a constant (At += blockDim.x * gridDim.x), or the
//                    loop goes along an array until it finds something there
//                    (while (isLetter(Text[End])) ...).
//
//   many, by eight   The same, where a load needs what another load of the same
//                    iteration brings: X[Column[At]]. Two latencies in a row
//                    want twice as many in flight. What is left over is
//                    unrolled by four: of seven iterations, four are one.
//
//   sums over        Loops that only read shared memory, by sixteen, the rest
//   shared memory    by four, the rest of that one by one: each step waits for
//                    the one before, and loads in a row become one of 16 bytes.
//
// A loop whose end depends on what it computes (while (Z * Z < 4)) is left
// alone: a copy of such a test costs what it saves, 11 % on the Mandelbrot set.
// So is one with a barrier or another convergent operation, which must not be
// copied into a remainder loop that only some threads run, and one that divides
// by what is no constant in 64 bits: that becomes a branch to a short division
// and a call of a long one, so copies do not come to stand side by side.
//
// ptxas unrolls what comes of it further where it sees a use, as it does with
// nvcc's code.
//
// Limitation: by eight is worse than not at all where loops are short, by 45 %
// in a kernel with four iterations; hence no more than four without a reason.
//
// Measured on an H200: benchmarks/results/h200/baseline.json, docs/baseline.md.
//
//===----------------------------------------------------------------------===//

#include "frontend/Unrolling.h"

#include "analysis/device/AddressSpace.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace reconverge::frontend {

static constexpr unsigned FewIterations = 8;     ///< LLVM's own limit
static constexpr unsigned FewInstructions = 300; ///< of all copies
/// Of all copies, where they make registers of an array.
static constexpr unsigned ArrayInstructions = 2000;
static constexpr unsigned Copies = 4, CopiesOfChains = 8;
static constexpr unsigned ManyInstructions = 600; ///< of all copies

/// Instructions of the body, or nothing if it must not be copied.
static std::optional<unsigned> sizeOf(const Loop &L) {
  unsigned Size = 0;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      if (auto *Call = dyn_cast<CallBase>(&I);
          Call && (Call->isConvergent() || Call->cannotDuplicate()))
        return std::nullopt;
      if (!isa<PHINode>(I) && !I.isDebugOrPseudoInst())
        ++Size;
    }
  return Size;
}

/// Whether the source, or an earlier pass, has said how to unroll \p L.
static bool isDecided(const Loop &L) {
  MDNode *Id = L.getLoopID();
  if (!Id)
    return false;
  for (const MDOperand &Operand : drop_begin(Id->operands()))
    if (auto *Node = dyn_cast<MDNode>(Operand); Node && Node->getNumOperands())
      if (auto *Name = dyn_cast<MDString>(Node->getOperand(0)))
        if (Name->getString().starts_with("llvm.loop.unroll."))
          return true;
  return false;
}

static void mark(Loop &L, MDNode *Wish) {
  L.setLoopID(makePostTransformationMetadata(L.getHeader()->getContext(),
                                             L.getLoopID(), {}, {Wish}));
}

static MDNode *unrollBy(LLVMContext &Context, unsigned Times) {
  return MDNode::get(Context, {MDString::get(Context, "llvm.loop.unroll.count"),
                               ConstantAsMetadata::get(ConstantInt::get(
                                   Type::getInt32Ty(Context), Times))});
}

/// Leaves it to ptxas whether what is unrolled of \p L is unrolled more: LLVM
/// says that it is not to be, unless it is told all that it shall say of the new
/// loop. That is what \p L says, where it stands in the source, too.
static MDNode *openToMore(const Loop &L) {
  LLVMContext &Context = L.getHeader()->getContext();
  SmallVector<Metadata *> Said = {
      MDString::get(Context, "llvm.loop.unroll.followup_unrolled"),
      MDNode::get(Context, MDString::get(Context, "reconverge.unrolled"))};
  if (const MDNode *Id = L.getLoopID())
    for (const MDOperand &Operand : drop_begin(Id->operands()))
      if (isa<DILocation>(Operand))
        Said.push_back(Operand.get());
  return MDNode::get(Context, Said);
}

/// Whether \p V changes by the same amount in each iteration.
static bool isSteady(Value *V, const Loop &L, ScalarEvolution &SE) {
  if (!SE.isSCEVable(V->getType()))
    return false;
  auto *Sum = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(V));
  return Sum && Sum->getLoop() == &L && Sum->isAffine();
}

/// Whether every way out is a test of a value that changes steadily against one
/// that does not change.
static bool isCounted(const Loop &L, ScalarEvolution &SE) {
  SmallVector<BasicBlock *> Exits;
  L.getExitingBlocks(Exits);
  return all_of(Exits, [&](BasicBlock *Block) {
    auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
    auto *Test = Branch ? dyn_cast<ICmpInst>(Branch->getCondition()) : nullptr;
    if (!Test)
      return false;
    Value *A = Test->getOperand(0), *B = Test->getOperand(1);
    return (isSteady(A, L, SE) && L.isLoopInvariant(B)) ||
           (isSteady(B, L, SE) && L.isLoopInvariant(A));
  });
}

static SmallVector<LoadInst *> loadsOf(const Loop &L) {
  SmallVector<LoadInst *> Loads;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      if (auto *Load = dyn_cast<LoadInst>(&I))
        Loads.push_back(Load);
  return Loads;
}

/// Whether the loop reads along an array.
static bool goesAlongMemory(const Loop &L, ScalarEvolution &SE) {
  return any_of(loadsOf(L), [&](LoadInst *Load) {
    return isSteady(Load->getPointerOperand(), L, SE);
  });
}

/// Whether the address of a load is computed from what another load of the same
/// iteration brings.
static bool hasLoadChain(const Loop &L) {
  for (LoadInst *Load : loadsOf(L)) {
    SmallVector<Value *> Open = {Load->getPointerOperand()};
    SmallPtrSet<Value *, 16> Seen;
    while (!Open.empty()) {
      auto *I = dyn_cast<Instruction>(Open.pop_back_val());
      if (!I || !L.contains(I) || isa<PHINode>(I) || !Seen.insert(I).second)
        continue;
      if (isa<LoadInst>(I))
        return true;
      append_range(Open, I->operands());
    }
  }
  return false;
}

/// Whether it depends on the iteration which element of one of the thread's own
/// arrays \p L takes.
static bool goesAlongLocalArray(const Loop &L) {
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block)
      if (auto *Address = dyn_cast<GetElementPtrInst>(&I);
          Address && isa<AllocaInst>(getUnderlyingObject(Address)) &&
          any_of(Address->indices(),
                 [&](const Use &Index) { return !L.isLoopInvariant(Index); }))
        return true;
  return false;
}

/// Whether \p L divides in 64 bits, by what is no constant.
static bool hasLongDivision(const Loop &L) {
  return any_of(L.blocks(), [](const BasicBlock *Block) {
    return any_of(*Block, [](const Instruction &I) {
      return I.isIntDivRem() && I.getType()->isIntegerTy(64) &&
             !isa<Constant>(I.getOperand(1));
    });
  });
}

/// A loop that does nothing to memory but read words that the block shares.
static bool isSumOverSharedMemory(const Loop &L) {
  unsigned Loads = 0;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      auto *Load = dyn_cast<LoadInst>(&I);
      if (I.mayReadOrWriteMemory() &&
          (!Load || Load->getPointerAddressSpace() != analysis::SharedSpace))
        return false;
      Loads += Load != nullptr;
    }
  return Loads != 0;
}

namespace {

struct MarkFewIterations : PassInfoMixin<MarkFewIterations> {
  PreservedAnalyses run(Loop &L, LoopAnalysisManager &,
                        LoopStandardAnalysisResults &AR, LPMUpdater &) {
    unsigned Most = AR.SE.getSmallConstantMaxTripCount(&L);
    if (!L.isInnermost() || isDecided(L) || !Most || Most > FewIterations)
      return PreservedAnalyses::all();
    const bool IsExact = AR.SE.getSmallConstantTripCount(&L);
    if (IsExact && !goesAlongLocalArray(L)) // LLVM's to decide
      return PreservedAnalyses::all();
    std::optional<unsigned> Size = sizeOf(L);
    LLVMContext &Context = L.getHeader()->getContext();
    if (Size && *Size * Most <= (IsExact ? ArrayInstructions : FewInstructions))
      mark(L, MDNode::get(
                  Context,
                  MDString::get(Context, IsExact ? "llvm.loop.unroll.full"
                                                 : "llvm.loop.unroll.enable")));
    return PreservedAnalyses::all();
  }
};

/// What is unrolled in two steps. Sums by four, and what comes of it by four
/// again; chains by eight, and what is left over by four.
struct MarkInSteps : PassInfoMixin<MarkInSteps> {
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &FAM) {
    ScalarEvolution &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    LLVMContext &Context = F.getContext();
    for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder()) {
      if (!L->isInnermost() || isDecided(*L) ||
          SE.getSmallConstantTripCount(L) ||
          isa<SCEVCouldNotCompute>(SE.getBackedgeTakenCount(L)))
        continue;
      const bool IsSum = isSumOverSharedMemory(*L);
      std::optional<unsigned> Size = sizeOf(*L);
      if (!Size || !(IsSum || hasLoadChain(*L)) ||
          *Size * (IsSum ? Copies * Copies : CopiesOfChains) > ManyInstructions)
        continue;
      mark(*L, unrollBy(Context, IsSum ? Copies : CopiesOfChains));
      mark(*L, MDNode::get(
                   Context,
                   {MDString::get(
                        Context, IsSum ? "llvm.loop.unroll.followup_unrolled"
                                       : "llvm.loop.unroll.followup_remainder"),
                    unrollBy(Context, Copies)}));
    }
    return PreservedAnalyses::all();
  }
};

struct MarkManyIterations : PassInfoMixin<MarkManyIterations> {
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &FAM) {
    LoopInfo &Loops = FAM.getResult<LoopAnalysis>(F);
    ScalarEvolution &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    LLVMContext &Context = F.getContext();
    for (Loop *L : Loops.getLoopsInPreorder()) {
      if (!L->isInnermost() || isDecided(*L) || SE.getSmallConstantTripCount(L))
        continue;
      if (hasLongDivision(*L)) {
        mark(*L,
             MDNode::get(Context,
                         MDString::get(Context, "llvm.loop.unroll.disable")));
        continue;
      }
      bool Counts = !isa<SCEVCouldNotCompute>(SE.getBackedgeTakenCount(L)) ||
                    isCounted(*L, SE);
      if (!Counts && !goesAlongMemory(*L, SE))
        continue;
      unsigned Times = Counts && hasLoadChain(*L) ? CopiesOfChains : Copies;
      std::optional<unsigned> Size = sizeOf(*L);
      if (Size && *Size * Times <= ManyInstructions) {
        mark(*L, openToMore(*L));
        mark(*L, unrollBy(Context, Times));
      }
    }
    return PreservedAnalyses::all();
  }
};

} // namespace

void markForUnrolling(PassBuilder &PB) {
  // Both just before LLVM's unroller looks: the full one in the loop pipeline,
  // and the partial one, which follows the vectorisers.
  PB.registerLateLoopOptimizationsEPCallback(
      [](LoopPassManager &LPM, OptimizationLevel Level) {
        if (Level.getSpeedupLevel() > 1)
          LPM.addPass(MarkFewIterations());
      });
  PB.registerVectorizerStartEPCallback(
      [](FunctionPassManager &FPM, OptimizationLevel Level) {
        if (Level.getSpeedupLevel() < 2)
          return;
        FPM.addPass(MarkInSteps());
        FPM.addPass(LoopUnrollPass(LoopUnrollOptions(Level.getSpeedupLevel(),
                                                     /*OnlyWhenForced=*/true)));
        FPM.addPass(MarkManyIterations());
      });
}

} // namespace reconverge::frontend
