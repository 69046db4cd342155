//===- unittests/frontend/ptx/RefusalTest.cpp - What stays inline asm -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Snippet.h"

#include "frontend/ptx/InlinePtx.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <random>

using namespace llvm;

TEST(Refusal, SaysWhyAndLeavesTheAsm) {
  struct Case {
    const char *Asm, *Constraints, *Reason;
  } Cases[] = {
      // Beyond the table.
      {"wgmma.fence.sync.aligned;", "",
       "'wgmma.fence.sync.aligned' is not in the table"},
      {"add.f16 $0, $1, $2; txq.width.b32 $0;", "=h,h,h",
       "is not in the table"},
      {"mov.u32 $0, %aggr_smem_size;", "=r",
       "special register '%aggr_smem_size' is not supported"},
      {"cp.async.ca.shared.global [$0], [$1], 6;", "r,l",
       "there is no copy of so many bytes"},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
       "multicast::cluster [$0], [$1], $2, [$3], $4;",
       "r,l,r,r,h", "the number of operands is wrong"},
      {"cp.async.bulk.global.global.bulk_group [$0], [$1], $2;", "l,l,r",
       "the number of operands is wrong"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f16 [$0], [$1], "
       "$2;",
       "l,r,r", "does not exist for the type"},
      {"cp.async.bulk.wait_group $0;", "r", "is no constant"},
      {"mbarrier.arrive.release.cluster.shared::cluster.b64 $0, [$1];", "=l,r",
       "another block's barrier gives no state"},
      {"mbarrier.try_wait.shared::cluster.b64 $0, [$1], $2;", "=b,r,l",
       "the form is not supported"},
      {"fence.proxy.tensormap::generic.release.gpu;", "", "is not supported"},
      {"createpolicy.b64 $0;", "=l", "the form is not supported"},
      {"setmaxnreg.inc.sync.aligned.u32 $0;", "r", "the form is not supported"},
      {"mbarrier.init.b64 [$0], $1;", "l,r", "the form is not supported"},
      {"cvt.rn.e4m3x2.f32 $0, $1, $2;", "=h,f,f", "the form is not supported"},
      {"cvt.rz.satfinite.e5m2x2.f16x2 $0, $1;", "=h,r",
       "the form is not supported"},
      {"cvt.rna.relu.tf32.f32 $0, $1;", "=r,f", "the form is not supported"},
      {"cvt.pack.sat.u8.s32 $0, $1, $2;", "=r,r,r",
       "the form is not supported"},
      {"cvt.rn.satfinite.e2m1x2.f32 $0, $1, $2;", "=h,f,f",
       "a type is missing"},
      {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {$0}, {$0}, {$0}, "
       "{$0};",
       "=r", "the shape or its types are not supported"},
      {"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0}, {$0}, {$0}, "
       "{$0};",
       "=r", "the shape or its types are not supported"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {$0}, {$0,$0}, {$0}, "
       "{$0};",
       "=r", "a fragment's number of registers is wrong"},
      {"mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16 {$0}, {$0}, {$0}, "
       "{$0};",
       "=r", "the shape or its types are not supported"},
      {"ldmatrix.sync.aligned.m8n8.x4.b16 {$0,$0}, [$1];", "=r,l",
       "a fragment's number of registers is wrong"},
      {"ldmatrix.sync.aligned.m16n16.x1.trans.b8 {$0,$0}, [$1];", "=r,l",
       "the form is not supported"},
      {"movmatrix.sync.aligned.m8n8.b16 $0, $1;", "=r,r",
       "the form is not supported"},
      {"wmma.load.a.sync.aligned.row.m16n16k16.f16 {$0,$0}, [$1];", "=r,l",
       "a fragment's number of registers is wrong"},
      {"wmma.load.a.sync.aligned.row.m16n16k16.e4m3 {$0}, [$1];", "=r,l",
       "the shape or its types are not supported"},
      {"wmma.store.a.sync.aligned.row.m16n16k16.f16 [$0], {$1};", "l,r",
       "the form is not supported"},
      {"pmevent 16;", "", "the event is no number from 0 to 15"},
      {"cvt.rn.satfinite.f16.f32 $0, $1;", "=h,f",
       "'.satfinite' is not supported"},
      {"ld.param.u32 $0, [$1];", "=r,l", "'.param' is not supported"},
      {"ld.shared::cluster.v2.u32 {$0, $1}, [$2];", "=r,=r,r",
       "the form is not supported"},
      {"atom.shared::cluster.exch.b128 $0, [$1], $2;", "=q,r,q",
       "the form is not supported"},
      {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [$0], $1, "
       "[$2];",
       "r,r,r", "the form is not supported"},
      {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
       "add.f32 [$0], $1, [$2];",
       "r,f,r", "the operation does not exist for the type"},
      {"mapa.shared::cluster.u64 $0, $1, $2;", "=l,l,r",
       "the type is not supported"},
      {"barrier.cluster.arrive.acquire;", "", "'.acquire' is not supported"},
      {"mov.u64 $0, symbol;", "=l", "'symbol' is not declared"},
      {"L: bra L;", "", "labels"},
      {"@$0 bra $$L;", "b", "'$L' is not declared"},
      {"{ .reg .pred p; setp.eq.f32 p, $1, 0; selp.u32 $0, 1, 0, p; }", "=r,f",
       "an integer literal does not fit the type"},
      {".local .b8 x[4];", "", "directive '.local.b8' is not supported"},
      // Malformed.
      {"st.const.u32 [$0], $1;", "l,r", "the operands or the order"},
      {"ld.v4.f64 {$0,$0,$0,$0}, [$1];", "=d,l", "the type is not supported"},
      {"ld.v2.f16x2 {$0,$0}, [$1];", "=r,l", "the type is not supported"},
      {"tanh.approx.u32 $0, $1;", "=r,r", "the form is not supported"},
      {"popc.u16x2 $0, $1;", "=r,r", "the type is not supported"},
      {"mov.u32 $0, $1", "=r,r", "';' is missing"},
      {"{ mov.u32 $0, $1;", "=r,r", "a '{' is not closed"},
      {"mov.u32 $0, $1; }", "=r,r", "a '}' closes nothing"},
      {"mov.u32 $0, $5;", "=r,r", "an operand's size or kind does not fit"},
      {"mov.u32 $0;", "=r", "the number of operands is wrong"},
      {"mov.u32 $0, $1;", "=r,l", "an operand's size or kind does not fit"},
      {"mov.u32 $1, $0;", "=r,l", "a destination's size or kind does not fit"},
      {"add.u32.u32 $0, $1, $2;", "=r,r,r", "'.u32' is not supported"},
      {"add $0, $1, $2;", "=r,r,r", "'add' is not in the table"},
      {"add.ftz.ftz.f32 $0, $1, $2;", "=f,f,f", "'.ftz' is not supported"},
      {"fma.f32 $0, $1, $2, $3;", "=f,f,f,f", "the rounding mode is missing"},
      {"cvt.f16.f32 $0, $1;", "=h,f", "the rounding does not fit the types"},
      {"cvt.rn.f32.f16 $0, $1;", "=f,h", "the rounding does not fit the types"},
      {"cvt.f16.bf16 $0, $1;", "=h,h", "the rounding does not fit the types"},
      {"cvt.rn.sat.bf16.f16 $0, $1;", "=h,h",
       "the rounding does not fit the types"},
      {"ld.relaxed.u32 $0, [$1];", "=r,l",
       "a scope and an order need each other"},
      {"ld.release.gpu.u32 $0, [$1];", "=r,l", "the operands or the order"},
      {"ld.u32 $0, $1;", "=r,l", "an address is expected"},
      {"ld.u32 $0, [$1];", "=r,r", "the address has a size"},
      {"ld.v2.u32 $0, [$1];", "=r,l", "the operands or the order"},
      {"atom.add.noftz.f32 $0, [$1], $2;", "=f,l,f",
       "the form is not supported"},
      {"red.shared.add.v2.f32 [$0], {$1, $1};", "r,f",
       "the form is not supported"},
      {"red.global.add.v4.f32 [$0], {$1, $1};", "l,f",
       "the form is not supported"},
      {"ex2.approx.bf16 $0, $1;", "=h,h", "the form is not supported"},
      {"atom.and.u16 $0, [$1], $2;", "=h,l,h", "does not exist for the type"},
      {"red.exch.b32 [$0], $1;", "l,r", "the form is not supported"},
      {"lop3.b32 $0, $1, $2, $3, $4;", "=r,r,r,r,r", "the table or the type"},
      {"setp.lt.b32 $0, $1, $2;", "=b,r,r", "the comparison does not exist"},
      {"shfl.up.b32 $0, $1, $2, $3, -1;", "=r,r,r,r",
       "the form is not supported"},
      {"mov.b64 {$0, $1}, $2;", "=r,=h,l", "the vector's parts do not fit"},
      {"{ .reg .u32 a, a; }", "", "register 'a' is declared twice"},
      {"{ .reg .u32 r<0>; }", "", "the number of registers"},
      {"{ .reg .q32 r; }", "", "register type 'q32' is not supported"},
      {"mov.u32 $0, 0x1ffffffffffffffffff;", "=r", "an integer literal"},
      {"mov.f32 $0, 0f3F8;", "=f", "a floating-point literal is malformed"},
      {"mov.u32 $0, 12abc;", "=r", "a number runs into a name"},
      {"mov.u32 ${0:x}, 1;", "=r", "operand modifiers"},
      {"mov.u32 $0, \\x01;", "=r", "is not expected"},
      {"/* mov.u32 $0, 1;", "=r", "a comment has no end"},
      {"mov.u32 [$0], 1;", "l", "a destination's size or kind"},
      {"@5 mov.u32 $0, 1;", "=r", "a name is expected"},
      {"not.b32 $0, !$1;", "=r,r", "'!' is only allowed before a predicate"},
      {"mov.u32 $0, -$1;", "=r,r", "a minus sign"},
      {"bar.red.popc.u32 $0, 1, $1;", "=r,b", "the form is not supported"},
  };
  for (const Case &K : Cases) {
    LLVMContext C;
    Snippet S(C, K.Asm, K.Constraints);
    ASSERT_TRUE(S.M) << K.Asm;
    std::string Reason = S.lower();
    EXPECT_NE(Reason, "") << K.Asm << "\n" << S.text();
    EXPECT_NE(StringRef(Reason).find(K.Reason), StringRef::npos)
        << K.Asm << "\nreason: " << Reason;
  }
}

TEST(Refusal, MemoryOperandsStay) {
  LLVMContext C;
  Snippet S(C, "mov.u32 $0, $1;", "=r,m");
  // An "m" that is no pointer is refused by the constraint.
  if (S.M)
    EXPECT_NE(S.lower(), "");
}

/// Seeded damage to texts that lower: the result must lower or be refused, and
/// the module stays whole (Snippet::lower checks it).
TEST(Refusal, SurvivesDamagedText) {
  auto Buffer = MemoryBuffer::getFile(PTX_TEST_INPUTS "/golden.txt");
  ASSERT_TRUE(bool(Buffer));
  SmallVector<StringRef, 0> Lines;
  (*Buffer)->getBuffer().split(Lines, '\n', -1, false);
  static const StringRef Pieces[] = {
      ";",       "{",          "}",       "[",
      "]",       "@",          "!",       "|",
      ",",       "$0",         "$9",      "%tid.x",
      ".f32",    ".cc",        ".x2",     "p",
      "0f",      "-1",         "_",       "<3>",
      "::",      ".reg",       "//",      "/*",
      "ld",      "atom",       ".b128",   ".global",
      ".v4",     "$$",         "${",      "\n",
      "0x80",    ".pred",      ".bf16x2", "shfl.sync.up.b32",
      "mov.b64", "setp.lt.s32"};
  std::mt19937_64 Random(20240607);
  auto Below = [&](size_t N) { return size_t(Random() % N); };
  unsigned Lowered = 0, Refused = 0;
  for (unsigned Round = 0; Round != 20000; ++Round) {
    SmallVector<StringRef, 3> Fields;
    Lines[Below(Lines.size() / 2) * 2].split(Fields, " | ", 2);
    std::string Text = Fields[2].str();
    for (size_t Edits = 1 + Below(3); Edits; --Edits) {
      size_t At = Below(Text.size() + 1);
      switch (Below(4)) {
      case 0:
        Text.insert(At, Pieces[Below(std::size(Pieces))].str());
        break;
      case 1:
        Text.erase(At, 1 + Below(4));
        break;
      case 2:
        if (At < Text.size())
          Text[At] = char(Below(96) + 32);
        break;
      default:
        Text.insert(At, Text.substr(Below(Text.size() + 1), Below(12)));
      }
    }
    LLVMContext C;
    Snippet S(C, Text, Fields[1], Round % 2);
    ASSERT_TRUE(S.M);
    ++(S.lower().empty() ? Lowered : Refused);
    if (HasFailure())
      FAIL() << Text;
  }
  // Both happen, or the damage is of the wrong kind.
  EXPECT_GT(Lowered, 500u);
  EXPECT_GT(Refused, 5000u);
}

TEST(Refusal, IsListed) {
  using namespace reconverge::frontend;
  LLVMContext C;
  Snippet S(C, "wgmma.nothing;", "");
  ASSERT_TRUE(S.M);
  EXPECT_EQ(S.lower(), "'wgmma.nothing' is not in the table");
  std::vector<RemainingPtx> Left = remainingPtx(*S.M);
  ASSERT_EQ(Left.size(), 1u);
  EXPECT_EQ(Left[0].Function, "f");
  EXPECT_EQ(Left[0].Asm, "wgmma.nothing;");
}
