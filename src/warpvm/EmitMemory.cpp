//===- warpvm/EmitMemory.cpp - Loads, stores, atomics over lanes ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All address spaces are host memory: a pointer is a host pointer, shared
// memory is a buffer of the thread block, local memory a stack for each lane,
// so pointers mix freely as generic ones do on the GPU.
//
// An access whose address is uniform is one scalar access. One whose address is
// likely to step by the element along a row of threads (Stride.h) tests that at
// run time, for each 16 lanes, and then is a masked vector access for these;
// one that is likely the same for a row is a scalar access for these; any other
// is a gather or scatter. Addresses are computed next to their access, from a
// scalar base and an index vector where possible, because the instruction
// selector only then uses the base + index form. Idle lanes never touch memory.
//
// Atomics, and anything without a vector form, loop over the set lanes in
// ascending order. Atomics on shared memory need no lock prefix: a thread block
// runs on one CPU thread.
//
//===----------------------------------------------------------------------===//

#include "warpvm/Emitter.h"
#include "warpvm/Stride.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace reconverge::warpvm {

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Points into shared memory for certain.
static bool isShared(const Value *P) {
  for (;;) {
    if (P->getType()->getPointerAddressSpace() == 3)
      return true;
    if (auto *G = dyn_cast<GEPOperator>(P))
      P = G->getPointerOperand();
    else if (auto *Cast = dyn_cast<AddrSpaceCastOperator>(P))
      P = Cast->getPointerOperand();
    else
      return false;
  }
}

Address RegionEmitter::address(const Value *Pointer, uint64_t AccessBytes) {
  Address A;
  A.Stride = strideAlongRow(*Pointer, C.Uniform);
  auto *G = dyn_cast<GetElementPtrInst>(Pointer);
  MapVector<Value *, APInt> Variable;
  APInt Fixed(64, 0);
  if (G && !cast<GEPOperator>(G)->collectOffset(Out.getDataLayout(), 64,
                                                Variable, Fixed))
    llvm_unreachable("an address over scalable types");
  const Value *Root = G ? G->getPointerOperand() : Pointer;

  // Local and shared memory are small: 32 bits hold any offset.
  auto *Local = dyn_cast<AllocaInst>(Root);
  const bool Small = Local ? C.Kernel.LocalBytes < (1 << 24) : isShared(Root);
  Lanes Base;
  if (Local && Small) {
    Value *Stack = contextField(offsetof(WarpContext, Local), PtrTy);
    Fixed += C.Kernel.LocalOffsets.lookup(Local);
    Base = {true, {Stack}};
    A.Index = B.CreateMul(laneIds(I32), splat(B.getInt32(C.Kernel.LocalBytes)));
  } else {
    Base = get(Root);
  }
  Value *P = *Base;
  if (!Fixed.isZero())
    P = B.CreateGEP(B.getInt8Ty(), P,
                    Base.Uniform ? B.getInt(Fixed) : splat(B.getInt(Fixed)));

  SmallVector<std::pair<Value *, APInt>> Divergent;
  for (auto &[V, Scale] : Variable) {
    // An index that was stripped of its extension is found under its source.
    Lanes Index = get(stripIndexExtension(V));
    if (!Base.Uniform || !Index.Uniform) {
      Divergent.push_back({Index.Uniform ? splat(*Index) : *Index, Scale});
      continue;
    }
    Value *X = B.CreateSExtOrTrunc(*Index, I64);
    P = B.CreateGEP(B.getInt8Ty(), P, B.CreateMul(X, B.getInt(Scale)));
  }
  if (Base.Uniform)
    A.Base = P;
  // One index with a scale that the hardware has stays as it is.
  if (Base.Uniform && !A.Index && Divergent.size() == 1) {
    auto [X, Scale] = Divergent.front();
    const uint64_t S = Scale.getZExtValue();
    if ((S == 1 || S == 2 || S == 4 || S == 8) &&
        X->getType()->getScalarSizeInBits() >= 32) {
      A.Index = Small ? B.CreateTrunc(X, vectorOf(I32)) : X;
      A.Scale = S;
      return A;
    }
  }
  Type *Wide = vectorOf(Small ? I32 : I64);
  for (auto &[X, Scale] : Divergent) {
    Value *Bytes = B.CreateMul(
        B.CreateSExtOrTrunc(X, Wide),
        splat(ConstantInt::get(Wide->getScalarType(), Scale.getZExtValue())));
    A.Index = A.Index ? B.CreateAdd(A.Index, Bytes) : Bytes;
  }
  if (!Base.Uniform) {
    A.Pointers = A.Index ? B.CreateGEP(B.getInt8Ty(), P,
                                       B.CreateSExt(A.Index, vectorOf(I64)))
                         : P;
    A.Index = nullptr;
  }
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

//===----------------------------------------------------------------------===//
// Segments: 16 lanes whose accesses are one vector access, or one scalar
//===----------------------------------------------------------------------===//

static constexpr unsigned SegmentLanes = 16;

/// i1: within each segment the active lanes' addresses step by \p Bytes.
Value *RegionEmitter::stepsBy(const Address &A, uint64_t Bytes) {
  Value *X = A.Index ? A.Index : B.CreatePtrToInt(A.Pointers, vectorOf(I64));
  const uint64_t Step = A.Index ? Bytes / A.Scale : Bytes;
  Type *T = X->getType()->getScalarType();
  SmallVector<int> First;
  SmallVector<Constant *> Offsets;
  for (unsigned L = 0; L < W; ++L) {
    First.push_back(L / SegmentLanes * SegmentLanes);
    Offsets.push_back(ConstantInt::get(T, L % SegmentLanes * Step));
  }
  Value *Want = B.CreateAdd(B.CreateShuffleVector(X, First),
                            ConstantVector::get(Offsets));
  Value *Equal = maskBits(B.CreateICmpEQ(X, Want));
  return B.CreateIsNull(B.CreateAnd(M, B.CreateNot(Equal)));
}

/// The address of \p Segment's first lane.
Value *RegionEmitter::segmentPointer(const Address &A, unsigned Segment) {
  const uint64_t Lane = Segment * SegmentLanes;
  if (A.Pointers)
    return B.CreateFreeze(B.CreateExtractElement(A.Pointers, Lane));
  Value *First = B.CreateFreeze(B.CreateExtractElement(A.Index, Lane));
  return B.CreateGEP(B.getIntNTy(8 * A.Scale), A.Base,
                     B.CreateSExt(First, I64));
}

/// <16 x i1>: the segment's active lanes.
Value *RegionEmitter::segmentMask(unsigned Segment) {
  Value *Bits = B.CreateTrunc(B.CreateLShr(M, uint64_t(Segment * SegmentLanes)),
                              B.getInt16Ty());
  return B.CreateBitCast(Bits,
                         FixedVectorType::get(B.getInt1Ty(), SegmentLanes));
}

Value *RegionEmitter::loadSegments(const Address &A, Type *T, Align Al,
                                   bool Same) {
  auto *VT = FixedVectorType::get(T, SegmentLanes);
  SmallVector<Value *> Parts;
  const unsigned Segments = W / SegmentLanes;
  for (unsigned S = 0; S < Segments; ++S) {
    if (!Same) {
      Parts.push_back(
          B.CreateMaskedLoad(VT, segmentPointer(A, S), Al, segmentMask(S)));
      continue;
    }
    // One element for all. A segment without active lanes reads along with
    // another: some segment has some.
    Value *P = segmentPointer(A, (S + Segments - 1) % Segments);
    for (unsigned Other = Segments - 1; Other-- > 0;) {
      const unsigned Now = (S + Other) % Segments;
      P = B.CreateSelect(B.CreateOrReduce(segmentMask(Now)),
                         segmentPointer(A, Now), P);
    }
    Parts.push_back(
        B.CreateVectorSplat(SegmentLanes, B.CreateAlignedLoad(T, P, Al)));
  }
  return concatenateVectors(B, Parts);
}

void RegionEmitter::storeSegments(const Address &A, Value *X, Align Al) {
  for (unsigned S = 0; S < W / SegmentLanes; ++S) {
    SmallVector<int> Lanes;
    for (unsigned L = 0; L < SegmentLanes; ++L)
      Lanes.push_back(S * SegmentLanes + L);
    B.CreateMaskedStore(B.CreateShuffleVector(X, Lanes), segmentPointer(A, S),
                        Al, segmentMask(S));
  }
}

/// Emits \p Fast if the lanes' addresses step by \p Bytes, else \p Slow;
/// returns the value that the one taken gave, if any.
Value *RegionEmitter::ifSteps(const Address &A, uint64_t Bytes,
                              function_ref<Value *()> Fast,
                              function_ref<Value *()> Slow) {
  auto *Together = BasicBlock::Create(Out.getContext(), "together", Fn);
  auto *Apart = BasicBlock::Create(Out.getContext(), "apart", Fn);
  auto *Join = BasicBlock::Create(Out.getContext(), "join", Fn);
  B.CreateCondBr(stepsBy(A, Bytes), Together, Apart);
  B.SetInsertPoint(Together);
  Value *X = Fast();
  B.CreateBr(Join);
  B.SetInsertPoint(Apart);
  Value *Y = Slow();
  B.CreateBr(Join);
  B.SetInsertPoint(Join);
  if (!X)
    return nullptr;
  auto *Phi = B.CreatePHI(X->getType(), 2);
  Phi->addIncoming(X, Together);
  Phi->addIncoming(Y, Apart);
  return Phi;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// Hosts gather words only. The aligned word around a byte or half-word lies in
/// the same page, so reading it cannot fault where the element would not.
Value *RegionEmitter::gatherNarrow(const Address &A, Type *T) {
  Value *Shift, *Words;
  if (A.Index && A.Scale == 1) {
    Type *IT = A.Index->getType()->getScalarType();
    Value *Base = B.CreatePtrToInt(A.Base, I64);
    Value *Low = B.CreateTrunc(B.CreateAnd(Base, B.getInt64(3)), IT);
    Value *Offset = B.CreateAdd(A.Index, splat(Low));
    Value *Aligned =
        B.CreateIntToPtr(B.CreateAnd(Base, B.getInt64(~3ull)), PtrTy);
    Shift = B.CreateZExtOrTrunc(Offset, vectorOf(I32));
    Value *Index = B.CreateAnd(Offset, splat(ConstantInt::get(IT, ~3ull)));
    Words =
        B.CreateGEP(B.getInt8Ty(), Aligned, B.CreateSExt(Index, vectorOf(I64)));
  } else {
    Value *P = B.CreatePtrToInt(pointers(A), vectorOf(I64));
    Shift = B.CreateTrunc(P, vectorOf(I32));
    Words = B.CreateIntToPtr(B.CreateAnd(P, splat(B.getInt64(~3ull))),
                             vectorOf(PtrTy));
  }
  Value *X =
      B.CreateMaskedGather(vectorOf(I32), Words, Align(4), maskVector(M));
  Shift = B.CreateShl(B.CreateAnd(Shift, splat(B.getInt32(3))),
                      splat(B.getInt32(3)));
  return B.CreateTrunc(B.CreateLShr(X, Shift), vectorOf(T));
}

Lanes RegionEmitter::loadLanes(const Address &A, Type *T, Align Al,
                               bool Volatile) {
  if (A.isUniform())
    return {true, {B.CreateAlignedLoad(T, A.Base, Al, Volatile)}};
  const uint64_t Bytes = Out.getDataLayout().getTypeStoreSize(T);
  auto Gather = [&]() -> Value * {
    if (T->isIntegerTy() && Bytes < 4 && Al.value() >= Bytes)
      return gatherNarrow(A, T);
    return B.CreateMaskedGather(vectorOf(T), pointers(A), Al, maskVector(M));
  };
  const bool Same = A.Stride == 0;
  if (!A.stepsEvenly(Bytes) && !Same)
    return {false, {Gather()}};
  // AVX2 has masked accesses for words only.
  if (!C.Options.Scatter && Bytes < 4)
    return {false, {Gather()}};
  return {false,
          {ifSteps(
              A, Same ? 0 : Bytes, [&] { return loadSegments(A, T, Al, Same); },
              Gather)}};
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
  auto Scatter = [&]() -> Value * {
    if (C.Options.Scatter) {
      B.CreateMaskedScatter(X, pointers(A), I.getAlign(), maskVector(M));
      return nullptr;
    }
    // Without a scatter instruction a loop over the set lanes beats a test of
    // each.
    Value *To = spill(pointers(A)), *From = V.Uniform ? nullptr : spill(X);
    forEachLane([&](Value *Lane) {
      B.CreateAlignedStore(From ? lanePart(From, T, Lane) : *V,
                           lanePart(To, PtrTy, Lane), I.getAlign());
    });
    return nullptr;
  };
  if (!A.stepsEvenly(Bytes)) {
    Scatter();
    return Error::success();
  }
  ifSteps(
      A, Bytes,
      [&]() -> Value * {
        storeSegments(A, X, I.getAlign());
        return nullptr;
      },
      Scatter);
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

Value *RegionEmitter::spilled(const Value *V) {
  Lanes L = get(V);
  return L.Uniform ? nullptr : spill(*L);
}

/// \p V in lane \p Lane, given what spilled() made of it.
Value *RegionEmitter::inLane(const Value *V, Value *Array, Value *Lane) {
  return Array ? lanePart(Array, laneType(V->getType()), Lane) : *get(V);
}

Value *RegionEmitter::lanePart(Value *Array, Type *T, Value *Lane) {
  if (T->isIntegerTy(1))
    return B.CreateTrunc(
        B.CreateLoad(B.getInt8Ty(), B.CreateGEP(B.getInt8Ty(), Array, Lane)),
        T);
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
  Value *Operand = Rmw ? Rmw->getValOperand() : Cas->getNewValOperand();
  Value *P = spilled(Pointer), *X = spilled(Operand);
  Value *Want = Cas ? spilled(Cas->getCompareOperand()) : nullptr;
  bool Used = !I.use_empty();
  Value *Results = Used ? spill(Constant::getNullValue(vectorOf(T))) : nullptr;
  forEachLane([&](Value *Lane) {
    Value *At = inLane(Pointer, P, Lane);
    Value *New = inLane(Operand, X, Lane);
    Value *Old;
    if (Cas) {
      Value *Expected = inLane(Cas->getCompareOperand(), Want, Lane);
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
  Value *Byte = Copy ? nullptr : spill(vec(cast<MemSetInst>(I).getValue()));
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
