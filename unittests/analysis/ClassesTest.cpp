//===- unittests/analysis/ClassesTest.cpp - Instruction classes -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Parsed.h"
#include "analysis/Costs.h"

using namespace llvm;
using namespace reconverge::analysis;

namespace {

struct Row {
  const char *Body; ///< its first instruction is judged
  const char *Class;
};

const Row Rows[] = {
    {"%x = add i32 %n, 1", "add.i32"},
    {"%x = sub i8 1, 2", "add.i32"},
    {"%x = add i64 %w, 1", "add.i64"},
    {"%x = mul i32 %n, %n", "mul.i32"},
    {"%x = sdiv i32 %n, 3", "div.s32"},
    {"%x = udiv i64 %w, 3", "div.u64"},
    {"%x = srem i64 %w, 3", "rem.s64"},
    {"%x = urem i32 %n, 3", "rem.u32"},
    {"%x = xor i32 %n, 3", "logic.i32"},
    {"%x = and i1 true, false", "logic.i32"},
    {"%x = ashr i64 %w, 3", "shift.i64"},
    {"%x = fadd float %f, %f", "add.f32"},
    {"%x = fsub double %d, %d", "add.f64"},
    {"%x = fmul half %h, %h", "mul.f16"},
    {"%x = fdiv float %f, %f", "div.f32"},
    {"%x = frem double %d, %d", "rem.f64"},
    {"%x = fneg float %f", "abs.f32"},
    {"%x = icmp eq i32 %n, 1", "cmp.i32"},
    {"%x = icmp eq ptr %p, null", "cmp.i64"},
    {"%x = fcmp olt double %d, %d", "cmp.f64"},
    {"%x = select i1 true, i32 1, i32 2", "select"},
    {"%x = sext i32 %n to i64", "cvt.64"},
    {"%x = sitofp i32 %n to float", "cvt.32"},
    {"%x = fpext float %f to double", "cvt.64"},
    {"%x = getelementptr i32, ptr %p, i32 %n", "addr"},
    {"%x = fadd <2 x float> zeroinitializer, zeroinitializer", "add.f32"},
    // Memory: the space is that of the object behind a generic pointer.
    {"%x = load i32, ptr %p", "ld.global"},
    {"%x = load i32, ptr addrspace(1) null", "ld.global"},
    {"%x = load i32, ptr addrspace(3) @shared", "ld.shared"},
    {"%x = load i32, ptr addrspacecast (ptr addrspace(3) @shared to ptr)",
     "ld.shared"},
    {"%x = load i32, ptr addrspace(4) @constants", "ld.const"},
    {"%x = load i32, ptr %byval", "ld.const"},
    {"%x = load i32, ptr addrspace(5) null", "ld.local"},
    {"%x = load i32, ptr inttoptr (i64 16 to ptr)", "ld.generic"},
    {"store i32 1, ptr %p", "st.global"},
    {"store i32 1, ptr %byval", "st.local"},
    {"%x = atomicrmw add ptr %p, i32 1 seq_cst", "atom.global"},
    {"%x = cmpxchg ptr addrspace(3) @shared, i32 0, i32 1 seq_cst seq_cst",
     "atom.shared"},
    {"fence seq_cst", "fence"},
    // Intrinsics.
    {"%x = call float @llvm.fma.f32(float %f, float %f, float %f)", "fma.f32"},
    {"%x = call double @llvm.sqrt.f64(double %d)", "sqrt.f64"},
    {"%x = call float @llvm.cos.f32(float %f)", "sin.f32"},
    {"%x = call half @llvm.exp2.f16(half %h)", "exp2.f32"},
    {"%x = call float @llvm.floor.f32(float %f)", "cvt.32"},
    {"%x = call float @llvm.maxnum.f32(float %f, float %f)", "minmax.f32"},
    {"%x = call i32 @llvm.smin.i32(i32 %n, i32 %n)", "minmax.s32"},
    {"%x = call i64 @llvm.umax.i64(i64 %w, i64 %w)", "minmax.u64"},
    {"%x = call i32 @llvm.ctpop.i32(i32 %n)", "bits.i32"},
    {"%x = call i64 @llvm.fshl.i64(i64 %w, i64 %w, i64 3)", "shift.i64"},
    {"%x = call {i32, i1} @llvm.uadd.with.overflow.i32(i32 %n, i32 1)",
     "add.i32"},
    {"%x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()", "sreg"},
    {"%x = call i64 @llvm.nvvm.read.ptx.sreg.clock64()", "clock"},
    {"%x = call float @llvm.nvvm.mul.rz.f(float %f, float %f)", "mul.f32"},
    {"%x = call double @llvm.nvvm.rcp.rn.d(double %d)", "rcp.f64"},
    {"%x = call float @llvm.nvvm.sqrt.rn.f(float %f)", "sqrt.f32"},
    {"%x = call float @llvm.nvvm.rsqrt.approx.f(float %f)", "rsqrt.f32"},
    {"%x = call float @llvm.nvvm.ex2.approx.f(float %f)", "exp2.f32"},
    {"%x = call float @llvm.nvvm.lg2.approx.f(float %f)", "log2.f32"},
    {"%x = call float @llvm.nvvm.div.approx.f(float %f, float %f)",
     "div.approx.f32"},
    {"%x = call float @llvm.nvvm.fmax.f(float %f, float %f)", "minmax.f32"},
    {"%x = call i32 @llvm.nvvm.f2i.rz(float %f)", "cvt.32"},
    {"%x = call i64 @llvm.nvvm.d2ll.rz(double %d)", "cvt.64"},
    {"%x = call i32 @llvm.nvvm.mulhi.i(i32 %n, i32 %n)", "mul.i32"},
    {"%x = call i32 @llvm.nvvm.mul24.i(i32 %n, i32 %n)", "mul24.i32"},
    {"%x = call i32 @llvm.nvvm.prmt(i32 %n, i32 %n, i32 %n)", "logic.i32"},
    {"%x = call i32 @llvm.nvvm.d2i.lo(double %d)", "mov"},
    {"%x = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 1, i32 1, i32 "
     "31)",
     "shfl"},
    {"%x = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 true)", "vote"},
    {"%x = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %n)", "match"},
    {"%x = call i32 @llvm.nvvm.redux.sync.add(i32 %n, i32 -1)", "redux"},
    {"%x = call i32 "
     "@llvm.nvvm.wmma.m32n8k16.load.b.col.stride.s8.p0(ptr %p, i32 16)",
     "ld.global"},
    {"%x = call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p0(ptr %p)",
     "ld.shared"},
    {"call void @llvm.nvvm.barrier0()", "bar.sync"},
    {"call void @llvm.nvvm.bar.warp.sync(i32 -1)", "bar.warp"},
    {"call void @llvm.nvvm.membar.gl()", "fence"},
    // Calls.
    {"%x = call float @__nv_sinf(float %f)", "sin.f32"},
    {"%x = call double @__nv_pow(double %d, double %d)", "pow.f64"},
    {"%x = call float @__nv_fast_expf(float %f)", "exp.f32"},
    {"%x = call float @__nv_erff(float %f)", "call"},
    {"%x = call i32 @user(i32 %n)", "call"},
    {"%x = call i32 @reconverge.movmatrix(i32 %n)", "shfl"},
    {"call void @reconverge.stmatrix(ptr %p, i32 %n)", "st.shared"},
    {"%x = call i32 @reconverge.mma(i32 %n, i32 %n, i32 %n)", "call"},
    {"call void asm sideeffect \"nanosleep.u32 1;\", \"\"()", "asm"},
    {"ret void", "ret"},
    {"br i1 true, label %a, label %b a: br label %b b: ret void ret2:",
     "branch"},
    {"switch i32 %n, label %a [ i32 0, label %b ] a: br label %b b: ret void "
     "ret2:",
     "switch"},
};

/// Declares what the rows call: a type for each name is in the call itself.
std::string declarationsFor(StringRef Body) {
  auto [Before, After] = Body.split('@');
  size_t Call = Before.rfind("call ");
  if (Call == StringRef::npos || Body.contains("call void asm"))
    return "";
  StringRef Result = Before.drop_front(Call + 5).rtrim();
  auto [Name, Rest] = After.split('(');
  std::string Types;
  SmallVector<StringRef, 4> Arguments;
  Rest.take_until([](char C) { return C == ')'; }).split(Arguments, ',');
  for (StringRef Argument : Arguments)
    if (!Argument.trim().empty())
      Types +=
          (Types.empty() ? "" : ", ") + Argument.trim().split(' ').first.str();
  return ("declare " + Result + " @" + Name + "(" + Types + ")\n").str();
}

TEST(Classes, EachInstruction) {
  for (const Row &R : Rows) {
    SCOPED_TRACE(R.Body);
    Parsed P(declarationsFor(R.Body) +
             "@shared = addrspace(3) global i32 undef\n"
             "@constants = addrspace(4) global i32 0\n"
             "define ptx_kernel void @k(i32 %n, i64 %w, float %f, double %d,"
             " half %h, ptr %p, ptr byval(i32) %byval) {" +
             R.Body + "\nret void }");
    if (HasFailure())
      return;
    StringRef Class = classOf(P.function().getEntryBlock().front());
    EXPECT_EQ(Class.str(), R.Class);
    EXPECT_TRUE(is_contained(instructionClasses(), Class));
  }
}

/// A pointer handed to a device function could be anything.
TEST(Classes, DeviceFunctionPointersAreGeneric) {
  Parsed P("define i32 @f(ptr %p) { %x = load i32, ptr %p ret i32 %x }");
  EXPECT_EQ(classOf(P.value("x", "f")), "ld.generic");
}

} // namespace
