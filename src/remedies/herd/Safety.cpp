//===- remedies/herd/Safety.cpp - What a dropped lane may not spoil -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane that is dropped from an arm, or leaves a loop early, does nothing that
// it would not do in the original for other data: no lane runs an arm that it
// does not want. But what it has then may not fit together: an index that was to
// be set stays at -1, a flag still says that there is room. So:
//
//   1. Uncertain are the values that are merged behind the arm or the loop, all
//      that is computed from them, what is loaded from a variable of the thread
//      or of shared memory, or by a pointer that the kernel is given, to which
//      something uncertain is stored or what is skipped stores.
//   2. Doubtful are the blocks between a branch on something uncertain and where
//      its sides meet again; values merged there are uncertain.
//   3. Danger is an uncertain address, divisor, mask of lanes, function or
//      argument of one that is not known; in a doubtful block, a barrier or an
//      exchange between lanes, a trap, and an access or a division that was not
//      made before on the same address, or is safe anywhere; and a loop that is
//      left by an uncertain condition, or is in doubt, or goes on where it
//      should not, unless it also ends by a count that is certain.
//
// Limitation: what leaves the launch, or reaches a load by a pointer that was
// loaded itself, is not followed: trials run the kernel, and reachesMemory()
// says that there is something to try.
//
// Sartori and Kumar, "Branch and Data Herding: Reducing Control and Memory
// Divergence for Error-Tolerant GPU Applications", IEEE Transactions on
// Multimedia 15(2), 2013: which operations are vulnerable. There lanes are also
// sent where they do not want to go.
//
//===----------------------------------------------------------------------===//

#include "remedies/herd/Safety.h"

#include "analysis/AnalysisManagers.h"
#include "analysis/Regions.h"
#include "analysis/device/AddressSpace.h"
#include "analysis/device/Intrinsics.h"
#include "remedies/herd/Refusals.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/Loads.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace reconverge::remedies::herd {

namespace {
class Flow {
public:
  Flow(Function &F)
      : F(F), Dominance(Analyses.Functions.getResult<DominatorTreeAnalysis>(F)),
        Loops(Analyses.Functions.getResult<LoopAnalysis>(F)), PostDominance(F),
        Counts(Analyses.Functions.getResult<ScalarEvolutionAnalysis>(F)) {
    Cycles.compute(F);
    for (const Instruction &I : instructions(F))
      if (I.mayReadFromMemory())
        if (const Value *Object = objectRead(I))
          Readers[Object].push_back(&I);
  }
  void add(const Uncertain &From);
  std::optional<Refusal> danger();

private:
  static const Value *objectRead(const Instruction &I);
  void doubt(const Instruction &I);
  void doubtWritten(const Instruction &By, const Uncertain *Skipped = nullptr);
  void doubtBehind(const BasicBlock &Decides, const Uncertain *By);
  void use(const Instruction &User, const Use &Of);
  void useInCall(const CallBase &Call, const Use &Of);
  void refuse(const RefusalKind &Kind, const Instruction &I);
  bool isDone(const Value &Pointer, const Instruction &At) const;
  bool endsAnyway(const Loop &L);
  void checkBlock(const BasicBlock &BB);
  bool isCertain(const Value *V) const {
    const auto *I = dyn_cast<Instruction>(V);
    return !I || !Values.contains(I);
  }

  Function &F;
  analysis::AnalysisManagers Analyses;
  DominatorTree &Dominance;
  LoopInfo &Loops; ///< the one whose loops Counts knows
  CycleInfo Cycles;
  analysis::PostDominance PostDominance;
  ScalarEvolution &Counts;
  /// By what they read of: variables and arguments.
  MapVector<const Value *, SmallVector<const Instruction *, 4>> Readers;
  SmallSetVector<const Instruction *, 32> Values;
  SmallSetVector<const Instruction *, 8> Stores;
  SmallSetVector<const BasicBlock *, 16> Blocks; ///< doubtful
  SmallSetVector<const Loop *, 4> Ends;          ///< left by what is uncertain
  SmallPtrSet<const BasicBlock *, 4> Overruled;  ///< Uncertain::GoesOn
  std::optional<Refusal> Found;
};
} // namespace

void Flow::refuse(const RefusalKind &Kind, const Instruction &I) {
  if (!Found)
    Found = refusal(Kind, I);
}

static const Value *objectOf(const Value *Pointer) {
  return getUnderlyingObject(Pointer, 0);
}

const Value *Flow::objectRead(const Instruction &I) {
  if (const auto *Load = dyn_cast<LoadInst>(&I))
    return objectOf(Load->getPointerOperand());
  if (const auto *Copy = dyn_cast<MemTransferInst>(&I))
    return objectOf(Copy->getRawSource());
  if (const auto *A = dyn_cast<AtomicRMWInst>(&I))
    return objectOf(A->getPointerOperand());
  if (const auto *A = dyn_cast<AtomicCmpXchgInst>(&I))
    return objectOf(A->getPointerOperand());
  return nullptr;
}

/// The variable or argument that \p I writes to, or what its address is loaded
/// from; null: it writes nowhere, or who knows where.
static const Value *objectWritten(const Instruction &I) {
  if (const auto *Store = dyn_cast<StoreInst>(&I))
    return objectOf(Store->getPointerOperand());
  if (const auto *Set = dyn_cast<MemIntrinsic>(&I))
    return objectOf(Set->getRawDest());
  if (const auto *A = dyn_cast<AtomicRMWInst>(&I))
    return objectOf(A->getPointerOperand());
  if (const auto *A = dyn_cast<AtomicCmpXchgInst>(&I))
    return objectOf(A->getPointerOperand());
  return nullptr;
}

void Flow::doubt(const Instruction &I) { Values.insert(&I); }

/// What \p By writes is not what it was, or not there, as by \p From.
void Flow::doubtWritten(const Instruction &By, const Uncertain *From) {
  const Value *Object = objectWritten(By);
  if (!Object || !Stores.insert(&By))
    return;
  for (const Instruction *I : Readers.lookup(Object)) {
    // A lane that still runs this has skipped nothing of it before.
    if (From && From->Once && is_contained(From->Skipped, I->getParent()))
      continue;
    if (isPotentiallyReachable(&By, I, nullptr, &Dominance, &Loops))
      doubt(*I);
  }
}

/// Blocks that \p From leads to, up to and with \p End, and before the branch at
/// the end of \p Branch is met again.
static SmallPtrSet<const BasicBlock *, 16> ledToBy(const BasicBlock *From,
                                                   const BasicBlock *End,
                                                   const BasicBlock &Branch) {
  SmallPtrSet<const BasicBlock *, 16> Seen = {From};
  SmallVector<const BasicBlock *> Todo = {From};
  while (!Todo.empty()) {
    const BasicBlock *BB = Todo.pop_back_val();
    if (BB == End || BB == &Branch)
      continue;
    for (const BasicBlock *To : successors(BB))
      if (Seen.insert(To).second)
        Todo.push_back(To);
  }
  return Seen;
}

/// The branch at the end of \p Decides may go another way, but for what \p By
/// skips.
void Flow::doubtBehind(const BasicBlock &Decides, const Uncertain *By) {
  const auto Region = analysis::regionOf(Decides, PostDominance, Cycles);
  SmallVector<SmallPtrSet<const BasicBlock *, 16>> Sides;
  for (const BasicBlock *To : successors(&Decides))
    Sides.push_back(ledToBy(To, Region.PostDominator, Decides));
  // What ways from two sides merge.
  auto Merge = [&](const BasicBlock &BB) {
    if (count_if(Sides, [&](const auto &Side) { return Side.contains(&BB); }) >
        1)
      for (const PHINode &Phi : BB.phis())
        doubt(Phi);
  };
  for (const BasicBlock *BB : Region.Blocks)
    if (!By || !is_contained(By->Skipped, BB)) {
      Blocks.insert(BB);
      Merge(*BB);
    }
  if (Region.PostDominator)
    Merge(*Region.PostDominator);
}

void Flow::add(const Uncertain &From) {
  for (const Instruction *I : From.Values)
    doubt(*I);
  for (const BasicBlock *BB : From.Skipped)
    for (const Instruction &I : *BB)
      if (I.mayWriteToMemory())
        doubtWritten(I, &From);
  if (From.Decides)
    doubtBehind(*From.Decides, &From);
  if (From.GoesOn) {
    Ends.insert(Loops.getLoopFor(From.GoesOn));
    Overruled.insert(From.GoesOn);
  }
}

void Flow::useInCall(const CallBase &Call, const Use &Of) {
  if (Call.isCallee(&Of))
    return refuse(refuse::Pointer, Call);
  const auto *Known = dyn_cast<IntrinsicInst>(&Call);
  if (analysis::isBarrier(Call))
    return refuse(refuse::Reach, Call);
  if (analysis::isCollective(Call)) {
    const bool First =
        analysis::intrinsicKind(Call) != analysis::IntrinsicKind::Reduction;
    if (Call.isArgOperand(&Of) && (Call.getArgOperandNo(&Of) == 0) == First)
      return refuse(refuse::Reach, Call);
    return doubt(Call);
  }
  if (isa<MemIntrinsic>(Call)) {
    const auto *Set = dyn_cast<MemSetInst>(&Call);
    if (!Set || Of.get() != Set->getValue())
      return refuse(refuse::Address, Call);
    return doubtWritten(Call);
  }
  if (Known && Known->isAssumeLikeIntrinsic())
    return;
  if (Known && Of->getType()->isPointerTy() && Call.mayReadOrWriteMemory())
    return refuse(refuse::Address, Call);
  if (!Call.doesNotAccessMemory() || (!Known && !Call.willReturn()))
    return refuse(refuse::Passed, Call);
  doubt(Call);
}

/// \p I has uncertain operand \p Of.
void Flow::use(const Instruction &I, const Use &Of) {
  if (const auto *Call = dyn_cast<CallBase>(&I))
    return useInCall(*Call, Of);
  if (getLoadStorePointerOperand(&I) == Of.get())
    return refuse(refuse::Address, I);
  if (isa<StoreInst>(I))
    return doubtWritten(I);
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I)) {
    if (Of.getOperandNo() == 0)
      return refuse(refuse::Address, I);
    doubtWritten(I);
    return doubt(I);
  }
  if (I.isIntDivRem() && Of.getOperandNo() == 1)
    return refuse(refuse::Divisor, I);
  if (isa<IndirectBrInst>(I))
    return refuse(refuse::Pointer, I);
  if (!I.isTerminator())
    return doubt(I);
  doubtBehind(*I.getParent(), nullptr);
  for (const Loop *L = Loops.getLoopFor(I.getParent()); L;
       L = L->getParentLoop())
    if (L->isLoopExiting(I.getParent()) && Ends.insert(L)) {
      SmallVector<BasicBlock *> Exits; // by phis, as the loop is canonical
      L->getExitBlocks(Exits);
      for (const BasicBlock *BB : Exits)
        for (const PHINode &Phi : BB->phis())
          doubt(Phi);
      for (const BasicBlock *BB : L->blocks())
        for (const Instruction &In : *BB)
          if (In.mayWriteToMemory())
            doubtWritten(In);
    }
}

/// Whether \p L ends after a number of rounds that nothing uncertain has part
/// in.
bool Flow::endsAnyway(const Loop &L) {
  SmallVector<BasicBlock *> Exiting;
  L.getExitingBlocks(Exiting);
  return any_of(Exiting, [&](BasicBlock *BB) {
    const auto *Br = dyn_cast<BranchInst>(BB->getTerminator());
    const BasicBlock *Latch = L.getLoopLatch();
    return Br && Latch && Dominance.dominates(BB, Latch) &&
           !Overruled.contains(BB) && isCertain(Br->getCondition()) &&
           !isa<SCEVCouldNotCompute>(Counts.getExitCount(&L, BB));
  });
}

/// Whether the same address is accessed before \p At in any case.
bool Flow::isDone(const Value &Pointer, const Instruction &At) const {
  return any_of(Pointer.users(), [&](const User *U) {
    const auto *I = dyn_cast<Instruction>(U);
    return I && getLoadStorePointerOperand(I) == &Pointer &&
           !Blocks.contains(I->getParent()) &&
           Dominance.dominates(I->getParent(), At.getParent());
  });
}

void Flow::checkBlock(const BasicBlock &BB) {
  for (const Instruction &I : BB) {
    const auto *Call = dyn_cast<CallBase>(&I);
    if (Call && (Call->isConvergent() || analysis::isBarrier(I) ||
                 analysis::isCollective(I)))
      return refuse(refuse::Reach, I);
    if (const Value *Pointer = getLoadStorePointerOperand(&I)) {
      auto *Access = const_cast<Instruction *>(&I);
      if (!isDone(*Pointer, I) &&
          !isDereferenceableAndAlignedPointer(Pointer, getLoadStoreType(Access),
                                              getLoadStoreAlignment(Access),
                                              F.getDataLayout()))
        return refuse(refuse::Guard, I);
      continue;
    }
    const auto *Known = dyn_cast<IntrinsicInst>(&I);
    if (isa<PHINode>(I) || (Known && Known->isAssumeLikeIntrinsic()) ||
        (I.isTerminator() && !isa<UnreachableInst>(I)))
      continue;
    if (!isSafeToSpeculativelyExecute(&I))
      return refuse(refuse::Guard, I);
  }
}

std::optional<Refusal> Flow::danger() {
  for (size_t N = 0; N != Values.size() && !Found; ++N)
    for (const Use &U : Values[N]->uses())
      use(*cast<Instruction>(U.getUser()), U);
  for (size_t N = 0; N != Blocks.size() && !Found; ++N)
    checkBlock(*Blocks[N]);
  for (const Loop *L : Loops.getLoopsInPreorder())
    if ((Ends.contains(L) || Blocks.contains(L->getHeader())) &&
        !endsAnyway(*L))
      refuse(refuse::Endless, *L->getHeader()->getTerminator());
  return Found;
}

std::optional<Refusal> dangerOf(Function &F, ArrayRef<Uncertain> From) {
  Flow All(F);
  for (const Uncertain &Each : From)
    All.add(Each);
  return All.danger();
}

bool reachesMemory(ArrayRef<Uncertain> From) {
  return any_of(From, [](const Uncertain &Each) {
    return any_of(Each.Skipped, [](const BasicBlock *BB) {
      return any_of(*BB, [](const Instruction &I) {
        if (!I.mayWriteToMemory())
          return false;
        const Value *Object = objectWritten(I);
        return !Object || (!isa<AllocaInst>(Object) &&
                           Object->getType()->getPointerAddressSpace() !=
                               analysis::SharedSpace);
      });
    });
  });
}

} // namespace reconverge::remedies::herd
