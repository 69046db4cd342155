//===- frontend/LoadPairs.cpp - Loads of neighbours together --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   float2 V = Vertex[J];         y = load V.y              y = load V.y
//   if (V.y > Y)                  if (y > Y)                x = load V.x
//     N += V.x > X;       ──▶       x = load V.x     ──▶    if (y > Y)
//                        LLVM       N += x > X       this     N += x > X
//
// LLVM's InstCombine moves a load behind the branch that leads to its only uses.
// On a GPU, both parts of V are one load of 8 bytes at the price of one of 4. The
// second load is one more wait in the arm, and GVN, which carries V over to the
// next round of a loop over edges, leaves a part of it.
//
//   1. note      Of loads in one block, from one base at constant offsets, those
//                whose bytes lie in one aligned unit of 16 or 8 bytes get an
//                attachment: which bytes around it the program reads wherever it
//                reads these. The best aligned of them says where units begin;
//                nothing between them may end the thread
//   2. restore   A load of bytes that another has noted, which dominates it,
//                stands behind that one again, if nothing on the ways between
//                may write them
//
// Both stand behind each InstCombine, and before the passes that have one in
// their midst. Passes that merge loads, or move them to where they would not have
// been executed, drop attachments that they do not know, so that a note is true
// where it is found.
//
// Nothing is read that the program does not read there: a fault or race that the
// warp VM tells of a restored load is the program's own. But its value may not be
// asked for there, as when a class is copied of which one part says whether the
// other means something: the mark RestoredKind is for the check of unwritten
// memory (warpvm/emit/EmitNotes.cpp).
//
// Limitation: pairs that come up between a note and the next InstCombine, as by
// an SROA behind inlining, are taken apart as ever.
//
//===----------------------------------------------------------------------===//

#include "frontend/LoadPairs.h"

#include "analysis/Places.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace reconverge::frontend {

/// What a load has noted: numbers of a \p Note.
static constexpr StringLiteral NoteKind = "reconverge.pair";

/// Blocks between two loads that are looked at.
static constexpr unsigned MostBlocks = 16;

namespace {
/// Bytes \p Begin to \p End from \p Base.
struct Access {
  LoadInst *Load;
  const Value *Base;
  int64_t Begin, End;
};

/// Of a load, the bytes Begin to End of its aligned unit of \p Unit bytes are
/// read with it, which itself is at \p At there.
struct Note {
  int64_t Unit, At, Begin, End;
};

struct Move {
  Access Late, Early;
};
} // namespace

static std::optional<Access> accessOf(LoadInst &Load) {
  const DataLayout &DL = Load.getDataLayout();
  if (!Load.isSimple() || Load.getType()->isAggregateType())
    return std::nullopt;
  const int64_t Size = DL.getTypeStoreSize(Load.getType()).getFixedValue();
  APInt Offset(DL.getIndexTypeSizeInBits(Load.getPointerOperandType()), 0);
  const Value *Base =
      Load.getPointerOperand()->stripAndAccumulateConstantOffsets(
          DL, Offset, /*AllowNonInbounds=*/true);
  // A thread's own variables become registers, and parameters are constants.
  const Value *Object = getUnderlyingObject(Base);
  const auto *Parameter = dyn_cast<Argument>(Object);
  if (isa<AllocaInst>(Object) || (Parameter && Parameter->hasByValAttr()))
    return std::nullopt;
  return Access{&Load, Base, Offset.getSExtValue(),
                Offset.getSExtValue() + Size};
}

/// Whether \p A and \p B have one base: LLVM computes an address anew in the
/// block to which it moves its load.
static bool shareBase(const Access &A, const Access &B) {
  if (A.Load->getPointerAddressSpace() != B.Load->getPointerAddressSpace())
    return false;
  const auto *X = dyn_cast<GetElementPtrInst>(A.Base),
             *Y = dyn_cast<GetElementPtrInst>(B.Base);
  return A.Base == B.Base || (X && Y && X->isIdenticalTo(Y));
}

static std::optional<Note> noteOf(const LoadInst &Load) {
  const MDNode *Node = Load.getMetadata(NoteKind);
  if (!Node)
    return std::nullopt;
  auto Number = [&](unsigned N) {
    return mdconst::extract<ConstantInt>(Node->getOperand(N))->getSExtValue();
  };
  return Note{Number(0), Number(1), Number(2), Number(3)};
}

static void setNote(LoadInst &Load, const Note &N) {
  if (const auto Old = noteOf(Load);
      Old && Old->End - Old->Begin >= N.End - N.Begin)
    return;
  LLVMContext &Context = Load.getContext();
  SmallVector<Metadata *, 4> Numbers;
  for (int64_t Number : {N.Unit, N.At, N.Begin, N.End})
    Numbers.push_back(ConstantAsMetadata::get(
        ConstantInt::getSigned(Type::getInt64Ty(Context), Number)));
  Load.setMetadata(NoteKind, MDNode::get(Context, Numbers));
}

/// \p Row: loads that share a base and are executed one and all.
static void noteUnits(ArrayRef<Access> Row) {
  const Access &Best = *max_element(Row, [](const Access &A, const Access &B) {
    return A.Load->getAlign() < B.Load->getAlign();
  });
  const int64_t Unit = std::min<int64_t>(Best.Load->getAlign().value(), 16);
  if (Unit < 8)
    return;
  auto Place = [&](const Access &A) { // in its unit
    return (A.Begin - Best.Begin) & (Unit - 1);
  };
  MapVector<int64_t, SmallVector<const Access *, 4>> Units; // by first byte
  for (const Access &A : Row)
    if (Place(A) + A.End - A.Begin <= Unit)
      Units[A.Begin - Place(A)].push_back(&A);
  for (const auto &[First, Loads] : Units) {
    int64_t Begin = Unit, End = 0;
    for (const Access *A : Loads) {
      Begin = std::min(Begin, A->Begin - First);
      End = std::max(End, A->End - First);
    }
    for (const Access *A : Loads)
      if (End - Begin > A->End - A->Begin)
        setNote(*A->Load, {Unit, Place(*A), Begin, End});
  }
}

static void noteBlock(BasicBlock &Block) {
  SmallVector<SmallVector<Access, 4>> Rows;
  auto Finish = [&] {
    for (ArrayRef<Access> Row : Rows)
      noteUnits(Row);
    Rows.clear();
  };
  for (Instruction &I : Block) {
    if (!isGuaranteedToTransferExecutionToSuccessor(&I))
      Finish();
    auto *Load = dyn_cast<LoadInst>(&I);
    const auto A = Load ? accessOf(*Load) : std::nullopt;
    if (!A)
      continue;
    auto *Row = find_if(
        Rows, [&](ArrayRef<Access> Row) { return shareBase(Row.front(), *A); });
    if (Row == Rows.end())
      Row = &Rows.emplace_back();
    Row->push_back(*A);
  }
  Finish();
}

/// \p Early dominates \p Late and is in another block. Every way back from
/// \p Late leads to it; a loop around both begins with it again.
static bool isWrittenBetween(LoadInst &Early, LoadInst &Late,
                             BatchAAResults &AA) {
  if (Late.hasMetadata(LLVMContext::MD_invariant_load))
    return false;
  const MemoryLocation Bytes = MemoryLocation::get(&Late);
  auto Writes = [&](Instruction &I) {
    return I.mayWriteToMemory() && isModSet(AA.getModRefInfo(&I, Bytes));
  };
  BasicBlock &From = *Early.getParent(), &To = *Late.getParent();
  if (any_of(make_range(std::next(Early.getIterator()), From.end()), Writes) ||
      any_of(make_range(To.begin(), Late.getIterator()), Writes))
    return true;
  SmallSetVector<BasicBlock *, MostBlocks> Between;
  auto AddBefore = [&](BasicBlock &Block) {
    for (BasicBlock *Before : predecessors(&Block))
      if (Before != &From)
        Between.insert(Before);
  };
  AddBefore(To);
  for (size_t N = 0; N != Between.size(); ++N) {
    if (Between.size() > MostBlocks || any_of(*Between[N], Writes))
      return true;
    AddBefore(*Between[N]);
  }
  return false;
}

/// No load that moves has another follow it.
static SmallVector<Move> findMoves(ArrayRef<BasicBlock *> Blocks,
                                   const DominatorTree &Tree, AAResults &AA) {
  SmallVector<Access> Loads;
  for (BasicBlock *Block : Blocks)
    for (Instruction &I : *Block)
      if (auto *Load = dyn_cast<LoadInst>(&I))
        if (const auto A = accessOf(*Load))
          Loads.push_back(*A);
  BatchAAResults Batch(AA);
  SmallPtrSet<const LoadInst *, 8> Moves, Stays;
  SmallVector<Move> Found;
  for (const Access &Early : Loads) {
    const auto Noted = noteOf(*Early.Load);
    if (!Noted || Moves.contains(Early.Load))
      continue;
    const int64_t First = Early.Begin - Noted->At; // of the unit
    for (const Access &Late : Loads) {
      if (Late.Begin < First + Noted->Begin || Late.End > First + Noted->End ||
          !shareBase(Early, Late) || Moves.contains(Late.Load) ||
          Stays.contains(Late.Load) ||
          Early.Load->getParent() == Late.Load->getParent() ||
          !Tree.dominates(Early.Load, Late.Load) ||
          isWrittenBetween(*Early.Load, *Late.Load, Batch))
        continue;
      Found.push_back({Late, Early});
      Moves.insert(Late.Load);
      Stays.insert(Early.Load);
    }
  }
  return Found;
}

static void restore(const Move &M, const DominatorTree &Tree) {
  LoadInst &Load = *M.Late.Load, &Beside = *M.Early.Load;
  const Note Noted = *noteOf(Beside);
  const int64_t Distance = M.Late.Begin - M.Early.Begin;
  Load.moveAfter(&Beside);
  Value *Address = Load.getPointerOperand();
  if (!Tree.dominates(Address, &Beside)) {
    IRBuilder<> B(&Load);
    Load.setOperand(Load.getPointerOperandIndex(),
                    B.CreateInBoundsPtrAdd(Beside.getPointerOperand(),
                                           B.getInt64(uint64_t(Distance))));
    RecursivelyDeleteTriviallyDeadInstructions(Address);
  }
  // What it says itself need be true only where it was.
  Load.setAlignment(commonAlignment(Align(uint64_t(Noted.Unit)),
                                    uint64_t(Noted.At + Distance)));
  Load.setMetadata(analysis::RestoredKind, MDNode::get(Load.getContext(), {}));
}

static bool bringTogether(ArrayRef<BasicBlock *> Blocks,
                          const DominatorTree &Tree, AAResults &AA) {
  const SmallVector<Move> Moves = findMoves(Blocks, Tree, AA);
  for (const Move &M : Moves)
    restore(M, Tree);
  for (BasicBlock *Block : Blocks)
    noteBlock(*Block);
  return !Moves.empty();
}

PreservedAnalyses LoadPairsPass::run(Function &F, FunctionAnalysisManager &AM) {
  SmallVector<BasicBlock *> Blocks;
  for (BasicBlock &Block : F)
    Blocks.push_back(&Block);
  if (!bringTogether(Blocks, AM.getResult<DominatorTreeAnalysis>(F),
                     AM.getResult<AAManager>(F)))
    return PreservedAnalyses::all();
  PreservedAnalyses Kept;
  Kept.preserveSet<CFGAnalyses>();
  return Kept;
}

PreservedAnalyses LoadPairsPass::run(Loop &L, LoopAnalysisManager &,
                                     LoopStandardAnalysisResults &Results,
                                     LPMUpdater &) {
  assert(!Results.MSSA && "nobody would tell it of what moves");
  if (!bringTogether(L.getBlocks(), Results.DT, Results.AA))
    return PreservedAnalyses::all();
  Results.SE.forgetBlockAndLoopDispositions();
  return getLoopPassPreservedAnalyses();
}

void keepLoadPairs(PassBuilder &PB) {
  const auto InModule = [](ModulePassManager &MPM, OptimizationLevel Level) {
    if (Level != OptimizationLevel::O0)
      MPM.addPass(createModuleToFunctionPassAdaptor(LoadPairsPass()));
  };
  const auto InFunction = [](FunctionPassManager &FPM, OptimizationLevel) {
    FPM.addPass(LoadPairsPass());
  };
  PB.registerPipelineEarlySimplificationEPCallback(InModule);
  PB.registerPeepholeEPCallback(InFunction);
  // Before GVN, which follows an InstCombine between loops.
  PB.registerLateLoopOptimizationsEPCallback(
      [](LoopPassManager &LPM, OptimizationLevel) {
        LPM.addPass(LoadPairsPass());
      });
  PB.registerScalarOptimizerLateEPCallback(InFunction);
  PB.registerOptimizerEarlyEPCallback(InModule);
  PB.registerOptimizerLastEPCallback(InModule);
}

} // namespace reconverge::frontend
