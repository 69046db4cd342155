//===- warpvm/emit/EmitArithmetic.cpp - Instructions without effects ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every operation without effects runs for all lanes, idle ones included; their
// results are garbage that nobody reads. Two operations could fault on garbage
// and are made safe: integer division (idle lanes divide by one) and conversion
// to integer, which saturates as on the GPU.
//
//===----------------------------------------------------------------------===//

#include "analysis/device/AddressSpace.h"
#include "warpvm/emit/Emitter.h"
#include "warpvm/emit/Math.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace reconverge::warpvm {

Error RegionEmitter::emitInstruction(Instruction &I) {
  B.SetCurrentDebugLocation(DebugLoc());
  if (C.Options.Check)
    emitChecks(I);
  if (C.Options.Races)
    emitRaces(I);
  if (C.Options.Init)
    emitWrites(I);
  if (C.Options.Sync && isCollective(I))
    emitAgreement(cast<IntrinsicInst>(I));
  if (C.Options.Accesses)
    emitAccessCounts(I);
  if (auto *L = dyn_cast<LoadInst>(&I))
    return emitLoad(*L);
  if (auto *S = dyn_cast<StoreInst>(&I))
    return emitStore(*S);
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(&I))
    return emitAtomic(I);
  if (auto *Fence = dyn_cast<FenceInst>(&I)) {
    B.CreateFence(Fence->getOrdering(),
                  Fence->getSyncScopeID() == SyncScope::SingleThread
                      ? SyncScope::SingleThread
                      : SyncScope::System);
    return Error::success();
  }
  if (auto *Call = dyn_cast<CallInst>(&I))
    return emitCall(*Call);
  if (isFolded(I) || isa<AllocaInst>(&I))
    return Error::success(); // computed where it is used
  return emitPlain(I);
}

/// Integer division, lane by lane where the host has no vector form. \p A and
/// \p D are scalars or vectors; a divisor that could fault is replaced by one.
Value *RegionEmitter::emitDivision(unsigned Opcode, Value *A, Value *D,
                                   const Value *Divisor) {
  bool Signed = Opcode == Instruction::SDiv || Opcode == Instruction::SRem;
  auto Op = Instruction::BinaryOps(Opcode);
  if (auto *K = dyn_cast<ConstantInt>(Divisor);
      K && !K->isZero() && !K->isMinusOne())
    return B.CreateBinOp(Op, A, D);
  auto *T = D->getType();
  Value *Bad = B.CreateIsNull(D);
  if (T->isVectorTy())
    Bad = B.CreateOr(Bad, B.CreateNot(maskVector(M)));
  if (Signed) {
    unsigned Bits = T->getScalarSizeInBits();
    Value *Min = ConstantInt::get(T, APInt::getSignedMinValue(Bits));
    Bad = B.CreateOr(
        Bad, B.CreateAnd(B.CreateICmpEQ(A, Min),
                         B.CreateICmpEQ(D, Constant::getAllOnesValue(T))));
  }
  D = B.CreateSelect(B.CreateFreeze(Bad), ConstantInt::get(T, 1),
                     B.CreateFreeze(D));
  if (!T->isVectorTy() || T->getScalarSizeInBits() > 32)
    return B.CreateBinOp(Op, A, D);
  // Up to 32 bits the quotient of doubles, cut off, is exact: its relative
  // error of 2^-53 is less than the distance of a/d to the next integer, 1/d,
  // over a/d.
  Type *F64 = VectorType::get(B.getDoubleTy(), cast<VectorType>(T));
  A = B.CreateFreeze(A);
  Value *Q =
      B.CreateFDiv(Signed ? B.CreateSIToFP(A, F64) : B.CreateUIToFP(A, F64),
                   Signed ? B.CreateSIToFP(D, F64) : B.CreateUIToFP(D, F64));
  Value *N = Signed ? B.CreateFPToSI(Q, T) : B.CreateFPToUI(Q, T);
  if (Opcode == Instruction::SDiv || Opcode == Instruction::UDiv)
    return N;
  return B.CreateSub(A, B.CreateMul(N, D));
}

/// Byte address of \p G as a vector, or a scalar if all operands are uniform.
Value *RegionEmitter::emitGep(const GEPOperator &G) {
  const DataLayout &DL = Out.getDataLayout();
  unsigned Width = 64;
  MapVector<Value *, APInt> Variable;
  APInt Fixed(Width, 0);
  if (!G.collectOffset(DL, Width, Variable, Fixed))
    llvm_unreachable("an address over scalable types");
  Lanes Base = get(G.getPointerOperand());
  Value *P = *Base;
  bool Uniform = Base.Uniform;
  if (!Fixed.isZero())
    P = Uniform ? B.CreateGEP(B.getInt8Ty(), P, B.getInt(Fixed))
                : B.CreateGEP(B.getInt8Ty(), P, splat(B.getInt(Fixed)));
  for (auto &[V, Scale] : Variable) {
    Lanes Index = get(V);
    Value *X = Index.Uniform ? B.CreateSExtOrTrunc(*Index, I64)
                             : B.CreateSExtOrTrunc(*Index, vectorOf(I64));
    Type *Step = B.getInt8Ty();
    uint64_t S = Scale.getZExtValue();
    if (S == 2 || S == 4 || S == 8)
      Step = B.getIntNTy(8 * S);
    else if (S != 1)
      X = B.CreateMul(X, Index.Uniform ? (Value *)B.getInt(Scale)
                                       : splat(B.getInt(Scale)));
    if (!Uniform && Index.Uniform)
      X = splat(X);
    P = B.CreateGEP(Step, P, X);
    Uniform &= Index.Uniform;
  }
  return P;
}

//===----------------------------------------------------------------------===//
// Parts of aggregates and vectors
//===----------------------------------------------------------------------===//

/// What \p Indices name in \p Whole: its first scalar leaf and its type.
static std::pair<unsigned, Type *> partOf(Type *Whole,
                                          ArrayRef<unsigned> Indices) {
  unsigned First = 0;
  auto Element = [&](unsigned J) {
    return isa<StructType>(Whole) ? Whole->getStructElementType(J)
                                  : Whole->getArrayElementType();
  };
  for (unsigned Index : Indices) {
    for (unsigned J = 0; J < Index; ++J)
      First += leavesOf(Element(J)).size();
    Whole = Element(Index);
  }
  return {First, Whole};
}

/// Takes a part out of a value or puts one in; false if \p I does not. Vectors
/// are only what memory, calls and parameters hold as such.
bool RegionEmitter::emitPart(Instruction &I) {
  if (auto *EV = dyn_cast<ExtractValueInst>(&I)) {
    Lanes Whole = get(EV->getAggregateOperand());
    auto [First, T] =
        partOf(EV->getAggregateOperand()->getType(), EV->getIndices());
    Lanes L{Whole.Uniform, {}};
    for (unsigned J = 0, N = leavesOf(T).size(); J < N; ++J)
      L.Parts.push_back(Whole.Parts[First + J]);
    define(&I, L);
    return true;
  }
  if (auto *IV = dyn_cast<InsertValueInst>(&I)) {
    Lanes Whole = get(IV->getAggregateOperand());
    Lanes Part = get(IV->getInsertedValueOperand());
    if (Whole.Uniform != Part.Uniform)
      for (Value *&V : Whole.Uniform ? Whole.Parts : Part.Parts)
        V = splat(V);
    Whole.Uniform &= Part.Uniform;
    const unsigned First = partOf(IV->getType(), IV->getIndices()).first;
    for (auto [J, V] : enumerate(Part.Parts))
      Whole.Parts[First + J] = V;
    define(&I, Whole);
    return true;
  }
  if (auto *EE = dyn_cast<ExtractElementInst>(&I))
    if (auto *K = dyn_cast<ConstantInt>(EE->getIndexOperand())) {
      Lanes Whole = get(EE->getVectorOperand());
      define(&I, {Whole.Uniform, {Whole.Parts[K->getZExtValue()]}});
      return true;
    }
  if (auto *IE = dyn_cast<InsertElementInst>(&I))
    if (auto *K = dyn_cast<ConstantInt>(IE->getOperand(2))) {
      Lanes Whole = get(IE->getOperand(0)), Part = get(IE->getOperand(1));
      if (Whole.Uniform != Part.Uniform)
        (Whole.Uniform ? Whole : Part) =
            asVectors(Whole.Uniform ? Whole : Part);
      Whole.Parts[K->getZExtValue()] = *Part;
      define(&I, Whole);
      return true;
    }
  return false;
}

//===----------------------------------------------------------------------===//
// The same operation on scalars if all operands are, else on vectors
//===----------------------------------------------------------------------===//

Value *RegionEmitter::operand(const Operands &O, unsigned J) {
  return O.Uniform || !O.Each[J].Uniform ? *O.Each[J] : splat(*O.Each[J]);
}

Lanes RegionEmitter::emitSelect(SelectInst &I, const Operands &O) {
  if (!I.getType()->isAggregateType()) {
    Value *Cond = *O.Each[0]; // one bit for all lanes will do
    return {O.Uniform, {B.CreateSelect(Cond, operand(O, 1), operand(O, 2))}};
  }
  Lanes L{O.Uniform, {}};
  for (unsigned P = 0; P < O.Each[1].Parts.size(); ++P) {
    auto Part = [&](const Lanes &From) {
      return O.Uniform || !From.Uniform ? From.Parts[P] : splat(From.Parts[P]);
    };
    L.Parts.push_back(
        B.CreateSelect(operand(O, 0), Part(O.Each[1]), Part(O.Each[2])));
  }
  return L;
}

Value *RegionEmitter::emitBinary(BinaryOperator &I, const Operands &O) {
  switch (I.getOpcode()) {
  case Instruction::SDiv:
  case Instruction::UDiv:
  case Instruction::SRem:
  case Instruction::URem:
    return emitDivision(I.getOpcode(), operand(O, 0), operand(O, 1),
                        I.getOperand(1));
  default:
    break;
  }
  Value *X = B.CreateBinOp(I.getOpcode(), operand(O, 0), operand(O, 1));
  if (auto *New = dyn_cast<Instruction>(X); New && !isa<FPMathOperator>(New))
    New->copyIRFlags(&I);
  return X;
}

/// The number of a shared address counts from the block's own memory: it fits
/// the 32 bits in which programs keep it for inline PTX, with a sign where it is
/// another block's of the cluster.
Value *RegionEmitter::emitCast(CastInst &I, Value *X, bool Uniform) {
  Type *T = Uniform ? laneType(I.getType()) : vectorOf(I.getType());
  auto SharedBase = [&] {
    return contextField(offsetof(WarpContext, Shared), PtrTy);
  };
  auto IsShared = [](Type *Pointer) {
    return Pointer->getPointerAddressSpace() == analysis::SharedSpace;
  };
  switch (I.getOpcode()) {
  case Instruction::AddrSpaceCast:
    return X;
  case Instruction::FPToSI:
  case Instruction::FPToUI:
    return convertToInteger(B, X, T, I.getOpcode() == Instruction::FPToSI);
  case Instruction::BitCast:
    return I.getSrcTy()->isPointerTy() ? X : B.CreateBitCast(X, T);
  case Instruction::PtrToInt: {
    if (!IsShared(I.getSrcTy()))
      return B.CreatePtrToInt(X, T);
    Type *Wide = Uniform ? I64 : vectorOf(I64);
    Value *Base = B.CreatePtrToInt(SharedBase(), I64);
    X = B.CreateSub(B.CreatePtrToInt(X, Wide), Uniform ? Base : splat(Base));
    return B.CreateZExtOrTrunc(B.CreateTrunc(X, Uniform ? I32 : vectorOf(I32)),
                               T);
  }
  case Instruction::IntToPtr:
    if (!IsShared(I.getDestTy()))
      return B.CreateIntToPtr(X, T);
    X = B.CreateZExtOrTrunc(X, Uniform ? I32 : vectorOf(I32));
    return B.CreateGEP(B.getInt8Ty(), SharedBase(),
                       B.CreateSExt(X, Uniform ? I64 : vectorOf(I64)));
  default:
    return B.CreateCast(I.getOpcode(), X, T);
  }
}

Error RegionEmitter::emitPlain(Instruction &I) {
  if (emitPart(I))
    return Error::success();
  if (auto *G = dyn_cast<GEPOperator>(&I)) {
    Value *P = emitGep(*G);
    define(&I, {!P->getType()->isVectorTy(), {P}});
    return Error::success();
  }
  if (isa<FreezeInst>(I)) {
    Lanes L = get(I.getOperand(0));
    for (Value *&Part : L.Parts)
      Part = B.CreateFreeze(Part);
    define(&I, L);
    return Error::success();
  }
  if (I.getType()->isVectorTy() ||
      any_of(I.operands(), [](Value *V) { return V->getType()->isVectorTy(); }))
    return refuse(I, Twine("a vector operation (") + I.getOpcodeName() + ")");

  Operands O;
  for (Value *Op : I.operands()) {
    O.Each.push_back(get(Op));
    O.Uniform &= O.Each.back().Uniform;
  }
  if (auto *S = dyn_cast<SelectInst>(&I)) {
    define(&I, emitSelect(*S, O));
    return Error::success();
  }
  Value *X = nullptr;
  if (auto *Bin = dyn_cast<BinaryOperator>(&I))
    X = emitBinary(*Bin, O);
  else if (auto *Cmp = dyn_cast<CmpInst>(&I))
    X = B.CreateCmp(Cmp->getPredicate(), operand(O, 0), operand(O, 1));
  else if (isa<UnaryOperator>(I))
    X = B.CreateFNeg(operand(O, 0));
  else if (auto *Cast = dyn_cast<CastInst>(&I))
    X = emitCast(*Cast, operand(O, 0), O.Uniform);
  else
    return refuse(I, Twine("instruction '") + I.getOpcodeName() + "'");
  define(&I, {O.Uniform, {X}});
  return Error::success();
}

} // namespace reconverge::warpvm
