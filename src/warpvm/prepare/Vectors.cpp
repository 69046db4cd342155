//===- warpvm/prepare/Vectors.cpp - Nothing but scalars in a lane ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The VM's vectors run over lanes, so a lane's own vectors (pairs of halves,
// what a 16-byte load brings) must go. LLVM's Scalarizer dissolves whatever
// works element by element. These do not:
//
//   bitcast <2 x half> %v to i32     the elements' bits, shifted into place
//   bitcast i32 %x to <2 x half>     and out of it; likewise from <4 x i8> to
//                                    <2 x i16>, by way of an integer
//   llvm.nvvm.ex2.approx.f16x2       two of llvm.nvvm.ex2.approx.f16
//   llvm.vector.reduce.add           a chain, in the order of the elements
//   atomicrmw fadd <2 x half>        one each: PTX promises no more than that
//   phi { <2 x half>, ... }          one each: fragments of matrices
//   load <8 x float>                 one each: no GPU makes it whole. Up to 16
//                                    bytes stay one access (EmitWide.cpp)
//
// Here they become operations on elements, tied to the rest by insertelement
// and extractelement with constant indices, which the Scalarizer removes.
// Element 0 is the lowest in an integer: PTX and our hosts are little-endian.
//
//===----------------------------------------------------------------------===//

#include "warpvm/prepare/Vectors.h"

#include "warpvm/prepare/AccessNumbers.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace reconverge::warpvm {

/// The bits of \p Vector as one integer.
static Value *packBits(IRBuilder<> &B, Value *Vector) {
  auto *T = cast<FixedVectorType>(Vector->getType());
  const unsigned Bits = T->getScalarSizeInBits();
  IntegerType *Part = B.getIntNTy(Bits);
  IntegerType *Whole = B.getIntNTy(Bits * T->getNumElements());
  Value *X = nullptr;
  for (unsigned I = 0; I < T->getNumElements(); ++I) {
    Value *Element = B.CreateExtractElement(Vector, I);
    Element = B.CreateZExt(B.CreateBitCast(Element, Part), Whole);
    X = X ? B.CreateOr(X, B.CreateShl(Element, uint64_t(I) * Bits)) : Element;
  }
  return X;
}

/// The vector of type \p T whose bits are the integer \p X.
static Value *unpackBits(IRBuilder<> &B, Value *X, FixedVectorType *T) {
  const unsigned Bits = T->getScalarSizeInBits();
  Value *Vector = PoisonValue::get(T);
  for (unsigned I = 0; I < T->getNumElements(); ++I) {
    Value *Element =
        B.CreateTrunc(B.CreateLShr(X, uint64_t(I) * Bits), B.getIntNTy(Bits));
    Vector = B.CreateInsertElement(
        Vector, B.CreateBitCast(Element, T->getElementType()), I);
  }
  return Vector;
}

static Value *expandBitCast(IRBuilder<> &B, BitCastInst &Cast) {
  auto *From = dyn_cast<FixedVectorType>(Cast.getSrcTy());
  auto *To = dyn_cast<FixedVectorType>(Cast.getDestTy());
  if ((!From && !To) ||
      (From && To && From->getNumElements() == To->getNumElements()))
    return nullptr; // the Scalarizer's
  Value *X = Cast.getOperand(0);
  if (From)
    X = packBits(B, X);
  else
    X = B.CreateBitCast(X, B.getIntNTy(X->getType()->getScalarSizeInBits()));
  return To ? unpackBits(B, X, To) : B.CreateBitCast(X, Cast.getDestTy());
}

/// \p Scalar on each element of the call's operands, all of them vectors.
static Value *expandPair(IRBuilder<> &B, IntrinsicInst &Call,
                         Intrinsic::ID Scalar) {
  auto *T = cast<FixedVectorType>(Call.getType());
  Value *Result = PoisonValue::get(T);
  for (unsigned I = 0; I < T->getNumElements(); ++I) {
    SmallVector<Value *, 3> Operands;
    for (Value *Operand : Call.args())
      Operands.push_back(B.CreateExtractElement(Operand, I));
    Result = B.CreateInsertElement(
        Result, B.CreateIntrinsic(T->getElementType(), Scalar, Operands), I);
  }
  return Result;
}

static Value *expandReduction(IRBuilder<> &B, IntrinsicInst &Call) {
  const Intrinsic::ID Kind = Call.getIntrinsicID();
  const bool Ordered = Kind == Intrinsic::vector_reduce_fadd ||
                       Kind == Intrinsic::vector_reduce_fmul;
  Value *Vector = Call.getArgOperand(Ordered ? 1 : 0);
  Value *Sum = Ordered ? Call.getArgOperand(0) : nullptr;
  auto Combine = [&](Value *X) -> Value * {
    switch (Kind) {
    case Intrinsic::vector_reduce_add:
      return B.CreateAdd(Sum, X);
    case Intrinsic::vector_reduce_mul:
      return B.CreateMul(Sum, X);
    case Intrinsic::vector_reduce_and:
      return B.CreateAnd(Sum, X);
    case Intrinsic::vector_reduce_or:
      return B.CreateOr(Sum, X);
    case Intrinsic::vector_reduce_xor:
      return B.CreateXor(Sum, X);
    case Intrinsic::vector_reduce_fadd:
      return B.CreateFAdd(Sum, X);
    case Intrinsic::vector_reduce_fmul:
      return B.CreateFMul(Sum, X);
    case Intrinsic::vector_reduce_smin:
      return B.CreateBinaryIntrinsic(Intrinsic::smin, Sum, X);
    case Intrinsic::vector_reduce_smax:
      return B.CreateBinaryIntrinsic(Intrinsic::smax, Sum, X);
    case Intrinsic::vector_reduce_umin:
      return B.CreateBinaryIntrinsic(Intrinsic::umin, Sum, X);
    case Intrinsic::vector_reduce_umax:
      return B.CreateBinaryIntrinsic(Intrinsic::umax, Sum, X);
    case Intrinsic::vector_reduce_fmin:
      return B.CreateMinNum(Sum, X);
    case Intrinsic::vector_reduce_fmax:
      return B.CreateMaxNum(Sum, X);
    default:
      return nullptr;
    }
  };
  const unsigned N = cast<FixedVectorType>(Vector->getType())->getNumElements();
  for (unsigned I = 0; I < N; ++I) {
    Value *X = B.CreateExtractElement(Vector, I);
    Sum = Sum ? Combine(X) : X;
  }
  return Sum;
}

static Value *expandIntrinsic(IRBuilder<> &B, IntrinsicInst &Call) {
  switch (Call.getIntrinsicID()) {
  case Intrinsic::nvvm_ex2_approx_f16x2:
    return expandPair(B, Call, Intrinsic::nvvm_ex2_approx_f16);
  case Intrinsic::vector_reduce_add:
  case Intrinsic::vector_reduce_mul:
  case Intrinsic::vector_reduce_and:
  case Intrinsic::vector_reduce_or:
  case Intrinsic::vector_reduce_xor:
  case Intrinsic::vector_reduce_fadd:
  case Intrinsic::vector_reduce_fmul:
  case Intrinsic::vector_reduce_smin:
  case Intrinsic::vector_reduce_smax:
  case Intrinsic::vector_reduce_umin:
  case Intrinsic::vector_reduce_umax:
  case Intrinsic::vector_reduce_fmin:
  case Intrinsic::vector_reduce_fmax:
    return expandReduction(B, Call);
  default:
    return nullptr;
  }
}

static Value *expandAtomic(IRBuilder<> &B, AtomicRMWInst &I) {
  auto *T = dyn_cast<FixedVectorType>(I.getType());
  if (!T)
    return nullptr;
  const uint64_t Bytes = T->getScalarSizeInBits() / 8;
  Value *Old = PoisonValue::get(T);
  for (unsigned N = 0; N < T->getNumElements(); ++N) {
    auto *Part = B.CreateAtomicRMW(
        I.getOperation(),
        B.CreatePtrAdd(I.getPointerOperand(), B.getInt64(N * Bytes)),
        B.CreateExtractElement(I.getValOperand(), N), Align(Bytes),
        I.getOrdering(), I.getSyncScopeID());
    Part->setVolatile(I.isVolatile());
    if (N == 0)
      takeAccessNumber(*Part, I);
    Old = B.CreateInsertElement(Old, Part, N);
  }
  return Old;
}

/// A PHI of a struct with vectors in it becomes one of each element.
static void splitStruct(PHINode &Phi) {
  auto *T = cast<StructType>(Phi.getType());
  IRBuilder<> B(Phi.getParent(), Phi.getParent()->getFirstInsertionPt());
  Value *Whole = PoisonValue::get(T);
  for (unsigned N = 0; N < T->getNumElements(); ++N) {
    auto *Part =
        PHINode::Create(T->getElementType(N), Phi.getNumIncomingValues(),
                        Phi.getName(), Phi.getIterator());
    for (unsigned I = 0; I < Phi.getNumIncomingValues(); ++I) {
      BasicBlock *From = Phi.getIncomingBlock(I);
      // One value for each edge from the same block.
      const int Before = Part->getBasicBlockIndex(From);
      IRBuilder<> Behind(From->getTerminator());
      Part->addIncoming(
          Before >= 0 ? Part->getIncomingValue(Before)
                      : Behind.CreateExtractValue(Phi.getIncomingValue(I), N),
          From);
    }
    Whole = B.CreateInsertValue(Whole, Part, N);
  }
  Phi.replaceAllUsesWith(Whole);
  Phi.eraseFromParent();
}

/// Structs that hold vectors: what is taken out of them is what was put in.
static void unpackStructs(Function &F) {
  SmallVector<PHINode *> Phis;
  for (BasicBlock &BB : F)
    for (PHINode &Phi : BB.phis())
      if (auto *T = dyn_cast<StructType>(Phi.getType()))
        if (any_of(T->elements(), [](Type *E) { return E->isVectorTy(); }))
          Phis.push_back(&Phi);
  for (PHINode *Phi : Phis)
    splitStruct(*Phi);
  SmallVector<WeakTrackingVH> Dead;
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (auto *Part = dyn_cast<ExtractValueInst>(&I))
      if (isa<InsertValueInst>(Part->getAggregateOperand()))
        if (Value *V = FindInsertedValue(Part->getAggregateOperand(),
                                         Part->getIndices())) {
          Part->replaceAllUsesWith(V);
          Dead.push_back(Part);
        }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(Dead);
}

/// A vector in memory that is not 1, 2, 4, 8 or 16 bytes, its elements whole
/// bytes.
static FixedVectorType *inPieces(const DataLayout &DL, Type *T) {
  auto *V = dyn_cast<FixedVectorType>(T);
  if (!V || !DL.typeSizeEqualsStoreSize(V->getElementType()))
    return nullptr;
  const uint64_t Bytes = DL.getTypeStoreSize(V);
  return Bytes > 16 || !isPowerOf2_64(Bytes) ? V : nullptr;
}

static Value *expandLoad(IRBuilder<> &B, LoadInst &L, FixedVectorType *T) {
  Type *Element = T->getElementType();
  const uint64_t Bytes = L.getDataLayout().getTypeStoreSize(Element);
  Value *X = PoisonValue::get(T);
  for (uint64_t I = 0; I < T->getNumElements(); ++I) {
    auto *Part = B.CreateAlignedLoad(
        Element, B.CreatePtrAdd(L.getPointerOperand(), B.getInt64(I * Bytes)),
        commonAlignment(L.getAlign(), I * Bytes), L.isVolatile());
    if (I == 0)
      takeAccessNumber(*Part, L);
    X = B.CreateInsertElement(X, Part, I);
  }
  return X;
}

static void expandStore(IRBuilder<> &B, StoreInst &S, FixedVectorType *T) {
  const uint64_t Bytes =
      S.getDataLayout().getTypeStoreSize(T->getElementType());
  for (uint64_t I = 0; I < T->getNumElements(); ++I) {
    auto *Part = B.CreateAlignedStore(
        B.CreateExtractElement(S.getValueOperand(), I),
        B.CreatePtrAdd(S.getPointerOperand(), B.getInt64(I * Bytes)),
        commonAlignment(S.getAlign(), I * Bytes), S.isVolatile());
    if (I == 0)
      takeAccessNumber(*Part, S);
  }
}

void unpackVectors(Function &F) {
  unpackStructs(F);
  const DataLayout &DL = F.getParent()->getDataLayout();
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    IRBuilder<> B(&I);
    Value *New = nullptr;
    if (auto *Cast = dyn_cast<BitCastInst>(&I))
      New = expandBitCast(B, *Cast);
    else if (auto *Call = dyn_cast<IntrinsicInst>(&I))
      New = expandIntrinsic(B, *Call);
    else if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
      New = expandAtomic(B, *Atomic);
    else if (auto *L = dyn_cast<LoadInst>(&I)) {
      if (FixedVectorType *T = inPieces(DL, L->getType()))
        New = expandLoad(B, *L, T);
    } else if (auto *S = dyn_cast<StoreInst>(&I)) {
      if (FixedVectorType *T = inPieces(DL, S->getValueOperand()->getType())) {
        expandStore(B, *S, T);
        S->eraseFromParent();
      }
    }
    if (!New)
      continue;
    I.replaceAllUsesWith(New);
    I.eraseFromParent();
  }
}

} // namespace reconverge::warpvm
