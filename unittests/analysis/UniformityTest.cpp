//===- unittests/analysis/UniformityTest.cpp - Levels of straight code ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each row is a few instructions whose last, %x, is judged. %tid, %lane, %block
// and %warp are there to be used, and the arguments below.
//
//===----------------------------------------------------------------------===//

#include "Parsed.h"

using namespace llvm;
using namespace reconverge::analysis;

namespace {

constexpr StringLiteral Prologue = R"(
  @shared = addrspace(3) global [64 x float] undef
  @table = addrspace(4) externally_initialized global [16 x i32] zeroinitializer
  @fixed = addrspace(1) constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]
  @counter = addrspace(1) global i32 0
  %pair = type { i32, float }
  declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
  declare i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
  declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  declare i32 @llvm.nvvm.read.ptx.sreg.warpid()
  declare i32 @llvm.nvvm.read.ptx.sreg.smid()
  declare i32 @llvm.nvvm.read.ptx.sreg.warpsize()
  declare i32 @llvm.nvvm.read.ptx.sreg.clock()
  declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
  declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
  declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
  declare {i32, i1} @llvm.nvvm.match.all.sync.i32p(i32, i32)
  declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)
  declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
  declare i32 @llvm.nvvm.activemask()
  declare i32 @llvm.nvvm.barrier0.popc(i32)
  declare i32 @llvm.nvvm.ldg.global.i.i32.p1(ptr addrspace(1), i32)
  declare float @llvm.nvvm.sqrt.rn.f(float)
  declare float @llvm.fma.f32(float, float, float)
  declare float @__nv_sinf(float)
  declare i32 @__nvvm_reflect(ptr)
  declare i32 @unknown(i32)
  define ptx_kernel void @k(i32 %n, ptr %p, ptr noalias readonly %ro,
                            ptr noalias %rw, ptr byval(%pair) %in,
                            ptr byval(%pair) %inout, float %f, i1 %c) {
    %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    %tidy = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
    %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
    %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
    %warp = call i32 @llvm.nvvm.read.ptx.sreg.warpid()
    %odd = trunc i32 %tid to i1
    store i32 %tid, ptr %inout
)";

struct Row {
  const char *Body;
  const char *Lockstep; ///< level by default
  const char *Strict;   ///< with UniformLoads off; null: the same
};

std::string inWords(const Uniformity &U) {
  static const char *Levels[] = {"grid", "block", "warp", "affine",
                                 "divergent"};
  std::string Text = Levels[static_cast<unsigned>(U.L)];
  if (U.Why != Cause::None)
    Text += " " + describe(U.Why).str();
  if (U.Stride)
    Text += " " + std::to_string(*U.Stride);
  return Text;
}

const Row Rows[] = {
    // Sources.
    {"%x = add i32 %n, 1", "grid", nullptr},
    {"%x = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()", "grid", nullptr},
    {"%x = call i32 @llvm.nvvm.read.ptx.sreg.warpsize()", "grid", nullptr},
    {"%x = add i32 %block, %n", "block", nullptr},
    {"%x = call i32 @llvm.nvvm.read.ptx.sreg.smid()", "block", nullptr},
    {"%x = mul i32 %warp, %block", "warp", nullptr},
    {"%x = add i32 %tid, 0", "affine thread id 1", nullptr},
    {"%x = add i32 %lane, 0", "affine thread id 1", nullptr},
    {"%x = add i32 %tidy, 0", "divergent thread id", nullptr},
    {"%x = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()",
     "divergent thread id", nullptr},
    {"%x = call i32 @llvm.nvvm.read.ptx.sreg.clock()", "divergent clock",
     nullptr},
    {"%x = alloca i32", "divergent local memory", nullptr},
    {"%x = freeze i32 undef", "grid", nullptr},
    {"%x = getelementptr i8, ptr addrspace(3) @shared, i32 %n", "block",
     nullptr},
    {"%x = getelementptr i8, ptr addrspacecast (ptr addrspace(3) @shared to "
     "ptr), i32 4",
     "block", nullptr},
    {"%x = getelementptr i8, ptr addrspace(1) @counter, i32 %n", "grid",
     nullptr},

    // Arithmetic that keeps the form of threadIdx.x.
    {"%x = sub i32 %n, %tid", "affine thread id -1", nullptr},
    {"%x = sub i32 %tid, %n", "affine thread id 1", nullptr},
    {"%a = add i32 %tid, %n %x = add i32 %a, %tid", "affine thread id 2",
     nullptr},
    {"%x = sub i32 %tid, %lane", "affine thread id 0", nullptr},
    {"%x = mul i32 %tid, 12", "affine thread id 12", nullptr},
    {"%x = mul i32 -3, %tid", "affine thread id -3", nullptr},
    {"%x = mul i32 %tid, %n", "affine thread id", nullptr},
    {"%x = mul i32 %tid, %tid", "divergent thread id", nullptr},
    {"%x = shl i32 %tid, 3", "affine thread id 8", nullptr},
    {"%x = shl i32 %tid, %n", "affine thread id", nullptr},
    {"%x = shl i32 1, %tid", "divergent thread id", nullptr},
    {"%x = or disjoint i32 %tid, %n", "affine thread id 1", nullptr},
    {"%x = or i32 %tid, %n", "divergent thread id", nullptr},
    {"%x = xor i32 %tid, -1", "affine thread id -1", nullptr},
    {"%x = xor i32 %tid, 1", "divergent thread id", nullptr},
    {"%x = and i32 %tid, 31", "divergent thread id", nullptr},
    {"%x = lshr i32 %tid, 5", "divergent thread id", nullptr},
    {"%x = urem i32 %tid, 3", "divergent thread id", nullptr},
    {"%x = sext i32 %tid to i64", "affine thread id 1", nullptr},
    {"%a = sub i32 %n, %tid %x = zext i32 %a to i64", "affine thread id -1",
     nullptr},
    {"%x = zext i1 %odd to i32", "divergent thread id", nullptr},
    {"%a = mul i32 %tid, 255 %x = trunc i32 %a to i8", "affine thread id -1",
     nullptr},
    {"%x = trunc i32 %tid to i1", "divergent thread id", nullptr},
    {"%x = sitofp i32 %tid to float", "divergent thread id", nullptr},
    {"%x = icmp slt i32 %tid, %n", "divergent thread id", nullptr},
    {"%x = select i1 %c, i32 %tid, i32 %lane", "affine thread id 1", nullptr},
    {"%x = select i1 %c, i32 %tid, i32 %n", "affine thread id", nullptr},
    {"%x = select i1 %odd, i32 %n, i32 1", "divergent thread id", nullptr},
    {"%x = select i1 %odd, i32 %n, i32 %n", "grid", nullptr},
    {"%b = icmp eq i32 %block, 0 %x = select i1 %b, i32 %n, i32 1", "block",
     nullptr},
    {"%x = insertelement <2 x i32> zeroinitializer, i32 %tid, i32 0",
     "divergent thread id", nullptr},
    {"%d = xor i32 %tid, 1 %x = add i32 %d, %tid", "divergent thread id",
     nullptr},
    {"%d = xor i32 %tid, 1 %x = mul i32 %d, 4", "divergent thread id", nullptr},

    // int i = blockIdx.x * blockDim.x + threadIdx.x; p + i
    {"%dim = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()"
     "%base = mul i32 %block, %dim %i = add i32 %base, %tid"
     "%w = sext i32 %i to i64 %x = getelementptr float, ptr %p, i64 %w",
     "affine thread id 4", nullptr},
    {"%x = getelementptr %pair, ptr %p, i32 %tid, i32 1", "affine thread id 8",
     nullptr},
    {"%x = getelementptr [8 x i16], ptr %p, i32 %lane, i32 %tid",
     "affine thread id 18", nullptr},
    {"%a = getelementptr i8, ptr %p, i32 %tid %x = ptrtoint ptr %a to i64",
     "affine thread id 1", nullptr},
    {"%a = getelementptr double, ptr addrspace(3) @shared, i32 %tid"
     "%x = addrspacecast ptr addrspace(3) %a to ptr",
     "affine thread id 8", nullptr},

    // Loads.
    {"%x = load i32, ptr %p", "warp", "divergent load"},
    {"%x = load volatile i32, ptr %p", "warp", "divergent load"},
    {"%x = load atomic i32, ptr %p monotonic, align 4", "divergent atomic",
     nullptr},
    {"%x = load i32, ptr %rw", "warp", "divergent load"},
    {"%x = load i32, ptr %ro", "grid", nullptr},
    {"%a = getelementptr i32, ptr %ro, i32 %block %x = load i32, ptr %a",
     "block", nullptr},
    {"%a = getelementptr i32, ptr %ro, i32 %tid %x = load i32, ptr %a",
     "divergent load", nullptr},
    {"%a = select i1 %c, ptr %ro, ptr %p %x = load i32, ptr %a", "warp",
     "divergent load"},
    {"%x = load i32, ptr %in", "grid", nullptr},
    {"%a = getelementptr %pair, ptr %in, i32 0, i32 1 %x = load float, ptr %a",
     "grid", nullptr},
    {"%x = load i32, ptr %inout", "divergent local memory", nullptr},
    {"%x = load i32, ptr addrspace(4) @table", "grid", nullptr},
    {"%a = getelementptr i32, ptr addrspacecast (ptr addrspace(4) @table to "
     "ptr), i32 %n %x = load i32, ptr %a",
     "grid", nullptr},
    {"%x = load i32, ptr addrspace(1) @fixed", "grid", nullptr},
    {"%x = load i32, ptr addrspace(1) @counter", "warp", "divergent load"},
    {"%x = load float, ptr addrspace(3) @shared", "warp", "divergent load"},
    {"%x = load i32, ptr %p, !invariant.load !0", "grid", nullptr},
    {"%x = load volatile i32, ptr %p, !invariant.load !0", "warp",
     "divergent load"},
    {"%a = addrspacecast ptr %p to ptr addrspace(1)"
     "%x = call i32 @llvm.nvvm.ldg.global.i.i32.p1(ptr addrspace(1) %a, i32 4)",
     "grid", nullptr},
    {"%l = alloca i32 store i32 1, ptr %l %x = load i32, ptr %l",
     "divergent local memory", nullptr},

    // Between lanes, and atomics.
    {"%x = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %tid, i32 0, i32 "
     "31)",
     "divergent shuffle", nullptr},
    {"%x = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %odd)", "warp",
     "divergent shuffle"},
    {"%x = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %odd)", "warp",
     "divergent shuffle"},
    {"%a = call {i32, i1} @llvm.nvvm.match.all.sync.i32p(i32 -1, i32 %tid)"
     "%x = extractvalue {i32, i1} %a, 1",
     "warp", "divergent shuffle"},
    {"%x = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %n)",
     "divergent shuffle", nullptr},
    {"%x = call i32 @llvm.nvvm.redux.sync.add(i32 %tid, i32 -1)", "warp",
     "divergent shuffle"},
    {"%x = call i32 @llvm.nvvm.activemask()", "warp", "divergent shuffle"},
    {"%x = call i32 @llvm.nvvm.barrier0.popc(i32 %tid)", "block", nullptr},
    {"%x = atomicrmw add ptr %p, i32 1 seq_cst", "divergent atomic", nullptr},
    {"%a = cmpxchg ptr %p, i32 0, i32 1 seq_cst seq_cst"
     "%x = extractvalue {i32, i1} %a, 0",
     "divergent atomic", nullptr},

    // Calls.
    {"%x = call float @llvm.nvvm.sqrt.rn.f(float %f)", "grid", nullptr},
    {"%x = call float @llvm.fma.f32(float %f, float 2.0, float %f)", "grid",
     nullptr},
    {"%l = load float, ptr addrspace(3) @shared"
     "%x = call float @__nv_sinf(float %l)",
     "warp", "divergent load"},
    {"%x = call i32 @__nvvm_reflect(ptr %p)", "grid", nullptr},
    {"%x = call i32 @unknown(i32 %n)", "divergent call", nullptr},
    {R"(%x = call i32 asm "mov.u32 $0, $1;", "=r,r"(i32 %n))",
     "divergent inline assembly", nullptr},
};

TEST(Uniformity, StraightCode) {
  for (const Row &R : Rows) {
    SCOPED_TRACE(R.Body);
    Parsed P((Prologue + R.Body + "\n ret void }\n !0 = !{}").str());
    if (HasFailure())
      return;
    Function &F = P.function();
    EXPECT_EQ(inWords(computeUniformity(F).of(P.value("x"))), R.Lockstep);
    UniformityOptions Strict;
    Strict.UniformLoads = false;
    EXPECT_EQ(inWords(computeUniformity(F, Strict).of(P.value("x"))),
              R.Strict ? R.Strict : R.Lockstep)
        << "without UniformLoads";
  }
}

TEST(Uniformity, DeviceFunctionArgumentsDiverge) {
  Parsed P("define i32 @f(i32 %a) { %x = add i32 %a, 1 ret i32 %x }");
  Function &F = P.function("f");
  EXPECT_EQ(inWords(computeUniformity(F).of(P.value("x", "f"))),
            "divergent argument");
}

TEST(Uniformity, KernelByAnnotation) {
  Parsed P("define void @k(i32 %a) { %x = add i32 %a, 1 ret void }\n"
           "!nvvm.annotations = !{!0}\n!0 = !{ptr @k, !\"kernel\", i32 1}");
  EXPECT_EQ(inWords(computeUniformity(P.function()).of(P.value("x"))), "grid");
}

/// The address of a by-value parameter leaves the kernel: it may be written.
TEST(Uniformity, EscapedByValueParameterIsLocal) {
  Parsed P("declare void @use(ptr)\n"
           "define ptx_kernel void @k(ptr byval(i32) %a) {"
           " %x = load i32, ptr %a call void @use(ptr %a) ret void }");
  EXPECT_EQ(inWords(computeUniformity(P.function()).of(P.value("x"))),
            "divergent local memory");
}

TEST(Uniformity, ValuesAddedLaterAreNotTrusted) {
  Parsed P("define ptx_kernel void @k(i32 %a) { %x = add i32 %a, 1 ret void }");
  UniformityResult Result = computeUniformity(P.function());
  auto *New = P.value("x").clone();
  New->insertAfter(&P.value("x"));
  EXPECT_FALSE(Result.isUniform(*New));
  EXPECT_TRUE(Result.isUniform(P.value("x")));
}

} // namespace
