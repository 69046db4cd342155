//===- unittests/analysis/DeviceFactsTest.cpp - What devices make of IR ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Parsed.h"
#include "analysis/device/Annotations.h"
#include "analysis/device/Architecture.h"
#include "analysis/device/Intrinsics.h"
#include "analysis/device/LibraryCalls.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;
using namespace reconverge::analysis;

TEST(LaunchBounds, RequiredSizesDecideOverAllowedOnes) {
  Parsed P(R"(
    define void @free() { ret void }
    define void @most() { ret void }
    define void @flat() { ret void }
    define void @exact() { ret void }
    define void @both() { ret void }
    define void @apart() { ret void }
    define void @huge() { ret void }
    !nvvm.annotations = !{!0, !1, !2, !3, !4, !5, !6, !7}
    !0 = !{ptr @free, !"kernel", i32 1, !"minctasm", i32 2}
    !1 = !{ptr @most, !"maxntidx", i32 20, !"maxntidy", i32 10}
    !2 = !{ptr @flat, !"maxntidx", i32 128, !"kernel", i32 1}
    !3 = !{ptr @exact, !"reqntidx", i32 8, !"reqntidy", i32 4, !"reqntidz", i32 2}
    !4 = !{ptr @both, !"maxntidx", i32 256, !"reqntidx", i32 96}
    !5 = !{ptr @apart, !"reqntidx", i32 16}
    !6 = !{ptr @apart, !"reqntidy", i32 16}
    !7 = !{ptr @huge, !"maxntidx", i32 1024, !"maxntidy", i32 1024}
  )");
  auto Bound = [&](StringRef Name) { return launchBound(P.function(Name)); };
  EXPECT_EQ(Bound("free"), 0u);
  EXPECT_EQ(Bound("most"), 200u);
  EXPECT_EQ(Bound("flat"), 128u);
  EXPECT_EQ(Bound("exact"), 64u);
  EXPECT_EQ(Bound("both"), 96u);
  EXPECT_EQ(Bound("apart"), 256u);
  EXPECT_EQ(Bound("huge"), 1024u) << "no device has more";
}

TEST(Annotations, ACopyHasThemAll) {
  Parsed P(R"(
    define void @k() { ret void }
    define void @copy() { ret void }
    !nvvm.annotations = !{!0, !1}
    !0 = !{ptr @k, !"kernel", i32 1}
    !1 = !{ptr @k, !"reqntidx", i32 64}
  )");
  Function &Copy = P.function("copy");
  EXPECT_FALSE(isKernel(Copy));
  copyAnnotations(P.function("k"), Copy);
  EXPECT_TRUE(isKernel(Copy));
  EXPECT_EQ(launchBound(Copy), 64u);
}

TEST(LaunchBounds, CanBeReplaced) {
  Parsed P(R"(
    define void @k() { ret void }
    define void @other() { ret void }
    !nvvm.annotations = !{!0, !1, !2}
    !0 = !{ptr @k, !"reqntidx", i32 8, !"kernel", i32 1, !"reqntidy", i32 4}
    !1 = !{ptr @k, !"maxntidx", i32 64, !"minctasm", i32 2}
    !2 = !{ptr @other, !"reqntidx", i32 96}
  )");
  Function &Kernel = P.function("k");
  setLaunchBound(Kernel, 256);
  EXPECT_EQ(launchBound(Kernel), 256u);
  setLaunchBound(Kernel, 0);
  EXPECT_EQ(launchBound(Kernel), 0u);
  EXPECT_TRUE(isKernel(Kernel));
  EXPECT_EQ(launchBound(P.function("other")), 96u);
  std::string Text;
  raw_string_ostream(Text) << P.module();
  EXPECT_TRUE(StringRef(Text).contains("minctasm"));
}

TEST(Architecture, IsTheFunctionsOwn) {
  Parsed P(R"(
    define void @old() "target-cpu"="sm_75" { ret void }
    define void @own() "target-cpu"="sm_90a" { ret void }
    define void @none() { ret void }
    define void @host() "target-cpu"="skylake" { ret void }
  )");
  EXPECT_EQ(architectureOf(P.function("old")), 75u);
  EXPECT_EQ(architectureOf(P.function("own")), 90u);
  EXPECT_EQ(architectureOf(P.function("none")), std::nullopt);
  EXPECT_EQ(architectureOf(P.function("host")), std::nullopt);
  EXPECT_EQ(newestArchitecture(P.module()), 90u);
}

TEST(Intrinsics, AreWhatTheyAre) {
  using Kind = IntrinsicKind;
  const std::pair<Intrinsic::ID, Kind> Expected[] = {
      {Intrinsic::not_intrinsic, Kind::Other},
      {Intrinsic::sqrt, Kind::Other},
      {Intrinsic::nvvm_mul_rn_f, Kind::Other},
      {Intrinsic::nvvm_barrier0, Kind::BlockBarrier},
      {Intrinsic::nvvm_barrier0_popc, Kind::BlockBarrier},
      {Intrinsic::nvvm_bar_sync, Kind::NamedBarrier},
      {Intrinsic::nvvm_barrier_sync_cnt, Kind::NamedBarrier},
      {Intrinsic::nvvm_barrier_cluster_wait, Kind::Cluster},
      {Intrinsic::nvvm_bar_warp_sync, Kind::WarpBarrier},
      {Intrinsic::nvvm_shfl_sync_idx_i32p, Kind::Shuffle},
      {Intrinsic::nvvm_vote_ballot_sync, Kind::Vote},
      {Intrinsic::nvvm_match_any_sync_i64, Kind::MatchAny},
      {Intrinsic::nvvm_match_all_sync_i32p, Kind::MatchAll},
      {Intrinsic::nvvm_redux_sync_umax, Kind::Reduction},
      {Intrinsic::nvvm_activemask, Kind::ActiveMask},
      {Intrinsic::nvvm_mbarrier_arrive_shared, Kind::Mbarrier},
      {Intrinsic::nvvm_cp_async_mbarrier_arrive, Kind::AsyncCopy},
      {Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16, Kind::Tile},
      {Intrinsic::nvvm_read_ptx_sreg_tid_z, Kind::ThreadIndex},
      {Intrinsic::nvvm_read_ptx_sreg_tid_w, Kind::LaunchSize},
      {Intrinsic::nvvm_read_ptx_sreg_laneid, Kind::LaneId},
      {Intrinsic::nvvm_read_ptx_sreg_lanemask_lt, Kind::LaneMask},
      {Intrinsic::nvvm_read_ptx_sreg_warpid, Kind::WarpId},
      {Intrinsic::nvvm_read_ptx_sreg_nwarpid, Kind::LaunchSize},
      {Intrinsic::nvvm_read_ptx_sreg_ctaid_y, Kind::BlockIndex},
      {Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank, Kind::BlockIndex},
      {Intrinsic::nvvm_read_ptx_sreg_cluster_nctarank, Kind::LaunchSize},
      {Intrinsic::nvvm_read_ptx_sreg_ntid_x, Kind::LaunchSize},
      {Intrinsic::nvvm_read_ptx_sreg_smid, Kind::SmId},
      {Intrinsic::nvvm_read_ptx_sreg_clock64, Kind::Clock},
      {Intrinsic::nvvm_read_ptx_sreg_globaltimer, Kind::Clock},
      {Intrinsic::nvvm_read_ptx_sreg_pm3, Kind::Clock},
      {Intrinsic::readcyclecounter, Kind::Clock},
      {Intrinsic::nvvm_read_ptx_sreg_envreg31, Kind::Environment},
      {Intrinsic::nvvm_ldg_global_f, Kind::ReadOnlyLoad},
      {Intrinsic::nvvm_atomic_load_inc_32, Kind::Atomic},
      {Intrinsic::nvvm_membar_gl, Kind::Fence},
      {Intrinsic::nvvm_tex_unified_2d_v4f32_f32, Kind::Texture},
      {Intrinsic::nvvm_sust_b_1d_i32_trap, Kind::Surface},
      {Intrinsic::nvvm_ptr_gen_to_shared, Kind::AddressCast},
      {Intrinsic::nvvm_exit, Kind::Exit},
  };
  for (auto [Id, What] : Expected)
    EXPECT_EQ(kindOf(Id), What)
        << (Id ? Intrinsic::getBaseName(Id).str() : "none");
}

TEST(Intrinsics, CollectivesNameTheirMembers) {
  Parsed P(R"(
    declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
    declare i32 @llvm.nvvm.shfl.idx.i32(i32, i32, i32)
    declare i1 @llvm.nvvm.vote.any(i1)
    declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
    declare i32 @llvm.nvvm.activemask()
    declare i32 @llvm.nvvm.barrier0.popc(i32)
    define void @k(i32 %x, i1 %b) {
      %shuffle = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %x, i32 0, i32 31)
      %old = call i32 @llvm.nvvm.shfl.idx.i32(i32 %x, i32 0, i32 31)
      %oldvote = call i1 @llvm.nvvm.vote.any(i1 %b)
      %vote = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %b)
      %active = call i32 @llvm.nvvm.activemask()
      %count = call i32 @llvm.nvvm.barrier0.popc(i32 %x)
      %sum = add i32 %x, 1
      ret void
    }
  )");
  EXPECT_TRUE(isCollective(P.value("shuffle")));
  EXPECT_TRUE(isCollective(P.value("vote")));
  for (const char *Name : {"old", "oldvote", "active", "count", "sum"})
    EXPECT_FALSE(isCollective(P.value(Name))) << Name;
  EXPECT_TRUE(isBarrier(P.value("count")));
  EXPECT_FALSE(isBarrier(P.value("vote")));
}

TEST(Intrinsics, OfDimensions) {
  EXPECT_EQ(threadIndexDimension(Intrinsic::nvvm_read_ptx_sreg_tid_y), 1u);
  EXPECT_EQ(blockIndexDimension(Intrinsic::nvvm_read_ptx_sreg_ctaid_x), 0u);
  EXPECT_EQ(blockSizeDimension(Intrinsic::nvvm_read_ptx_sreg_ntid_z), 2u);
  EXPECT_EQ(gridSizeDimension(Intrinsic::nvvm_read_ptx_sreg_nctaid_z), 2u);
  for (auto Id : {Intrinsic::nvvm_read_ptx_sreg_ctaid_w,
                  Intrinsic::nvvm_read_ptx_sreg_clusterid_x,
                  Intrinsic::nvvm_read_ptx_sreg_cluster_ctaid_x})
    EXPECT_EQ(blockIndexDimension(Id), std::nullopt);
}

TEST(Intrinsics, OfClusters) {
  for (auto Id :
       {Intrinsic::nvvm_read_ptx_sreg_clusterid_x,
        Intrinsic::nvvm_read_ptx_sreg_nclusterid_y,
        Intrinsic::nvvm_read_ptx_sreg_cluster_nctarank,
        Intrinsic::nvvm_barrier_cluster_arrive,
        Intrinsic::nvvm_mapa_shared_cluster, Intrinsic::nvvm_getctarank,
        Intrinsic::nvvm_is_explicit_cluster})
    EXPECT_TRUE(isOfCluster(Id)) << Intrinsic::getBaseName(Id).str();
  const Intrinsic::ID Others[] = {Intrinsic::not_intrinsic,
                                  Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                  Intrinsic::nvvm_barrier0, Intrinsic::sqrt};
  for (Intrinsic::ID Id : Others)
    EXPECT_FALSE(isOfCluster(Id));
}

TEST(Intrinsics, OfOurOwn) {
  using Kind = IntrinsicKind;
  EXPECT_EQ(ptxFunctionKind("reconverge.mma~m16n8k16"), Kind::Tile);
  EXPECT_EQ(ptxFunctionKind("reconverge.barrier.arrive"), Kind::NamedBarrier);
  EXPECT_EQ(ptxFunctionKind("reconverge.mbarrier.try_wait"), Kind::Mbarrier);
  EXPECT_EQ(ptxFunctionKind("reconverge.cp.async.bulk"), Kind::AsyncCopy);
  EXPECT_EQ(ptxFunctionKind("reconverge.total_smem_size"), Kind::LaunchSize);
  EXPECT_EQ(ptxFunctionKind("reconverge.red~add.v2.f32"), Kind::Atomic);
  EXPECT_EQ(ptxFunctionKind("reconverge.cvt~rna.tf32.f32"), Kind::Other);
  EXPECT_EQ(ptxFunctionKind("reconverge.unheard"), std::nullopt);
  EXPECT_EQ(ptxFunctionKind("mma"), std::nullopt);
}

TEST(LibraryCalls, GoByName) {
  EXPECT_EQ(libraryCall("vprintf"), LibraryCall::Print);
  EXPECT_EQ(libraryCall("malloc"), LibraryCall::Allocate);
  EXPECT_EQ(libraryCall("free"), LibraryCall::Free);
  EXPECT_EQ(libraryCall("__assertfail"), LibraryCall::Assert);
  EXPECT_EQ(libraryCall("__nv_sinf"), LibraryCall::Math);
  EXPECT_EQ(libraryCall("__nvvm_reflect"), LibraryCall::Reflect);
  EXPECT_EQ(libraryCall("_Z6mallocv"), LibraryCall::None);
  EXPECT_EQ(libraryCall(nullptr), LibraryCall::None);
}
