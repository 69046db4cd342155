//===- unittests/frontend/ptx/ModuleTest.cpp - Lowering whole modules -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Snippet.h"

#include "frontend/ptx/InlinePtx.h"
#include "frontend/ptx/Table.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Local.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace llvm;
using namespace reconverge::frontend;

static std::unique_ptr<Module> parseModule(LLVMContext &C, StringRef Body) {
  SMDiagnostic Problem;
  std::string Text =
      ("target datalayout = \"e-i64:64-i128:128-v16:16-v32:32-n16:32:64\"\n"
       "target triple = \"nvptx64-nvidia-cuda\"\n" +
       Body)
          .str();
  std::unique_ptr<Module> M = parseAssemblyString(Text, Problem, C);
  EXPECT_TRUE(M) << Problem.getLineNo() << ": " << Problem.getMessage().str();
  return M;
}

static std::string print(const Module &M) {
  std::string Text;
  raw_string_ostream OS(Text);
  M.print(OS, nullptr);
  return Text;
}

static void lowerAndVerify(Module &M) {
  if (Error E = lowerInlinePtx(M))
    FAIL() << toString(std::move(E));
  std::string Problems;
  raw_string_ostream OS(Problems);
  EXPECT_FALSE(verifyModule(M, &OS)) << Problems;
}

/// The slow path of sinf: several outputs, taken apart at once.
TEST(Module, ForwardsWhatIsExtracted) {
  LLVMContext C;
  auto M = parseModule(C, R"(
define i32 @f(i32 %a, i32 %b, i32 %c) {
  %both = call { i32, i32 } asm "{\0A\09mad.lo.cc.u32 $0, $2, $3, $4;\0A\09madc.hi.u32 $1, $2, $3, 0;\0A\09}", "=r,=r,r,r,r"(i32 %a, i32 %b, i32 %c)
  %low = extractvalue { i32, i32 } %both, 0
  %high = extractvalue { i32, i32 } %both, 1
  %sum = add i32 %low, %high
  ret i32 %sum
})");
  lowerAndVerify(*M);
  for (Instruction &I : instructions(*M->getFunction("f"))) {
    EXPECT_FALSE(isa<InsertValueInst>(I) || isa<ExtractValueInst>(I))
        << print(*M);
    EXPECT_FALSE(isa<CallBase>(I)) << print(*M);
  }
}

/// Every instruction gets the place of the asm, and pointers keep their origin.
TEST(Module, KeepsPlacesAndPointers) {
  LLVMContext C;
  auto M = parseModule(C, R"(
define i32 @f(ptr %p) !dbg !4 {
  %v = call i32 asm sideeffect "ld.global.u32 $0, [$1];", "=r,l"(ptr %p), !dbg !7
  ret i32 %v, !dbg !8
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "a.cu", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "f", file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !6)
!6 = !{}
!7 = !DILocation(line: 12, column: 3, scope: !4)
!8 = !DILocation(line: 13, column: 3, scope: !4)
)");
  lowerAndVerify(*M);
  unsigned Loads = 0;
  for (Instruction &I : instructions(*M->getFunction("f"))) {
    EXPECT_FALSE(isa<PtrToIntInst>(I) || isa<IntToPtrInst>(I)) << print(*M);
    if (auto *Load = dyn_cast<LoadInst>(&I)) {
      ++Loads;
      ASSERT_TRUE(Load->getDebugLoc());
      EXPECT_EQ(Load->getDebugLoc().getLine(), 12u);
      EXPECT_EQ(Load->getPointerAddressSpace(), 1u);
    }
  }
  EXPECT_EQ(Loads, 1u);
}

/// An immediate is part of the text; two of them are two plans.
TEST(Module, TakesImmediatesAsLiterals) {
  LLVMContext C;
  auto M = parseModule(C, R"(
define i32 @f(i32 %a, i32 %b, i32 %c) {
  %x = call i32 asm "lop3.b32 $0, $1, $2, $3, $4;", "=r,r,r,r,n"(i32 %a, i32 %b, i32 %c, i32 128)
  %y = call i32 asm "lop3.b32 $0, $1, $2, $3, $4;", "=r,r,r,r,n"(i32 %x, i32 %b, i32 %c, i32 254)
  ret i32 %y
})");
  lowerAndVerify(*M);
  EXPECT_TRUE(remainingPtx(*M).empty());
  std::string Text = print(*M);
  EXPECT_NE(Text.find("and i32"), std::string::npos) << Text;
  EXPECT_NE(Text.find("or i32"), std::string::npos) << Text;
}

/// What is refused and not volatile is dead when its result is not used.
TEST(Module, LetsUnusedRefusedAsmDie) {
  LLVMContext C;
  auto M = parseModule(C, R"(
define void @f() {
  %a = call i32 asm "mov.u32 $0, %aggr_smem_size;", "=r"() #0
  %b = call i32 asm sideeffect "mov.u32 $0, %aggr_smem_size;", "=r"() #0
  ret void
}
attributes #0 = { convergent nounwind memory(none) }
)");
  lowerAndVerify(*M);
  std::vector<bool> Dead;
  for (Instruction &I : instructions(*M->getFunction("f")))
    if (isa<CallInst>(I))
      Dead.push_back(isInstructionTriviallyDead(&I));
  EXPECT_EQ(Dead, (std::vector<bool>{true, false}));
}

TEST(Module, GivesTheSameBytesTwice) {
  auto Buffer = MemoryBuffer::getFile(PTX_TEST_INPUTS "/golden.txt");
  ASSERT_TRUE(bool(Buffer));
  SmallVector<StringRef, 0> Lines;
  (*Buffer)->getBuffer().split(Lines, '\n', -1, false);
  std::string Texts[2];
  for (std::string &Text : Texts)
    for (size_t N = 0; N < Lines.size(); N += 40) {
      SmallVector<StringRef, 3> Fields;
      Lines[N].split(Fields, " | ", 2);
      LLVMContext C;
      Snippet S(C, Fields[2], Fields[1]);
      EXPECT_EQ(S.lower(), "");
      Text += S.text();
    }
  EXPECT_EQ(Texts[0], Texts[1]);
}

/// Lowers \p Asm, restores it, and checks that each of \p Pieces is then among
/// the asm texts and that nothing is left that the back end could not select.
static void checkRestored(StringRef Asm, StringRef Constraints,
                          std::vector<std::string> Pieces) {
  LLVMContext C;
  Snippet S(C, Asm, Constraints, /*Volatile=*/true);
  ASSERT_TRUE(S.M);
  ASSERT_EQ(S.lower(), "") << Asm.str();
  if (Error E = restoreInlinePtx(*S.M)) {
    ADD_FAILURE() << toString(std::move(E));
    return;
  }
  std::string Problems;
  raw_string_ostream OS(Problems);
  EXPECT_FALSE(verifyModule(*S.M, &OS)) << Problems << S.text();
  std::string Left;
  for (const RemainingPtx &R : remainingPtx(*S.M))
    Left += R.Asm + "\n";
  for (const std::string &Piece : Pieces)
    EXPECT_NE(Left.find(Piece), std::string::npos)
        << Asm.str() << "\nrestored as: " << Left << S.text();
  EXPECT_EQ(S.text().find("fence syncscope"), std::string::npos) << S.text();
}

TEST(Restore, GivesBackOrdersAndScopes) {
  checkRestored("ld.acquire.sys.global.u32 $0, [$1];", "=r,l",
                {"ld.acquire.sys.global.b32 $0, [$1];"});
  checkRestored("ld.relaxed.gpu.v2.u64 {$0, $1}, [$2];", "=l,=l,l",
                {"ld.relaxed.gpu.v2.b64 {$0, $1}, [$2];"});
  checkRestored("ld.relaxed.cta.u8 $0, [$1];", "=h,l",
                {"ld.relaxed.cta.b8 $0"});
  checkRestored("st.release.cta.shared.u64 [$0], $1;", "l,l",
                {"st.release.cta.shared.b64 [$0], $1;"});
  checkRestored("st.relaxed.gpu.v4.u32 [$0], {$1,$2,$3,$4};", "l,r,r,r,r",
                {"st.relaxed.gpu.v2.b64 [$0], {$1, $2};"});
  checkRestored("atom.add.acq_rel.sys.u32 $0, [$1], $2;", "=r,l,r",
                {"atom.acq_rel.sys.add.u32 $0, [$1], $2;"});
  checkRestored("atom.add.sys.f32 $0, [$1], $2;", "=f,l,f",
                {"atom.relaxed.sys.add.f32"});
  checkRestored("atom.add.noftz.f16x2 $0, [$1], $2;", "=r,l,r",
                {"atom.relaxed.gpu.add.noftz.f16x2"});
  checkRestored("atom.inc.u32 $0, [$1], $2;", "=r,l,r",
                {"atom.relaxed.gpu.inc.u32"});
  checkRestored("atom.cas.acquire.cta.b64 $0, [$1], $2, $3;", "=l,l,l,l",
                {"atom.acquire.cta.cas.b64 $0, [$1], $2, $3;"});
  checkRestored("atom.cas.b16 $0, [$1], $2, $3;", "=h,l,h,h",
                {"atom.relaxed.gpu.cas.b16"});
  checkRestored("atom.shared::cluster.add.f32 $0, [$1], $2;", "=f,r,f",
                {"atom.relaxed.gpu.shared::cluster.add.f32 $0, [$1], $2;"});
  checkRestored("red.relaxed.cluster.shared::cluster.add.u32 [$0], $1;", "r,r",
                {"atom.relaxed.cluster.shared::cluster.add.u32"});
  checkRestored("atom.acquire.cluster.shared::cluster.cas.b32 $0, [$1], 0, 1;",
                "=r,r", {"atom.acquire.cluster.shared::cluster.cas.b32"});
  checkRestored("fence.sc.gpu;", "", {"fence.sc.gpu;"});
  checkRestored("fence.acq_rel.cluster;", "", {"fence.acq_rel.cluster;"});
  checkRestored("griddepcontrol.wait;", "", {"griddepcontrol.wait;"});
  for (const char *Fence :
       {"fence.proxy.alias;", "fence.proxy.async;", "fence.proxy.async.global;",
        "fence.proxy.async.shared::cta;",
        "fence.mbarrier_init.release.cluster;",
        "fence.acquire.sync_restrict::shared::cluster.cluster;",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta."
        "cluster;"})
    checkRestored(Fence, "", {Fence});
  checkRestored("rcp.approx.f32 $0, $1;", "=f,f", {"rcp.approx.f32 $0, $1;"});
  checkRestored("div.full.f32 $0, $1, $2;", "=f,f,f", {"div.full.f32"});
  checkRestored("tanh.approx.f16x2 $0, $1;", "=r,r",
                {"tanh.approx.f16x2 $0, $1;"});
  checkRestored("prefetch.global.L2 [$0];", "l", {"prefetch.global.L2 [$0];"});
  checkRestored("", "~{memory}", {"\n"});
  checkRestored("atom.relaxed.cta.cas.b128 $0, [$1], $2, $3;", "=q,l,q,q",
                {"mov.b128 %rc_1, {$3, $4};",
                 "atom.relaxed.cta.cas.b128 %rc_old, [$2], %rc_1, %rc_3;"});
  checkRestored("atom.exch.b128 $0, [$1], $2;", "=q,l,q",
                {"atom.relaxed.gpu.exch.b128 %rc_old, [$2], %rc_1;"});
}

/// What LLVM 19 has no intrinsic for becomes a function of ours and comes back.
TEST(Restore, GivesBackOwnFunctions) {
  checkRestored("mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r",
                {"mapa.shared::cluster.u32 $0, $1, $2;"});
  checkRestored("ld.shared::cluster.f32 $0, [$1];", "=f,r",
                {"ld.shared::cluster.f32 $0, [$1];"});
  checkRestored("ld.acquire.cluster.shared::cluster.b64 $0, [$1+8];", "=l,r",
                {"ld.acquire.cluster.shared::cluster.b64 $0, [$1];"});
  checkRestored("st.shared::cluster.u16 [$0], $1;", "r,h",
                {"st.shared::cluster.u16 [$0], $1;"});
  checkRestored(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 "
      "[$0], {$1, $2}, [$3];",
      "r,l,l,r",
      {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 "
       "[$0], {$2, $3}, [$1];"});
  checkRestored(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
      "min.s32 [$0], $1, [$2];",
      "r,r,r",
      {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
       "min.s32 [$0], $2, [$1];"});
  checkRestored("mov.u32 $0, %reserved_smem_offset_1;", "=r",
                {"mov.u32 $0, %reserved_smem_offset_1;"});
  checkRestored("mov.u32 $0, %dynamic_smem_size;", "=r",
                {"mov.u32 $0, %dynamic_smem_size;"});
  checkRestored("mov.u32 $0, %total_smem_size;", "=r",
                {"mov.u32 $0, %total_smem_size;"});
  checkRestored("pmevent 3;", "", {"pmevent $0;"});
  checkRestored("mbarrier.arrive.shared.b64 $0, [$1], $2;", "=l,r,r",
                {"mbarrier.arrive.release.cta.shared::cta.b64 $0, [$1], $2;"});
  checkRestored("mbarrier.arrive_drop.shared.b64 _, [$0], $1;", "r,r",
                {"mbarrier.arrive_drop.release.cta.shared::cta.b64"});
  checkRestored(
      "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 $0, [$1], $2;",
      "=l,r,r", {"mbarrier.arrive.expect_tx.release.cta.shared::cta.b64"});
  checkRestored("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;",
                "r,r", {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64"});
  for (std::string Wait : {"try_wait", "try_wait.parity", "test_wait.parity"}) {
    const bool Parity = StringRef(Wait).contains("parity");
    checkRestored("{ .reg .pred p; mbarrier." + Wait +
                      ".shared.b64 p, [$1], $2; selp.b32 $0, 1, 0, p; }",
                  Parity ? "=r,r,r" : "=r,r,l",
                  {"mbarrier." + Wait + ".shared.b64 %rc_p, [$1], $2;"});
  }
  checkRestored("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                "bytes [$0], [$1], $2, [$3];",
                "r,l,r,r", {"complete_tx::bytes [$0], [$1], $2, [$3];"});
  checkRestored("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"
                ".L2::cache_hint [$0], [$1], $2, [$3], $4;",
                "r,l,r,r,l", {"complete_tx::bytes [$0], [$1], $2, [$3];"});
  checkRestored("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_"
                "tx::bytes [$0], [$1], $2, [$3];",
                "r,r,r,r", {"shared::cluster.shared::cta"});
  checkRestored("cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;",
                "l,r,r",
                {"cp.async.bulk.global.shared::cta.bulk_group [$0], [$1]"});
  checkRestored("cp.async.bulk.prefetch.L2.global [$0], $1;", "l,r",
                {"cp.async.bulk.prefetch.L2.global [$0], $1;"});
  checkRestored("cp.reduce.async.bulk.global.shared::cta.bulk_group"
                ".L2::cache_hint.add.noftz.f16 [$0], [$1], $2, $3;",
                "l,r,r,l", {"bulk_group.add.noftz.f16 [$0], [$1], $2;"});
  checkRestored("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::"
                "complete_tx::bytes.inc.u32 [$0], [$1], $2, [$3];",
                "r,r,r,r", {"bytes.inc.u32 [$0], [$1], $2, [$3];"});
}

TEST(Restore, GivesBackVectorAtomics) {
  checkRestored("red.relaxed.gpu.global.add.v4.f32 [$0], {$1, $2, $3, $4};",
                "l,f,f,f,f",
                {"red.relaxed.gpu.global.add.v4.f32 [$0], {$1, $2, $3, $4};"});
  checkRestored("atom.global.add.L2::cache_hint.v2.f32 {$0, $1}, [$2], {$3, $4}"
                ", $5;",
                "=f,=f,l,f,f,l",
                {"atom.global.add.v2.f32 {$0, $1}, [$2], {$3, $4};"});
}

/// What names a cluster comes back as it was.
TEST(Restore, GivesBackFormsForClusters) {
  checkRestored(
      "mbarrier.arrive.relaxed.cluster.shared::cta.b64 $0, [$1];", "=l,r",
      {"mbarrier.arrive.release.cluster.shared::cta.b64 $0, [$1], $2;"});
  checkRestored(
      "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [$0], "
      "$1;",
      "r,r", {".release.cluster.shared::cluster.b64 _, [$0], $1;"});
  checkRestored("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [$0],"
                " $1;",
                "r,r", {"complete_tx.relaxed.cluster.shared::cluster.b64"});
  checkRestored("mbarrier.expect_tx.relaxed.cluster.shared::cta.b64 [$0], $1;",
                "r,r", {"expect_tx.relaxed.cluster.shared::cta.b64 [$0], $1;"});
  checkRestored("{ .reg .pred p; mbarrier.test_wait.parity.acquire.cluster."
                "shared::cta.b64 p, [$1], $2; selp.b32 $0, 1, 0, p; }",
                "=r,r,r",
                {"test_wait.parity.acquire.cluster.shared::cta.b64 %rc_p, "
                 "[$1], $2;"});
}

/// Fragments come back in their braces, by as many registers.
TEST(Restore, GivesBackTiles) {
  checkRestored("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                "{$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};",
                "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f",
                {"{$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, "
                 "{$10, $11, $12, $13};"});
  checkRestored("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {$0,$1}, {$2},"
                " {$3}, {$4,$5};",
                "=d,=d,d,d,d,d",
                {"m8n8k4.row.col.f64.f64.f64.f64 {$0, $1}, {$2}, {$3}, "
                 "{$4, $5};"});
  checkRestored("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {$0,$1}, [$2];",
                "=r,=r,r",
                {"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {$0, $1}, "
                 "[$2];"});
  checkRestored("stmatrix.sync.aligned.m8n8.x1.b16 [$0], $1;", "l,r",
                {"stmatrix.sync.aligned.m8n8.x1.b16 [$0], {$1};"});
  checkRestored("movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r",
                {"movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;"});
}

/// Conversions that only compute: nothing of them is volatile.
TEST(Restore, GivesBackSmallFloats) {
  checkRestored("cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "=h,f,f",
                {"cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;"});
  checkRestored("cvt.rn.satfinite.relu.e5m2x2.f16x2 $0, $1;", "=h,r",
                {"cvt.rn.satfinite.relu.e5m2x2.f16x2 $0, $1;"});
  checkRestored("cvt.rn.f16x2.e4m3x2 $0, $1;", "=r,h",
                {"cvt.rn.f16x2.e4m3x2 $0, $1;"});
  checkRestored("cvt.rna.satfinite.tf32.f32 $0, $1;", "=r,f",
                {"cvt.rna.satfinite.tf32.f32 $0, $1;"});
  LLVMContext C;
  Snippet S(C, "cvt.rz.tf32.f32 $0, $1;", "=r,f");
  ASSERT_EQ(S.lower(), "");
  EXPECT_FALSE(errorToBool(restoreInlinePtx(*S.M)));
  EXPECT_EQ(S.text().find("sideeffect"), std::string::npos) << S.text();
}

/// wmma is intrinsics, which the back end knows.
TEST(Lowering, TakesWmma) {
  const std::tuple<const char *, const char *, const char *> Cases[] = {
      {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "
       "{$0,$1,$2,$3,$4,$5,$6,$7}, [$8], $9;",
       "=r,=r,=r,=r,=r,=r,=r,=r,r,r",
       "wmma.m16n16k16.load.a.row.stride.f16.p3"},
      {"wmma.load.b.sync.aligned.col.m32n8k16.s8 {$0}, [$1];", "=r,l",
       "wmma.m32n8k16.load.b.col.s8.p0"},
      {"wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [$0], {$1,$2}, $3;",
       "l,d,d,r", "wmma.m8n8k4.store.d.row.stride.f64.p1"},
      {"wmma.mma.sync.aligned.row.col.m8n32k16.s32.u8.u8.s32.satfinite "
       "{$0,$1,$2,$3,$4,$5,$6,$7}, {$8}, {$9,$9,$9,$9}, "
       "{$8,$8,$8,$8,$8,$8,$8,$8};",
       "=r,=r,=r,=r,=r,=r,=r,=r,r,r", "wmma.m8n32k16.mma.row.col.u8.satfinite"},
      {"wmma.mma.sync.aligned.col.col.m16n16k16.f16.f32 {$0,$1,$2,$3}, "
       "{$4,$4,$4,$4,$4,$4,$4,$4}, {$4,$4,$4,$4,$4,$4,$4,$4}, "
       "{$4,$4,$4,$4,$4,$4,$4,$4};",
       "=r,=r,=r,=r,r", "wmma.m16n16k16.mma.col.col.f16.f32"},
      {"wmma.mma.sync.aligned.row.row.m8n8k4.rn.f64.f64.f64.f64 {$0,$1}, {$2}, "
       "{$2}, {$2,$2};",
       "=d,=d,d", "wmma.m8n8k4.mma.row.row.rn.f64"},
  };
  for (auto [Asm, Constraints, Name] : Cases) {
    LLVMContext C;
    Snippet S(C, Asm, Constraints, /*Volatile=*/true);
    ASSERT_TRUE(S.M) << Asm;
    EXPECT_EQ(S.lower(), "") << Asm;
    EXPECT_NE(S.text().find(Name), std::string::npos) << S.text();
  }
}

/// Several functions of one name, a variant each.
TEST(Lowering, KeepsVariantsApart) {
  LLVMContext C;
  Snippet S(C,
            "mbarrier.expect_tx.relaxed.cluster.shared::cta.b64 [$0], 8;"
            "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [$0], 8;"
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], 8;",
            "r", true);
  ASSERT_EQ(S.lower(), "");
  for (const char *Name :
       {"\"reconverge.mbarrier.expect_tx~expect_tx.relaxed.cluster.shared::cta",
        "\"reconverge.mbarrier.expect_tx~expect_tx.relaxed.cluster.shared::clu",
        "@reconverge.mbarrier.expect_tx("})
    EXPECT_NE(S.text().find(Name), std::string::npos) << Name << S.text();
}

/// Intrinsics that the back end knows.
TEST(Lowering, TakesAsynchronousCopies) {
  const std::pair<const char *, const char *> Cases[] = {
      {"cp.async.ca.shared.global [$0], [$1], 8;", "r,l"},
      {"cp.async.cg.shared.global.L2::128B [$0], [$1], 16, $2;", "r,l,r"},
      {"cp.async.commit_group;", ""},
      {"cp.async.wait_group 2;", ""},
      {"cp.async.wait_all;", ""},
      {"cp.async.cg.shared.global.L2::cache_hint [$0], [$1], 16, $2;", "r,l,l"},
      {"cp.async.bulk.commit_group;", ""},
      {"cp.async.bulk.wait_group 1;", ""},
      {"cp.async.bulk.wait_group.read 0;", ""},
      {"setmaxnreg.inc.sync.aligned.u32 232;", ""},
      {"cp.async.mbarrier.arrive.noinc.shared.b64 [$0];", "r"},
      {"mbarrier.init.shared.b64 [$0], $1;", "r,r"},
      {"mbarrier.inval.shared.b64 [$0];", "r"},
      {"mbarrier.arrive.noComplete.shared.b64 _, [$0], $1;", "r,r"},
      {"mbarrier.arrive_drop.shared.b64 _, [$0];", "r"},
      {"mbarrier.pending_count.b64 $0, $1;", "=r,l"},
  };
  for (auto [Asm, Constraints] : Cases) {
    LLVMContext C;
    Snippet S(C, Asm, Constraints, /*Volatile=*/true);
    ASSERT_TRUE(S.M) << Asm;
    EXPECT_EQ(S.lower(), "") << Asm;
    EXPECT_NE(S.text().find("call"), std::string::npos) << S.text();
    EXPECT_EQ(S.text().find("reconverge.mbarrier"), std::string::npos);
  }
}

/// What the back end prints as it should stays IR.
TEST(Restore, LeavesNativeAtomics) {
  for (StringRef Asm :
       {"atom.add.u32 $0, [$1], $2;", "atom.exch.b32 $0, [$1], $2;"}) {
    LLVMContext C;
    Snippet S(C, Asm, "=r,l,r", true);
    ASSERT_EQ(S.lower(), "");
    EXPECT_FALSE(errorToBool(restoreInlinePtx(*S.M)));
    EXPECT_TRUE(remainingPtx(*S.M).empty()) << S.text();
  }
}

static const char TableBegin[] = "<!-- table: written by PtxTest -->\n";
static const char TableEnd[] = "<!-- end of table -->\n";

/// docs/ptx.md holds the table that the code has. With RECONVERGE_UPDATE_DOCS
/// set, the file is written instead.
TEST(Table, IsDocumented) {
  std::string Path = PTX_TEST_DOCS "/ptx.md";
  auto Buffer = MemoryBuffer::getFile(Path);
  ASSERT_TRUE(bool(Buffer)) << Path;
  std::string Doc = (*Buffer)->getBuffer().str(), Table;
  raw_string_ostream OS(Table);
  printPtxTable(OS);
  size_t Begin = Doc.find(TableBegin), End = Doc.find(TableEnd);
  ASSERT_NE(Begin, std::string::npos);
  ASSERT_NE(End, std::string::npos);
  Begin += strlen(TableBegin);
  std::string Current = Doc.substr(Begin, End - Begin);
  if (std::getenv("RECONVERGE_UPDATE_DOCS")) {
    Doc.replace(Begin, End - Begin, Table);
    std::error_code Problem;
    raw_fd_ostream File(Path, Problem);
    ASSERT_FALSE(Problem) << Problem.message();
    File << Doc;
    return;
  }
  EXPECT_TRUE(Current == Table)
      << "run PtxTest with RECONVERGE_UPDATE_DOCS=1 to write the table anew";
}

namespace {
/// A row that no test lowers is not known to work. Checked when all have run.
class EveryRowIsTested : public testing::Environment {
  void TearDown() override {
    if (testing::GTEST_FLAG(filter) != "*")
      return;
    for (const ptx::RowGroup &Group : ptx::allRows())
      for (const ptx::Row &R : Group.Rows)
        EXPECT_TRUE(rowsSeen().count((R.Opcode + "/" + Twine(R.Class)).str()))
            << "no test lowers " << R.Opcode.str() << " " << R.Forms.str();
  }
};
} // namespace

static testing::Environment *const Coverage =
    testing::AddGlobalTestEnvironment(new EveryRowIsTested);
