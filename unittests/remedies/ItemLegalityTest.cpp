//===- unittests/remedies/ItemLegalityTest.cpp - Ties to places -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that are free but for one instruction: each refusal is planted once,
// and what looks alike and is no tie beside it.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/ItemRefusals.h"
#include "remedies/common/Items.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace llvm;

namespace reconverge::remedies {
namespace {

constexpr const char *Prelude = R"(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [64 x i32] undef
@dynamic = external addrspace(3) global [0 x i32]
@counter = internal addrspace(1) global i32 0
@format = internal addrspace(4) constant [3 x i8] c"%d\00"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.w()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.warpsize()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
declare i32 @llvm.nvvm.read.ptx.sreg.warpid()
declare i32 @llvm.nvvm.read.ptx.sreg.nwarpid()
declare i32 @llvm.nvvm.read.ptx.sreg.smid()
declare i32 @llvm.nvvm.read.ptx.sreg.nsmid()
declare i32 @llvm.nvvm.read.ptx.sreg.gridid()
declare i32 @llvm.nvvm.read.ptx.sreg.envreg1()
declare i64 @llvm.nvvm.read.ptx.sreg.clock64()
declare i64 @llvm.nvvm.read.ptx.sreg.globaltimer()
declare i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
declare i32 @llvm.nvvm.read.ptx.sreg.nclusterid.x()
declare i32 @llvm.nvvm.activemask()
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.nvvm.barrier0.popc(i32)
declare void @llvm.nvvm.barrier.sync(i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare void @llvm.nvvm.barrier.cluster.wait()
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
declare void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32)
declare void @llvm.nvvm.cp.async.wait.all()
declare i1 @llvm.nvvm.mbarrier.test.wait(ptr, i64)
declare ptr @llvm.nvvm.mapa(ptr, i32)
declare void @llvm.nvvm.exit()
declare void @llvm.nvvm.nanosleep(i32)
declare void @llvm.nvvm.membar.gl()
declare void @llvm.trap()
declare float @__nv_sinf(float)
declare i32 @vprintf(ptr, ptr)
declare ptr @malloc(i64)
declare i32 @unknown(i32)
declare i32 @reconverge.total_smem_size()
declare void @reconverge.barrier.arrive(i32, i32)
declare i32 @"reconverge.mma~m8n8k16"(i32)
declare i32 @"reconverge.cvt~rna.tf32.f32"(float)
define internal i32 @square(i32 %x) noinline {
  %r = mul i32 %x, %x
  ret i32 %r
}
define internal i32 @asks(i32 %x) noinline {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %tid
}
define internal i32 @asks_block(i32 %x) noinline {
  %id = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  ret i32 %id
}
define internal i32 @asks_far(i32 %x) noinline {
  %r = call i32 @asks(i32 %x)
  ret i32 %r
}
define internal i32 @shares(i32 %x) noinline {
  store i32 %x, ptr addrspace(3) @tile
  ret i32 %x
}
define internal i32 @waits(i32 %x) noinline {
  call void @llvm.nvvm.barrier0()
  ret i32 %x
}
define internal i32 @leaves(i32 %x) noinline {
  call void @llvm.nvvm.exit()
  ret i32 %x
}
define internal i32 @goes_round(i32 %x) noinline {
  %r = call i32 @goes_round(i32 %x)
  ret i32 %r
}
define weak i32 @replaceable(i32 %x) noinline {
  ret i32 %x
}
define ptx_kernel void @k(ptr %p, i32 %n, float %f) {
entry:
  %x = load i32, ptr %p
  %g = addrspacecast ptr %p to ptr addrspace(1)
)";

class Planned {
public:
  /// A kernel of \p Body behind the prelude's first lines, and \p Others.
  explicit Planned(const std::string &Body, const std::string &Others = "") {
    SMDiagnostic Why;
    M = parseAssemblyString(Prelude + Body + "\n  ret void\n}\n" + Others, Why,
                            C);
    EXPECT_TRUE(M) << Why.getMessage().str() << "\n" << Body;
    if (M)
      Plan = planItems(*M->getFunction("k"));
  }
  /// The code and the detail of the refusal, or "free" and how many reads.
  std::string text() const {
    if (const auto *Why = std::get_if<Refusal>(&Plan))
      return Why->Kind->code() +
             (Why->Detail.empty() ? "" : " (" + Why->Detail + ")");
    return "free, " + std::to_string(plan().Reads.size()) + " reads";
  }
  const ItemsPlan &plan() const { return std::get<ItemsPlan>(Plan); }

  LLVMContext C;
  std::unique_ptr<Module> M;
  PlanOr<ItemsPlan> Plan;
};

/// Of a kernel with \p Body: its code is that of \p Kind.
void expectTie(const std::string &Body, const RefusalKind &Kind,
               const std::string &Detail = "") {
  EXPECT_EQ(Planned(Body).text(),
            Kind.code() + (Detail.empty() ? "" : " (" + Detail + ")"))
      << Body;
}

void expectFree(const std::string &Body, unsigned Reads = 0) {
  EXPECT_EQ(Planned(Body).text(), "free, " + std::to_string(Reads) + " reads")
      << Body;
}

/// Calls "llvm.nvvm." \p Name, of type \p Type.
std::string read(const std::string &Name, const std::string &Type = "i32") {
  return "%v = call " + Type + " @llvm.nvvm." + Name;
}
void expectTieOf(const std::string &Call, const RefusalKind &Kind,
                 const std::string &Type = "i32") {
  const bool IsVoid = Type == "void";
  const std::string Name = "llvm.nvvm." + Call.substr(0, Call.find('('));
  expectTie(IsVoid ? "call void @llvm.nvvm." + Call : read(Call, Type), Kind,
            Name);
}

TEST(ItemLegality, NumbersAreReadInProgramOrder) {
  Planned P(R"(
    %a = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    %b = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
    br label %next
  next:
    %c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
    %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
    %e = call i32 @llvm.nvvm.read.ptx.sreg.tid.x())");
  ASSERT_EQ(P.text(), "free, 5 reads");
  std::string Names;
  for (const CallBase *Read : P.plan().Reads)
    Names += Read->getName();
  EXPECT_EQ(Names, "abcde");
  EXPECT_FALSE(P.plan().Exits);
}

TEST(ItemLegality, ConstantsAreNoReads) {
  expectFree(read("read.ptx.sreg.warpsize()"));
  expectFree(read("read.ptx.sreg.ctaid.w()"));
}

TEST(ItemLegality, RC301NotAKernel) {
  Planned P("", "define void @f() { ret void }");
  auto Plan = planItems(*P.M->getFunction("f"));
  ASSERT_TRUE(std::holds_alternative<Refusal>(Plan));
  EXPECT_EQ(std::get<Refusal>(Plan).Kind, &tied::Function);
}

TEST(ItemLegality, RC318LaunchedInClusters) {
  Planned P("",
            "define ptx_kernel void @c() \"reconverge-cluster\"=\"2, 1, 1\" "
            "{ ret void }");
  auto Plan = planItems(*P.M->getFunction("c"));
  ASSERT_TRUE(std::holds_alternative<Refusal>(Plan));
  EXPECT_EQ(std::get<Refusal>(Plan).Kind, &tied::Cluster);
}

TEST(ItemLegality, RC302CalledFromTheDevice) {
  const std::string Why = tied::Called.code() + " (k)";
  EXPECT_EQ(Planned("", "@table = constant [1 x ptr] [ptr @k]").text(), Why);
  EXPECT_EQ(Planned("", R"(
    define void @parent(ptr %p) {
      call ptx_kernel void @k(ptr %p, i32 1, float 0.0)
      ret void
    })")
                .text(),
            Why);
  EXPECT_EQ(Planned("", R"(
    @llvm.used = appending global [1 x ptr] [ptr @k], section "llvm.metadata"
    !nvvm.annotations = !{!0}
    !0 = !{ptr @k, !"kernel", i32 1})")
                .text(),
            "free, 0 reads");
}

TEST(ItemLegality, RC311Shared) {
  expectTie("store i32 %x, ptr addrspace(3) @tile", tied::Shared);
  expectTie("%v = load i32, ptr addrspace(3) @dynamic", tied::Shared);
  expectTie("store i32 %x, ptr addrspacecast (ptr addrspace(3) @tile to ptr)",
            tied::Shared);
  expectTie("%v = load i32, ptr getelementptr (i8, ptr addrspacecast (ptr "
            "addrspace(3) @tile to ptr), i64 12)",
            tied::Shared);
  expectTie("%v = inttoptr i32 %n to ptr addrspace(3)", tied::Shared);
  expectTie("%v = addrspacecast ptr %p to ptr addrspace(3)", tied::Shared);
  expectTie("%v = inttoptr <2 x i32> zeroinitializer to <2 x ptr addrspace(3)>",
            tied::Shared);
  expectTie("%v = call i32 @reconverge.total_smem_size()", tied::Shared,
            "reconverge.total_smem_size");
  expectFree("store i32 %x, ptr addrspace(1) %g");
  expectFree("%a = alloca [4 x i32]\n store i32 %x, ptr %a");
}

TEST(ItemLegality, RC312Barrier) {
  expectTieOf("barrier0()", tied::Barrier, "void");
  expectTie(read("barrier0.popc(i32 %x)"), tied::Barrier,
            "llvm.nvvm.barrier0.popc");
  expectTie("call void @llvm.nvvm.barrier.sync(i32 1)", tied::Barrier,
            "llvm.nvvm.barrier.sync");
  expectTie("call void @llvm.nvvm.bar.warp.sync(i32 -1)", tied::Barrier,
            "llvm.nvvm.bar.warp.sync");
  expectTie("call void @reconverge.barrier.arrive(i32 1, i32 64)",
            tied::Barrier, "reconverge.barrier.arrive");
}

TEST(ItemLegality, RC313Collective) {
  expectTieOf("shfl.sync.down.i32(i32 -1, i32 %x, i32 1, i32 31)",
              tied::Collective);
  expectTieOf("vote.any.sync(i32 -1, i1 true)", tied::Collective, "i1");
  expectTieOf("match.any.sync.i32(i32 -1, i32 %x)", tied::Collective);
  expectTieOf("redux.sync.add(i32 %x, i32 -1)", tied::Collective);
  expectTieOf("activemask()", tied::Collective);
  expectTieOf("setmaxnreg.inc.sync.aligned.u32(i32 64)", tied::Collective,
              "void");
  expectTie("%v = call i32 @\"reconverge.mma~m8n8k16\"(i32 %x)",
            tied::Collective, "reconverge.mma~m8n8k16");
  expectFree("%v = call i32 @\"reconverge.cvt~rna.tf32.f32\"(float %f)");
}

TEST(ItemLegality, RC314Warp) {
  for (const char *Name : {"laneid", "lanemask.lt", "warpid", "nwarpid"})
    expectTieOf("read.ptx.sreg." + std::string(Name) + "()", tied::Warp);
}

TEST(ItemLegality, RC315Async) {
  expectTieOf("cp.async.wait.all()", tied::Async, "void");
  expectTieOf("mbarrier.test.wait(ptr %p, i64 0)", tied::Async, "i1");
}

TEST(ItemLegality, RC316Clock) {
  expectTieOf("read.ptx.sreg.clock64()", tied::Clock, "i64");
  expectTieOf("read.ptx.sreg.globaltimer()", tied::Clock, "i64");
}

TEST(ItemLegality, RC317Processor) {
  expectTieOf("read.ptx.sreg.smid()", tied::Processor);
  expectTieOf("read.ptx.sreg.nsmid()", tied::Processor);
}

TEST(ItemLegality, RC318Cluster) {
  expectTieOf("read.ptx.sreg.cluster.ctarank()", tied::Cluster);
  expectTieOf("read.ptx.sreg.nclusterid.x()", tied::Cluster);
  expectTieOf("barrier.cluster.wait()", tied::Cluster, "void");
  expectTieOf("mapa(ptr %p, i32 0)", tied::Cluster, "ptr");
  expectTie("%v = inttoptr i32 %n to ptr addrspace(7)", tied::Cluster);
}

TEST(ItemLegality, RC319Launch) {
  expectTieOf("read.ptx.sreg.envreg1()", tied::Launch);
  expectTieOf("read.ptx.sreg.gridid()", tied::Launch);
}

TEST(ItemLegality, RC321Call) {
  expectTie("%v = call i32 @asks(i32 %x)", tied::Call,
            "asks: llvm.nvvm.read.ptx.sreg.tid.x");
  expectTie("%v = call i32 @asks_far(i32 %x)", tied::Call,
            "asks_far: asks: llvm.nvvm.read.ptx.sreg.tid.x");
  expectTie("%v = call i32 @shares(i32 %x)", tied::Call,
            "shares: it uses shared memory");
  expectTie("%v = call i32 @waits(i32 %x)", tied::Call,
            "waits: llvm.nvvm.barrier0");
  expectFree("%v = call i32 @square(i32 %x)");
  expectFree("%v = call i32 @goes_round(i32 %x)");
  expectFree("%v = call i32 @square(i32 %x)\n"
             "%w = call i32 @square(i32 %v)\n"
             "%z = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()",
             1);
}

TEST(ItemLegality, RC322Unknown) {
  expectTie("%v = call i32 %p(i32 %x)", tied::Unknown,
            "a call through a pointer");
  expectTie("%v = call i32 @unknown(i32 %x)", tied::Unknown, "unknown");
  expectTie("%v = call i32 @replaceable(i32 %x)", tied::Unknown, "replaceable");
  expectFree("%v = call float @__nv_sinf(float %f)");
}

TEST(ItemLegality, RC323Asm) {
  expectTie("%v = call i32 asm \"mov.u32 $0, %laneid;\", \"=r\"()", tied::Asm);
}

TEST(ItemLegality, WhatIsNoTie) {
  expectFree("%v = atomicrmw add ptr %p, i32 1 monotonic");
  expectFree("store volatile i32 %x, ptr addrspace(1) @counter");
  expectFree("fence seq_cst");
  expectFree("call void @llvm.nvvm.membar.gl()");
  expectFree("call void @llvm.nvvm.nanosleep(i32 %n)");
  expectFree("call void @llvm.trap()");
  expectFree("%v = call i32 @vprintf(ptr addrspacecast (ptr addrspace(4) "
             "@format to ptr), ptr %p)");
  expectFree("%v = call ptr @malloc(i64 8)");
}

TEST(ItemLegality, ExitsAreNoted) {
  Planned Own("call void @llvm.nvvm.exit()");
  ASSERT_EQ(Own.text(), "free, 0 reads");
  EXPECT_TRUE(Own.plan().Exits);
  Planned Called("%v = call i32 @leaves(i32 %x)");
  ASSERT_EQ(Called.text(), "free, 0 reads");
  EXPECT_TRUE(Called.plan().Exits);
}

TEST(ItemLegality, TheRefusalHasItsPlace) {
  Planned P("call void @llvm.nvvm.barrier0(), !dbg !3", R"(
    !llvm.dbg.cu = !{!0}
    !llvm.module.flags = !{!4}
    !0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1)
    !1 = !DIFile(filename: "k.cu", directory: "/")
    !2 = distinct !DISubprogram(name: "k", scope: !1, file: !1, unit: !0,
                                spFlags: DISPFlagDefinition)
    !3 = !DILocation(line: 42, scope: !2)
    !4 = !{i32 2, !"Debug Info Version", i32 3})");
  ASSERT_EQ(P.text(), "RC312 (llvm.nvvm.barrier0)");
  EXPECT_EQ(std::get<Refusal>(P.Plan).Where.getLine(), 42u);
}

//===----------------------------------------------------------------------===//
// Whole blocks
//===----------------------------------------------------------------------===//

/// The code of the refusal, or "free" and how many reads.
std::string ofBlocks(const std::string &Body) {
  Planned P(Body);
  auto Plan = planBlocks(*P.M->getFunction("k"));
  if (const auto *Why = std::get_if<Refusal>(&Plan))
    return Why->Kind->code();
  return "free, " + std::to_string(std::get<BlocksPlan>(Plan).Reads.size()) +
         " reads";
}

TEST(BlockLegality, WhatBlocksHaveIsNoTie) {
  for (const char *Body :
       {"store i32 %x, ptr addrspace(3) @tile",
        "%v = call i32 @reconverge.total_smem_size()",
        "call void @llvm.nvvm.barrier0()",
        "call void @reconverge.barrier.arrive(i32 1, i32 64)",
        "%v = call i32 @llvm.nvvm.activemask()",
        "%v = call i32 @\"reconverge.mma~m8n8k16\"(i32 %x)",
        "%v = call i32 @llvm.nvvm.read.ptx.sreg.laneid()",
        "%v = call i32 @llvm.nvvm.read.ptx.sreg.nwarpid()",
        "call void @llvm.nvvm.cp.async.wait.all()",
        "%v = call i64 @llvm.nvvm.read.ptx.sreg.clock64()",
        "%v = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "%v = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()",
        "%v = call i32 @asks_far(i32 %x)", "%v = call i32 @waits(i32 %x)"})
    EXPECT_EQ(ofBlocks(Body), "free, 0 reads") << Body;
}

TEST(BlockLegality, TheGridIsRead) {
  EXPECT_EQ(ofBlocks("%a = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
                     "%b = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()\n"
                     "%c = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()"),
            "free, 2 reads");
}

TEST(BlockLegality, WhatIsBeyondTheBlockIsATie) {
  const std::pair<const char *, const RefusalKind *> Ties[] = {
      {"%v = call i32 @llvm.nvvm.read.ptx.sreg.smid()", &tied::Processor},
      {"%v = call i32 @llvm.nvvm.read.ptx.sreg.nsmid()", &tied::Processor},
      {"%v = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()",
       &tied::Cluster},
      {"call void @llvm.nvvm.barrier.cluster.wait()", &tied::Cluster},
      {"%s = addrspacecast ptr addrspace(3) @tile to ptr\n"
       "%v = addrspacecast ptr %s to ptr addrspace(7)",
       &tied::Cluster},
      {"%v = call i32 @llvm.nvvm.read.ptx.sreg.envreg1()", &tied::Launch},
      {"%v = call i32 @llvm.nvvm.read.ptx.sreg.gridid()", &tied::Launch},
      {"%v = call i32 @asks_block(i32 %x)", &tied::Call},
      {"%v = call i32 @unknown(i32 %x)", &tied::Unknown},
      {"%v = call i32 asm \"mov.u32 $0, %ctaid.x;\", \"=r\"()", &tied::Asm}};
  for (auto [Body, Kind] : Ties)
    EXPECT_EQ(ofBlocks(Body), Kind->code()) << Body;
}

} // namespace
} // namespace reconverge::remedies
