//===- remedies/refill/Prologue.cpp - What an item begins with ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most kernels ask for blockIdx.x * blockDim.x + threadIdx.x and for nothing
// else of their place. In a launch of one dimension that is the item itself, so
// that the divisions of becomeItem(), which stand in for what a multiplication
// and an addition were, are needed in other launches only:
//
//   head:   do blocks or the grid have a second dimension?
//     |  \
//     |   apart: becomeItem(), and the sum of products from what that gives
//     |  /
//   tail:   a phi of the item and the sum
//
// Why right: then gridDim.y and z, blockDim.y and z are 1, and the item's
// number, by its definition (Items.h), is that sum, which is below 2^32.
//
// Parameters that are passed by value and written are the thread's own: the code
// generator copies them at the kernel's start. The next item finds them as the
// launch has them, so they are copied for each.
//
//===----------------------------------------------------------------------===//

#include "remedies/refill/Prologue.h"

#include "analysis/device/Intrinsics.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace reconverge::remedies::refill {

//===----------------------------------------------------------------------===//
// The usual number
//===----------------------------------------------------------------------===//

static bool isRead(Value *V, Intrinsic::ID Id) {
  Value *From = V;
  match(V, m_ZExt(m_Value(From)));
  const auto *Read = dyn_cast<IntrinsicInst>(From);
  return Read && Read->getIntrinsicID() == Id;
}

/// blockIdx.x * blockDim.x + threadIdx.x, in 32 or 64 bits.
static bool isUsualNumber(Instruction &I) {
  Value *X, *Y, *T;
  if (!match(&I, m_c_Add(m_Mul(m_Value(X), m_Value(Y)), m_Value(T))) ||
      !isRead(T, Intrinsic::nvvm_read_ptx_sreg_tid_x))
    return false;
  if (isRead(Y, Intrinsic::nvvm_read_ptx_sreg_ctaid_x))
    std::swap(X, Y);
  return isRead(X, Intrinsic::nvvm_read_ptx_sreg_ctaid_x) &&
         isRead(Y, Intrinsic::nvvm_read_ptx_sreg_ntid_x);
}

/// \p V is used in \p Sums alone, as far as they reach.
static bool isUsedIn(const Value &V,
                     const SmallPtrSetImpl<Instruction *> &Sums) {
  return all_of(V.users(), [&](const User *U) {
    auto *I = cast<Instruction>(const_cast<User *>(U));
    return Sums.contains(I) ||
           ((isa<ZExtInst>(I) || I->getOpcode() == Instruction::Mul) &&
            isUsedIn(*I, Sums));
  });
}

static bool isSize(const CallBase &Read) {
  const auto Id = cast<IntrinsicInst>(Read).getIntrinsicID();
  return analysis::blockSizeDimension(Id) || analysis::gridSizeDimension(Id);
}

/// All of these in the kernel, if it asks for nothing else but sizes.
static SmallVector<Instruction *> usualNumbers(const ItemsPlan &Plan) {
  SmallVector<Instruction *> Found;
  SmallPtrSet<Instruction *, 4> Sums;
  if (Plan.Reads.empty())
    return Found;
  for (BasicBlock &BB : *Plan.Reads.front()->getFunction())
    for (Instruction &I : BB)
      if (isUsualNumber(I)) {
        Found.push_back(&I);
        Sums.insert(&I);
      }
  for (const CallBase *Read : Plan.Reads)
    if (!isSize(*Read) && !isUsedIn(*Read, Sums))
      return {};
  return Found;
}

/// \p Sum again at \p B, from reads of its own, which come to \p Reads.
static Value *copyOf(Value *Sum, IRBuilderBase &B,
                     SmallVectorImpl<CallBase *> &Reads) {
  Instruction *Copy = cast<Instruction>(Sum)->clone();
  if (auto *Read = dyn_cast<CallBase>(Copy))
    Reads.push_back(Read);
  else
    for (Use &Operand : Copy->operands())
      Operand.set(copyOf(Operand.get(), B, Reads));
  return B.Insert(Copy);
}

static Value *hasMoreDimensions(IRBuilderBase &B, const LaunchValues &Of) {
  Value *Ones = B.CreateOr(B.CreateOr(Of.Grid[1], Of.Grid[2]),
                           B.CreateOr(Of.Block[1], Of.Block[2]));
  return B.CreateICmpNE(Ones, B.getInt32(1));
}

/// Takes \p Numbers away, and out of the plan what only they needed.
static void remove(ArrayRef<Instruction *> Numbers, ItemsPlan &Plan) {
  SmallVector<WeakVH> Reads(Plan.Reads.begin(), Plan.Reads.end());
  for (Instruction *Number : Numbers)
    RecursivelyDeleteTriviallyDeadInstructions(Number);
  Plan.Reads.clear();
  for (const WeakVH &Read : Reads)
    if (Value *Left = Read)
      Plan.Reads.push_back(cast<CallBase>(Left));
}

void becomeItemInOrder(ItemsPlan Plan, Value *Item, const LaunchValues &Of,
                       IRBuilderBase &B) {
  const SmallVector<Instruction *> Numbers = usualNumbers(Plan);
  if (Numbers.empty())
    return becomeItem(Plan, Item, Of, B);
  Value *More = hasMoreDimensions(B, Of);
  BasicBlock *Head = B.GetInsertBlock();
  Instruction *End = SplitBlockAndInsertIfThen(More, B.GetInsertPoint(),
                                               /*Unreachable=*/false);
  BasicBlock *Apart = End->getParent(), *Tail = End->getSuccessor(0);
  SmallVector<CallBase *> Reads;
  for (Instruction *Number : Numbers) {
    IRBuilder<> In(End);
    Value *Sum = copyOf(Number, In, Reads);
    In.SetInsertPoint(Head->getTerminator());
    Value *Low = In.CreateZExt(Item, Number->getType());
    auto *Either = PHINode::Create(Number->getType(), 2, "", Tail->begin());
    Either->addIncoming(Low, Head);
    Either->addIncoming(Sum, Apart);
    Either->takeName(Number);
    Number->replaceAllUsesWith(Either);
  }
  remove(Numbers, Plan);
  append_range(Plan.Reads, Reads);
  IRBuilder<> In(Apart, Apart->begin());
  becomeItem(Plan, Item, Of, In);
  B.SetInsertPoint(Tail, Tail->getFirstInsertionPt());
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Nothing is done to what \p Pointer points at but to read it here.
static bool isOnlyRead(const Value &Pointer) {
  return all_of(Pointer.uses(), [](const Use &U) {
    const User *By = U.getUser();
    if (isa<GetElementPtrInst, AddrSpaceCastInst>(By))
      return isOnlyRead(*By);
    if (const auto *Copy = dyn_cast<MemTransferInst>(By))
      return &U == &Copy->getRawSourceUse();
    return isa<LoadInst>(By);
  });
}

void copyArguments(Function &F, unsigned OfProgram, IRBuilderBase &B) {
  const DataLayout &Layout = F.getDataLayout();
  for (Argument &A : F.args()) {
    if (A.getArgNo() >= OfProgram || !A.hasByValAttr() || isOnlyRead(A))
      continue;
    Type *T = A.getParamByValType();
    const Align Aligned = A.getParamAlign().value_or(Layout.getABITypeAlign(T));
    auto *Copy =
        new AllocaInst(T, Layout.getAllocaAddrSpace(), nullptr, Aligned,
                       A.getName() + ".own", F.getEntryBlock().begin());
    A.replaceAllUsesWith(Copy);
    B.CreateMemCpy(Copy, Aligned, &A, Aligned, Layout.getTypeAllocSize(T));
  }
}

} // namespace reconverge::remedies::refill
