//===- warpvm/emit/EmitValues.cpp - Where values live ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value is found, in this order: among those of the straight piece of code
// being emitted; as a variable of the region's function, if a block of the
// region defines it; in the frame, if another region does (loaded on entry).
//
// Uniform values stay scalar. What the analysis calls uniform is a pure
// function of uniform values and control (UniformityOptions::UniformLoads is
// off), so it holds for any set of lanes that the scheduler runs together.
//
//===----------------------------------------------------------------------===//

#include "analysis/device/AddressSpace.h"
#include "analysis/device/Intrinsics.h"
#include "core/Error.h"
#include "warpvm/emit/Emitter.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::warpvm {

//===----------------------------------------------------------------------===//
// Types, masks, context
//===----------------------------------------------------------------------===//

Type *RegionEmitter::laneType(Type *T) { return T->isPointerTy() ? PtrTy : T; }

Type *RegionEmitter::vectorOf(Type *T) {
  return FixedVectorType::get(laneType(T), W);
}

Value *RegionEmitter::splat(Value *X) { return B.CreateVectorSplat(W, X); }

Value *RegionEmitter::maskVector(Value *Bits) {
  return B.CreateBitCast(Bits, FixedVectorType::get(B.getInt1Ty(), W));
}

Value *RegionEmitter::maskBits(Value *V) {
  return B.CreateBitCast(B.CreateFreeze(V), MaskTy);
}

Value *RegionEmitter::laneIds(Type *Element) {
  SmallVector<Constant *> Ids;
  for (unsigned I = 0; I < W; ++I)
    Ids.push_back(ConstantInt::get(Element, I));
  return ConstantVector::get(Ids);
}

/// A field of WarpContext that does not change while a region runs.
Value *RegionEmitter::contextField(size_t Offset, Type *T) {
  Value *&Field = Fields[{Offset, T}];
  if (!Field) {
    IRBuilder<> Entry(EntryEnd);
    Field = Entry.CreateLoad(
        T, Entry.CreateConstInBoundsGEP1_64(Entry.getInt8Ty(), Ctx, Offset));
  }
  return Field;
}

Error RegionEmitter::refuse(const Instruction &I, const Twine &What) {
  return userError(placeOf(I) + "kernel " + demangle(C.Kernel.F->getName()) +
                   ": " + What + " cannot run on the CPU executor");
}

//===----------------------------------------------------------------------===//
// Where values live
//===----------------------------------------------------------------------===//

AllocaInst *RegionEmitter::variable(const Value *V, unsigned Part) {
  AllocaInst *&Var = Variables[{V, Part}];
  if (!Var) {
    Type *T = laneType(leavesOf(V->getType())[Part]);
    IRBuilder<> Entry(EntryBB, EntryBB->begin());
    Var = Entry.CreateAlloca(C.Uniform.isUniform(*V) ? T : vectorOf(T), nullptr,
                             V->getName());
  }
  return Var;
}

Value *RegionEmitter::loadFrame(const Value *V, unsigned Part) {
  const auto &Slot = C.Frame.Slots.find(V)->second;
  Type *T = laneType(leavesOf(V->getType())[Part]);
  uint32_t Offset = Slot.Offsets[Part];
  if (Slot.Uniform)
    return B.CreateLoad(T,
                        B.CreateConstInBoundsGEP1_64(I64, ScalarPtr, Offset));
  return loadLanesAt(
      B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), FramePtr, Offset), T);
}

/// A vector of \p T as frames hold it: of i1, a bit a lane.
Value *RegionEmitter::loadLanesAt(Value *P, Type *T) {
  if (T->isIntegerTy(1))
    return maskVector(B.CreateAlignedLoad(MaskTy, P, Align(8)));
  return B.CreateAlignedLoad(vectorOf(T), P, Align(64));
}

void RegionEmitter::storeFrame(const Value *V, unsigned Part, Value *X,
                               Value *Active) {
  const auto &Slot = C.Frame.Slots.find(V)->second;
  uint32_t Offset = Slot.Offsets[Part];
  if (Slot.Uniform) {
    Value *P = B.CreateConstInBoundsGEP1_64(I64, ScalarPtr, Offset);
    Value *Old = B.CreateLoad(X->getType(), P);
    B.CreateStore(B.CreateSelect(B.CreateIsNotNull(Active), X, Old), P);
    return;
  }
  storeLanesAt(B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), FramePtr, Offset), X,
               Active);
}

void RegionEmitter::storeLanesAt(Value *P, Value *X, Value *Active) {
  if (X->getType()->getScalarType()->isIntegerTy(1)) {
    Value *Old = B.CreateAlignedLoad(MaskTy, P, Align(8));
    Value *New = B.CreateOr(B.CreateAnd(maskBits(X), Active),
                            B.CreateAnd(Old, B.CreateNot(Active)));
    B.CreateAlignedStore(New, P, Align(8));
    return;
  }
  // Load, select, store: a masked store would stall the load that follows.
  Value *Old = B.CreateAlignedLoad(X->getType(), P, Align(64));
  B.CreateAlignedStore(B.CreateSelect(maskVector(Active), X, Old), P,
                       Align(64));
}

Lanes RegionEmitter::constant(const Constant *K) {
  Lanes L{true, {}};
  auto Leaves = leavesOf(K->getType());
  if (!K->getType()->isAggregateType() && !K->getType()->isVectorTy()) {
    auto *T = laneType(K->getType());
    if (auto *GV = dyn_cast<GlobalValue>(K)) {
      if (auto It = C.Kernel.Shared.Offsets.find(dyn_cast<GlobalVariable>(K));
          It != C.Kernel.Shared.Offsets.end()) {
        Value *Base = contextField(offsetof(WarpContext, Shared), PtrTy);
        L.Parts.push_back(
            B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Base, It->second));
      } else {
        Value *Table = contextField(offsetof(WarpContext, Globals), PtrTy);
        unsigned Index = C.Kernel.Globals.lookup(GV);
        L.Parts.push_back(B.CreateLoad(
            PtrTy, B.CreateConstInBoundsGEP1_64(PtrTy, Table, Index)));
      }
    } else if (isa<PoisonValue>(K)) {
      L.Parts.push_back(PoisonValue::get(T));
    } else if (isa<UndefValue>(K)) {
      L.Parts.push_back(UndefValue::get(T));
    } else if (isa<ConstantPointerNull>(K)) {
      L.Parts.push_back(Constant::getNullValue(T));
    } else if (auto *CE = dyn_cast<ConstantExpr>(K);
               CE && (CE->getOpcode() == Instruction::IntToPtr ||
                      CE->getOpcode() == Instruction::PtrToInt ||
                      CE->getOpcode() == Instruction::AddrSpaceCast)) {
      // Over integers only: variables were expanded by prepareKernel.
      Value *Op = *constant(CE->getOperand(0));
      if (CE->getOpcode() == Instruction::IntToPtr &&
          K->getType()->getPointerAddressSpace() == analysis::SharedSpace) {
        Value *Base = contextField(offsetof(WarpContext, Shared), PtrTy);
        L.Parts.push_back(
            B.CreateGEP(B.getInt8Ty(), Base, B.CreateZExtOrTrunc(Op, I64)));
        return L;
      }
      L.Parts.push_back(Op->getType() == T
                            ? Op
                            : B.CreateBitOrPointerCast(
                                  CE->getOpcode() == Instruction::IntToPtr
                                      ? B.CreateZExtOrTrunc(Op, I64)
                                      : Op,
                                  T));
    } else {
      L.Parts.push_back(const_cast<Constant *>(K));
    }
    return L;
  }
  for (unsigned I = 0; Constant *Element = K->getAggregateElement(I); ++I)
    append_range(L.Parts, constant(Element).Parts);
  return L;
}

Lanes RegionEmitter::get(const Value *V) {
  if (auto *K = dyn_cast<Constant>(V))
    return constant(K);
  if (auto It = Local.find(V); It != Local.end())
    return It->second;
  bool Uniform = C.Uniform.isUniform(*V);
  Lanes L{Uniform, {}};
  auto Leaves = leavesOf(V->getType());
  if (auto *A = dyn_cast<Argument>(V); A && !C.isKernel())
    return argument(*A);
  if (auto *A = dyn_cast<Argument>(V)) {
    // Parameter memory is the same for all threads; a by-value parameter *is*
    // its address.
    Lanes &In = Incoming[V];
    if (In.Parts.empty()) {
      In.Uniform = true;
      IRBuilder<>::InsertPointGuard Guard(B);
      auto Layout = parameterLayout(*C.Kernel.F)[A->getArgNo()];
      Value *Params = contextField(offsetof(WarpContext, Params), PtrTy);
      B.SetInsertPoint(EntryEnd);
      Value *P =
          B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Params, Layout.first);
      if (A->hasByValAttr()) {
        In.Parts.push_back(P);
      } else {
        const DataLayout &DL = Out.getDataLayout();
        uint64_t Offset = 0;
        for (Type *T : Leaves) {
          T = laneType(T);
          Offset = alignTo(Offset, DL.getABITypeAlign(T));
          In.Parts.push_back(B.CreateAlignedLoad(
              T, B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), P, Offset),
              Align(1)));
          Offset += DL.getTypeAllocSize(T);
        }
      }
    }
    return In;
  }
  auto *I = cast<Instruction>(V);
  if (isRecomputed(*I)) {
    if (isa<CastInst>(I)) {
      Lanes X = get(I->getOperand(0));
      Type *T = X.Uniform ? I->getType() : vectorOf(I->getType());
      return {X.Uniform, {B.CreateCast(cast<CastInst>(I)->getOpcode(), *X, T)}};
    }
    Lanes &In = Incoming[V];
    if (In.Parts.empty()) {
      IRBuilder<>::InsertPointGuard Guard(B);
      B.SetInsertPoint(EntryEnd);
      In.Parts.push_back(isa<AllocaInst>(I)
                             ? localAddress(*cast<AllocaInst>(I))
                             : threadId(*cast<IntrinsicInst>(I)));
    }
    return In;
  }
  if (C.Plan.RegionOf.lookup(I->getParent()) != RegionIndex) {
    Lanes &In = Incoming[V];
    if (In.Parts.empty()) {
      In.Uniform = Uniform;
      IRBuilder<>::InsertPointGuard Guard(B);
      B.SetInsertPoint(EntryEnd);
      for (unsigned P = 0; P < Leaves.size(); ++P)
        In.Parts.push_back(loadFrame(V, P));
    }
    return In;
  }
  for (unsigned P = 0; P < Leaves.size(); ++P) {
    auto *Var = variable(V, P);
    L.Parts.push_back(B.CreateLoad(Var->getAllocatedType(), Var));
  }
  Local[V] = L;
  return L;
}

Value *RegionEmitter::localAddress(const AllocaInst &A) {
  Value *Base = contextField(offsetof(WarpContext, Local), PtrTy);
  Value *Offset = B.CreateAdd(
      B.CreateMul(laneIds(I64), splat(B.getInt64(C.Function.LocalBytes))),
      splat(B.getInt64(C.Kernel.LocalOffsets.lookup(&A))));
  return B.CreateGEP(B.getInt8Ty(), Base, Offset);
}

/// Thread indices lie at the frame's beginning.
Value *RegionEmitter::threadId(const IntrinsicInst &I) {
  unsigned Dimension = *analysis::threadIndexDimension(I.getIntrinsicID());
  Value *P =
      B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), FramePtr, 4 * W * Dimension);
  return B.CreateAlignedLoad(vectorOf(I32), P, Align(64));
}

Value *RegionEmitter::vec(const Value *V) {
  Lanes L = get(V);
  return L.Uniform ? splat(*L) : *L;
}

Value *RegionEmitter::scalar(const Value *V) {
  return *asDeclared(nullptr, get(V));
}

Lanes RegionEmitter::asVectors(Lanes L) {
  if (L.Uniform)
    for (Value *&Part : L.Parts)
      Part = splat(Part);
  L.Uniform = false;
  return L;
}

/// \p L in the form that the analysis promised for \p V (null: uniform).
Lanes RegionEmitter::asDeclared(const Value *V, Lanes L) {
  bool Uniform = !V || C.Uniform.isUniform(*V);
  if (L.Uniform == Uniform)
    return L;
  Lanes Converted{Uniform, {}};
  for (Value *Part : L.Parts) {
    if (!Uniform) {
      Converted.Parts.push_back(splat(Part));
      continue;
    }
    Value *First = B.CreateBinaryIntrinsic(Intrinsic::cttz, M, B.getTrue());
    Converted.Parts.push_back(B.CreateExtractElement(Part, First));
  }
  return Converted;
}

void RegionEmitter::define(const Instruction *I, Lanes L) {
  Local[I] = L;
  bool InFrame = C.Frame.Slots.count(I);
  if (!InFrame && !C.Frame.LeavesBlock.contains(I))
    return;
  Lanes D = asDeclared(I, L);
  for (auto [P, Part] : enumerate(D.Parts)) {
    if (C.Frame.LeavesBlock.contains(I))
      B.CreateStore(Part, variable(I, P));
    if (InFrame)
      storeFrame(I, P, Part, M);
  }
}

} // namespace reconverge::warpvm
