//===- unittests/frontend/PipelineTest.cpp - Device code in steps ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontend/DevicePipeline.h"
#include "frontend/Fatbin.h"
#include "frontend/ForeignCode.h"
#include "frontend/Inlining.h"
#include "frontend/Reflect.h"

#include "analysis/Numbering.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::frontend;

namespace {

class PipelineTest : public testing::Test {
protected:
  LLVMContext Context;

  std::unique_ptr<Module> parse(const std::string &Body) {
    SMDiagnostic Problem;
    std::unique_ptr<Module> M = parseAssemblyString(
        "target triple = \"nvptx64-nvidia-cuda\"\n"
        "target datalayout = \"e-i64:64-i128:128-v16:16-v32:32-n16:32:64\"\n" +
            Body,
        Problem, Context);
    EXPECT_TRUE(M) << Problem.getMessage().str();
    return M;
  }

  /// The constant that @f of \p M returns.
  int64_t returned(const Module &M, StringRef Name) {
    auto *Return =
        cast<ReturnInst>(M.getFunction(Name)->getEntryBlock().getTerminator());
    return cast<ConstantInt>(Return->getReturnValue())->getSExtValue();
  }
};

// A loop that could not be unrolled: news in the user's file alone.
TEST_F(PipelineTest, NoWarningsInTheToolkit) {
  auto M = parse(R"(
define void @f() !dbg !3 {
  ret void, !dbg !4
}
!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !2, emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "cub/cub.cuh", directory: "/cuda/include")
!3 = distinct !DISubprogram(name: "f", scope: !2, file: !2, line: 1, unit: !1, type: !5, spFlags: DISPFlagDefinition)
!4 = !DILocation(line: 7, scope: !3)
!5 = !DISubroutineType(types: !6)
!6 = !{}
)");
  const Instruction &I = M->getFunction("f")->getEntryBlock().front();
  auto Said = [&](StringRef Toolkit) {
    sayOnce(Context, Toolkit);
    testing::internal::CaptureStderr();
    DiagnosticInfoOptimizationFailure D("unroll", "failed", I.getDebugLoc(),
                                        I.getParent());
    D << "loop not unrolled";
    Context.diagnose(D);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(Said("/cuda"), "");
  EXPECT_NE(Said("/cud").find("loop not unrolled"), std::string::npos);
}

const char *Reflecting = R"(
@ftz = private addrspace(1) constant [11 x i8] c"__CUDA_FTZ\00"
@div = private addrspace(1) constant [16 x i8] c"__CUDA_PREC_DIV\00"
@sqrt = private addrspace(1) constant [17 x i8] c"__CUDA_PREC_SQRT\00"
@arch = private constant [12 x i8] c"__CUDA_ARCH\00"
@other = private constant [8 x i8] c"SOMEONE\00"
declare i32 @__nvvm_reflect(ptr)
define i32 @f_ftz() {
  %r = call i32 @__nvvm_reflect(ptr addrspacecast (ptr addrspace(1) @ftz to ptr))
  ret i32 %r
}
define i32 @f_div() {
  %r = call i32 @__nvvm_reflect(ptr addrspacecast (ptr addrspace(1) @div to ptr))
  ret i32 %r
}
define i32 @f_sqrt() {
  %r = call i32 @__nvvm_reflect(ptr addrspacecast (ptr addrspace(1) @sqrt to ptr))
  ret i32 %r
}
define i32 @f_arch() {
  %r = call i32 @__nvvm_reflect(ptr @arch)
  ret i32 %r
}
define i32 @f_other() {
  %r = call i32 @__nvvm_reflect(ptr @other)
  ret i32 %r
}
)";

TEST_F(PipelineTest, ReflectAnswersAsNvccDoes) {
  std::unique_ptr<Module> M = parse(Reflecting);
  ASSERT_FALSE(bool(resolveReflect(*M, {}, 90)));
  EXPECT_EQ(returned(*M, "f_ftz"), 0);
  EXPECT_EQ(returned(*M, "f_div"), 1);
  EXPECT_EQ(returned(*M, "f_sqrt"), 1);
  EXPECT_EQ(returned(*M, "f_arch"), 900);
  EXPECT_EQ(returned(*M, "f_other"), 0);
  EXPECT_EQ(M->getFunction("__nvvm_reflect"), nullptr);
}

TEST_F(PipelineTest, ReflectFollowsFastMath) {
  std::unique_ptr<Module> M = parse(Reflecting);
  ASSERT_FALSE(bool(resolveReflect(*M, Numerics::fast(), 75)));
  EXPECT_EQ(returned(*M, "f_ftz"), 1);
  EXPECT_EQ(returned(*M, "f_div"), 0);
  EXPECT_EQ(returned(*M, "f_sqrt"), 0);
  EXPECT_EQ(returned(*M, "f_arch"), 750);
}

TEST_F(PipelineTest, ReflectOfAVariableIsRefused) {
  std::unique_ptr<Module> M = parse(R"(
declare i32 @__nvvm_reflect(ptr)
define i32 @f(ptr %name) {
  %r = call i32 @__nvvm_reflect(ptr %name)
  ret i32 %r
})");
  EXPECT_NE(toString(resolveReflect(*M, {}, 90)).find("string literal"),
            std::string::npos);
}

/// Kernel k calls each function; those of the user have a subprogram.
const char *Calling = R"(
define void @k(ptr %p) !dbg !4 {
  call void @plain(ptr %p), !dbg !12
  call void @kept(ptr %p), !dbg !12
  call void @library(ptr %p), !dbg !12
  call void @self(ptr %p), !dbg !12
  call void @even(ptr %p), !dbg !12
  ret void
}
define void @plain(ptr %p) !dbg !5 {
  call void @inner(ptr %p), !dbg !13
  ret void
}
define void @inner(ptr %p) !dbg !6 {
  store i32 1, ptr %p
  ret void
}
define void @kept(ptr %p) noinline !dbg !7 {
  store i32 2, ptr %p
  ret void
}
define void @library(ptr %p) noinline {
  store i32 3, ptr %p
  ret void
}
define void @self(ptr %p) !dbg !8 {
  call void @self(ptr %p), !dbg !14
  ret void
}
define void @even(ptr %p) !dbg !9 {
  call void @odd(ptr %p), !dbg !15
  ret void
}
define void @odd(ptr %p) !dbg !10 {
  call void @even(ptr %p), !dbg !16
  ret void
}
!nvvm.annotations = !{!0}
!llvm.dbg.cu = !{!1}
!llvm.module.flags = !{!3}
!0 = !{ptr @k, !"kernel", i32 1}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !2, emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "a.cu", directory: "/")
!3 = !{i32 2, !"Debug Info Version", i32 3}
!11 = !DISubroutineType(types: null)
!4 = distinct !DISubprogram(name: "k", scope: !2, file: !2, line: 1, type: !11, unit: !1, spFlags: DISPFlagDefinition)
!5 = distinct !DISubprogram(name: "plain", scope: !2, file: !2, line: 1, type: !11, unit: !1, spFlags: DISPFlagDefinition)
!6 = distinct !DISubprogram(name: "inner", scope: !2, file: !2, line: 1, type: !11, unit: !1, spFlags: DISPFlagDefinition)
!7 = distinct !DISubprogram(name: "kept", scope: !2, file: !2, line: 1, type: !11, unit: !1, spFlags: DISPFlagDefinition)
!8 = distinct !DISubprogram(name: "self", scope: !2, file: !2, line: 1, type: !11, unit: !1, spFlags: DISPFlagDefinition)
!9 = distinct !DISubprogram(name: "even", scope: !2, file: !2, line: 1, type: !11, unit: !1, spFlags: DISPFlagDefinition)
!10 = distinct !DISubprogram(name: "odd", scope: !2, file: !2, line: 1, type: !11, unit: !1, spFlags: DISPFlagDefinition)
!12 = !DILocation(line: 1, scope: !4)
!13 = !DILocation(line: 1, scope: !5)
!14 = !DILocation(line: 1, scope: !8)
!15 = !DILocation(line: 1, scope: !9)
!16 = !DILocation(line: 1, scope: !10)
)";

TEST_F(PipelineTest, InliningMarksAllButRecursionKernelsAndNoinline) {
  std::unique_ptr<Module> M = parse(Calling);
  markForInlining(*M);
  auto Marked = [&](StringRef Name) {
    return M->getFunction(Name)->hasFnAttribute(Attribute::AlwaysInline);
  };
  EXPECT_TRUE(Marked("plain"));
  EXPECT_TRUE(Marked("inner"));
  EXPECT_TRUE(Marked("library"));
  EXPECT_FALSE(Marked("kept"));
  EXPECT_FALSE(Marked("self"));
  EXPECT_FALSE(Marked("even"));
  EXPECT_FALSE(Marked("odd"));
  EXPECT_FALSE(Marked("k"));
}

/// As clang writes `k`: x[tid] = a * x[tid] + c, with a helper and a variable.
const char *Kernel = R"(
@visible = addrspace(1) externally_initialized global i32 7
@hidden = addrspace(1) global i32 8
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define float @helper(float %a, float %b) {
  %m = fmul contract float %a, %b
  %s = fadd contract float %m, 1.0
  ret float %s
}
define void @k(ptr %x, float %a) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr float, ptr %x, i32 %t
  %v = load float, ptr %p
  %c = fcmp ogt float %v, 0.0
  br i1 %c, label %then, label %done
then:
  %h = call float @helper(float %v, float %a)
  %d = fdiv float %h, %a
  store float %d, ptr %p
  br label %done
done:
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @k, !"kernel", i32 1}
)";

TEST_F(PipelineTest, LeavesNumberedKernelsAndVisibleVariables) {
  for (unsigned Level : {0u, 1u, 2u, 3u}) {
    std::unique_ptr<Module> M = parse(Kernel);
    CompileOptions Options;
    Options.OptLevel = Level;
    ASSERT_FALSE(bool(runDevicePipeline(*M, Options)));
    EXPECT_EQ(M->getFunction("helper"), nullptr);
    EXPECT_NE(M->getGlobalVariable("visible"), nullptr);
    EXPECT_EQ(M->getGlobalVariable("hidden"), nullptr);

    const Function &K = *M->getFunction("k");
    unsigned Fmas = 0, Branches = 0;
    for (const BasicBlock &Block : K) {
      EXPECT_TRUE(analysis::blockNumber(Block).has_value());
      Branches += analysis::branchNumber(Block).has_value();
      for (const Instruction &I : Block) {
        if (auto *Call = dyn_cast<IntrinsicInst>(&I))
          Fmas += Call->getIntrinsicID() == Intrinsic::fma;
        EXPECT_FALSE(isa<FPMathOperator>(I) && I.hasAllowContract());
      }
    }
    EXPECT_EQ(Fmas, 1u) << "-O" << Level;
    EXPECT_EQ(Branches, 1u) << "-O" << Level;
  }
}

TEST_F(PipelineTest, NothingIsFusedWithoutContraction) {
  std::unique_ptr<Module> M = parse(Kernel);
  CompileOptions Options;
  Options.Math.Contract = false;
  cantFail(runDevicePipeline(*M, Options));
  for (const Instruction &I : instructions(*M->getFunction("k")))
    if (auto *Call = dyn_cast<IntrinsicInst>(&I))
      EXPECT_NE(Call->getIntrinsicID(), Intrinsic::fma);
}

TEST_F(PipelineTest, SameInputSameBytes) {
  auto Run = [&] {
    std::unique_ptr<Module> M = parse(Kernel);
    cantFail(runDevicePipeline(*M, {}));
    return writeBitcode(*M);
  };
  EXPECT_EQ(Run(), Run());
}

TEST_F(PipelineTest, PtxIsPreciseUnlessAskedOtherwise) {
  auto Ptx = [&](const CompileOptions &Options) {
    std::unique_ptr<Module> M = parse(Kernel);
    cantFail(runDevicePipeline(*M, Options));
    return cantFail(emitPtx(*M, Options));
  };
  CompileOptions Options;
  EXPECT_NE(Ptx(Options).find("div.rn.f32"), std::string::npos);
  EXPECT_NE(Ptx(Options).find("fma.rn.f32"), std::string::npos);
  EXPECT_NE(Ptx(Options).find(".target sm_90"), std::string::npos);
  Options.Math.PreciseDivision = false;
  EXPECT_NE(Ptx(Options).find("div.approx.f32"), std::string::npos);
}

/// Each conversion of %i, %l, %f and %d that k stores.
std::string converting(ArrayRef<const char *> Lines) {
  std::string Text = "define void @k(ptr %p, i32 %i, i64 %l, float %f, double "
                     "%d) {\n";
  for (auto [N, Line] : enumerate(Lines)) {
    const StringRef Type = StringRef(Line).split(' ').first;
    const std::string At = std::to_string(N);
    // Of a call, "T @f(...)"; of a cast, "T = cast".
    Text += "  %v" + At + " = ";
    Text += StringRef(Line).contains('@')
                ? "call " + std::string(Line)
                : StringRef(Line).split(" = ").second.str();
    Text += "\n  store volatile " + Type.str() + " %v" + At + ", ptr %p\n";
  }
  return Text + "  ret void\n}\n!nvvm.annotations = !{!0}\n"
                "!0 = !{ptr @k, !\"kernel\", i32 1}\n";
}

// LLVM's instruction combiner takes rz for rounding to nearest.
TEST_F(PipelineTest, ConversionsTowardZeroStay) {
  std::unique_ptr<Module> M =
      parse(converting({"float @llvm.nvvm.i2f.rz(i32 %i)",
                        "float @llvm.nvvm.ui2f.rz(i32 %i)",
                        "float @llvm.nvvm.ll2f.rz(i64 %l)",
                        "float @llvm.nvvm.ull2f.rz(i64 %l)",
                        "double @llvm.nvvm.i2d.rz(i32 %i)",
                        "double @llvm.nvvm.ll2d.rz(i64 %l)",
                        "double @llvm.nvvm.ull2d.rz(i64 %l)"}) +
            "declare float @llvm.nvvm.i2f.rz(i32)\n"
            "declare float @llvm.nvvm.ui2f.rz(i32)\n"
            "declare float @llvm.nvvm.ll2f.rz(i64)\n"
            "declare float @llvm.nvvm.ull2f.rz(i64)\n"
            "declare double @llvm.nvvm.i2d.rz(i32)\n"
            "declare double @llvm.nvvm.ll2d.rz(i64)\n"
            "declare double @llvm.nvvm.ull2d.rz(i64)\n");
  cantFail(runDevicePipeline(*M, {}));
  const std::string Ptx = cantFail(emitPtx(*M, {}));
  for (const char *Part :
       {"cvt.rz.f32.s32", "cvt.rm.f32.u32", "cvt.rz.f32.s64", "cvt.rm.f32.u64",
        "cvt.rn.f64.s32", "cvt.rz.f64.s64", "cvt.rm.f64.u64"})
    EXPECT_NE(Ptx.find(Part), std::string::npos) << Part << "\n" << Ptx;
  EXPECT_EQ(StringRef(Ptx).count("cvt.r"), 7u) << Ptx;
  EXPECT_FALSE(StringRef(Ptx).contains("selp")) << Ptx;
}

// nvcc saturates at 32 bits and cuts off.
TEST_F(PipelineTest, NarrowIntegersComeFromWords) {
  std::unique_ptr<Module> M = parse(converting(
      {"i8 = fptosi float %f to i8", "i16 = fptoui float %f to i16",
       "i8 = fptoui double %d to i8", "i16 = fptosi double %d to i16"}));
  cantFail(runDevicePipeline(*M, {}));
  const std::string Ptx = cantFail(emitPtx(*M, {}));
  for (const char *Part : {"cvt.rzi.s32.f32", "cvt.rzi.u32.f32",
                           "cvt.rzi.u32.f64", "cvt.rzi.s32.f64"})
    EXPECT_NE(Ptx.find(Part), std::string::npos) << Part << "\n" << Ptx;
}

// A program's bitcode carries the marks, and its source is not there.
TEST_F(PipelineTest, WithoutASourceMarkedKernelsAreOurs) {
  Toolchain Tools;
  auto Env = [](StringRef Name) { return sys::Process::GetEnv(Name); };
  if (Error E = findCudaToolkit("", Env).moveInto(Tools.Cuda))
    GTEST_SKIP() << toString(std::move(E));
  std::unique_ptr<Module> M = parse(Kernel);
  cantFail(runDevicePipeline(*M, {}));
  EXPECT_EQ(compilerOf(*M->getFunction("k")), std::nullopt);
  TempDir Temp = cantFail(TempDir::create());
  const auto Ours = cantFail(makeFatbin(*M, {}, Tools, Temp, "ours"));
  for (ForeignCompiler By : ForeignCompilers) {
    M = parse(Kernel);
    cantFail(runDevicePipeline(*M, {}));
    markFor(*M->getFunction("k"), By);
    EXPECT_EQ(compilerOf(*M->getFunction("k")), By);
    EXPECT_EQ(cantFail(makeFatbin(*M, {}, Tools, Temp, "ours")), Ours);
  }
}

} // namespace
