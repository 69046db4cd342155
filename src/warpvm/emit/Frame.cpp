//===- warpvm/emit/Frame.cpp - Where values live between regions ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A region's values live in registers of the host. What another region reads
// has to be in memory between the two: a vector of WarpSize elements in the
// warp's frame or, if it is the same for all lanes that run together, a scalar
// in the split's array. Frames hold, in this order: threadIdx, values that
// cross from region to region, arguments and results of calls that stay calls.
//
// Cheap values are computed again where they are needed and take no slot:
// conversions that widen, threadIdx, addresses of local variables. An address
// that only loads and stores use is part of these.
//
// LiveScalars says which scalars someone may still read when lanes come to a
// region: two splits merge only where these agree (Frontier.cpp).
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Frame.h"
#include "analysis/device/Intrinsics.h"
#include "warpvm/emit/Emitter.h"
#include "warpvm/prepare/Callees.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace reconverge::warpvm {

SmallVector<Type *, 2> leavesOf(Type *T) {
  SmallVector<Type *, 2> Leaves;
  if (auto *S = dyn_cast<StructType>(T)) {
    for (Type *E : S->elements())
      append_range(Leaves, leavesOf(E));
  } else if (auto *A = dyn_cast<ArrayType>(T)) {
    auto Inner = leavesOf(A->getElementType());
    for (uint64_t I = 0; I < A->getNumElements(); ++I)
      append_range(Leaves, Inner);
  } else if (auto *V = dyn_cast<FixedVectorType>(T)) {
    Leaves.append(V->getNumElements(), V->getElementType());
  } else {
    Leaves.push_back(T);
  }
  return Leaves;
}

/// Bytes of a vector of \p T, up to the next one; of i1, a bit a lane.
static uint32_t vectorBytes(Type *T, const DataLayout &DL, unsigned WarpSize) {
  return alignTo(T->isIntegerTy(1)
                     ? WarpSize / 8
                     : WarpSize * DL.getTypeAllocSize(T).getFixedValue(),
                 64);
}

CallLayout::CallLayout(ArrayRef<Type *> Values, const DataLayout &DL,
                       unsigned WarpSize) {
  for (Type *Value : Values) {
    First.push_back(Parts.size());
    for (Type *T : leavesOf(Value)) {
      Parts.push_back(T);
      Offsets.push_back(Bytes);
      Bytes += vectorBytes(T, DL, WarpSize);
    }
  }
}

bool isRecomputed(const Instruction &I) {
  if (isa<AllocaInst>(I))
    return true;
  if (isa<SExtInst, ZExtInst>(I))
    return true;
  auto *II = dyn_cast<IntrinsicInst>(&I);
  return II && analysis::threadIndexDimension(II->getIntrinsicID());
}

bool isFolded(const Instruction &I) {
  return isa<GetElementPtrInst>(I) && all_of(I.uses(), [](const Use &U) {
           return (isa<LoadInst>(U.getUser()) && U.getOperandNo() == 0) ||
                  (isa<StoreInst>(U.getUser()) && U.getOperandNo() == 1);
         });
}

const Value *stripIndexExtension(const Value *V) {
  if (auto *Cast = dyn_cast<CastInst>(V))
    if (Cast->getSrcTy()->isIntegerTy(32) && Cast->getDestTy()->isIntegerTy(64))
      if (isa<SExtInst>(Cast) ||
          (isa<ZExtInst>(Cast) && cast<ZExtInst>(Cast)->hasNonNeg()))
        return Cast->getOperand(0);
  return V;
}

void forEachAddressOperand(const Value *Pointer,
                           function_ref<void(const Value *)> Visit) {
  if (auto *G = dyn_cast<GetElementPtrInst>(Pointer)) {
    Visit(G->getPointerOperand());
    for (const Use &Index : G->indices())
      Visit(stripIndexExtension(Index));
  } else {
    Visit(Pointer);
  }
}

/// Calls \p Visit(value, block that reads it) for every value that \p I needs.
static void
forEachRead(const Instruction &I,
            function_ref<void(const Value *, const BasicBlock *)> Visit) {
  // What is recomputed elsewhere needs its own operands there.
  auto See = [&](auto &&Self, const Value *V, const BasicBlock *At) -> void {
    auto *Def = dyn_cast<Instruction>(V);
    if (Def && isRecomputed(*Def) && Def->getParent() != At) {
      if (isa<CastInst>(Def))
        Self(Self, Def->getOperand(0), At);
      return;
    }
    Visit(V, At);
  };
  if (auto *Phi = dyn_cast<PHINode>(&I)) {
    for (unsigned J = 0; J < Phi->getNumIncomingValues(); ++J)
      See(See, Phi->getIncomingValue(J), Phi->getIncomingBlock(J));
    return;
  }
  if (isFolded(I))
    return;
  const Value *Pointer = getLoadStorePointerOperand(&I);
  for (const Use &Op : I.operands())
    if (Op.get() == Pointer &&
        Op.getOperandNo() == (isa<StoreInst>(I) ? 1u : 0u))
      forEachAddressOperand(
          Pointer, [&](const Value *V) { See(See, V, I.getParent()); });
    else
      See(See, Op, I.getParent());
}

FrameLayout::FrameLayout(Function &F, const RegionPlanner &Plan,
                         const analysis::UniformityResult &Uniform,
                         unsigned WarpSize) {
  DenseSet<const Value *> Crosses;
  for (const BasicBlock *BB : Plan.Order)
    for (const Instruction &I : *BB) {
      forEachRead(I, [&](const Value *V, const BasicBlock *Reader) {
        auto *Def = dyn_cast<Instruction>(V);
        if (!Def)
          return;
        if (Def->getParent() != Reader)
          LeavesBlock.insert(V);
        if (Plan.RegionOf.lookup(Def->getParent()) !=
            Plan.RegionOf.lookup(Reader))
          Crosses.insert(V);
      });
      if (auto *Phi = dyn_cast<PHINode>(&I))
        for (const BasicBlock *From : Phi->blocks())
          if (!Plan.isInternal(*From, *BB))
            Crosses.insert(Phi);
    }

  const DataLayout &DL = F.getParent()->getDataLayout();
  uint32_t Offset = alignTo(threadIdBytes(WarpSize), 64);
  for (const BasicBlock *BB : Plan.Order)
    for (const Instruction &I : *BB) {
      if (!Crosses.contains(&I))
        continue;
      Slot S{Uniform.isUniform(I), {}};
      for (Type *T : leavesOf(I.getType())) {
        if (S.Uniform) {
          S.Offsets.push_back(NumScalars);
          NumScalars += divideCeil(DL.getTypeAllocSize(T).getFixedValue(), 8);
          continue;
        }
        S.Offsets.push_back(Offset);
        Offset += vectorBytes(T, DL, WarpSize);
      }
      Slots[&I] = S;
    }
  for (const BasicBlock *BB : Plan.Order) {
    if (!endsInCall(*BB))
      continue;
    auto *Site = cast<CallBase>(BB->getTerminator()->getPrevNode());
    const FunctionType &T = *Site->getFunctionType();
    Call &At = Calls[Site];
    At.Arguments = Offset;
    Offset += CallLayout::arguments(T, DL, WarpSize).Bytes;
    At.Result = Offset;
    Offset += CallLayout::result(T, DL, WarpSize).Bytes;
    At.Target = Offset;
    if (!Site->getCalledFunction())
      Offset += vectorBytes(Site->getCalledOperand()->getType(), DL, WarpSize);
  }
  FrameBytes = Offset;
  findLive(Plan, DL);
}

bool readsClock(const Instruction &I) {
  return analysis::intrinsicKind(I) == analysis::IntrinsicKind::Clock;
}

/// All that is computed from a clock's readings.
static DenseSet<const Instruction *> clockValues(const RegionPlanner &Plan) {
  DenseSet<const Instruction *> Found;
  SmallVector<const Instruction *> Work;
  for (const BasicBlock *BB : Plan.Order)
    for (const Instruction &I : *BB)
      if (readsClock(I))
        Work.push_back(&I);
  while (!Work.empty())
    if (const Instruction *I = Work.pop_back_val(); Found.insert(I).second)
      for (const User *U : I->users())
        Work.push_back(cast<Instruction>(U));
  return Found;
}

void FrameLayout::findLive(const RegionPlanner &Plan, const DataLayout &DL) {
  LiveScalars.resize(Plan.Regions.size());
  const DenseSet<const Instruction *> OfClocks = clockValues(Plan);
  MapVector<const Instruction *, SmallVector<const BasicBlock *>> Readers;
  for (const BasicBlock *BB : Plan.Order)
    for (const Instruction &I : *BB) {
      if (auto It = Slots.find(&I);
          It != Slots.end() && (It->second.Uniform || OfClocks.contains(&I)))
        Readers[&I]; // in the order of the slots
    }
  for (const BasicBlock *BB : Plan.Order)
    for (const Instruction &I : *BB)
      forEachRead(I, [&](const Value *V, const BasicBlock *Reader) {
        if (auto It = Readers.find(dyn_cast<Instruction>(V));
            It != Readers.end())
          It->second.push_back(Reader);
      });
  for (auto &[I, Work] : Readers) {
    // Up from every reader to the definition; a PHI's value waits in its slot
    // when lanes come to its block.
    const BasicBlock *Home = I->getParent();
    DenseSet<const BasicBlock *> Live;
    while (!Work.empty()) {
      const BasicBlock *BB = Work.pop_back_val();
      if (BB != Home && Live.insert(BB).second)
        Work.append(pred_begin(BB), pred_end(BB));
    }
    if (isa<PHINode>(I))
      Live.insert(Home);
    const Slot &S = Slots.find(I)->second;
    auto Leaves = leavesOf(I->getType());
    if (!S.Uniform) {
      SmallVector<uint32_t> LiveIn;
      for (auto [R, Region] : enumerate(Plan.Regions))
        if (Live.contains(Plan.Order[Region.First]))
          LiveIn.push_back(R);
      for (auto [Offset, T] : zip(S.Offsets, Leaves))
        Clocks.push_back(
            {Offset,
             T->isIntegerTy(1)
                 ? 1
                 : uint32_t(8 * DL.getTypeAllocSize(T).getFixedValue()),
             LiveIn});
      continue;
    }
    for (auto [R, Words] : enumerate(LiveScalars)) {
      if (!Live.contains(Plan.Order[Plan.Regions[R].First]))
        continue;
      for (auto [Offset, T] : zip(S.Offsets, Leaves))
        for (uint64_t J = 0,
                      N = divideCeil(DL.getTypeAllocSize(T).getFixedValue(), 8);
             J < N; ++J)
          Words.push_back(Offset + J);
    }
  }
}

} // namespace reconverge::warpvm
