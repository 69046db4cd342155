//===- warpvm/emit/EmitCalls.cpp - Calls, of whatever kind ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a call in the kernel becomes:
//
//   device library        a function of Library.cpp, once a lane, with the
//                         context and the lane ahead of its own arguments
//   functions that stay   arguments into the frame, an edge of kind Call out of
//                         the region; the scheduler runs the callee as a warp
//                         of its own (Calls.cpp), and the block behind the call
//                         reads the result from the frame
//
// Special registers are in EmitRegisters.cpp, intrinsics that compute in
// EmitMath.cpp, collectives in EmitCollectives.cpp, images in EmitImages.cpp.
//
//===----------------------------------------------------------------------===//

#include "analysis/PtxFunctions.h"
#include "analysis/device/LibraryCalls.h"
#include "warpvm/emit/Emitter.h"
#include "warpvm/prepare/Callees.h"
#include "warpvm/prepare/DeviceIntrinsics.h"
#include "warpvm/prepare/Tiles.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::warpvm {

FunctionCallee RegionEmitter::helper(StringRef Name, Type *Result,
                                     ArrayRef<Type *> Arguments) {
  auto Callee = Out.getOrInsertFunction(
      Name, FunctionType::get(Result, Arguments, false));
  cast<Function>(Callee.getCallee())->addFnAttr(Attribute::NoUnwind);
  return Callee;
}

//===----------------------------------------------------------------------===//
// The device library
//===----------------------------------------------------------------------===//

/// Calls \p Symbol for each lane, with the context and the lane ahead of the
/// call's own arguments.
void RegionEmitter::emitLaneCalls(CallInst &I, StringRef Symbol) {
  Type *T = I.getType()->isVoidTy() ? I.getType() : laneType(I.getType());
  const bool Answers = T->isIntegerTy(1);
  if (Answers)
    T = B.getInt8Ty();
  SmallVector<Type *> Types{PtrTy, I64};
  SmallVector<Value *> Arrays;
  for (Value *Arg : I.args()) {
    Types.push_back(laneType(Arg->getType()));
    Arrays.push_back(spilled(Arg));
  }
  FunctionCallee Callee = helper(Symbol, T, Types);
  Value *Results =
      T->isVoidTy() ? nullptr : spill(Constant::getNullValue(vectorOf(T)));
  forEachLane([&](Value *Lane) {
    SmallVector<Value *> Args{Ctx, Lane};
    for (auto [Arg, Array] : zip(I.args(), Arrays))
      Args.push_back(inLane(Arg, Array, Lane));
    Value *X = B.CreateCall(Callee, Args);
    if (Results)
      B.CreateStore(X, B.CreateGEP(T, Results, Lane));
  });
  if (!Results)
    return;
  Value *X = B.CreateAlignedLoad(vectorOf(T), Results, Align(64));
  define(&I, {false, {Answers ? B.CreateIsNotNull(X) : X}});
}

Error RegionEmitter::emitLibraryCall(CallInst &I, StringRef Name) {
  if (std::string Symbol = laneFunction(Name); !Symbol.empty()) {
    emitLaneCalls(I, Symbol);
    return Error::success();
  }
  if (std::optional<uint64_t> Form = tileProduct(Name)) {
    emitTileProduct(I, *Form);
    return Error::success();
  }
  if (analysis::libraryCall(Name) == analysis::LibraryCall::Assert) {
    Value *Args[4];
    for (unsigned A = 0; A < 4; ++A)
      Args[A] = scalar(I.getArgOperand(A));
    B.CreateCall(
        helper("rcvm_assert", B.getVoidTy(),
               {PtrTy, I64, PtrTy, PtrTy, I32, PtrTy}),
        {Ctx, B.CreateZExt(M, I64), Args[0], Args[1], Args[2], Args[3]});
    return Error::success();
  }
  if (Name == analysis::NoFunction) {
    B.CreateCall(
        helper("rcvm_no_function", B.getVoidTy(), {PtrTy, I64, PtrTy, PtrTy}),
        {Ctx, B.CreateZExt(M, I64), spill(vec(I.getArgOperand(0))),
         faultSite(I)});
    return Error::success();
  }
  if (Name == ExitName) {
    Value *P = B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Ctx,
                                            offsetof(WarpContext, Ended));
    B.CreateStore(B.CreateOr(B.CreateLoad(I64, P), B.CreateZExt(M, I64)), P);
    return Error::success();
  }
  if (Name == analysis::BulkPass) {
    B.CreateCall(helper("rcvm_bulk_pass", B.getVoidTy(), {PtrTy, I64, PtrTy}),
                 {Ctx, B.CreateZExt(M, I64), faultSite(I)});
    return Error::success();
  }
  if (Name == analysis::NamedBarrierArrive) {
    Value *Named = B.CreateOr(
        B.CreateAnd(vec(I.getArgOperand(0)),
                    splat(B.getInt32(NumBarriers - 1))),
        B.CreateMul(vec(I.getArgOperand(1)), splat(B.getInt32(NumBarriers))));
    B.CreateCall(helper("rcvm_arrive", B.getVoidTy(), {PtrTy, I64, PtrTy}),
                 {Ctx, B.CreateZExt(M, I64), spill(Named)});
    return Error::success();
  }
  if (Name == BarrierResultName) {
    Value *P = B.CreateConstInBoundsGEP1_64(
        B.getInt8Ty(), Ctx, offsetof(WarpContext, BarrierResult));
    define(&I, {true, {B.CreateTrunc(B.CreateLoad(I64, P), I32)}});
    return Error::success();
  }
  if (Name == analysis::DynamicSharedSize ||
      Name == analysis::TotalSharedSize) {
    Value *Bytes = contextField(offsetof(WarpContext, DynamicSharedBytes), I32);
    if (Name == analysis::TotalSharedSize)
      Bytes = B.CreateAdd(
          Bytes, contextField(offsetof(WarpContext, StaticSharedBytes), I32));
    define(&I, {true, {Bytes}});
    return Error::success();
  }
  return refuse(I, "a call of '" + Name + "'");
}

//===----------------------------------------------------------------------===//
// Calls that the scheduler carries out
//===----------------------------------------------------------------------===//

/// The call itself is the edge out of this block: it leaves the arguments in
/// the frame, a pointer with the functions to call.
void RegionEmitter::emitCallSite(CallInst &I) {
  const FrameLayout::Call &At = C.Frame.Calls.find(&I)->second;
  auto Store = [&](uint32_t Offset, Value *X) {
    storeLanesAt(B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), FramePtr, Offset),
                 X, M);
  };
  auto Layout = CallLayout::arguments(*I.getFunctionType(),
                                      C.Kernel.M->getDataLayout(), W);
  unsigned Part = 0;
  for (Value *Argument : I.args()) {
    Lanes L = asVectors(get(Argument));
    for (Value *X : L.Parts)
      Store(At.Arguments + Layout.Offsets[Part++], X);
  }
  if (!I.getCalledFunction())
    Store(At.Target, vec(I.getCalledOperand()));
}

/// What the call before this block gave.
void RegionEmitter::emitResult(CallInst &I, const CallBase &Call) {
  auto Layout = CallLayout::result(*Call.getFunctionType(),
                                   C.Kernel.M->getDataLayout(), W);
  Lanes L;
  for (auto [T, Offset] : zip(Layout.Parts, Layout.Offsets))
    L.Parts.push_back(
        loadLanesAt(B.CreateConstInBoundsGEP1_64(
                        B.getInt8Ty(), FramePtr,
                        C.Frame.Calls.find(&Call)->second.Result + Offset),
                    laneType(T)));
  define(&I, L);
}

void RegionEmitter::emitReturn(ReturnInst &I) {
  if (C.isKernel() || !I.getReturnValue())
    return;
  auto Layout = CallLayout::result(*C.Function.F->getFunctionType(),
                                   C.Kernel.M->getDataLayout(), W);
  Value *Into = contextField(offsetof(WarpContext, Result), PtrTy);
  Lanes L = asVectors(get(I.getReturnValue()));
  for (auto [X, Offset] : zip(L.Parts, Layout.Offsets))
    storeLanesAt(B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Into, Offset), X,
                 M);
}

/// An argument of a function that is no kernel; loaded on the region's entry.
Lanes RegionEmitter::argument(const Argument &A) {
  Lanes &In = Incoming[&A];
  if (!In.Parts.empty())
    return In;
  IRBuilder<>::InsertPointGuard Guard(B);
  auto Layout = CallLayout::arguments(*C.Function.F->getFunctionType(),
                                      C.Kernel.M->getDataLayout(), W);
  Value *From = contextField(offsetof(WarpContext, Arguments), PtrTy);
  B.SetInsertPoint(EntryEnd);
  const unsigned First = Layout.First[A.getArgNo()];
  for (unsigned P = 0, N = leavesOf(A.getType()).size(); P < N; ++P)
    In.Parts.push_back(
        loadLanesAt(B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), From,
                                                 Layout.Offsets[First + P]),
                    laneType(Layout.Parts[First + P])));
  return In;
}

Error RegionEmitter::emitCall(CallInst &I) {
  if (isCall(I)) {
    emitCallSite(I);
    return Error::success();
  }
  if (const CallBase *Call = callBehind(I)) {
    emitResult(I, *Call);
    return Error::success();
  }
  auto *II = dyn_cast<IntrinsicInst>(&I);
  if (!II)
    return emitLibraryCall(I, I.getCalledFunction()->getName());
  if (isBarrier(I)) {
    emitBarrier(*II);
    return Error::success();
  }
  if (auto *Mem = dyn_cast<MemIntrinsic>(&I)) {
    emitMemIntrinsic(*Mem);
    return Error::success();
  }
  switch (II->getIntrinsicID()) {
  case Intrinsic::assume:
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::dbg_value:
  case Intrinsic::dbg_declare:
  case Intrinsic::dbg_label:
  case Intrinsic::dbg_assign:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::donothing:
  case Intrinsic::sideeffect:
  case Intrinsic::nvvm_nanosleep:
  case Intrinsic::prefetch:
    return Error::success();
  case Intrinsic::nvvm_membar_cta:
  case Intrinsic::nvvm_membar_gl:
  case Intrinsic::nvvm_membar_sys:
    B.CreateFence(AtomicOrdering::SequentiallyConsistent);
    return Error::success();
  case Intrinsic::trap:
  case Intrinsic::debugtrap:
    B.CreateCall(helper("rcvm_trap", B.getVoidTy(), {PtrTy, I64, PtrTy}),
                 {Ctx, B.CreateZExt(M, I64), faultSite(I)});
    return Error::success();
  case Intrinsic::expect:
  case Intrinsic::nvvm_ptr_gen_to_shared:
  case Intrinsic::nvvm_ptr_gen_to_global:
  case Intrinsic::nvvm_ptr_gen_to_local:
  case Intrinsic::nvvm_ptr_gen_to_constant:
  case Intrinsic::nvvm_ptr_shared_to_gen:
  case Intrinsic::nvvm_ptr_global_to_gen:
  case Intrinsic::nvvm_ptr_local_to_gen:
  case Intrinsic::nvvm_ptr_constant_to_gen:
  case Intrinsic::nvvm_ptr_param_to_gen:
    define(&I, get(I.getArgOperand(0)));
    return Error::success();
  case Intrinsic::nvvm_isspacep_shared:
  case Intrinsic::nvvm_isspacep_shared_cluster:
  case Intrinsic::nvvm_isspacep_local:
  case Intrinsic::nvvm_isspacep_global:
    emitSpaceTest(*II);
    return Error::success();
  default:
    break;
  }
  if (emitClusterCall(*II) || emitImage(*II) || emitSpecialRegister(*II) ||
      emitCollective(*II) || emitMath(*II))
    return Error::success();
  if (std::string Symbol = laneFunction(II->getCalledFunction()->getName());
      !Symbol.empty()) {
    emitLaneCalls(I, Symbol);
    return Error::success();
  }
  return refuse(I, "'" + I.getCalledFunction()->getName() + "'");
}

} // namespace reconverge::warpvm
