//===- remedies/common/BlockPrologue.cpp - What every block does ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last barrier that all threads come to, once, parts the kernel in two:
//
//   prologue     whoever comes behind the barrier has come through it
//   ---------    the barrier
//   the rest     where the items are
//
// Why a block may run the prologue once, and then items of other blocks:
//
//   1. It writes shared memory alone, and stack that the rest does not use, and
//      nothing in it that writes or decides the way hangs on blockIdx. So each
//      block of the program leaves the same bytes in its shared memory, if it
//      reads the same: memory that other threads write meanwhile is a race, which
//      trials find (the race check). What a block's threads do together there,
//      barriers among it, they still do: the block that is launched has the
//      program's shape.
//   2. The rest writes no shared memory. An address in it may be that of any
//      thread, for all of them have written before anybody reads.
//   3. A value that the rest uses is made again from the item's numbers. It has
//      no phi, so all that it is made from is run in each thread, and reads
//      neither stack nor shared memory, which is no longer what it was.
//
// Shared memory is found by the types of pointers, as in ItemLegality.cpp, and
// followed through casts, selections and pointers that are read from it.
//
// Limitation: threads that return before the barrier, and values that hang on a
// branch before it.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/BlockPrologue.h"

#include "analysis/device/AddressSpace.h"
#include "analysis/device/Intrinsics.h"
#include "remedies/common/ItemRefusals.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace reconverge::remedies {

using analysis::IntrinsicKind;

bool BlockPrologue::contains(const Instruction &I) const {
  if (!Last)
    return false;
  if (I.getParent() == Last->getParent())
    return &I == Last || I.comesBefore(Last);
  return Blocks.contains(I.getParent());
}

//===----------------------------------------------------------------------===//
// Where it ends
//===----------------------------------------------------------------------===//

static bool isBlockBarrier(const Instruction &I) {
  return I.getType()->isVoidTy() &&
         analysis::intrinsicKind(I) == IntrinsicKind::BlockBarrier;
}

/// The last barrier that all threads come to, once. \p Skipped: one that some
/// have returned before.
static CallBase *lastBarrier(Function &F, const DominatorTree &Dominance,
                             const Instruction *&Skipped) {
  const PostDominatorTree Behind(F);
  CycleInfo Cycles;
  Cycles.compute(F);
  CallBase *Last = nullptr;
  for (Instruction &I : instructions(F)) {
    if (!isBlockBarrier(I) || Cycles.getCycle(I.getParent()))
      continue;
    if (!Behind.dominates(I.getParent(), &F.getEntryBlock()))
      Skipped = &I;
    else if (!Last || Dominance.dominates(Last, &I))
      Last = cast<CallBase>(&I);
  }
  return Last;
}

//===----------------------------------------------------------------------===//
// What it does
//===----------------------------------------------------------------------===//

static bool isShared(const Value &V) {
  const auto *Pointer = dyn_cast<PointerType>(V.getType()->getScalarType());
  if (Pointer && Pointer->getAddressSpace() == analysis::SharedSpace)
    return true;
  const auto *C = dyn_cast<Constant>(&V);
  return C && !isa<GlobalValue>(C) &&
         any_of(C->operands(), [](const Use &U) { return isShared(*U.get()); });
}

/// Memory that ends with the block, or with the thread, by what \p Pointer is
/// made from.
static bool isOfBlock(const Value &Pointer) {
  SmallVector<const Value *> From;
  getUnderlyingObjects(&Pointer, From);
  return all_of(
      From, [](const Value *V) { return isa<AllocaInst>(V) || isShared(*V); });
}

/// Of the prologue: it may leave something behind that is not the block's.
static bool writesBeyondBlock(const Instruction &I) {
  if (!I.mayWriteToMemory())
    return I.isVolatile();
  if (const auto *Store = dyn_cast<StoreInst>(&I))
    return !isOfBlock(*Store->getPointerOperand());
  if (const auto *To = dyn_cast<MemIntrinsic>(&I))
    return !isOfBlock(*To->getRawDest());
  if (const auto *Add = dyn_cast<AtomicRMWInst>(&I))
    return !isOfBlock(*Add->getPointerOperand());
  if (const auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
    return !isOfBlock(*Swap->getPointerOperand());
  if (I.isLifetimeStartOrEnd() || isa<DbgInfoIntrinsic, AssumeInst>(I))
    return false;
  const IntrinsicKind Kind = analysis::intrinsicKind(I);
  return Kind == IntrinsicKind::Other || Kind == IntrinsicKind::Atomic ||
         Kind == IntrinsicKind::Surface;
}

static bool isBlockIndex(const Instruction &I) {
  const auto *Read = dyn_cast<IntrinsicInst>(&I);
  return Read && analysis::blockIndexDimension(Read->getIntrinsicID());
}

/// Of \p P: what would not be the same in each block; null: nothing.
static const Instruction *findBlocksOwn(const BlockPrologue &P, Function &F) {
  SmallSetVector<Instruction *, 16> Own;
  for (Instruction &I : instructions(F))
    if (P.contains(I) && isBlockIndex(I))
      Own.insert(&I);
  for (size_t At = 0; At != Own.size(); ++At) {
    Instruction *I = Own[At];
    if (I->isTerminator() || (I->mayHaveSideEffects() && !I->isVolatile()))
      return I;
    for (User *U : I->users())
      if (auto *By = cast<Instruction>(U); P.contains(*By))
        Own.insert(By);
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// What goes on behind it
//===----------------------------------------------------------------------===//

/// Memory that is as it was, whenever it is read: of a parameter, or global.
static bool readsOutside(const Value &Pointer) {
  const Value *From = getUnderlyingObject(&Pointer, /*MaxLookup=*/0);
  return (isa<Argument, GlobalVariable>(From) && !isShared(*From)) ||
         isa<LoadInst>(From);
}

static bool canBeMadeAgain(const Instruction &I) {
  if (const auto *Load = dyn_cast<LoadInst>(&I))
    return Load->isSimple() && readsOutside(*Load->getPointerOperand());
  if (const auto *Call = dyn_cast<CallBase>(&I)) {
    if (analysis::intrinsicKind(I) == IntrinsicKind::ReadOnlyLoad)
      return readsOutside(*Call->getArgOperand(0));
    return Call->doesNotAccessMemory() && !Call->isConvergent();
  }
  return !isa<PHINode, AllocaInst>(I) && !I.mayReadOrWriteMemory() &&
         !I.isTerminator();
}

/// \p Frame, apart from where its lifetime begins and ends.
static bool isUsedIn(const BlockPrologue &P, const AllocaInst &Frame) {
  return any_of(Frame.users(), [&](const User *U) {
    const auto *By = cast<Instruction>(U);
    return !By->isLifetimeStartOrEnd() && P.contains(*By);
  });
}
static bool isUsedBehind(const BlockPrologue &P, const Instruction &I) {
  return any_of(I.users(), [&](const User *U) {
    const auto *By = cast<Instruction>(U);
    return !By->isLifetimeStartOrEnd() && !P.contains(*By);
  });
}

/// Finds P.Again; what cannot be made again, or null.
static const Instruction *findAgain(BlockPrologue &P, Function &F) {
  SmallSetVector<Instruction *, 16> Needed;
  for (Instruction &I : instructions(F))
    if (P.contains(I) && isUsedBehind(P, I)) {
      const auto *Frame = dyn_cast<AllocaInst>(&I);
      if (!Frame)
        Needed.insert(&I);
      else if (isUsedIn(P, *Frame))
        return Frame;
    }
  for (size_t At = 0; At != Needed.size(); ++At) {
    if (!canBeMadeAgain(*Needed[At]))
      return Needed[At];
    for (Value *V : Needed[At]->operands())
      if (auto *From = dyn_cast<Instruction>(V))
        Needed.insert(From);
  }
  const DominatorTree Dominance(F);
  P.Again.assign(Needed.begin(), Needed.end());
  // What one is made from dominates it; all of them dominate the barrier.
  llvm::sort(P.Again, [&](const Instruction *A, const Instruction *B) {
    return A != B && Dominance.dominates(A, B);
  });
  return nullptr;
}

/// What is done to shared memory behind \p P but to read it; null: nothing.
static const Instruction *findSharedWrite(const BlockPrologue &P, Function &F) {
  SmallPtrSet<const Value *, 16> Of;
  auto IsOf = [&](const Value *V) { return isShared(*V) || Of.contains(V); };
  for (bool Grown = true; Grown;) {
    Grown = false;
    for (Instruction &I : instructions(F))
      if (I.getType()->isPtrOrPtrVectorTy() && any_of(I.operands(), IsOf))
        Grown |= Of.insert(&I).second;
  }
  for (Instruction &I : instructions(F)) {
    if (P.contains(I) || none_of(I.operands(), IsOf) ||
        isa<LoadInst, GetElementPtrInst, AddrSpaceCastInst, PHINode, SelectInst,
            ICmpInst>(I))
      continue;
    const auto *Copy = dyn_cast<MemTransferInst>(&I);
    if (!Copy || IsOf(Copy->getRawDest()))
      return &I;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

static bool isNumber(const Instruction &I) {
  const IntrinsicKind Kind = analysis::intrinsicKind(I);
  return Kind == IntrinsicKind::ThreadIndex ||
         Kind == IntrinsicKind::BlockIndex || Kind == IntrinsicKind::LaunchSize;
}

/// Has \p P read each number once, at the kernel's start: loops have been given
/// reads of their own, and phis of those cannot be made again.
static void shareReads(const BlockPrologue &P, Function &F) {
  DenseMap<Intrinsic::ID, Instruction *> First;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    if (!P.contains(I) || !isNumber(I))
      continue;
    auto [Known, IsNew] =
        First.try_emplace(cast<CallBase>(I).getIntrinsicID(), &I);
    if (!IsNew) {
      I.replaceAllUsesWith(Known->second);
      I.eraseFromParent();
    } else if (I.getParent() != &F.getEntryBlock()) {
      I.moveBefore(F.getEntryBlock().getTerminator());
    }
  }
  for (bool Less = true; Less;) {
    Less = false;
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (auto *Phi = dyn_cast<PHINode>(&I); Phi && P.contains(I))
        if (Value *Same = Phi->hasConstantValue();
            Same && !isa<PHINode>(Same)) {
          Phi->replaceAllUsesWith(Same);
          Phi->eraseFromParent();
          Less = true;
        }
  }
}

static PlanOr<BlockPrologue> findPrologue(Function &Kernel, Refusal Otherwise) {
  DominatorTree Dominance(Kernel);
  BlockPrologue P;
  const Instruction *Skipped = nullptr;
  P.Last = lastBarrier(Kernel, Dominance, Skipped);
  if (!P.Last)
    return Skipped ? refusal(tied::Returns, *Skipped) : std::move(Otherwise);
  for (const BasicBlock &BB : Kernel)
    if (!Dominance.dominates(P.Last->getParent(), &BB))
      P.Blocks.insert(&BB);
  shareReads(P, Kernel);
  for (Instruction &I : instructions(Kernel))
    if (P.contains(I) && writesBeyondBlock(I))
      return refusal(tied::Writes, I);
  if (const Instruction *I = findBlocksOwn(P, Kernel))
    return refusal(tied::Block, *I);
  if (const Instruction *I = findAgain(P, Kernel))
    return refusal(tied::Again, *I);
  if (const Instruction *I = findSharedWrite(P, Kernel))
    return refusal(tied::Changes, *I);
  return P;
}

PlanOr<ItemsBehind> planBehindPrologue(Function &Kernel) {
  PlanOr<ItemsPlan> Items = planItems(Kernel);
  if (auto *Plan = std::get_if<ItemsPlan>(&Items))
    return ItemsBehind{std::move(*Plan), {}};
  Refusal &Why = std::get<Refusal>(Items);
  if (Why.Kind == &tied::Function || Why.Kind == &tied::Called)
    return Why;
  PlanOr<BlockPrologue> Found = findPrologue(Kernel, Why);
  if (const auto *Not = std::get_if<Refusal>(&Found))
    return *Not;
  BlockPrologue &P = std::get<BlockPrologue>(Found);
  Items = planItems(Kernel, &P);
  if (const auto *Not = std::get_if<Refusal>(&Items))
    return *Not;
  return ItemsBehind{std::move(std::get<ItemsPlan>(Items)), std::move(P)};
}

//===----------------------------------------------------------------------===//
// Taking it out, and putting it back
//===----------------------------------------------------------------------===//

/// Moves to the end of \p To what items make again; the prologue has copies.
static void makeAgain(const BlockPrologue &P, BasicBlock &To) {
  SmallVector<Instruction *> Copies;
  for (Instruction *I : P.Again) {
    Copies.push_back(I->clone());
    Copies.back()->insertBefore(I);
  }
  for (Instruction *I : P.Again)
    I->moveBefore(To, To.end());
  // Copies stand in the prologue, and use what they were made for.
  for (auto [I, Copy] : zip(P.Again, Copies))
    I->replaceUsesWithIf(Copy, [&](const Use &U) {
      return P.contains(*cast<Instruction>(U.getUser()));
    });
  for (Instruction *Copy : reverse(Copies))
    if (isInstructionTriviallyDead(Copy))
      Copy->eraseFromParent();
}

/// Moves to \p To what the rest has on the stack. Of what the prologue has, the
/// lifetime may end far behind.
static void takeFrames(const BlockPrologue &P, Function &Kernel,
                       BasicBlock &To) {
  for (Instruction &I : make_early_inc_range(Kernel.getEntryBlock()))
    if (auto *Frame = dyn_cast<AllocaInst>(&I)) {
      for (User *U : make_early_inc_range(Frame->users()))
        if (auto *By = cast<Instruction>(U); By->isLifetimeStartOrEnd())
          By->eraseFromParent();
      if (!isUsedIn(P, *Frame))
        Frame->moveBefore(To, To.end());
    }
}

Function *takePrologue(const BlockPrologue &P, Function &Kernel) {
  if (!P)
    return nullptr;
  LLVMContext &C = Kernel.getContext();
  auto *Taken =
      Function::Create(Kernel.getFunctionType(), GlobalValue::InternalLinkage,
                       Kernel.getName() + ".prologue", Kernel.getParent());
  BasicBlock *End = P.Last->getParent(),
             *Rest = End->splitBasicBlock(std::next(P.Last->getIterator()));
  BasicBlock *Start = BasicBlock::Create(C, "behind", &Kernel, Rest);
  takeFrames(P, Kernel, *Start);
  makeAgain(P, *Start);
  BranchInst::Create(Rest, Start)->setDebugLoc(P.Last->getDebugLoc());
  End->getTerminator()->eraseFromParent();
  ReturnInst::Create(C, End);
  SmallVector<BasicBlock *> Blocks;
  for (BasicBlock &BB : Kernel)
    if (&BB == End || P.Blocks.contains(&BB))
      Blocks.push_back(&BB);
  for (BasicBlock *BB : Blocks) {
    BB->removeFromParent();
    BB->insertInto(Taken);
    for (Instruction &I : *BB) {
      I.dropDbgRecords();
      for (Use &Operand : I.operands())
        if (auto *A = dyn_cast<Argument>(Operand.get()))
          Operand.set(Taken->getArg(A->getArgNo()));
    }
  }
  Start->moveBefore(&Kernel.front());
  return Taken;
}

/// Of gridDim, in \p F.
static BlocksPlan readsOfGrid(Function &F) {
  BlocksPlan Plan;
  for (Instruction &I : instructions(F))
    if (auto *Read = dyn_cast<IntrinsicInst>(&I);
        Read && analysis::gridSizeDimension(Read->getIntrinsicID()))
      Plan.Reads.push_back(Read);
  return Plan;
}

void putPrologue(Function *Taken, Function &Kernel, const LaunchValues &Of) {
  if (!Taken)
    return;
  IRBuilder<> B(&Taken->getEntryBlock(),
                Taken->getEntryBlock().getFirstInsertionPt());
  becomeBlock(readsOfGrid(*Taken), nullptr, Of, B);
  for (Argument &A : Taken->args())
    A.replaceAllUsesWith(Kernel.getArg(A.getArgNo()));
  Instruction *Opened = splitEntry(Kernel);
  BasicBlock *Rest = Opened->getSuccessor(0), *First = &Taken->getEntryBlock();
  for (Instruction &I : make_early_inc_range(*First))
    if (isa<AllocaInst>(I))
      I.moveBefore(Opened);
  for (BasicBlock &BB : *Taken)
    if (isa<ReturnInst>(BB.getTerminator()))
      ReplaceInstWithInst(BB.getTerminator(), BranchInst::Create(Rest));
  Kernel.splice(Rest->getIterator(), Taken);
  Opened->setSuccessor(0, First);
  Taken->eraseFromParent();
}

} // namespace reconverge::remedies
