//===- warpvm/emit/EmitValues.cpp - Where values live, and arithmetic -----===//
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
// Every operation without effects runs for all lanes, idle ones included; their
// results are garbage that nobody reads. Two operations could fault on garbage
// and are made safe: integer division (idle lanes divide by one) and conversion
// to integer, which saturates as on the GPU.
//
//===----------------------------------------------------------------------===//

#include "analysis/device/AddressSpace.h"
#include "analysis/device/Intrinsics.h"
#include "core/Error.h"
#include "warpvm/emit/Emitter.h"
#include "warpvm/emit/Math.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"

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

//===----------------------------------------------------------------------===//
// Instructions without effects
//===----------------------------------------------------------------------===//

Error RegionEmitter::emitInstruction(Instruction &I) {
  B.SetCurrentDebugLocation(DebugLoc());
  if (C.Options.Check)
    emitChecks(I);
  if (C.Options.Races)
    emitRaces(I);
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

Error RegionEmitter::emitPlain(Instruction &I) {
  if (auto *EV = dyn_cast<ExtractValueInst>(&I)) {
    Lanes Whole = get(EV->getAggregateOperand());
    Type *T = EV->getAggregateOperand()->getType();
    unsigned First = 0;
    for (unsigned Index : EV->indices()) {
      for (unsigned J = 0; J < Index; ++J)
        First += leavesOf(isa<StructType>(T) ? T->getStructElementType(J)
                                             : T->getArrayElementType())
                     .size();
      T = isa<StructType>(T) ? T->getStructElementType(Index)
                             : T->getArrayElementType();
    }
    Lanes L{Whole.Uniform, {}};
    for (unsigned J = 0, N = leavesOf(T).size(); J < N; ++J)
      L.Parts.push_back(Whole.Parts[First + J]);
    define(&I, L);
    return Error::success();
  }
  if (auto *IV = dyn_cast<InsertValueInst>(&I)) {
    Lanes Whole = get(IV->getAggregateOperand());
    Lanes Part = get(IV->getInsertedValueOperand());
    if (Whole.Uniform != Part.Uniform)
      for (Value *&V : Whole.Uniform ? Whole.Parts : Part.Parts)
        V = splat(V);
    Whole.Uniform &= Part.Uniform;
    Type *T = IV->getType();
    unsigned First = 0;
    for (unsigned Index : IV->indices()) {
      for (unsigned J = 0; J < Index; ++J)
        First += leavesOf(isa<StructType>(T) ? T->getStructElementType(J)
                                             : T->getArrayElementType())
                     .size();
      T = isa<StructType>(T) ? T->getStructElementType(Index)
                             : T->getArrayElementType();
    }
    for (auto [J, V] : enumerate(Part.Parts))
      Whole.Parts[First + J] = V;
    define(&I, Whole);
    return Error::success();
  }
  // Elements of what memory, calls and parameters hold as a vector.
  if (auto *EE = dyn_cast<ExtractElementInst>(&I))
    if (auto *K = dyn_cast<ConstantInt>(EE->getIndexOperand())) {
      Lanes Whole = get(EE->getVectorOperand());
      define(&I, {Whole.Uniform, {Whole.Parts[K->getZExtValue()]}});
      return Error::success();
    }
  if (auto *IE = dyn_cast<InsertElementInst>(&I))
    if (auto *K = dyn_cast<ConstantInt>(IE->getOperand(2))) {
      Lanes Whole = get(IE->getOperand(0)), Part = get(IE->getOperand(1));
      if (Whole.Uniform != Part.Uniform)
        (Whole.Uniform ? Whole : Part) =
            asVectors(Whole.Uniform ? Whole : Part);
      Whole.Parts[K->getZExtValue()] = *Part;
      define(&I, Whole);
      return Error::success();
    }
  if (auto *G = dyn_cast<GEPOperator>(&I)) {
    Value *P = emitGep(*G);
    define(&I, {!P->getType()->isVectorTy(), {P}});
    return Error::success();
  }

  if (I.getType()->isVectorTy() ||
      any_of(I.operands(), [](Value *V) { return V->getType()->isVectorTy(); }))
    return refuse(I, Twine("a vector operation (") + I.getOpcodeName() + ")");

  // The same operation on scalars if all operands are, else on vectors.
  SmallVector<Lanes, 4> Ops;
  bool Uniform = true;
  for (Value *Op : I.operands()) {
    Ops.push_back(get(Op));
    Uniform &= Ops.back().Uniform;
  }
  auto Op = [&](unsigned J) {
    return Uniform || !Ops[J].Uniform ? *Ops[J] : splat(*Ops[J]);
  };
  auto Ty = [&] {
    return Uniform ? laneType(I.getType()) : vectorOf(I.getType());
  };

  if (auto *S = dyn_cast<SelectInst>(&I)) {
    if (S->getType()->isAggregateType()) {
      Lanes L{Uniform, {}};
      for (unsigned P = 0; P < Ops[1].Parts.size(); ++P) {
        auto Part = [&](Lanes &O) {
          return Uniform || !O.Uniform ? O.Parts[P] : splat(O.Parts[P]);
        };
        L.Parts.push_back(B.CreateSelect(Op(0), Part(Ops[1]), Part(Ops[2])));
      }
      define(&I, L);
      return Error::success();
    }
    Value *Cond = Ops[0].Uniform ? *Ops[0] : Op(0);
    define(&I, {Uniform, {B.CreateSelect(Cond, Op(1), Op(2))}});
    return Error::success();
  }
  Value *X = nullptr;
  if (auto *Bin = dyn_cast<BinaryOperator>(&I)) {
    switch (Bin->getOpcode()) {
    case Instruction::SDiv:
    case Instruction::UDiv:
    case Instruction::SRem:
    case Instruction::URem:
      X = emitDivision(Bin->getOpcode(), Op(0), Op(1), Bin->getOperand(1));
      break;
    default:
      X = B.CreateBinOp(Bin->getOpcode(), Op(0), Op(1));
      if (auto *New = dyn_cast<Instruction>(X);
          New && !isa<FPMathOperator>(New))
        New->copyIRFlags(Bin);
    }
  } else if (auto *Cmp = dyn_cast<CmpInst>(&I)) {
    X = B.CreateCmp(Cmp->getPredicate(), Op(0), Op(1));
  } else if (isa<UnaryOperator>(I)) {
    X = B.CreateFNeg(Op(0));
  } else if (isa<FreezeInst>(I)) {
    X = B.CreateFreeze(Op(0));
  } else if (auto *Cast = dyn_cast<CastInst>(&I)) {
    Type *T = Ty();
    switch (Cast->getOpcode()) {
    case Instruction::AddrSpaceCast:
      X = Op(0);
      break;
    case Instruction::FPToSI:
    case Instruction::FPToUI:
      X = convertToInteger(B, Op(0), T,
                           Cast->getOpcode() == Instruction::FPToSI);
      break;
    case Instruction::BitCast:
      X = Cast->getSrcTy()->isPointerTy() ? Op(0) : B.CreateBitCast(Op(0), T);
      break;
    // The number of a shared address counts from the block's own memory: it
    // fits the 32 bits in which programs keep it for inline PTX.
    case Instruction::PtrToInt:
      X = Op(0);
      if (Cast->getSrcTy()->getPointerAddressSpace() == analysis::SharedSpace) {
        Type *I = Uniform ? I64 : vectorOf(I64);
        Value *Base = B.CreatePtrToInt(
            contextField(offsetof(WarpContext, Shared), PtrTy), I64);
        X = B.CreateSub(B.CreatePtrToInt(X, I), Uniform ? Base : splat(Base));
        X = B.CreateZExtOrTrunc(X, T);
      } else {
        X = B.CreatePtrToInt(X, T);
      }
      break;
    case Instruction::IntToPtr:
      X = Op(0);
      if (Cast->getDestTy()->getPointerAddressSpace() == analysis::SharedSpace)
        X = B.CreateGEP(B.getInt8Ty(),
                        contextField(offsetof(WarpContext, Shared), PtrTy),
                        B.CreateZExtOrTrunc(X, Uniform ? I64 : vectorOf(I64)));
      else
        X = B.CreateIntToPtr(X, T);
      break;
    default:
      X = B.CreateCast(Cast->getOpcode(), Op(0), T);
    }
  }
  if (!X)
    return refuse(I, Twine("instruction '") + I.getOpcodeName() + "'");
  define(&I, {Uniform, {X}});
  return Error::success();
}

} // namespace reconverge::warpvm
