//===- warpvm/emit/EmitMemory.cpp - Loads and stores over lanes -----------===//
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
// Anything without a vector form goes through memory lane by lane
// (EmitLanes.cpp); atomics are in EmitAtomics.cpp.
//
//===----------------------------------------------------------------------===//

#include "analysis/device/AddressSpace.h"
#include "warpvm/emit/Emitter.h"
#include "warpvm/emit/Stride.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace reconverge::warpvm {

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

bool isShared(const Value *P) {
  for (;;) {
    if (P->getType()->getPointerAddressSpace() == analysis::SharedSpace)
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
  const bool Small = Local ? C.Function.LocalBytes < (1 << 24) : isShared(Root);
  Lanes Base;
  if (Local && Small) {
    Value *Stack = contextField(offsetof(WarpContext, Local), PtrTy);
    Fixed += C.Kernel.LocalOffsets.lookup(Local);
    Base = {true, {Stack}};
    A.Index =
        B.CreateMul(laneIds(I32), splat(B.getInt32(C.Function.LocalBytes)));
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

/// Emits \p Fast for when \p Condition holds, \p Slow for when not; returns the
/// value that the one taken gives, if any.
Value *RegionEmitter::either(Value *Condition, function_ref<Value *()> Fast,
                             function_ref<Value *()> Slow) {
  auto *Together = BasicBlock::Create(Out.getContext(), "together", Fn);
  auto *Apart = BasicBlock::Create(Out.getContext(), "apart", Fn);
  auto *Join = BasicBlock::Create(Out.getContext(), "join", Fn);
  B.CreateCondBr(Condition, Together, Apart);
  B.SetInsertPoint(Together);
  Value *X = Fast();
  Together = B.GetInsertBlock();
  B.CreateBr(Join);
  B.SetInsertPoint(Apart);
  Value *Y = Slow();
  Apart = B.GetInsertBlock();
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
          {either(
              stepsBy(A, Same ? 0 : Bytes),
              [&] { return loadSegments(A, T, Al, Same); }, Gather)}};
}

/// Keeps the compiler from moving accesses of memory past this point. The host
/// keeps the order of loads and that of stores as it is (x86).
void RegionEmitter::compilerFence() {
  B.CreateFence(AtomicOrdering::SequentiallyConsistent,
                SyncScope::SingleThread);
}

Error RegionEmitter::emitLoad(LoadInst &I) {
  Type *T = laneType(I.getType());
  const bool Ordered = I.isVolatile() || I.isAtomic();
  if (Ordered)
    compilerFence();
  if (T->isVectorTy() || T->isIntegerTy(WideBits)) {
    IntegerType *Memory = packedType(T);
    if (!Memory)
      return refuse(I, "a load of a vector of this type");
    Address A = loadAddress(I, Memory->getBitWidth() / 8);
    Value *Packed = Memory->getBitWidth() == WideBits
                        ? loadWide(A, I.getAlign(), Ordered)
                        : *loadLanes(A, Memory, I.getAlign(), Ordered);
    define(&I, takeApart(Packed, T, A.isUniform()));
  } else if (T->isAggregateType()) {
    return refuse(I, "a load of an aggregate");
  } else {
    Type *Memory = T->isIntegerTy(1) ? B.getInt8Ty() : T;
    Address A = loadAddress(I, Out.getDataLayout().getTypeStoreSize(Memory));
    Lanes L = loadLanes(A, Memory, I.getAlign(), Ordered);
    if (Memory != T)
      L.Parts[0] = B.CreateTrunc(L.Parts[0], L.Uniform ? T : vectorOf(T));
    define(&I, L);
  }
  if (Ordered)
    compilerFence();
  return Error::success();
}

Error RegionEmitter::emitStore(StoreInst &I) {
  Type *T = laneType(I.getValueOperand()->getType());
  if (T->isAggregateType())
    return refuse(I, "a store of an aggregate");
  const bool Ordered = I.isVolatile() || I.isAtomic();
  if (Ordered)
    compilerFence();
  Lanes V = get(I.getValueOperand());
  if (T->isIntegerTy(1)) {
    T = B.getInt8Ty();
    V.Parts[0] = B.CreateZExt(*V, V.Uniform ? T : vectorOf(T));
  }
  IntegerType *Packed = nullptr;
  if (T->isVectorTy() || T->isIntegerTy(WideBits)) {
    Packed = packedType(T);
    if (!Packed)
      return refuse(I, "a store of a vector of this type");
  }
  Address A =
      address(I.getPointerOperand(), Out.getDataLayout().getTypeStoreSize(T));
  if (Packed && Packed->getBitWidth() == WideBits) {
    if (V.Uniform && !A.isUniform())
      V = asVectors(V);
    storeWide(A, pack(V, T, B.getInt32Ty()), I.getAlign(), Ordered);
  } else {
    if (Packed) {
      V.Parts = {pack(V, T, Packed)};
      T = Packed;
    }
    storeLanes(A, V, T, I.getAlign(), Ordered);
  }
  // What follows a sequentially consistent store must not overtake it.
  if (I.getOrdering() == AtomicOrdering::SequentiallyConsistent)
    B.CreateFence(AtomicOrdering::SequentiallyConsistent);
  else if (Ordered)
    compilerFence();
  return Error::success();
}

void RegionEmitter::storeLanes(const Address &A, Lanes V, Type *T, Align Al,
                               bool Volatile) {
  const bool Shuffled = C.Options.Shuffled;
  if (A.isUniform() && !(Shuffled && !V.Uniform)) {
    // One lane wins: the highest.
    Value *X = *V;
    if (!V.Uniform) {
      Value *Lead = B.CreateBinaryIntrinsic(Intrinsic::ctlz, M, B.getTrue());
      Value *Lane = B.CreateSub(ConstantInt::get(MaskTy, W - 1), Lead);
      X = B.CreateExtractElement(*V, Lane);
    }
    B.CreateAlignedStore(X, A.Base, Al, Volatile);
    return;
  }
  Value *X = V.Uniform ? splat(*V) : *V;
  const uint64_t Bytes = Out.getDataLayout().getTypeStoreSize(T);
  auto Scatter = [&]() -> Value * {
    if (C.Options.Scatter && !Shuffled) {
      B.CreateMaskedScatter(X, pointers(A), Al, maskVector(M));
      return nullptr;
    }
    // Without a scatter instruction a loop over the set lanes beats a test of
    // each.
    Value *To = spill(pointers(A)), *From = V.Uniform ? nullptr : spill(X);
    forEachLane([&](Value *Lane) {
      B.CreateAlignedStore(From ? lanePart(From, T, Lane) : *V,
                           lanePart(To, PtrTy, Lane), Al);
    });
    return nullptr;
  };
  // Segments may overlap one another: where order matters, lane by lane.
  if (!A.stepsEvenly(Bytes) || Shuffled) {
    Scatter();
    return;
  }
  either(
      stepsBy(A, Bytes),
      [&]() -> Value * {
        storeSegments(A, X, Al);
        return nullptr;
      },
      Scatter);
}

} // namespace reconverge::warpvm
