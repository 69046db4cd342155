//===- remedies/refill/Values.cpp - Values of waiting lanes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a lane needs when it goes on, wherever it waits:
//
//   at the header   what the header's phis get            carried
//   at an exit      what is used of the loop after it     carried
//   at both         what was made before the loop and is
//                   used in it or after it                kept
//
// A lane waits at one place at a time, so an exit's values can lie where the
// header's do; best where the header's phi would get that very value in the
// next round, for then nothing has to be copied. Without this, a value that
// leaves the loop would take a register beside the one in which it goes round.
//
// All of this goes through stack slots, and LLVM makes values of them again
// when the edges are where they belong (mem2reg). A slot whose lane no longer
// needs it is given poison, or an old item's values would be kept alive through
// the next one's prologue.
//
// What the loop does not need, and what is cheap to make from something smaller
// that is kept, or from one value that is, is made again where it is needed.
//
// Values that are the same for all items (of parameters alone) are computed
// once, in front of all of it: a GPU has most of these in constant memory, and a
// phi would put them into a register.
//
//===----------------------------------------------------------------------===//

#include "remedies/refill/Values.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace reconverge::remedies::refill {

LoopShape::LoopShape(const Loop &L)
    : Header(L.getHeader()), Blocks(L.block_begin(), L.block_end()) {
  for (BasicBlock &BB : *Header->getParent())
    if (!Blocks.contains(&BB) &&
        any_of(predecessors(&BB),
               [&](BasicBlock *From) { return Blocks.contains(From); }))
      Exits.push_back(&BB);
}

//===----------------------------------------------------------------------===//
// The same for all items
//===----------------------------------------------------------------------===//

/// A parameter that the kernel never writes: it is as good as a constant.
static bool isLoadOfParameter(const Instruction &I) {
  const auto *Load = dyn_cast<LoadInst>(&I);
  if (!Load || !Load->isSimple())
    return false;
  const auto *A = dyn_cast<Argument>(getUnderlyingObject(Load->getOperand(0)));
  return A && A->hasByValAttr();
}

using Values = SmallSetVector<Instruction *, 16>;

static bool isSameForAll(const Instruction &I, const Values &Same) {
  if (isa<PHINode, AllocaInst, CallBase>(I) || I.isTerminator() ||
      (I.mayReadOrWriteMemory() && !isLoadOfParameter(I)) ||
      !isSafeToSpeculativelyExecute(&I))
    return false;
  return all_of(I.operands(), [&](Value *V) {
    auto *Made = dyn_cast<Instruction>(V);
    return Made ? Same.contains(Made) : isa<Constant, Argument>(V);
  });
}

/// Blocks outside of \p L that are run after it, perhaps before it again.
static SmallPtrSet<BasicBlock *, 16> blocksAfter(const LoopShape &L) {
  SmallPtrSet<BasicBlock *, 16> After;
  SmallVector<BasicBlock *> Work(L.Exits.begin(), L.Exits.end());
  while (!Work.empty()) {
    BasicBlock *BB = Work.pop_back_val();
    if (!L.contains(*BB) && After.insert(BB).second)
      append_range(Work, successors(BB));
  }
  return After;
}

void hoistOutOfItems(BasicBlock &Entry, const LoopShape &L) {
  Values Same; // operands first
  ReversePostOrderTraversal<Function *> Order(Entry.getParent());
  for (BasicBlock *BB : Order)
    if (BB != &Entry && !L.contains(*BB))
      for (Instruction &I : *BB)
        if (isSameForAll(I, Same))
          Same.insert(&I);
  const auto After = blocksAfter(L);
  Values Needed;
  for (Instruction *I : Same)
    if (any_of(I->users(), [&](const User *U) {
          const BasicBlock *By = cast<Instruction>(U)->getParent();
          return By != I->getParent() &&
                 (L.contains(*By) || After.contains(By));
        }))
      Needed.insert(I);
  for (size_t I = 0; I != Needed.size(); ++I)
    for (Value *Operand : Needed[I]->operands())
      if (auto *Made = dyn_cast<Instruction>(Operand))
        Needed.insert(Made);
  for (Instruction *I : Same)
    if (Needed.contains(I))
      I->moveBefore(Entry.getTerminator());
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

static AllocaInst *slotFor(Type *T, const Twine &Name, BasicBlock &Entry) {
  return new AllocaInst(T, Entry.getDataLayout().getAllocaAddrSpace(), Name,
                        Entry.begin());
}

AllocaInst *Slots::make(Type *T, const char *Name) {
  return Own.emplace_back(slotFor(T, Name, Entry));
}

static SmallVector<PHINode *> phisOf(BasicBlock &BB) {
  SmallVector<PHINode *> All;
  for (PHINode &Phi : BB.phis())
    All.push_back(&Phi);
  return All;
}

/// The phi of \p L's header that a value which leaves by \p Out would be in the
/// next round; null: none.
static PHINode *comrade(const PHINode &Out, const LoopShape &L) {
  for (PHINode &In : L.Header->phis())
    for (unsigned I = 0; I != In.getNumIncomingValues(); ++I)
      if (L.contains(*In.getIncomingBlock(I)) &&
          is_contained(Out.incoming_values(), In.getIncomingValue(I)))
        return &In;
  for (PHINode &In : L.Header->phis())
    if (is_contained(Out.incoming_values(), &In))
      return &In;
  return nullptr;
}

/// Slots of their own for phis of one block, from those that there are.
void Slots::place(ArrayRef<PHINode *> Phis, const LoopShape &L) {
  SmallPtrSet<AllocaInst *, 8> Taken;
  auto Take = [&](PHINode *Phi, AllocaInst *Slot) {
    if (Slot->getAllocatedType() == Phi->getType() && Taken.insert(Slot).second)
      Of[Phi] = Slot;
  };
  for (PHINode *Phi : Phis)
    if (PHINode *In = comrade(*Phi, L); In && Of.contains(In))
      Take(Phi, Of[In]);
  for (PHINode *Phi : Phis) {
    for (AllocaInst *Slot : Carried)
      if (!Of.contains(Phi))
        Take(Phi, Slot);
    if (!Of.contains(Phi)) {
      Carried.push_back(slotFor(Phi->getType(), Phi->getName(), Entry));
      Take(Phi, Carried.back());
    }
  }
}

static bool isCheap(const Instruction &I) {
  return isa<CastInst, GetElementPtrInst>(I) ||
         (isa<BinaryOperator>(I) && I.getType()->isIntegerTy() &&
          !I.isIntDivRem());
}

/// The one value that \p I is made from, but for what is the same for all
/// items, at little cost; null: there are several, or it is not cheap.
static Instruction *source(const Instruction &I, const BasicBlock &Entry) {
  Instruction *Only = nullptr;
  if (!isCheap(I))
    return nullptr;
  for (Value *Operand : I.operands()) {
    auto *Made = dyn_cast<Instruction>(Operand);
    if (!Made || Made->getParent() == &Entry || Made == Only)
      continue;
    if (Only)
      return nullptr;
    Only = Made;
  }
  return Only;
}

/// Makes \p I again in each other block that uses it, from something smaller
/// that \p Crosses, or would take less room if it did: for what the loop does
/// not need.
static bool makeAgain(Instruction &I, const BasicBlock &Entry,
                      function_ref<bool(const Instruction &)> Crosses) {
  Instruction *From = source(I, Entry);
  if (!From || isa<PHINode>(I))
    return false;
  auto Bits = [&](const Instruction &V) {
    return Entry.getDataLayout().getTypeSizeInBits(V.getType());
  };
  if (!Crosses(*From) && Bits(*From) >= Bits(I))
    return false;
  // A block has one copy, for all phis that it leads to and all its own uses.
  SmallDenseMap<BasicBlock *, Instruction *> Copies;
  for (Use &U : make_early_inc_range(I.uses())) {
    auto *By = cast<Instruction>(U.getUser());
    auto *Phi = dyn_cast<PHINode>(By);
    BasicBlock *In = Phi ? Phi->getIncomingBlock(U) : By->getParent();
    if (In == I.getParent())
      continue;
    Instruction *&Copy = Copies[In];
    if (!Copy) {
      Copy = I.clone();
      Copy->insertBefore(*In, In->getFirstInsertionPt());
    }
    U.set(Copy);
  }
  return true;
}

/// Uses of \p I in other blocks, or in phis.
static bool crosses(const Instruction &I) {
  return any_of(I.users(), [&](const User *U) {
    return isa<PHINode>(U) ||
           cast<Instruction>(U)->getParent() != I.getParent();
  });
}

void Slots::keepOthers(const LoopShape &L) {
  auto All = [&] {
    SmallVector<Instruction *> Crossing;
    for (BasicBlock &BB : *Entry.getParent())
      if (&BB != &Entry && !L.contains(BB))
        for (Instruction &I : BB)
          if (!Of.contains(dyn_cast<PHINode>(&I)) && crosses(I))
            Crossing.push_back(&I);
    return Crossing;
  };
  auto IsForLoop = [&](const Instruction &I) {
    return any_of(I.users(), [&](const User *U) {
      return L.contains(*cast<Instruction>(U)->getParent());
    });
  };
  const SmallVector<Instruction *> Before = All();
  for (Instruction *I : reverse(Before))
    if (!IsForLoop(*I))
      makeAgain(*I, Entry, crosses);
  for (Instruction *I : All())
    if (AllocaInst *Slot = DemoteRegToStack(*I, false, Entry.begin()))
      Kept.push_back(Slot);
}

Slots::Slots(BasicBlock &Entry, const LoopShape &L, bool PlantedBug)
    : Entry(Entry), PlantedBug(PlantedBug) {
  for (PHINode *Phi : phisOf(*L.Header)) {
    Carried.push_back(slotFor(Phi->getType(), Phi->getName(), Entry));
    Of[Phi] = Carried.back();
  }
  for (BasicBlock *Exit : L.Exits)
    place(phisOf(*Exit), L);
  keepOthers(L);
}

void Slots::forget(IRBuilderBase &B, ArrayRef<AllocaInst *> All) {
  for (AllocaInst *Slot : All)
    B.CreateStore(PoisonValue::get(Slot->getAllocatedType()), Slot);
}

void Slots::forget(IRBuilderBase &B) {
  forget(B, Carried);
  forget(B, Kept);
}

void Slots::give(IRBuilderBase &B, BasicBlock *From, BasicBlock *To) {
  forget(B, Carried);
  for (PHINode &Phi : To->phis())
    B.CreateStore(PlantedBug ? Constant::getNullValue(Phi.getType())
                             : Phi.getIncomingValueForBlock(From),
                  Of[&Phi]);
}

void Slots::take(BasicBlock *To) {
  IRBuilder<> B(To, To->getFirstNonPHIIt());
  SmallVector<PHINode *> Phis = phisOf(*To);
  for (PHINode *Phi : Phis) {
    Value *Given = B.CreateLoad(Phi->getType(), Of[Phi]);
    Given->takeName(Phi);
    Phi->replaceAllUsesWith(Given);
    Phi->eraseFromParent();
  }
  forget(B, Carried);
}

void Slots::promote() {
  SmallVector<AllocaInst *> All;
  for (const auto *Each : {&Own, &Carried, &Kept})
    append_range(All, *Each);
  DominatorTree Dominance(*Entry.getParent());
  PromoteMemToReg(All, Dominance);
}

} // namespace reconverge::remedies::refill
