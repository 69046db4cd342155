//===- warpvm/emit/EmitRegisters.cpp - What a thread can read of itself ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX's special registers by where their value is: in the frame (threadIdx),
// where every region finds it by itself; in the context of the warp; nowhere,
// as it never changes or follows from the lane's number; in a clock.
//
//===----------------------------------------------------------------------===//

#include "analysis/device/Intrinsics.h"
#include "warpvm/emit/Emitter.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::warpvm {

/// Registers that WarpContext holds for the whole block: 32 bits at an offset.
static std::optional<size_t> contextOffset(Intrinsic::ID Id) {
#define DIMENSIONS(NAME, FIELD)                                                \
  case Intrinsic::nvvm_read_ptx_sreg_##NAME##_x:                               \
    return offsetof(WarpContext, FIELD);                                       \
  case Intrinsic::nvvm_read_ptx_sreg_##NAME##_y:                               \
    return offsetof(WarpContext, FIELD) + 4;                                   \
  case Intrinsic::nvvm_read_ptx_sreg_##NAME##_z:                               \
    return offsetof(WarpContext, FIELD) + 8;
  switch (Id) {
    DIMENSIONS(ntid, BlockDim)
    DIMENSIONS(ctaid, BlockId)
    DIMENSIONS(nctaid, GridDim)
    DIMENSIONS(clusterid, ClusterId)
    DIMENSIONS(nclusterid, ClusterGrid)
    DIMENSIONS(cluster_ctaid, ClusterBlock)
    DIMENSIONS(cluster_nctaid, ClusterDim)
  case Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank:
    return offsetof(WarpContext, ClusterRank);
  case Intrinsic::nvvm_read_ptx_sreg_cluster_nctarank:
    return offsetof(WarpContext, ClusterBlocks);
  case Intrinsic::nvvm_read_ptx_sreg_warpid:
    return offsetof(WarpContext, WarpId);
  // The upper and the lower half of the grid's workspace's address.
  case Intrinsic::nvvm_read_ptx_sreg_envreg1:
    return offsetof(WarpContext, Grid) + 4;
  case Intrinsic::nvvm_read_ptx_sreg_envreg2:
    return offsetof(WarpContext, Grid);
  default:
    return std::nullopt;
  }
#undef DIMENSIONS
}

/// Registers that have one value for ever.
static std::optional<uint32_t> fixedRegister(Intrinsic::ID Id) {
  switch (Id) {
  case Intrinsic::nvvm_read_ptx_sreg_smid:
  case Intrinsic::nvvm_read_ptx_sreg_gridid:
    return 0;
  case Intrinsic::nvvm_read_ptx_sreg_nsmid:
    return 1;
  case Intrinsic::nvvm_read_ptx_sreg_warpsize:
    return 32;
  default:
    return std::nullopt;
  }
}

/// Registers that follow from the number of the lane, \p L below 32.
static std::optional<uint32_t> laneRegister(Intrinsic::ID Id, unsigned L) {
  switch (Id) {
  case Intrinsic::nvvm_read_ptx_sreg_laneid:
    return L;
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_eq:
    return 1u << L;
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_lt:
    return (1u << L) - 1;
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_le:
    return (2u << L) - 1;
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_gt:
    return ~((2u << L) - 1);
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_ge:
    return ~((1u << L) - 1);
  default:
    return std::nullopt;
  }
}

bool RegionEmitter::emitSpecialRegister(IntrinsicInst &I) {
  const Intrinsic::ID Id = I.getIntrinsicID();
  if (analysis::threadIndexDimension(Id))
    return true; // recomputed where it is used
  if (std::optional<size_t> Offset = contextOffset(Id)) {
    define(&I, {true, {contextField(*Offset, I32)}});
    return true;
  }
  if (std::optional<uint32_t> Value = fixedRegister(Id)) {
    define(&I, {true, {B.getInt32(*Value)}});
    return true;
  }
  if (laneRegister(Id, 0)) {
    SmallVector<Constant *> Values;
    for (unsigned L = 0; L < W; ++L)
      Values.push_back(B.getInt32(*laneRegister(Id, L % 32)));
    define(&I, {false, {ConstantVector::get(Values)}});
    return true;
  }
  switch (Id) {
  case Intrinsic::nvvm_read_ptx_sreg_clock:
  case Intrinsic::nvvm_read_ptx_sreg_clock64: {
    Value *T = B.CreateCall(helper("rcvm_clock", I64, {}));
    define(&I, {true, {B.CreateTrunc(T, I.getType())}});
    return true;
  }
  case Intrinsic::nvvm_read_ptx_sreg_globaltimer:
    define(&I, {true, {B.CreateCall(helper("rcvm_global_timer", I64, {}))}});
    return true;
  default:
    return false;
  }
}

} // namespace reconverge::warpvm
