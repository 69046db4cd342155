//===- remedies/common/Slice.cpp - The exact slice of a kernel ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What some notes depend on, and no more. A copy of the kernel is made to
//
//   1. note what it is asked for (Notes.h)
//   2. have no effect: writes go, and what an effect returned is `unknown`, a
//      call that nobody may execute; so is what is read where the same thread
//      may have written before, and what lanes exchange
//   3. end where all is known
//   4. write what it has noted
//
// LLVM's passes then delete what no note needs: the slice is what is left. If
// an `unknown` is left, a note depends on it, and the slice is refused.
//
// Loads are executed under the conditions of the kernel, on what they would read
// there but for other threads' writes, which trials rule out: no load faults
// that would not have faulted in the kernel.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Slice.h"
#include "remedies/common/Reachable.h"

#include "analysis/AnalysisManagers.h"
#include "analysis/Marks.h"
#include "analysis/device/Annotations.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

namespace reconverge::remedies {

/// Names of calls that stand for what cannot be known.
static constexpr StringLiteral WrittenName = "reconverge.unknown.written.",
                               EffectName = "reconverge.unknown.effect.";

static Value *unknown(IRBuilderBase &B, Type *T, StringRef Name) {
  Module &M = *B.GetInsertBlock()->getModule();
  std::string Full = Name.str();
  raw_string_ostream(Full) << *T;
  FunctionCallee Callee = M.getOrInsertFunction(Full, T);
  auto *F = cast<Function>(Callee.getCallee());
  F->setDoesNotAccessMemory();
  F->setDoesNotThrow();
  F->setWillReturn();
  return B.CreateCall(Callee);
}

//===----------------------------------------------------------------------===//
// No effects
//===----------------------------------------------------------------------===//

static bool isOwn(const Value *Pointer) {
  return isa<AllocaInst>(getUnderlyingObject(Pointer, 0));
}

/// Writes the thread's own stack alone.
static bool writesOwn(const Instruction &I) {
  if (const auto *S = dyn_cast<StoreInst>(&I))
    return !S->isVolatile() && isOwn(S->getPointerOperand());
  if (const auto *M = dyn_cast<MemIntrinsic>(&I))
    return !M->isVolatile() && isOwn(M->getRawDest());
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && Call->isLifetimeStartOrEnd();
}

static bool readsMemory(const Instruction &I) {
  if (const auto *L = dyn_cast<LoadInst>(&I))
    return !isOwn(L->getPointerOperand());
  if (const auto *M = dyn_cast<MemTransferInst>(&I))
    return !isOwn(M->getRawSource());
  return isa<CallBase>(I) && I.mayReadFromMemory() && !I.mayHaveSideEffects();
}

namespace {
/// Takes effects out of a kernel.
class Effects {
public:
  explicit Effects(Function &F) : F(F) {}
  /// Reads of what the same thread may have written before.
  SmallVector<Instruction *> find();
  void remove();

private:
  bool mayBeWritten(const Instruction &Read, AAResults &Aliases);
  void forget(Instruction &I, StringRef Name);

  Function &F;
  Reachable MayCome;
  SmallVector<Instruction *> Writers, Reads;
};
} // namespace

/// Whether \p W may write to \p Where. For LLVM an atomic operation with an
/// order, as Clang makes CUDA's, writes anything: what other threads have
/// written. Here it is this thread's own write that counts.
static bool mayWriteTo(const Instruction &W, const MemoryLocation &Where,
                       AAResults &Aliases) {
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(W))
    return !Aliases.isNoAlias(MemoryLocation::get(&W), Where);
  return isModSet(Aliases.getModRefInfo(&W, Where));
}

bool Effects::mayBeWritten(const Instruction &Read, AAResults &Aliases) {
  const auto Where = MemoryLocation::getOrNone(&Read);
  return any_of(Writers, [&](const Instruction *W) {
    if (Where && !mayWriteTo(*W, *Where, Aliases))
      return false;
    return MayCome(*W, Read);
  });
}

void Effects::forget(Instruction &I, StringRef Name) {
  IRBuilder<> B(&I);
  if (!I.use_empty())
    I.replaceAllUsesWith(unknown(B, I.getType(), Name));
  if (auto *M = dyn_cast<MemTransferInst>(&I)) {
    // What is copied to the stack: bytes that nobody knows.
    Value *Byte = unknown(B, B.getInt8Ty(), Name);
    B.CreateMemSet(M->getRawDest(), Byte, M->getLength(), M->getDestAlign());
  }
  I.eraseFromParent();
}

SmallVector<Instruction *> Effects::find() {
  SmallVector<Instruction *> Written;
  analysis::AnalysisManagers Analyses;
  AAResults &Aliases = Analyses.Functions.getResult<AAManager>(F);
  for (Instruction &I : instructions(F)) {
    if (readsMemory(I))
      Reads.push_back(&I);
    const auto *Call = dyn_cast<CallBase>(&I);
    if ((I.mayHaveSideEffects() && !writesOwn(I) && !I.isTerminator()) ||
        (Call && Call->isConvergent()))
      Writers.push_back(&I);
  }
  for (Instruction *Read : Reads)
    if (!is_contained(Writers, Read) && mayBeWritten(*Read, Aliases))
      Written.push_back(Read);
  return Written;
}

void Effects::remove() {
  const SmallVector<Instruction *> Written = find();
  for (Instruction *I : Written)
    forget(*I, WrittenName);
  for (Instruction *I : Writers) {
    if (auto *M = dyn_cast<MemTransferInst>(I); M && !isOwn(M->getRawDest()))
      I->eraseFromParent();
    else
      forget(*I, EffectName);
  }
}

SmallVector<Instruction *> readsOfWritten(Function &F) {
  return Effects(F).find();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

BasicBlock &joinEnds(Function &F) {
  SmallVector<Instruction *> Ends;
  for (BasicBlock &BB : F)
    if (isa<ReturnInst, UnreachableInst>(BB.getTerminator()))
      Ends.push_back(BB.getTerminator());
  auto *End = BasicBlock::Create(F.getContext(), "end", &F);
  ReturnInst::Create(F.getContext(), End);
  for (Instruction *I : Ends) {
    BranchInst::Create(End, I->getParent());
    I->eraseFromParent();
  }
  return *End;
}

void endBehindFirstRound(const Loop &L, BasicBlock &End) {
  BasicBlock *Header = L.getHeader();
  SmallVector<BasicBlock *> Latches;
  L.getLoopLatches(Latches);
  for (BasicBlock *Latch : Latches) {
    Header->removePredecessor(Latch);
    Latch->getTerminator()->replaceSuccessorWith(Header, &End);
  }
}

/// Nothing behind \p At is executed.
static void endAt(Instruction &At, BasicBlock &End) {
  BasicBlock *BB = At.getParent();
  BasicBlock *Rest = BB->splitBasicBlock(At.getIterator());
  BB->getTerminator()->eraseFromParent();
  BranchInst::Create(&End, BB);
  (void)Rest; // is unreachable, and goes with what is
}

/// Nothing is executed from where none of \p Notes can come any more.
static void endBehind(ArrayRef<Instruction *> Notes, BasicBlock &End) {
  SmallSetVector<BasicBlock *, 16> Before;
  for (Instruction *Note : Notes)
    Before.insert(Note->getParent());
  for (size_t I = 0; I != Before.size(); ++I)
    for (BasicBlock *From : predecessors(Before[I]))
      Before.insert(From);
  for (BasicBlock *BB : Before)
    for (BasicBlock *To :
         SmallSetVector<BasicBlock *, 4>(succ_begin(BB), succ_end(BB)))
      if (!Before.contains(To) && To != &End) {
        BB->getTerminator()->replaceSuccessorWith(To, &End);
        To->removePredecessor(BB);
      }
}

static SmallPtrSet<const Instruction *, 32> storesOf(Function &F) {
  SmallPtrSet<const Instruction *, 32> All;
  for (const Instruction &I : instructions(F))
    if (isa<StoreInst>(I))
      All.insert(&I);
  return All;
}

/// Instructions, those of loops eight times.
static uint64_t weightOf(Function &F) {
  const DominatorTree Dominance(F);
  const LoopInfo Loops(Dominance);
  uint64_t Sum = 0;
  for (const BasicBlock &BB : F)
    Sum += uint64_t(BB.sizeWithoutDebug())
           << 3 * std::min(Loops.getLoopDepth(&BB), 10u);
  return Sum;
}

/// Of loops behind one another, each of which has kept alive the one before, a
/// round deletes the last: there are as many rounds as delete something.
static void reduce(Function &F) {
  removeUnreachableBlocks(F);
  analysis::AnalysisManagers Analyses;
  FunctionPassManager Round;
  Round.addPass(SROAPass(SROAOptions::PreserveCFG));
  Round.addPass(DSEPass());
  Round.addPass(ADCEPass());
  Round.addPass(InstCombinePass());
  Round.addPass(SimplifyCFGPass());
  Round.addPass(LoopSimplifyPass());
  LoopPassManager Loops;
  Loops.addPass(IndVarSimplifyPass());
  Loops.addPass(LoopDeletionPass());
  Round.addPass(createFunctionToLoopPassAdaptor(std::move(Loops)));
  Round.addPass(ADCEPass());
  Round.addPass(SimplifyCFGPass());
  constexpr unsigned Least = 2, Most = 16;
  uint64_t Before = weightOf(F);
  for (unsigned I = 0; I != Most; ++I) {
    Analyses.Functions.invalidate(F, Round.run(F, Analyses.Functions));
    const uint64_t Now = weightOf(F);
    if (I + 1 >= Least && Now >= Before)
      break;
    Before = Now;
  }
}

static void dropNumbers(Function &F) {
  for (Instruction &I : instructions(F))
    I.setMetadata("rc.branch", nullptr);
}

/// Why the key cannot be known; the calls are of nobody else.
static std::optional<Refusal> whatIsUnknown(Function &F,
                                            const Instruction &Of) {
  std::optional<Refusal> Why;
  for (Instruction &I : instructions(F)) {
    const auto *Call = dyn_cast<CallInst>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (Callee && Callee->getName().starts_with(WrittenName))
      Why = refusal(sliced::Written, Of);
    else if (Callee && Callee->getName().starts_with(EffectName))
      Why = refusal(sliced::Exchange, Of);
  }
  return Why;
}

static void forgetUnknown(Module &M) {
  for (Function &F : make_early_inc_range(M))
    if (F.use_empty() && (F.getName().starts_with(WrittenName) ||
                          F.getName().starts_with(EffectName)))
      F.eraseFromParent();
}

std::optional<Refusal> reduceTo(Function &F, Function &Kernel,
                                function_ref<std::optional<Refusal>()> Note,
                                function_ref<Instruction *()> LastNeeded,
                                function_ref<void(BasicBlock &)> Write,
                                uint64_t Free) {
  BasicBlock &End = joinEnds(F);
  // What the remedy itself has put before the kernel's code is not weighed.
  const uint64_t Given = weightOf(F) - std::min(weightOf(F), weightOf(Kernel));
  const auto OfProgram = storesOf(F);
  std::optional<Refusal> Why = Note();
  SmallVector<Instruction *> Notes;
  for (Instruction &I : instructions(F))
    if (isa<StoreInst>(I) && !OfProgram.contains(&I))
      Notes.push_back(&I);
  Effects(F).remove();
  if (Instruction *Last = LastNeeded())
    endAt(*Last, End);
  endBehind(Notes, End);
  const uint64_t Before = weightOf(F);
  Write(End);
  const uint64_t ToWrite = weightOf(F) - Before;
  reduce(F);
  const Instruction &Start = *Kernel.getEntryBlock().getTerminator();
  if (!Why)
    Why = whatIsUnknown(F, Start);
  if (!Why && weightOf(F) > Given + ToWrite + Free + weightOf(Kernel) / 2)
    Why = refusal(sliced::Dear, Start);
  if (Why)
    F.eraseFromParent();
  else
    dropNumbers(F);
  forgetUnknown(*Kernel.getParent());
  return Why;
}

Function &copyToReduce(Function &Kernel, const Twine &Name,
                       ValueToValueMapTy &Map) {
  Function *Copy = CloneFunction(&Kernel, Map);
  Copy->setName(Name);
  analysis::copyAnnotations(Kernel, *Copy);
  stripDebugInfo(*Copy);
  Copy->removeFnAttr(Attribute::Memory);
  Copy->removeFnAttr(analysis::IsTwinAttribute);
  return *Copy;
}

} // namespace reconverge::remedies
