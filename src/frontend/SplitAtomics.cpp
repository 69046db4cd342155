//===- frontend/SplitAtomics.cpp - Shared 64-bit sums by halves -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU adds 32 bits in shared memory by one instruction. For 64 bits there is
// none (up to sm_90): ptxas makes a loop of load, add and compare-and-swap,
// which the lanes that want the same address, and often those that do not,
// leave one by one. Nearly always the sum is only added to, and read when all
// are done. Then two additions of 32 bits do:
//
//   atomicAdd(p, v)        old = atomicAdd(low(p), low(v))
//                          up  = high(v) + (old + low(v) < low(v))   the carry
//                          atomicAdd(high(p), up)
//
//   1. Find the objects for which that is right, and all addresses of them.
//   2. Split each addition.
//   3. In each block, move additions to high words down to the next access that
//      could see them, or to the end. Each waits for its low word; a warp
//      issues in order, so the low words that follow would wait as well.
//
// `up` is zero nearly always when values fit into 32 bits. The additions that
// step 3 has gathered are skipped if they are all of zero; that branch is made
// where PTX is printed (PtxShape.cpp), as it would be a divergent one for
// everything that looks at branches.
//
// Why it is right. The additions to the low word have some order. Each takes
// its carry from the low word that the one before left, which is what it would
// have taken had all 64-bit additions run whole in that order. What reaches the
// high word is added, and addition commutes, so that it does not matter when;
// all of it is modulo 2^64. So when all additions have ended, both words are
// what they would be. In between, the sum may lack a carry, and nobody may
// look:
//
//   * every atomic access to the object is an addition or subtraction of 32 or
//     64 bits whose result is not used (of 32 bits: to either word, its order
//     among the others is that of the low words, or does not matter);
//   * all others are plain. One that is not ordered against an addition by a
//     barrier or a fence races with it, which is undefined; one that is comes
//     before or after both its halves;
//   * all accesses are known: the object is a shared variable of this module
//     alone, and its address goes into accesses and nowhere else. Arrays whose
//     size the launch gives are one memory by all their names.
//
// Sync scope and order are those of the whole. clang calls the relaxed
// atomicAdd of CUDA sequentially consistent; the code generator prints it
// relaxed. Acquire and release, which only inline PTX asks for, are left whole.
//
// Limitation: pointers through PHIs, selects and calls that stay calls are not
// followed.
//
//===----------------------------------------------------------------------===//

#include "frontend/SplitAtomics.h"

#include "analysis/device/AddressSpace.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/InstSimplifyFolder.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace reconverge::frontend {

using Additions = SmallVector<AtomicRMWInst *>;

namespace {
/// What may be split, and all addresses of the objects that it adds to.
struct Plan {
  Additions Wide;
  SmallPtrSet<const Value *, 16> Addresses;
};
} // namespace

/// An atomic access that keeps to the rules above.
static bool isPlainSum(const AtomicRMWInst &RMW) {
  const AtomicOrdering Order = RMW.getOrdering();
  return RMW.use_empty() && !RMW.isVolatile() &&
         (RMW.getOperation() == AtomicRMWInst::Add ||
          RMW.getOperation() == AtomicRMWInst::Sub) &&
         (RMW.getType()->isIntegerTy(32) || RMW.getType()->isIntegerTy(64)) &&
         RMW.getAlign() >= RMW.getType()->getIntegerBitWidth() / 8 &&
         (Order == AtomicOrdering::Monotonic ||
          Order == AtomicOrdering::SequentiallyConsistent);
}

/// Whether \p U, a use of an address of the object, is an access that keeps to
/// the rules.
static bool isKnownAccess(const Use &U) {
  const auto *I = dyn_cast<Instruction>(U.getUser());
  if (!I)
    return false;
  switch (I->getOpcode()) {
  case Instruction::Load:
    return cast<LoadInst>(I)->isSimple();
  case Instruction::Store:
    return cast<StoreInst>(I)->isSimple() &&
           U.getOperandNo() == StoreInst::getPointerOperandIndex();
  case Instruction::AtomicRMW:
    return isPlainSum(*cast<AtomicRMWInst>(I)) &&
           U.getOperandNo() == AtomicRMWInst::getPointerOperandIndex();
  case Instruction::Call:
    return isa<MemIntrinsic>(I) && !cast<MemIntrinsic>(I)->isVolatile();
  default:
    return false;
  }
}

static bool isAddressComputation(const Use &U) {
  const auto *Op = dyn_cast<Operator>(U.getUser());
  return Op && (Op->getOpcode() == Instruction::GetElementPtr ||
                Op->getOpcode() == Instruction::AddrSpaceCast ||
                Op->getOpcode() == Instruction::BitCast);
}

/// The plan for \p Objects, which are one memory; empty if an access does not
/// keep to the rules, or not all of them can be seen.
static Plan planFor(ArrayRef<GlobalVariable *> Objects) {
  Plan P;
  SmallVector<Value *> Addresses(Objects.begin(), Objects.end());
  while (!Addresses.empty()) {
    Value *Address = Addresses.pop_back_val();
    P.Addresses.insert(Address);
    for (Use &U : Address->uses()) {
      if (isAddressComputation(U)) {
        Addresses.push_back(U.getUser());
        continue;
      }
      if (!isKnownAccess(U))
        return Plan();
      if (auto *RMW = dyn_cast<AtomicRMWInst>(U.getUser());
          RMW && RMW->getType()->isIntegerTy(64))
        P.Wide.push_back(RMW);
    }
  }
  return P;
}

static Plan planFor(Module &M) {
  Plan All;
  const auto Add = [&](ArrayRef<GlobalVariable *> Objects) {
    const Plan P = planFor(Objects);
    All.Wide.append(P.Wide);
    All.Addresses.insert(P.Addresses.begin(), P.Addresses.end());
  };
  SmallVector<GlobalVariable *> Dynamic;
  for (GlobalVariable &G : M.globals()) {
    if (G.getAddressSpace() != analysis::SharedSpace)
      continue;
    if (G.isDeclaration())
      Dynamic.push_back(&G);
    else if (G.hasLocalLinkage())
      Add(&G);
  }
  Add(Dynamic);
  return All;
}

/// Returns the address of the high word.
static Value *split(AtomicRMWInst &RMW) {
  const DataLayout &DL = RMW.getModule()->getDataLayout();
  IRBuilder<InstSimplifyFolder> B(RMW.getParent(), RMW.getIterator(),
                                  InstSimplifyFolder(DL));
  Value *Whole = RMW.getValOperand();
  if (RMW.getOperation() == AtomicRMWInst::Sub)
    Whole = B.CreateNeg(Whole);
  Value *Low = B.CreateTrunc(Whole, B.getInt32Ty());
  Value *High = computeKnownBits(Whole, DL).countMinLeadingZeros() >= 32
                    ? B.getInt32(0)
                : ComputeNumSignBits(Whole, DL) > 32
                    ? B.CreateAShr(Low, 31)
                    : B.CreateTrunc(B.CreateLShr(Whole, 32), B.getInt32Ty());

  Value *At = RMW.getPointerOperand();
  Value *Old = B.CreateAtomicRMW(AtomicRMWInst::Add, At, Low, Align(8),
                                 RMW.getOrdering(), RMW.getSyncScopeID());
  Value *Carry = B.CreateICmpULT(B.CreateAdd(Old, Low), Low);
  Value *Up = B.CreateAdd(High, B.CreateZExt(Carry, B.getInt32Ty()));
  Value *Above = B.CreateConstInBoundsGEP1_32(B.getInt8Ty(), At, 4);
  B.CreateAtomicRMW(AtomicRMWInst::Add, Above, Up, Align(4), RMW.getOrdering(),
                    RMW.getSyncScopeID())
      ->setMetadata(OftenZeroKind, MDNode::get(RMW.getContext(), {}));

  Value *Operand = RMW.getValOperand();
  RMW.eraseFromParent();
  RecursivelyDeleteTriviallyDeadInstructions(Operand);
  return Above;
}

/// Whether \p I sees no difference if an addition comes after it.
static bool canPass(const Instruction &I, const Plan &P) {
  if (const auto *Load = dyn_cast<LoadInst>(&I))
    return Load->isSimple() && !P.Addresses.contains(Load->getPointerOperand());
  if (const auto *RMW = dyn_cast<AtomicRMWInst>(&I))
    return P.Addresses.contains(RMW->getPointerOperand());
  return !I.mayReadOrWriteMemory();
}

static void gatherHighWords(BasicBlock &Block, const Plan &P) {
  SmallVector<Instruction *> Waiting;
  for (Instruction &I : make_early_inc_range(Block)) {
    if (I.hasMetadata(OftenZeroKind)) {
      Waiting.push_back(&I);
    } else if (I.isTerminator() || !canPass(I, P)) {
      for (Instruction *High : Waiting)
        High->moveBefore(&I);
      Waiting.clear();
    }
  }
}

PreservedAnalyses SplitAtomicsPass::run(Module &M, ModuleAnalysisManager &) {
  Plan P = planFor(M);
  SmallSetVector<BasicBlock *, 8> Blocks;
  for (AtomicRMWInst *RMW : P.Wide) {
    Blocks.insert(RMW->getParent());
    P.Addresses.insert(split(*RMW));
  }
  for (BasicBlock *Block : Blocks)
    gatherHighWords(*Block, P);
  return Blocks.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace reconverge::frontend
