//===- unittests/frontend/ptx/ShapeTest.cpp - What effects become ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory, atomics, warp collectives and approximations have no value to compare
// here: what is checked is the IR that they become. Each case names pieces that
// must appear in that order; after "NOT:" is what must not appear.
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace llvm;

namespace {
struct Shape {
  std::string Asm;
  std::string Constraints;
  std::vector<std::string> Pieces;
  bool Volatile = false;
};
} // namespace

static void check(const Shape &S) {
  LLVMContext C;
  Snippet Code(C, S.Asm, S.Constraints, S.Volatile);
  ASSERT_TRUE(Code.M) << S.Asm;
  std::string Reason = Code.lower();
  EXPECT_EQ(Reason, "") << S.Asm;
  std::string Text = Code.text();
  size_t At = 0;
  for (StringRef Piece : S.Pieces) {
    bool Absent = Piece.consume_front("NOT:");
    size_t Found = StringRef(Text).find(Piece, At);
    if (Absent) {
      EXPECT_EQ(Found, StringRef::npos)
          << S.Asm << "\nunexpected: " << Piece.str() << "\n"
          << Text;
      continue;
    }
    EXPECT_NE(Found, StringRef::npos)
        << S.Asm << "\nmissing: " << Piece.str() << "\n"
        << Text;
    if (Found != StringRef::npos)
      At = Found + Piece.size();
  }
}

static void check(std::initializer_list<Shape> Shapes) {
  for (const Shape &S : Shapes)
    check(S);
}

TEST(Shape, Loads) {
  check({
      {"ld.global.u32 $0, [$1];",
       "=r,l",
       {"inttoptr i64 %0 to ptr addrspace(1)", "load i32, ptr addrspace(1)",
        "align 4"}},
      {"ld.f32 $0, [$1+16];",
       "=f,l",
       {"getelementptr i8, ptr", "i64 16", "load float, ptr"}},
      {"ld.f64 $0, [$1-8];", "=d,l", {"i64 -8", "load double"}},
      {"ld.shared.b32 $0, [$1];",
       "=r,r",
       {"zext i32 %0 to i64", "inttoptr", "ptr addrspace(3)", "load i32"}},
      {"ld.const.u16 $0, [$1];", "=h,l", {"load i16, ptr addrspace(4)"}},
      {"ld.local.u64 $0, [$1];", "=l,l", {"load i64, ptr addrspace(5)"}},
      // A register may be wider than what is loaded.
      {"ld.global.s8 $0, [$1];", "=r,l", {"load i8", "sext i8"}},
      {"ld.global.u8 $0, [$1];", "=r,l", {"load i8", "zext i8"}},
      {"ld.volatile.global.u32 $0, [$1];", "=r,l", {"load volatile i32"}},
      {"ld.global.cv.u32 $0, [$1];", "=r,l", {"load volatile i32"}},
      {"ld.mmio.relaxed.sys.u32 $0, [$1];",
       "=r,l",
       {"load atomic volatile i32", "syncscope(\"ptx.sys\") monotonic"}},
      {"ld.relaxed.gpu.global.u32 $0, [$1];",
       "=r,l",
       {"load atomic i32", "syncscope(\"ptx.gpu\") monotonic, align 4"}},
      {"ld.acquire.cta.b64 $0, [$1];",
       "=l,l",
       {"load atomic i64", "syncscope(\"ptx.cta\") acquire, align 8"}},
      // In an asm volatile a weak access is volatile; a cache hint is dropped.
      {"ld.global.cs.u32 $0, [$1];", "=r,l", {"load i32"}, false},
      {"ld.global.cg.u32 $0, [$1];", "=r,l", {"load volatile i32"}, true},
      {"ld.global.nc.b32 $0, [$1];",
       "=r,l",
       {"load i32, ptr addrspace(1)", "!invariant.load"},
       true},
      {"ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {$0,$1,$2,$3}, [$4];",
       "=f,=f,=f,=f,l",
       {"load <4 x float>, ptr addrspace(1)", "align 16", "!invariant.load"}},
      {"ld.global.v2.u64 {$0, _}, [$1];",
       "=l,l",
       {"load <2 x i64>", "align 16"}},
      {"ld.global.L1::evict_last.L2::cache_hint.b32 $0, [$1], $2;",
       "=r,l,l",
       {"load i32"}},
      // CUB's descriptors are read whole.
      {"ld.relaxed.gpu.v4.u32 {$0,$1,$2,$3}, [$4];",
       "=r,=r,=r,=r,l",
       {"load atomic i128", "syncscope(\"ptx.gpu\") monotonic, align 16"}},
      {"ld.relaxed.gpu.v2.u32 {$0,$1}, [$2];",
       "=r,=r,l",
       {"load atomic i64", "align 8"}},
      {"ld.cg.u32 $0, [$1];",
       "=r,l,~{memory}",
       {"fence syncscope(\"singlethread\") seq_cst", "load volatile i32",
        "fence syncscope(\"singlethread\") seq_cst"},
       true},
      // A guarded load happens only where its guard holds.
      {"{ .reg .pred p; setp.ne.s32 p, $2, 0; mov.u32 $0, 7; @p ld.u32 $0, "
       "[$1]; }",
       "=r,l,r",
       {"br i1", "load i32", "phi i32", "7"}},
  });
}

TEST(Shape, Stores) {
  check({
      {"st.global.wb.b32 [$0], $1;",
       "l,r",
       {"store volatile i32 %1, ptr addrspace(1)", "align 4"}},
      {"st.shared.u8 [$0], $1;",
       "r,r",
       {"trunc i32 %1 to i8", "store volatile i8", "ptr addrspace(3)"}},
      {"st.v2.f64 [$0], {$1, $2};",
       "l,d,d",
       {"store volatile <2 x double>", "align 16"}},
      {"st.relaxed.gpu.u64 [$0], $1;",
       "l,l",
       {"store atomic i64", "syncscope(\"ptx.gpu\") monotonic"}},
      {"st.release.sys.b32 [$0], $1;",
       "l,r",
       {"store atomic i32", "syncscope(\"ptx.sys\") release"}},
      {"st.release.gpu.v2.u64 [$0], {$1, $2};",
       "l,l,l",
       {"store atomic i128", "syncscope(\"ptx.gpu\") release, align 16"}},
      {"st.global.cg.v4.u16 [$0], {$1,$2,$3,$4};",
       "l,h,h,h,h",
       {"store volatile <4 x i16>", "align 8"}},
      {"{ .reg .u8 t; cvt.u8.u16 t, $1; st.relaxed.gpu.u8 [$0], t; }",
       "l,h",
       {"store atomic i8", "syncscope(\"ptx.gpu\") monotonic, align 1"}},
      {"@$2 st.f32 [$0], $1;",
       "l,f,b",
       {"br i1 %2", "store volatile float %1"}},
      {"prefetch.global.L2 [$0];",
       "l",
       {"call void @llvm.prefetch.p1", "i32 2"}},
      {"prefetchu.L1 [$0];", "l", {"call void @llvm.prefetch.p0", "i32 3"}},
  });
}

TEST(Shape, AddressSpaces) {
  check({
      {"cvta.shared.u64 $0, $1;",
       "=l,l",
       {"inttoptr i64 %0 to ptr addrspace(3)", "addrspacecast ptr addrspace(3)",
        "ptrtoint ptr"}},
      {"cvta.to.global.u64 $0, $1;",
       "=l,l",
       {"inttoptr i64 %0 to ptr", "addrspacecast ptr", "to ptr addrspace(1)"}},
      {"{ .reg .pred p; isspacep.shared p, $1; selp.u32 $0, 1, 0, p; }",
       "=r,l",
       {"llvm.nvvm.isspacep.shared"}},
      {"{ .reg .pred p; isspacep.global p, $1; selp.u32 $0, 1, 0, p; }",
       "=r,l",
       {"llvm.nvvm.isspacep.global"}},
  });
}

TEST(Shape, Atomics) {
  const char *Gpu = "syncscope(\"ptx.gpu\") monotonic";
  check({
      {"atom.add.u32 $0, [$1], $2;", "=r,l,r", {"atomicrmw add ptr", Gpu}},
      {"atom.global.add.f32 $0, [$1], $2;",
       "=f,l,f",
       {"atomicrmw fadd ptr addrspace(1)", "float %1", Gpu}},
      {"atom.add.f64 $0, [$1], $2;", "=d,l,d", {"atomicrmw fadd", "double"}},
      {"atom.add.noftz.f16 $0, [$1], $2;",
       "=h,l,h",
       {"atomicrmw fadd", "half"}},
      {"atom.add.noftz.bf16x2 $0, [$1], $2;",
       "=r,l,r",
       {"atomicrmw fadd", "<2 x bfloat>", "align 4"}},
      // libcu++ names the operation first, the manual the order.
      {"atom.add.release.cta.s32 $0,[$1],$2;",
       "=r,l,r",
       {"atomicrmw add", "syncscope(\"ptx.cta\") release"}},
      {"atom.acq_rel.sys.global.add.u64 $0, [$1], $2;",
       "=l,l,l",
       {"atomicrmw add ptr addrspace(1)", "syncscope(\"ptx.sys\") acq_rel"}},
      {"atom.min.s32 $0, [$1], $2;", "=r,l,r", {"atomicrmw min"}},
      {"atom.max.u64 $0, [$1], $2;", "=l,l,l", {"atomicrmw umax"}},
      {"atom.max.s64 $0, [$1], $2;", "=l,l,l", {"atomicrmw max"}},
      {"atom.min.u32 $0, [$1], $2;", "=r,l,r", {"atomicrmw umin"}},
      {"atom.and.b32 $0, [$1], $2;", "=r,l,r", {"atomicrmw and"}},
      {"atom.or.b64 $0, [$1], $2;", "=l,l,l", {"atomicrmw or"}},
      {"atom.xor.b32 $0, [$1], $2;", "=r,l,r", {"atomicrmw xor"}},
      {"atom.exch.b64 $0, [$1], $2;", "=l,l,l", {"atomicrmw xchg"}},
      {"atom.shared.inc.u32 $0, [$1], $2;",
       "=r,r,r",
       {"atomicrmw uinc_wrap ptr addrspace(3)"}},
      {"atom.dec.u32 $0, [$1], $2;", "=r,l,r", {"atomicrmw udec_wrap"}},
      {"atom.cas.b32 $0, [$1], $2, $3;",
       "=r,l,r,r",
       {"cmpxchg ptr", "i32 %1, i32 %2", "monotonic monotonic",
        "extractvalue { i32, i1 }"}},
      {"atom.cas.acq_rel.cta.b64 $0, [$1], $2, $3;",
       "=l,l,l,l",
       {"cmpxchg", "syncscope(\"ptx.cta\") acq_rel acquire"}},
      {"atom.cas.b16 $0, [$1], $2, $3;",
       "=h,l,h,h",
       {"cmpxchg", "i16", "align 2"}},
      {"red.global.add.u32 [$0], $1;",
       "l,r",
       {"atomicrmw add ptr addrspace(1)"}},
      {"red.or.release.cta.b32 [$0],$1;",
       "l,r",
       {"atomicrmw or", "syncscope(\"ptx.cta\") release"}},
      {"fence.acq_rel.gpu;",
       "~{memory}",
       {"fence syncscope(\"ptx.gpu\") acq_rel"}},
      {"fence.sc.sys;", "~{memory}", {"fence syncscope(\"ptx.sys\") seq_cst"}},
      {"fence.sc.cluster;", "", {"fence syncscope(\"ptx.cluster\") seq_cst"}},
      {"membar.cta;", "", {"llvm.nvvm.membar.cta"}},
      {"membar.gl;", "", {"llvm.nvvm.membar.gl"}},
      {"membar.sys;", "", {"llvm.nvvm.membar.sys"}},
  });
}

TEST(Shape, WarpCollectives) {
  check({
      {"shfl.sync.up.b32 $0, $1, $2, $3, $4;",
       "=r,r,r,r,r",
       {"llvm.nvvm.shfl.sync.up.i32(i32 %3, i32 %0, i32 %1, i32 %2)"},
       true},
      {"shfl.sync.down.b32 $0, $1, 1, 31, -1;",
       "=r,r",
       {"llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %0, i32 1, i32 31)"}},
      {"shfl.sync.idx.b32 $0, $1, $2, 0x1f, $3;",
       "=r,r,r,r",
       {"llvm.nvvm.shfl.sync.idx.i32("}},
      {"{ .reg .s32 r0; .reg .pred p; shfl.sync.bfly.b32 r0|p, $1, $2, $3, $4; "
       "@p add.s32 r0, r0, $1; mov.s32 $0, r0; }",
       "=r,r,r,r,r",
       {"llvm.nvvm.shfl.sync.bfly.i32p", "extractvalue { i32, i1 }",
        "select i1"}},
      {"{ .reg .pred p; setp.ne.u32 p, $1, 0; vote.sync.ballot.b32 $0, p, $2; "
       "}",
       "=r,r,r",
       {"llvm.nvvm.vote.ballot.sync(i32 %1, i1"}},
      {"{ .reg .pred p; setp.ne.u32 p, $1, 0; vote.sync.all.pred p, p, -1; "
       "selp.u32 $0, 1, 0, p; }",
       "=r,r",
       {"llvm.nvvm.vote.all.sync(i32 -1"}},
      {"{ .reg .pred p; setp.ne.u32 p, $1, 0; vote.sync.any.pred p, !p, -1; "
       "selp.u32 $0, 1, 0, p; }",
       "=r,r",
       {"xor i1", "llvm.nvvm.vote.any.sync"}},
      {"{ .reg .pred p; setp.ne.u32 p, $1, 0; vote.uni.sync.pred p, p, -1; "
       "selp.u32 $0, 1, 0, p; }",
       "=r,r",
       {"llvm.nvvm.vote.uni.sync"}},
      {"match.any.sync.b32 $0, $1, $2;",
       "=r,r,r",
       {"llvm.nvvm.match.any.sync.i32(i32 %1, i32 %0)"}},
      {"match.any.sync.b64 $0, $1, $2;",
       "=r,l,r",
       {"llvm.nvvm.match.any.sync.i64(i32 %1, i64 %0)"}},
      {"{ .reg .pred p; match.all.sync.b32 $0|p, $2, $3; selp.u32 $1, 1, 0, p; "
       "}",
       "=r,=r,r,r",
       {"llvm.nvvm.match.all.sync.i32p", "extractvalue"}},
      {"match.all.sync.b64 $0, $1, $2;",
       "=r,l,r",
       {"llvm.nvvm.match.all.sync.i64p"}},
      {"activemask.b32 $0;", "=r", {"llvm.nvvm.activemask()"}},
      {"redux.sync.add.s32 $0, $1, $2;",
       "=r,r,r",
       {"llvm.nvvm.redux.sync.add(i32 %0, i32 %1)"}},
      {"redux.sync.min.u32 $0, $1, $2;",
       "=r,r,r",
       {"llvm.nvvm.redux.sync.umin"}},
      {"redux.sync.max.s32 $0, $1, $2;",
       "=r,r,r",
       {"llvm.nvvm.redux.sync.max"}},
      {"redux.sync.xor.b32 $0, $1, $2;",
       "=r,r,r",
       {"llvm.nvvm.redux.sync.xor"}},
      {"{ .reg .pred p; elect.sync $0|p, $2; selp.u32 $1, 1, 0, p; }",
       "=r,=r,r",
       {"llvm.nvvm.bar.warp.sync(i32 %0)", "llvm.cttz", "sreg.laneid",
        "icmp eq i32"}},
  });
}

TEST(Shape, TexturesAndSurfaces) {
  check({
      {"tex.1d.v4.f32.s32 {$0, $1, $2, $3}, [$4, {$5}];",
       "=f,=f,=f,=f,l,r",
       {"call { float, float, float, float } "
        "@llvm.nvvm.tex.unified.1d.v4f32.s32(i64 %0, i32 %1)"}},
      {"tex.a2d.v4.u32.f32 {$0, $1, $2, $3}, [$4, {$5, $6, $7, $7}];",
       "=r,=r,=r,=r,l,r,f,f",
       {"@llvm.nvvm.tex.unified.2d.array.v4u32.f32(i64 %0, i32 %1, float %2, "
        "float %3)"}},
      {"tex.grad.2d.v4.f32.f32 {$0, $1, $2, $3}, [$4, {$5, $6}], {$5, $5}, "
       "{$6, $6};",
       "=f,=f,=f,=f,l,f,f",
       {"@llvm.nvvm.tex.unified.2d.grad.v4f32.f32(i64 %0, float %1, float %2, "
        "float %1, float %1, float %2, float %2)"}},
      {"tex.level.3d.v4.s32.f32 {$0, $1, $2, $3}, [$4, {$5, $6, $7, $7}], $8;",
       "=r,=r,=r,=r,l,f,f,f,f",
       {"@llvm.nvvm.tex.unified.3d.level.v4s32.f32(i64 %0, float %1, float %2, "
        "float %3, float %4)"}},
      {"tld4.b.2d.v4.f32.f32 {$0, $1, $2, $3}, [$4, {$5, $6}];",
       "=f,=f,=f,=f,l,f,f",
       {"@llvm.nvvm.tld4.unified.b.2d.v4f32.f32("}},
      {"suld.b.2d.v2.b8.clamp {$0, $1}, [$2, {$3, $4}];",
       "=h,=h,l,r,r",
       {"call { i16, i16 } @llvm.nvvm.suld.2d.v2i8.clamp(i64 %0, i32 %1, "
        "i32 %2)"},
       true},
      {"sust.b.a1d.b64.trap [$0, {$1, $2}], {$3};",
       "l,r,r,l",
       {"@llvm.nvvm.sust.b.1d.array.i64.trap(i64 %0, i32 %1, i32 %2, i64 %3)"},
       true},
  });
}

TEST(Shape, BarriersAndControl) {
  check({
      {"bar.sync 0;", "~{memory}", {"llvm.nvvm.barrier0()"}},
      {"bar.sync $0;", "r", {"llvm.nvvm.bar.sync(i32 %0)"}},
      {"bar.sync $0, $1;", "r,r", {"llvm.nvvm.barrier(i32 %0, i32 %1)"}},
      {"bar.sync 1, 64;", "", {"llvm.nvvm.barrier(i32 1, i32 64)"}},
      {"bar.warp.sync $0;", "r", {"llvm.nvvm.bar.warp.sync(i32 %0)"}},
      {"barrier.sync 0;", "", {"llvm.nvvm.barrier.sync(i32 0)"}},
      {"barrier.cluster.arrive;", "", {"llvm.nvvm.barrier.cluster.arrive()"}},
      {"barrier.cluster.arrive.relaxed.aligned;",
       "",
       {"llvm.nvvm.barrier.cluster.arrive.relaxed.aligned()"}},
      {"barrier.cluster.wait.acquire;",
       "",
       {"llvm.nvvm.barrier.cluster.wait()"}},
      {"mapa.u64 $0, $1, $2;", "=l,l,r", {"llvm.nvvm.mapa("}},
      {"barrier.sync 1, 32;",
       "",
       {"llvm.nvvm.barrier.sync.cnt(i32 1, i32 32)"}},
      {"barrier.cta.sync.aligned 0;", "", {"llvm.nvvm.barrier0()"}},
      {"{ .reg .pred p; setp.ne.u32 p, $1, 0; bar.red.popc.u32 $0, 0, p; }",
       "=r,r",
       {"llvm.nvvm.barrier0.popc"}},
      {"{ .reg .pred p; setp.ne.u32 p, $1, 0; bar.red.and.pred p, 0, p; "
       "selp.u32 $0, 1, 0, p; }",
       "=r,r",
       {"llvm.nvvm.barrier0.and"}},
      {"nanosleep.u32 $0;", "r", {"llvm.nvvm.nanosleep(i32 %0)"}},
      {"trap;", "", {"llvm.trap"}},
      {"brkpt;", "", {"llvm.debugtrap"}},
      {"exit;", "", {"llvm.nvvm.exit"}},
      {"@$0 exit;", "b", {"br i1 %0", "llvm.nvvm.exit"}},
      {"griddepcontrol.wait;",
       "~{memory}",
       {"fence syncscope(\"ptx.griddepcontrol.wait\") acquire"}},
      {"griddepcontrol.launch_dependents;",
       "",
       {"fence syncscope(\"ptx.griddepcontrol.launch_dependents\") release"}},
      {"fence.proxy.async.global;",
       "",
       {"fence syncscope(\"ptx.fence.proxy.async.global\") acq_rel"}},
      {"setmaxnreg.dec.sync.aligned.u32 40;",
       "",
       {"llvm.nvvm.setmaxnreg.dec.sync.aligned.u32(i32 40)"}},
      {"createpolicy.fractional.L2::evict_last.b64 $0, 0.5;",
       "=l",
       {"ret i64 0"}},
      {"createpolicy.range.global.L2::evict_last.L2::evict_first.b64 $0, [$1], "
       "$2, $3;",
       "=l,l,r,r",
       {"ret i64 0"}},
      {"discard.global.L2 [$0], 128;", "l", {"ret void"}},
      {"ldu.global.v2.f32 {$0, $1}, [$2];", "=f,=f,l", {"load <2 x float>"}},
      {"applypriority.global.L2::evict_normal [$0], 128;", "l", {"ret void"}},
      {"", "~{memory}", {"fence syncscope(\"singlethread\") seq_cst"}, true},
      {"", "=r,0", {"ret i32 %0"}, true},
      {"// a comment", "", {"NOT:fence", "ret void"}, true},
  });
}

TEST(Shape, SpecialRegisters) {
  for (StringRef Name :
       {"tid.x",       "tid.y",       "tid.z",       "ntid.x",
        "ntid.y",      "ntid.z",      "ctaid.x",     "ctaid.y",
        "ctaid.z",     "nctaid.x",    "nctaid.y",    "nctaid.z",
        "laneid",      "warpid",      "nwarpid",     "smid",
        "nsmid",       "gridid",      "lanemask_eq", "lanemask_le",
        "lanemask_lt", "lanemask_ge", "lanemask_gt", "clock",
        "envreg1"})
    check(Shape{
        ("mov.u32 $0, %" + Name + ";").str(),
        "=r",
        {"llvm.nvvm.read.ptx.sreg." + join(split(Name, "_"), ".") + "()"}});
  check({
      {"mov.u32 $0, WARP_SZ;", "=r", {"llvm.nvvm.read.ptx.sreg.warpsize()"}},
      {"mov.u64 $0, %clock64;", "=l", {"llvm.nvvm.read.ptx.sreg.clock64()"}},
      {"mov.u32 $0, %globaltimer_lo;", "=r", {"sreg.globaltimer()", "trunc"}},
      {"mov.u32 $0, %clock_hi;", "=r", {"sreg.clock64()", "lshr"}},
      {"mov.u32 $0, %cluster_ctarank;", "=r", {"sreg.cluster.ctarank()"}},
      {"mov.u32 $0, %cluster_nctaid.x;", "=r", {"sreg.cluster.nctaid.x()"}},
      {"mov.u32 $0, %nclusterid.y;", "=r", {"sreg.nclusterid.y()"}},
      {"mov.u64 $0, %globaltimer;",
       "=l",
       {"llvm.nvvm.read.ptx.sreg.globaltimer()"}},
  });
}

TEST(Shape, Approximations) {
  check({
      {"rcp.approx.ftz.f32 $0,$1;", "=f,f", {"llvm.nvvm.rcp.approx.ftz.f"}},
      {"rcp.approx.f32 $0, $1;", "=f,f", {"fdiv afn float 1.000000e+00, %0"}},
      {"rcp.approx.ftz.f64 $0, $1;", "=d,d", {"llvm.nvvm.rcp.approx.ftz.d"}},
      {"div.approx.f32 $0, $1, $2;", "=f,f,f", {"llvm.nvvm.div.approx.f"}},
      {"div.full.f32 $0, $1, $2;", "=f,f,f", {"fdiv afn float %0, %1"}},
      {"div.full.ftz.f32 $0, $1, $2;", "=f,f,f", {"select", "fdiv afn float"}},
      {"sqrt.approx.f32 $0, $1;", "=f,f", {"llvm.nvvm.sqrt.approx.f"}},
      {"rsqrt.approx.ftz.f64 $0, $1;",
       "=d,d",
       {"llvm.nvvm.rsqrt.approx.ftz.d"}},
      {"rsqrt.approx.f32 $0, $1;", "=f,f", {"llvm.nvvm.rsqrt.approx.f"}},
      {"sin.approx.f32 $0, $1;", "=f,f", {"llvm.nvvm.sin.approx.f"}},
      {"cos.approx.ftz.f32 $0, $1;", "=f,f", {"llvm.nvvm.cos.approx.ftz.f"}},
      {"lg2.approx.ftz.f32 $0, $1;", "=f,f", {"llvm.nvvm.lg2.approx.ftz.f"}},
      {"ex2.approx.f32 $0, $1;", "=f,f", {"llvm.nvvm.ex2.approx.f"}},
      {"ex2.approx.f16 $0, $1;", "=h,h", {"llvm.nvvm.ex2.approx.f16"}},
      {"ex2.approx.f16x2 $0, $1;", "=r,r", {"llvm.nvvm.ex2.approx.f16x2"}},
      {"ex2.approx.ftz.bf16x2 $0, $1;",
       "=r,r",
       {"llvm.nvvm.ex2.approx.ftz.f", "fptrunc float", "to bfloat"}},
      {"tanh.approx.f32 $0, $0;", "=f,0", {"call afn float @llvm.tanh.f32"}},
      {"tanh.approx.bf16x2 $0, $1;",
       "=r,r",
       {"call afn <2 x bfloat> @llvm.tanh"}},
      {"fns.b32 $0, $1, $2, $3;", "=r,r,r,r", {"llvm.nvvm.fns"}},
      {"cvt.pack.sat.u8.s32.b32 $0, $1, $2, $3;",
       "=r,r,r,r",
       {"llvm.smax", "llvm.umin.i32(i32 %", "shl i32 %2, 16"}},
      {"cvt.pack.sat.s16.s32 $0, $1, $2;", "=r,r,r", {"llvm.smin", ", 16"}},
      {"cvt.rn.f16.bf16 $0, $1;", "=h,h", {"fpext bfloat", "fptrunc float"}},
      // Contraction is left to a multiplication without a rounding mode only.
      {"mul.f32 $0, $1, $2;", "=f,f,f", {"fmul contract float"}},
      {"mul.rn.f32 $0, $1, $2;", "=f,f,f", {"llvm.nvvm.mul.rn.f"}},
      {"fma.rn.f64 $0, $1, $2, $3;", "=d,d,d,d", {"llvm.fma.f64"}},
      {"add.f16x2 $0, $1, $2;", "=r,r,r", {"fadd contract <2 x half>"}},
      {"add.rn.bf16 $0, $1, $2;", "=h,h,h", {"fadd bfloat"}},
  });
}

// With -ftz=true a comparison of floats would flush what is compared.
TEST(Shape, DirectedRoundingComparesIntegers) {
  for (const char *Rounding : {"rz", "rm", "rp"})
    check({{std::string("cvt.") + Rounding + ".bf16.f32 $0, $1;",
            "=h,f",
            {"fptrunc float", "icmp ugt i32", "fcmp ord", "NOT:fcmp o"}}});
}

TEST(Shape, OperandsOfEachKind) {
  check({
      // A tied operand reads what came in and writes the result.
      {"{ex2.approx.f32 $0, $0; }",
       "=f,0",
       {"llvm.nvvm.ex2.approx.f(float %0)"}},
      {"add.u32 $0, $0, $1;", "=&r,r,0", {"add i32 %1, %0"}},
      // Names may have dollars.
      {"{ .reg .pred __$$temp3; setp.equ.f64 __$$temp3, $1, $2; selp.f64 $0, "
       "$3, "
       "$4, __$$temp3;}",
       "=d,d,d,d,d",
       {"fcmp ueq double %0, %1", "select i1"}},
      {"{ .reg .b32 %r<3>; mov.b32 %r2, $1; mov.b32 $0, %r2; }",
       "=r,r",
       {"ret i32 %0"}},
      {"/* a */ mov.u32 $0, 017; // b", "=r", {"ret i32 15"}},
      {"mov.f32 $0, 0f3F800000;", "=f", {"ret float 1.000000e+00"}},
      {"mov.f64 $0, -2.5;", "=d", {"ret double -2.500000e+00"}},
      {"mov.b32 $0, -1;", "=r", {"ret i32 -1"}},
      {"mov.u64 $0, 0xFFFFFFFFFFFFFFFFU;", "=l", {"ret i64 -1"}},
  });
}
