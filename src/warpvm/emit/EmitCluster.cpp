//===- warpvm/emit/EmitCluster.cpp - Shared memory of several blocks ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocks of a cluster have their shared memory side by side, at equal
// distances, so that an address in one of them is found in another by a sum. A
// block alone is a cluster of one. Who arrives at the cluster's barrier says so in
// the warp's context; to wait there ends a region (Regions.cpp).
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Emitter.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::warpvm {

/// The address of the first block's shared memory, i64.
Value *RegionEmitter::clusterBase() {
  Value *Mine =
      B.CreatePtrToInt(contextField(offsetof(WarpContext, Shared), PtrTy), I64);
  Value *Rank = contextField(offsetof(WarpContext, ClusterRank), I32);
  return B.CreateSub(
      Mine,
      B.CreateMul(B.CreateZExt(Rank, I64),
                  contextField(offsetof(WarpContext, ClusterStride), I64)));
}

/// What is neither shared, by a block of the cluster, nor this function's own is
/// global.
void RegionEmitter::emitSpaceTest(IntrinsicInst &I) {
  Value *P = B.CreatePtrToInt(vec(I.getArgOperand(0)), vectorOf(I64));
  auto Within = [&](Value *Base, Value *Bytes) {
    return B.CreateICmpULT(B.CreateSub(P, splat(Base)), splat(Bytes));
  };
  auto Address = [&](size_t Field) {
    return B.CreatePtrToInt(contextField(Field, PtrTy), I64);
  };
  auto InCluster = [&] {
    Value *Blocks = contextField(offsetof(WarpContext, ClusterBlocks), I32);
    return Within(
        clusterBase(),
        B.CreateMul(B.CreateZExt(Blocks, I64),
                    contextField(offsetof(WarpContext, ClusterStride), I64)));
  };
  auto InLocal = [&] {
    return Within(Address(offsetof(WarpContext, Local)),
                  B.getInt64(C.Function.LocalBytes * W));
  };
  Value *Is;
  switch (I.getIntrinsicID()) {
  case Intrinsic::nvvm_isspacep_shared:
    Is = Within(Address(offsetof(WarpContext, Shared)),
                contextField(offsetof(WarpContext, SharedBytes), I64));
    break;
  case Intrinsic::nvvm_isspacep_shared_cluster:
    Is = InCluster();
    break;
  case Intrinsic::nvvm_isspacep_local:
    Is = InLocal();
    break;
  default:
    Is = B.CreateNot(B.CreateOr(InCluster(), InLocal()));
  }
  define(&I, {false, {Is}});
}

bool RegionEmitter::emitClusterCall(IntrinsicInst &I) {
  switch (I.getIntrinsicID()) {
  case Intrinsic::nvvm_is_explicit_cluster:
    define(&I, {true,
                {B.CreateIsNotNull(
                    contextField(offsetof(WarpContext, InCluster), I32))}});
    return true;
  case Intrinsic::nvvm_mapa:
  case Intrinsic::nvvm_mapa_shared_cluster: {
    Value *Mine = contextField(offsetof(WarpContext, ClusterRank), I32);
    Value *Blocks = B.CreateSExt(
        B.CreateSub(vec(I.getArgOperand(1)), splat(Mine)), vectorOf(I64));
    Value *Stride = contextField(offsetof(WarpContext, ClusterStride), I64);
    define(&I, {false,
                {B.CreateGEP(B.getInt8Ty(), vec(I.getArgOperand(0)),
                             B.CreateMul(Blocks, splat(Stride)))}});
    return true;
  }
  case Intrinsic::nvvm_getctarank:
  case Intrinsic::nvvm_getctarank_shared_cluster: {
    Value *P = B.CreatePtrToInt(vec(I.getArgOperand(0)), vectorOf(I64));
    Value *Stride = contextField(offsetof(WarpContext, ClusterStride), I64);
    Value *Rank = B.CreateUDiv(
        B.CreateSub(P, splat(clusterBase())),
        splat(B.CreateBinaryIntrinsic(Intrinsic::umax, Stride, B.getInt64(1))));
    define(&I, {false, {B.CreateTrunc(Rank, vectorOf(I32))}});
    return true;
  }
  case Intrinsic::nvvm_barrier_cluster_arrive:
  case Intrinsic::nvvm_barrier_cluster_arrive_aligned:
  case Intrinsic::nvvm_barrier_cluster_arrive_relaxed:
  case Intrinsic::nvvm_barrier_cluster_arrive_relaxed_aligned: {
    Value *P = B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Ctx,
                                            offsetof(WarpContext, AtCluster));
    B.CreateStore(B.CreateOr(B.CreateLoad(I64, P), B.CreateZExt(M, I64)), P);
    return true;
  }
  default:
    return false;
  }
}

} // namespace reconverge::warpvm
