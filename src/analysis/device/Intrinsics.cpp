//===- analysis/device/Intrinsics.cpp - Intrinsics by what they are -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By their names, because LLVM has hundreds of some kinds, named alike:
// "llvm.nvvm.", then a family that the tables below know by how it begins. The
// first line of a table that fits decides, so what is more special comes first.
//
// Limitation: intrinsics that LLVM 19 lacks are functions of ours
// (PtxFunctions.h); only ptxFunctionKind() knows them.
//
//===----------------------------------------------------------------------===//

#include "analysis/device/Intrinsics.h"

#include "analysis/PtxFunctions.h"
#include "analysis/Tiles.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::analysis {

/// \p Name: after "llvm.nvvm.read.ptx.sreg.".
static IntrinsicKind registerKind(StringRef Name) {
  return StringSwitch<IntrinsicKind>(Name)
      .Cases("tid.x", "tid.y", "tid.z", IntrinsicKind::ThreadIndex)
      .Case("tid.w", IntrinsicKind::LaunchSize) // always 0
      .Case("laneid", IntrinsicKind::LaneId)
      .StartsWith("lanemask.", IntrinsicKind::LaneMask)
      .Case("warpid", IntrinsicKind::WarpId)
      .StartsWith("ctaid.", IntrinsicKind::BlockIndex)
      .StartsWith("clusterid.", IntrinsicKind::BlockIndex)
      .StartsWith("cluster.ctaid.", IntrinsicKind::BlockIndex)
      .Case("cluster.ctarank", IntrinsicKind::BlockIndex)
      .Case("smid", IntrinsicKind::SmId)
      .StartsWith("ntid.", IntrinsicKind::LaunchSize)
      .StartsWith("nctaid.", IntrinsicKind::LaunchSize)
      .StartsWith("nclusterid.", IntrinsicKind::LaunchSize)
      .StartsWith("cluster.nctaid.", IntrinsicKind::LaunchSize)
      .Cases("cluster.nctarank", "gridid", "nwarpid", "nsmid", "warpsize",
             IntrinsicKind::LaunchSize)
      .StartsWith("envreg", IntrinsicKind::Environment)
      .Default(IntrinsicKind::Clock);
}

IntrinsicKind kindOf(Intrinsic::ID Id) {
  if (Id == Intrinsic::not_intrinsic)
    return IntrinsicKind::Other;
  if (Id == Intrinsic::readcyclecounter || Id == Intrinsic::readsteadycounter)
    return IntrinsicKind::Clock;
  StringRef Name = Intrinsic::getBaseName(Id);
  if (isTileIntrinsic(Name))
    return IntrinsicKind::Tile;
  if (!Name.consume_front("llvm.nvvm."))
    return IntrinsicKind::Other;
  if (Name.consume_front("read.ptx.sreg."))
    return registerKind(Name);
  return StringSwitch<IntrinsicKind>(Name)
      .Cases("barrier0", "barrier0.popc", "barrier0.and", "barrier0.or",
             IntrinsicKind::BlockBarrier)
      .Cases("barrier", "barrier.n", "barrier.sync", "barrier.sync.cnt",
             "bar.sync", IntrinsicKind::NamedBarrier)
      .Case("bar.warp.sync", IntrinsicKind::WarpBarrier)
      .StartsWith("barrier.cluster.", IntrinsicKind::Cluster)
      .StartsWith("shfl.", IntrinsicKind::Shuffle)
      .StartsWith("vote.", IntrinsicKind::Vote)
      .StartsWith("match.any.", IntrinsicKind::MatchAny)
      .StartsWith("match.all.", IntrinsicKind::MatchAll)
      .StartsWith("redux.", IntrinsicKind::Reduction)
      .Case("activemask", IntrinsicKind::ActiveMask)
      .StartsWith("cp.async.", IntrinsicKind::AsyncCopy)
      .StartsWith("mbarrier.", IntrinsicKind::Mbarrier)
      .StartsWith("ldg.", IntrinsicKind::ReadOnlyLoad)
      .StartsWith("ldu.", IntrinsicKind::ReadOnlyLoad)
      .StartsWith("atomic.", IntrinsicKind::Atomic)
      .StartsWith("membar.", IntrinsicKind::Fence)
      .StartsWith("fence.", IntrinsicKind::Fence)
      .StartsWith("tex.", IntrinsicKind::Texture)
      .StartsWith("tld4.", IntrinsicKind::Texture)
      .StartsWith("txq.", IntrinsicKind::Texture)
      .StartsWith("suld.", IntrinsicKind::Surface)
      .StartsWith("sust.", IntrinsicKind::Surface)
      .StartsWith("suq.", IntrinsicKind::Surface)
      .StartsWith("ptr.", IntrinsicKind::AddressCast)
      .Case("exit", IntrinsicKind::Exit)
      .Default(IntrinsicKind::Other);
}

IntrinsicKind intrinsicKind(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call ? kindOf(Call->getIntrinsicID()) : IntrinsicKind::Other;
}

bool isBarrier(const Instruction &I) {
  switch (intrinsicKind(I)) {
  case IntrinsicKind::BlockBarrier:
  case IntrinsicKind::NamedBarrier:
    return true;
  case IntrinsicKind::Cluster: { // its other half, an arrival, waits for nobody
    const Intrinsic::ID Id = cast<IntrinsicInst>(I).getIntrinsicID();
    return Id == Intrinsic::nvvm_barrier_cluster_wait ||
           Id == Intrinsic::nvvm_barrier_cluster_wait_aligned;
  }
  default:
    return false;
  }
}

bool isCollective(const Instruction &I) {
  switch (intrinsicKind(I)) {
  case IntrinsicKind::WarpBarrier:
  case IntrinsicKind::MatchAny:
  case IntrinsicKind::MatchAll:
  case IntrinsicKind::Reduction:
    return true;
  case IntrinsicKind::Shuffle:
  case IntrinsicKind::Vote:
    // Not those from before Volta, which have no mask.
    return Intrinsic::getBaseName(cast<IntrinsicInst>(I).getIntrinsicID())
        .contains(".sync");
  default:
    return false;
  }
}

/// Which of the three \p Id is.
static std::optional<unsigned> dimension(Intrinsic::ID Id, Intrinsic::ID X,
                                         Intrinsic::ID Y, Intrinsic::ID Z) {
  if (Id == X)
    return 0;
  if (Id == Y)
    return 1;
  if (Id == Z)
    return 2;
  return std::nullopt;
}

std::optional<unsigned> threadIndexDimension(Intrinsic::ID Id) {
  return dimension(Id, Intrinsic::nvvm_read_ptx_sreg_tid_x,
                   Intrinsic::nvvm_read_ptx_sreg_tid_y,
                   Intrinsic::nvvm_read_ptx_sreg_tid_z);
}

std::optional<unsigned> blockIndexDimension(Intrinsic::ID Id) {
  return dimension(Id, Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                   Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                   Intrinsic::nvvm_read_ptx_sreg_ctaid_z);
}

std::optional<unsigned> blockSizeDimension(Intrinsic::ID Id) {
  return dimension(Id, Intrinsic::nvvm_read_ptx_sreg_ntid_x,
                   Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                   Intrinsic::nvvm_read_ptx_sreg_ntid_z);
}

std::optional<unsigned> gridSizeDimension(Intrinsic::ID Id) {
  return dimension(Id, Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
                   Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
                   Intrinsic::nvvm_read_ptx_sreg_nctaid_z);
}

bool isOfCluster(Intrinsic::ID Id) {
  if (Id == Intrinsic::not_intrinsic)
    return false;
  StringRef Name = Intrinsic::getBaseName(Id);
  return Name.consume_front("llvm.nvvm.") &&
         StringSwitch<bool>(Name)
             .StartsWith("read.ptx.sreg.cluster", true)
             .StartsWith("read.ptx.sreg.nclusterid.", true)
             .StartsWith("barrier.cluster.", true)
             .StartsWith("mapa", true)
             .StartsWith("getctarank", true)
             .Case("is_explicit_cluster", true)
             .Default(false);
}

std::optional<IntrinsicKind> ptxFunctionKind(StringRef Name) {
  using Kind = std::optional<IntrinsicKind>;
  return StringSwitch<Kind>(functionOf(Name))
      .Cases(ReservedSharedOffset, DynamicSharedSize, TotalSharedSize,
             IntrinsicKind::LaunchSize)
      .Case(NamedBarrierArrive, IntrinsicKind::NamedBarrier)
      .Cases(BarrierArrive, BarrierArriveDrop, BarrierArriveExpect,
             BarrierExpect, BarrierComplete, IntrinsicKind::Mbarrier)
      .Cases(BarrierTestWait, BarrierTryWait, BarrierTestParity,
             BarrierTryParity, IntrinsicKind::Mbarrier)
      .Cases(BulkCopy, BulkPass, BulkStore, BulkReduce, AsyncStore, AsyncReduce,
             IntrinsicKind::AsyncCopy)
      .Cases(VectorAtomic, VectorReduction, IntrinsicKind::Atomic)
      .Cases(ClusterAddress, ClusterLoad, ClusterStore, IntrinsicKind::Cluster)
      .Cases(TileProduct, TileLoad, TileStore, TileMove, IntrinsicKind::Tile)
      .Cases(PerformanceEvent, BulkPrefetch, Conversion, IntrinsicKind::Other)
      .Default(std::nullopt);
}

} // namespace reconverge::analysis
