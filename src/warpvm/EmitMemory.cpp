//===- warpvm/EmitMemory.cpp - Loads, stores, atomics over lanes ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All address spaces are host memory: a pointer is a host pointer, shared memory
// is a buffer of the thread block, local memory a stack for each lane, so
// pointers mix freely as generic ones do on the GPU.
//
// An access whose address is uniform is one scalar access. One whose index is
// likely to step by the element (the analysis says Affine) tests that at run
// time and then is one masked vector access; any other is a gather or scatter.
// Addresses are computed next to their access, from a scalar base and an index
// vector where possible, because the instruction selector only then uses the
// base + index form. Idle lanes never touch memory.
//
// Atomics, and anything without a vector form, loop over the set lanes in
// ascending order. Atomics on shared memory need no lock prefix: a thread block
// runs on one CPU thread.
//
//===----------------------------------------------------------------------===//

#include "warpvm/Emitter.h"

#include "llvm/IR/Operator.h"

using namespace llvm;

namespace reconverge::warpvm {

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Address RegionEmitter::address(const Value *Pointer, uint64_t AccessBytes) {
  Address A;
  auto Info = C.Uniform.of(*Pointer);
  A.Contiguous = Info.L == analysis::Level::Affine && Info.Stride &&
                 *Info.Stride == int64_t(AccessBytes);
  if (auto *G = dyn_cast<GetElementPtrInst>(Pointer)) {
    const DataLayout &DL = Out.getDataLayout();
    MapVector<Value *, APInt> Variable;
    APInt Fixed(64, 0);
    Lanes Base = get(G->getPointerOperand());
    // An index that was stripped of its extension is found under its source.
    auto IndexOf = [&](Value *V) {
      const Value *Source = stripIndexExtension(V);
      return std::pair(get(Source), isa<ZExtInst>(V) && Source != V);
    };
    if (Base.Uniform && cast<GEPOperator>(G)->collectOffset(DL, 64, Variable, Fixed)) {
      A.Base = *Base;
      if (!Fixed.isZero())
        A.Base = B.CreateGEP(B.getInt8Ty(), A.Base, B.getInt(Fixed));
      SmallVector<std::pair<Value *, uint64_t>> Divergent;
      for (auto &[V, Scale] : Variable) {
        auto [Index, Unsigned] = IndexOf(V);
        if (!Index.Uniform) {
          Divergent.push_back({*Index, Scale.getZExtValue()});
          continue;
        }
        Value *X = B.CreateSExtOrTrunc(*Index, I64);
        A.Base = B.CreateGEP(B.getInt8Ty(), A.Base,
                             B.CreateMul(X, B.getInt(Scale)));
      }
      if (Divergent.empty())
        return A;
      auto [X, S] = Divergent.front();
      bool Power = S == 1 || S == 2 || S == 4 || S == 8;
      if (Divergent.size() == 1 && Power) {
        A.Index = X->getType()->getScalarSizeInBits() >= 32
                      ? X
                      : B.CreateSExt(X, vectorOf(I32));
        A.Scale = S;
        return A;
      }
      for (auto [X, S] : Divergent) {
        Value *Bytes = B.CreateMul(B.CreateSExtOrTrunc(X, vectorOf(I64)),
                                   splat(B.getInt64(S)));
        A.Index = A.Index ? B.CreateAdd(A.Index, Bytes) : Bytes;
      }
      return A;
    }
    if (cast<GEPOperator>(G)->collectOffset(DL, 64, Variable, Fixed)) {
      // A pointer a lane; the indices again without their extensions.
      Value *P = *Base;
      if (!Fixed.isZero())
        P = B.CreateGEP(B.getInt8Ty(), P, splat(B.getInt(Fixed)));
      for (auto &[V, Scale] : Variable) {
        auto [Index, Unsigned] = IndexOf(V);
        Value *X = Index.Uniform ? splat(*Index) : *Index;
        X = B.CreateMul(B.CreateSExtOrTrunc(X, vectorOf(I64)),
                        splat(B.getInt(Scale)));
        P = B.CreateGEP(B.getInt8Ty(), P, X);
      }
      A.Pointers = P;
      return A;
    }
  }
  Lanes P = get(Pointer);
  (P.Uniform ? A.Base : A.Pointers) = *P;
  return A;
}

Value *RegionEmitter::pointers(const Address &A) {
  if (A.Pointers)
    return A.Pointers;
  if (!A.Index)
    return splat(A.Base);
  return B.CreateGEP(B.getIntNTy(8 * A.Scale), A.Base,
                     B.CreateSExt(A.Index, vectorOf(I64)));
}

/// i1: the active lanes' indices step by one from lane 0's.
Value *RegionEmitter::isUnitStride(const Address &A) {
  Type *T = A.Index->getType()->getScalarType();
  Value *First = B.CreateExtractElement(A.Index, uint64_t(0));
  Value *Want = B.CreateAdd(splat(First), laneIds(T));
  Value *Equal = maskBits(B.CreateICmpEQ(A.Index, Want));
  return B.CreateIsNull(B.CreateAnd(M, B.CreateNot(Equal)));
}

/// The pointer that lane 0 would use.
static Value *firstPointer(IRBuilder<> &B, const Address &A) {
  Value *First = B.CreateExtractElement(A.Index, uint64_t(0));
  return B.CreateGEP(B.getIntNTy(8 * A.Scale), A.Base,
                     B.CreateSExt(B.CreateFreeze(First), B.getInt64Ty()));
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

Lanes RegionEmitter::loadLanes(const Address &A, Type *T, Align Al,
                               bool Volatile) {
  if (A.isUniform())
    return {true, {B.CreateAlignedLoad(T, A.Base, Al, Volatile)}};
  auto *VT = cast<FixedVectorType>(vectorOf(T));
  Value *Active = maskVector(M);
  uint64_t Bytes = Out.getDataLayout().getTypeStoreSize(T);
  if (!A.Contiguous || !A.Index || A.Scale != Bytes)
    return {false, {B.CreateMaskedGather(VT, pointers(A), Al, Active)}};
  auto *Together = BasicBlock::Create(Out.getContext(), "unit", Fn);
  auto *Apart = BasicBlock::Create(Out.getContext(), "gather", Fn);
  auto *Join = BasicBlock::Create(Out.getContext(), "loaded", Fn);
  B.CreateCondBr(isUnitStride(A), Together, Apart);
  B.SetInsertPoint(Together);
  Value *X = B.CreateMaskedLoad(VT, firstPointer(B, A), Al, maskVector(M));
  B.CreateBr(Join);
  B.SetInsertPoint(Apart);
  Value *Y = B.CreateMaskedGather(VT, pointers(A), Al, maskVector(M));
  B.CreateBr(Join);
  B.SetInsertPoint(Join);
  auto *Phi = B.CreatePHI(VT, 2);
  Phi->addIncoming(X, Together);
  Phi->addIncoming(Y, Apart);
  return {false, {Phi}};
}

Error RegionEmitter::emitLoad(LoadInst &I) {
  const DataLayout &DL = Out.getDataLayout();
  Type *T = laneType(I.getType());
  if (T->isVectorTy() || T->isAggregateType())
    return refuse(I, "a load of a vector or aggregate");
  Type *Memory = T->isIntegerTy() && !isPowerOf2_32(T->getIntegerBitWidth())
                     ? B.getIntNTy(8 * DL.getTypeStoreSize(T))
                     : T;
  if (T->isIntegerTy(1))
    Memory = B.getInt8Ty();
  Address A = address(I.getPointerOperand(), DL.getTypeStoreSize(Memory));
  Lanes L = loadLanes(A, Memory, I.getAlign(), I.isVolatile());
  if (Memory != T)
    L.Parts[0] = B.CreateTrunc(L.Parts[0], L.Uniform ? T : vectorOf(T));
  define(&I, L);
  return Error::success();
}

Error RegionEmitter::emitStore(StoreInst &I) {
  const DataLayout &DL = Out.getDataLayout();
  Type *T = laneType(I.getValueOperand()->getType());
  if (T->isVectorTy() || T->isAggregateType())
    return refuse(I, "a store of a vector or aggregate");
  Lanes V = get(I.getValueOperand());
  if (T->isIntegerTy(1)) {
    T = B.getInt8Ty();
    V.Parts[0] = B.CreateZExt(*V, V.Uniform ? T : vectorOf(T));
  }
  Address A = address(I.getPointerOperand(), DL.getTypeStoreSize(T));
  if (A.isUniform()) {
    // One lane wins: the highest.
    Value *X = *V;
    if (!V.Uniform) {
      Value *Lead = B.CreateBinaryIntrinsic(Intrinsic::ctlz, M, B.getTrue());
      Value *Lane = B.CreateSub(ConstantInt::get(MaskTy, W - 1), Lead);
      X = B.CreateExtractElement(*V, Lane);
    }
    B.CreateAlignedStore(X, A.Base, I.getAlign(), I.isVolatile());
    return Error::success();
  }
  Value *X = V.Uniform ? splat(*V) : *V;
  uint64_t Bytes = DL.getTypeStoreSize(T);
  if (!A.Contiguous || !A.Index || A.Scale != Bytes) {
    B.CreateMaskedScatter(X, pointers(A), I.getAlign(), maskVector(M));
    return Error::success();
  }
  auto *Together = BasicBlock::Create(Out.getContext(), "unit", Fn);
  auto *Apart = BasicBlock::Create(Out.getContext(), "scatter", Fn);
  auto *Join = BasicBlock::Create(Out.getContext(), "stored", Fn);
  B.CreateCondBr(isUnitStride(A), Together, Apart);
  B.SetInsertPoint(Together);
  B.CreateMaskedStore(X, firstPointer(B, A), I.getAlign(), maskVector(M));
  B.CreateBr(Join);
  B.SetInsertPoint(Apart);
  B.CreateMaskedScatter(X, pointers(A), I.getAlign(), maskVector(M));
  B.CreateBr(Join);
  B.SetInsertPoint(Join);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// One lane after the other
//===----------------------------------------------------------------------===//

Value *RegionEmitter::spill(Value *Vector) {
  IRBuilder<> Entry(EntryBB, EntryBB->begin());
  Type *Element = cast<VectorType>(Vector->getType())->getElementType();
  if (Element->isIntegerTy(1))
    Vector = B.CreateZExt(Vector, vectorOf(B.getInt8Ty()));
  auto *Array = Entry.CreateAlloca(Vector->getType());
  Array->setAlignment(Align(64));
  B.CreateAlignedStore(Vector, Array, Align(64));
  return Array;
}

Value *RegionEmitter::lanePart(Value *Array, Type *T, Value *Lane) {
  if (T->isIntegerTy(1))
    return B.CreateTrunc(
        B.CreateLoad(B.getInt8Ty(), B.CreateGEP(B.getInt8Ty(), Array, Lane)), T);
  return B.CreateLoad(T, B.CreateGEP(T, Array, Lane));
}

/// Emits a loop over the active lanes, lowest first; \p Lane is an i64.
void RegionEmitter::forEachLane(function_ref<void(Value *Lane)> Body) {
  LLVMContext &Context = Out.getContext();
  auto *Before = B.GetInsertBlock();
  auto *Loop = BasicBlock::Create(Context, "lane", Fn);
  auto *Done = BasicBlock::Create(Context, "lanes.done", Fn);
  B.CreateBr(Loop); // M is never empty
  B.SetInsertPoint(Loop);
  auto *Left = B.CreatePHI(MaskTy, 2);
  Left->addIncoming(M, Before);
  Value *Lane = B.CreateZExt(
      B.CreateBinaryIntrinsic(Intrinsic::cttz, Left, B.getTrue()), I64);
  Body(Lane);
  Value *Rest =
      B.CreateAnd(Left, B.CreateSub(Left, ConstantInt::get(MaskTy, 1)));
  Left->addIncoming(Rest, B.GetInsertBlock());
  B.CreateCondBr(B.CreateIsNotNull(Rest), Loop, Done);
  B.SetInsertPoint(Done);
}

/// Points into shared memory for certain.
static bool isShared(const Value *P) {
  for (P = P->stripInBoundsOffsets(); P;) {
    if (P->getType()->getPointerAddressSpace() == 3)
      return true;
    if (auto *G = dyn_cast<GEPOperator>(P))
      P = G->getPointerOperand();
    else if (auto *Cast = dyn_cast<AddrSpaceCastOperator>(P))
      P = Cast->getPointerOperand();
    else
      return false;
  }
  return false;
}

static Value *applyRmw(IRBuilder<> &B, AtomicRMWInst::BinOp Op, Value *Old,
                       Value *X) {
  auto Pick = [&](CmpInst::Predicate P) {
    return B.CreateSelect(B.CreateICmp(P, Old, X), Old, X);
  };
  switch (Op) {
  case AtomicRMWInst::Xchg:
    return X;
  case AtomicRMWInst::Add:
    return B.CreateAdd(Old, X);
  case AtomicRMWInst::Sub:
    return B.CreateSub(Old, X);
  case AtomicRMWInst::And:
    return B.CreateAnd(Old, X);
  case AtomicRMWInst::Nand:
    return B.CreateNot(B.CreateAnd(Old, X));
  case AtomicRMWInst::Or:
    return B.CreateOr(Old, X);
  case AtomicRMWInst::Xor:
    return B.CreateXor(Old, X);
  case AtomicRMWInst::Max:
    return Pick(CmpInst::ICMP_SGT);
  case AtomicRMWInst::Min:
    return Pick(CmpInst::ICMP_SLT);
  case AtomicRMWInst::UMax:
    return Pick(CmpInst::ICMP_UGT);
  case AtomicRMWInst::UMin:
    return Pick(CmpInst::ICMP_ULT);
  case AtomicRMWInst::FAdd:
    return B.CreateFAdd(Old, X);
  case AtomicRMWInst::FSub:
    return B.CreateFSub(Old, X);
  case AtomicRMWInst::UIncWrap:
    return B.CreateSelect(B.CreateICmpUGE(Old, X),
                          Constant::getNullValue(X->getType()),
                          B.CreateAdd(Old, ConstantInt::get(X->getType(), 1)));
  case AtomicRMWInst::UDecWrap:
    return B.CreateSelect(
        B.CreateOr(B.CreateIsNull(Old), B.CreateICmpUGT(Old, X)), X,
        B.CreateSub(Old, ConstantInt::get(X->getType(), 1)));
  default:
    return nullptr;
  }
}

Error RegionEmitter::emitAtomic(Instruction &I) {
  auto *Rmw = dyn_cast<AtomicRMWInst>(&I);
  auto *Cas = dyn_cast<AtomicCmpXchgInst>(&I);
  Value *Pointer = Rmw ? Rmw->getPointerOperand() : Cas->getPointerOperand();
  Type *T = laneType(Rmw ? Rmw->getType() : Cas->getNewValOperand()->getType());
  bool Plain = isShared(Pointer);
  if (Rmw && !applyRmw(B, Rmw->getOperation(), PoisonValue::get(T),
                       PoisonValue::get(T)))
    return refuse(I, "atomic operation '" +
                         AtomicRMWInst::getOperationName(Rmw->getOperation()) +
                         "'");
  Value *P = spill(vec(Pointer));
  Value *X = spill(vec(Rmw ? Rmw->getValOperand() : Cas->getNewValOperand()));
  Value *Want = Cas ? spill(vec(Cas->getCompareOperand())) : nullptr;
  bool Used = !I.use_empty();
  Value *Results = Used ? spill(Constant::getNullValue(vectorOf(T))) : nullptr;
  forEachLane([&](Value *Lane) {
    Value *At = lanePart(P, PtrTy, Lane);
    Value *New = lanePart(X, T, Lane);
    Value *Old;
    if (Cas) {
      Value *Expected = lanePart(Want, T, Lane);
      if (Plain) {
        Old = B.CreateLoad(T, At);
        B.CreateStore(B.CreateSelect(B.CreateICmpEQ(Old, Expected), New, Old),
                      At);
      } else {
        Old = B.CreateExtractValue(
            B.CreateAtomicCmpXchg(At, Expected, New, Cas->getAlign(),
                                  AtomicOrdering::SequentiallyConsistent,
                                  AtomicOrdering::SequentiallyConsistent),
            0);
      }
    } else if (Plain) {
      Old = B.CreateLoad(T, At);
      B.CreateStore(applyRmw(B, Rmw->getOperation(), Old, New), At);
    } else {
      Old = B.CreateAtomicRMW(Rmw->getOperation(), At, New, Rmw->getAlign(),
                              AtomicOrdering::SequentiallyConsistent);
    }
    if (Used)
      B.CreateStore(Old, B.CreateGEP(T, Results, Lane));
  });
  if (!Used)
    return Error::success();
  Value *Old = B.CreateAlignedLoad(vectorOf(T), Results, Align(64));
  if (Rmw) {
    define(&I, {false, {Old}});
  } else {
    Value *Same = B.CreateICmpEQ(Old, vec(Cas->getCompareOperand()));
    define(&I, {false, {Old, Same}});
  }
  return Error::success();
}

void RegionEmitter::emitMemIntrinsic(MemIntrinsic &I) {
  auto *Copy = dyn_cast<MemTransferInst>(&I);
  Value *To = spill(vec(I.getRawDest()));
  Value *From = Copy ? spill(vec(Copy->getRawSource())) : nullptr;
  Value *Byte =
      Copy ? nullptr : spill(vec(cast<MemSetInst>(I).getValue()));
  Value *Length = spill(vec(I.getLength()));
  Type *LengthTy = I.getLength()->getType();
  forEachLane([&](Value *Lane) {
    Value *D = lanePart(To, PtrTy, Lane);
    Value *N = lanePart(Length, LengthTy, Lane);
    if (auto *K = dyn_cast<ConstantInt>(I.getLength()))
      N = K;
    if (!Copy)
      B.CreateMemSet(D, lanePart(Byte, B.getInt8Ty(), Lane), N, MaybeAlign(1));
    else if (isa<MemMoveInst>(Copy))
      B.CreateMemMove(D, Align(1), lanePart(From, PtrTy, Lane), Align(1), N);
    else
      B.CreateMemCpy(D, Align(1), lanePart(From, PtrTy, Lane), Align(1), N);
  });
}

} // namespace reconverge::warpvm
