//===- warpvm/prepare/DeviceIntrinsics.cpp - A GPU's machinery as plain IR ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   cp.async, cp.async.bulk    a copy, now. A program that is right when the
//                              copy ends late is right when it ends early.
//                              From shared to shared memory: a fault in a launch
//                              without clusters, as on an H100
//   cp.reduce.async.bulk       a loop of atomics
//   cp.async.bulk.prefetch     nothing
//   their groups and waits     nothing: there is nothing to wait for
//   cp.async.mbarrier.arrive   the copies are over: .noinc arrives; the other
//                              form adds an arrival and takes it, nothing
//   ld.global.nc, ldu          loads
//   atom, red of {v2,v4}       an atomic for each element
//   mapa, ld, st in a cluster  intrinsics, and accesses that nothing may drop
//   pmevent                    nothing
//   sizes of shared memory     fields of the context, the reserved part a
//                              constant
//
// Barriers in shared memory (mbarrier), the heap and printf are calls of the
// VM's library for each lane.
//
//===----------------------------------------------------------------------===//

#include "warpvm/prepare/DeviceIntrinsics.h"

#include "analysis/PtxFunctions.h"
#include "analysis/device/LibraryCalls.h"
#include "warpvm/prepare/AccessNumbers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace reconverge::warpvm {

std::string laneFunction(StringRef Name) {
  switch (analysis::libraryCall(Name)) {
  case analysis::LibraryCall::Print:
    return "rcvm_printf";
  case analysis::LibraryCall::Allocate:
    return "rcvm_malloc";
  case analysis::LibraryCall::Free:
    return "rcvm_free";
  default:
    break;
  }
  if (!Name.consume_front("llvm.nvvm.") && !Name.consume_front("reconverge."))
    return "";
  Name = analysis::functionOf(Name);
  Name.consume_back(".shared");
  if (!Name.starts_with("mbarrier.") && Name != "fns")
    return "";
  std::string Symbol = ("rcvm_" + Name).str();
  std::replace(Symbol.begin(), Symbol.end(), '.', '_');
  return Symbol;
}

/// Bytes that a cp.async of this name copies; 0 if it is none.
static unsigned copySize(StringRef Name) {
  unsigned Bytes = 0;
  Name.consume_back(".s");
  if (Name.starts_with("llvm.nvvm.cp.async.c") &&
      !Name.rsplit('.').second.getAsInteger(10, Bytes))
    return Bytes;
  return 0;
}

/// The copy that \p Call asks for; bytes that are not read become zero.
static void copy(CallInst &Call, unsigned Bytes) {
  IRBuilder<> B(&Call);
  Value *To = Call.getArgOperand(0), *From = Call.getArgOperand(1);
  if (Call.arg_size() == 2) {
    Type *T = B.getIntNTy(std::min(Bytes, 8u) * 8);
    for (unsigned Offset = 0; Offset < Bytes; Offset += 8) {
      Value *X = B.CreateAlignedLoad(
          T, B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), From, Offset),
          Align(std::min(Bytes, 8u)));
      B.CreateAlignedStore(
          X, B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), To, Offset),
          Align(std::min(Bytes, 8u)));
    }
    return;
  }
  B.CreateMemSet(To, B.getInt8(0), Bytes, Align(Bytes));
  B.CreateMemCpy(To, Align(Bytes), From, Align(Bytes),
                 B.CreateZExt(Call.getArgOperand(2), B.getInt64Ty()));
}

/// Tells \p Barrier that so many bytes have come.
static void complete(IRBuilder<> &B, Value *Barrier, Value *Bytes) {
  FunctionCallee Complete =
      B.GetInsertBlock()->getModule()->getOrInsertFunction(
          analysis::BarrierComplete, B.getVoidTy(), Barrier->getType(),
          B.getInt32Ty());
  B.CreateCall(Complete, {Barrier, Bytes});
}

/// Tells the barrier of a bulk copy, if it has one, that all has come.
static void completeBulk(CallInst &Call) {
  IRBuilder<> B(&Call);
  if (Call.arg_size() >= 4)
    complete(B, Call.getArgOperand(3), Call.getArgOperand(2));
}

static void copyBulk(CallInst &Call) {
  IRBuilder<> B(&Call);
  B.CreateMemCpy(Call.getArgOperand(0), Align(16), Call.getArgOperand(1),
                 Align(16),
                 B.CreateZExt(Call.getArgOperand(2), B.getInt64Ty()));
  completeBulk(Call);
}

/// What a reduction does that ends in ".add.f32" and its like, and to what.
static std::pair<AtomicRMWInst::BinOp, Type *> reductionOf(CallInst &Call) {
  using Op = AtomicRMWInst::BinOp;
  auto [Rest, Kind] = Call.getCalledFunction()->getName().rsplit('.');
  StringRef Operation = Rest.rsplit('.').second;
  if (Operation == "noftz")
    Operation = "add";
  IRBuilder<> B(&Call);
  Type *T = StringSwitch<Type *>(Kind)
                .Case("f16", B.getHalfTy())
                .Case("bf16", B.getBFloatTy())
                .Case("f32", B.getFloatTy())
                .Case("f64", B.getDoubleTy())
                .Cases("u64", "s64", "b64", B.getInt64Ty())
                .Default(B.getInt32Ty());
  const bool Signed = Kind.starts_with("s");
  return {StringSwitch<Op>(Operation)
              .Case("add", T->isFloatingPointTy() ? Op::FAdd : Op::Add)
              .Case("min", Signed ? Op::Min : Op::UMin)
              .Case("max", Signed ? Op::Max : Op::UMax)
              .Case("inc", Op::UIncWrap)
              .Case("dec", Op::UDecWrap)
              .Case("and", Op::And)
              .Case("or", Op::Or)
              .Default(Op::Xor),
          T};
}

/// An atomic for each element.
static void reduceBulk(CallInst &Call) {
  const auto [Which, T] = reductionOf(Call);
  IRBuilder<> B(&Call);
  const Align Al(T->getScalarSizeInBits() / 8);
  Value *Count = B.CreateUDiv(Call.getArgOperand(2), B.getInt32(Al.value()));
  auto [Body, Index] = SplitBlockAndInsertSimpleForLoop(Count, &Call);
  completeBulk(Call);
  B.SetInsertPoint(Body);
  Value *From = B.CreateGEP(T, Call.getArgOperand(1), Index);
  Value *To = B.CreateGEP(T, Call.getArgOperand(0), Index);
  B.CreateAtomicRMW(Which, To, B.CreateAlignedLoad(T, From, Al), Al,
                    AtomicOrdering::Monotonic);
}

/// st.async and red.async.
static void sendWords(CallInst &Call, bool Reduce) {
  IRBuilder<> B(&Call);
  Value *To = Call.getArgOperand(0);
  uint64_t Bytes = 0;
  for (Value *V : drop_begin(Call.args(), 2)) {
    const Align Al(V->getType()->getScalarSizeInBits() / 8);
    Value *At = B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), To, Bytes);
    if (Reduce)
      B.CreateAtomicRMW(reductionOf(Call).first, At, V, Al,
                        AtomicOrdering::Monotonic);
    else
      B.CreateAlignedStore(V, At, Al, /*isVolatile=*/true);
    Bytes += Al.value();
  }
  complete(B, Call.getArgOperand(1), B.getInt32(Bytes));
}

static LoadInst *readOnlyLoad(CallInst &Call) {
  auto *L = IRBuilder<>(&Call).CreateAlignedLoad(
      Call.getType(), Call.getArgOperand(0),
      cast<ConstantInt>(Call.getArgOperand(1))->getMaybeAlignValue());
  L->setMetadata(LLVMContext::MD_invariant_load,
                 MDNode::get(Call.getContext(), {}));
  takeAccessNumber(*L, Call);
  return L;
}

/// An atomic addition for each of the floats in a row.
static void addVector(CallInst &Call) {
  IRBuilder<> B(&Call);
  auto *Result = dyn_cast<StructType>(Call.getType());
  Value *Old = Result ? PoisonValue::get(Result) : nullptr;
  for (unsigned N = 0; N + 1 != Call.arg_size(); ++N) {
    Value *To =
        B.CreateConstInBoundsGEP1_64(B.getFloatTy(), Call.getArgOperand(0), N);
    Value *X =
        B.CreateAtomicRMW(AtomicRMWInst::FAdd, To, Call.getArgOperand(1 + N),
                          Align(4), AtomicOrdering::Monotonic);
    if (Old)
      Old = B.CreateInsertValue(Old, X, N);
  }
  if (Old)
    Call.replaceAllUsesWith(Old);
}

/// mapa, ld or st of shared::cluster; false if it is none.
static bool lowerClusterAccess(CallInst &Call, StringRef Name) {
  IRBuilder<> B(&Call);
  const DataLayout &DL = Call.getModule()->getDataLayout();
  Value *P = Call.arg_empty() ? nullptr : Call.getArgOperand(0);
  if (Name == analysis::ClusterAddress) {
    Value *There = B.CreateIntrinsic(Intrinsic::nvvm_mapa_shared_cluster, {},
                                     {P, Call.getArgOperand(1)});
    Call.replaceAllUsesWith(B.CreatePtrToInt(There, Call.getType()));
    return true;
  }
  if (Name == analysis::ClusterLoad) {
    Type *T = Call.getType();
    Call.replaceAllUsesWith(B.CreateAlignedLoad(
        T, P, Align(DL.getTypeStoreSize(T)), /*isVolatile=*/true));
    return true;
  }
  if (Name != analysis::ClusterStore)
    return false;
  Value *V = Call.getArgOperand(1);
  B.CreateAlignedStore(V, P, Align(DL.getTypeStoreSize(V->getType())),
                       /*isVolatile=*/true);
  return true;
}

/// True if the call is done with.
static bool lower(CallInst &Call, uint64_t Reserved) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee)
    return false;
  const StringRef Name = Callee->getName();
  IRBuilder<> B(&Call);
  switch (Callee->getIntrinsicID()) {
  case Intrinsic::nvvm_cp_async_commit_group:
  case Intrinsic::nvvm_cp_async_wait_group:
  case Intrinsic::nvvm_cp_async_wait_all:
  case Intrinsic::nvvm_cp_async_bulk_commit_group:
  case Intrinsic::nvvm_cp_async_bulk_wait_group:
  case Intrinsic::nvvm_cp_async_bulk_wait_group_read:
  case Intrinsic::nvvm_setmaxnreg_inc_sync_aligned_u32:
  case Intrinsic::nvvm_setmaxnreg_dec_sync_aligned_u32:
  case Intrinsic::nvvm_cp_async_mbarrier_arrive:
  case Intrinsic::nvvm_cp_async_mbarrier_arrive_shared:
    return true;
  case Intrinsic::nvvm_cp_async_mbarrier_arrive_noinc:
    B.CreateIntrinsic(Intrinsic::nvvm_mbarrier_arrive, {},
                      {Call.getArgOperand(0)});
    return true;
  case Intrinsic::nvvm_cp_async_mbarrier_arrive_noinc_shared:
    B.CreateIntrinsic(Intrinsic::nvvm_mbarrier_arrive_shared, {},
                      {Call.getArgOperand(0)});
    return true;
  case Intrinsic::nvvm_ldg_global_i:
  case Intrinsic::nvvm_ldg_global_f:
  case Intrinsic::nvvm_ldg_global_p:
  case Intrinsic::nvvm_ldu_global_i:
  case Intrinsic::nvvm_ldu_global_f:
  case Intrinsic::nvvm_ldu_global_p:
    Call.replaceAllUsesWith(readOnlyLoad(Call));
    return true;
  default:
    break;
  }
  if (unsigned Bytes = copySize(Name)) {
    copy(Call, Bytes);
    return true;
  }
  if (Name == analysis::PerformanceEvent || Name == analysis::BulkPrefetch)
    return true;
  if (Name == analysis::BulkCopy || Name == analysis::BulkStore) {
    copyBulk(Call);
    return true;
  }
  if (analysis::functionOf(Name) == analysis::VectorAtomic ||
      analysis::functionOf(Name) == analysis::VectorReduction) {
    addVector(Call);
    return true;
  }
  if (analysis::functionOf(Name) == analysis::AsyncStore ||
      analysis::functionOf(Name) == analysis::AsyncReduce) {
    sendWords(Call, analysis::functionOf(Name) == analysis::AsyncReduce);
    return true;
  }
  if (lowerClusterAccess(Call, analysis::functionOf(Name)))
    return true;
  if (Name == analysis::BulkPass) { // and it stays, as a test
    copyBulk(Call);
    return false;
  }
  if (analysis::functionOf(Name) == analysis::BulkReduce) {
    reduceBulk(Call);
    return true;
  }
  if (Name == analysis::ReservedSharedOffset) {
    Call.replaceAllUsesWith(B.getInt32(Reserved));
    return true;
  }
  return false;
}

void lowerDeviceIntrinsics(Function &F, uint64_t Reserved) {
  SmallVector<CallInst *> Calls;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I))
      Calls.push_back(Call);
  for (CallInst *Call : Calls)
    if (lower(*Call, Reserved))
      Call->eraseFromParent();
}

} // namespace reconverge::warpvm
