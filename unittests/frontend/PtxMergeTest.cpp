//===- unittests/frontend/PtxMergeTest.cpp --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontend/PtxMerge.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::frontend;

namespace {

const char Ours[] = R"(.version 8.5
.target sm_90
.address_size 64
.visible .global .align 4 .b8 Total[16]; // one for both
.global .align 1 .b8 $str[3] = {111, 10};
.extern .func  (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);
.visible .entry mine(.param .u64 p)
{
	.loc	1 7 3
	mov.u64 %rd1, $str;
	ret;
}
	.file	1 "/a//b.cu"
	.section	.debug_str
	{
$L__info_string0:
.b8 0
	}
)";

const char Theirs[] = R"(
// Compiler: nvcc }{
.version 9.0
.target sm_90
.address_size 64
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0
)
;
.global .align 4 .b8 Total[16];
.global .align 1 .b8 $str[3] = {104, 10};
.global .align 1 .b8 unused[3] = {104, 10};
.func  (.param .b32 func_retval0) helper(
	.param .b32 x
)
{
	mov.u64 %rd1, $str; /* { */
	ret;
}
.entry other()
{
	ret;
}
	// .globl theirs
.visible .entry theirs(
	.param .u64 theirs_param_0
)
.maxntid 64, 1, 1
{
	.loc	1 9 5
	.shared .align 4 .b8 $tile[4];
	.local .align 4 .b8 depot[4];
	{ // callseq 0 }
	call.uni (retval0), helper, (param0);
	}
	st.global.u32 [Total+4], %r1;
	ret;
}
	.file	1 "/a/b.cu"
)";

std::string merged(const StringSet<> &Kernels, const StringSet<> &Shared) {
  auto Text = mergePtx(Ours, Theirs, ForeignCompiler::Nvcc, Kernels, Shared);
  return Text ? *Text : "error: " + toString(Text.takeError());
}

size_t count(StringRef Text, StringRef Part) { return Text.count(Part); }

TEST(PtxMerge, AKernelComesWithWhatItNeeds) {
  std::string Text = merged({"theirs"}, {"Total"});
  EXPECT_EQ(count(Text, ".visible .entry theirs("), 1u) << Text;
  EXPECT_EQ(count(Text, ".visible .entry mine("), 1u);
  EXPECT_EQ(count(Text, ".maxntid 64, 1, 1"), 1u);
  EXPECT_EQ(count(Text, "unused"), 0u);
  EXPECT_EQ(count(Text, "other"), 0u);
  // Before our tables of lines, which end the module.
  EXPECT_LT(Text.find("entry theirs"), Text.find(".file	1 \"/a//b.cu\""));
  EXPECT_EQ(count(Text, "/a/b.cu"), 0u);
}

TEST(PtxMerge, SharedVariablesAreOneAndOthersAreTheirOwn) {
  std::string Text = merged({"theirs"}, {"Total"});
  EXPECT_EQ(count(Text, ".align 4 .b8 Total[16];"), 1u) << Text;
  EXPECT_EQ(count(Text, "[Total+4]"), 1u);
  // Both modules have a $str, of other contents.
  EXPECT_EQ(count(Text, "$str[3] = {111, 10}"), 1u);
  EXPECT_EQ(count(Text, "$str__nvcc[3] = {104, 10}"), 1u);
  EXPECT_EQ(count(Text, "mov.u64 %rd1, $str;"), 1u);
  EXPECT_EQ(count(Text, "mov.u64 %rd1, $str__nvcc;"), 1u);
  EXPECT_EQ(count(Text, "helper__nvcc"), 2u);
  EXPECT_EQ(count(Text, "helper,"), 0u);
  EXPECT_EQ(count(Text, "$tile[4]"), 1u);
}

TEST(PtxMerge, DeclarationsStandOnceAndTheNewerVersionCounts) {
  std::string Text = merged({"theirs"}, {"Total"});
  EXPECT_EQ(count(Text, "vprintf ("), 1u);
  EXPECT_EQ(count(Text, "vprintf_param_0"), 0u);
  EXPECT_EQ(count(Text, ".version"), 1u);
  EXPECT_EQ(count(Text, ".version 9.0\n.target"), 1u) << Text;
}

TEST(PtxMerge, LinesOfOursStayAndOfTheirsGo) {
  std::string Text = merged({"theirs"}, {"Total"});
  EXPECT_EQ(count(Text, ".loc	1 7 3"), 1u);
  EXPECT_EQ(count(Text, ".loc	1 9 5"), 0u);
  EXPECT_EQ(count(Text, ".local .align 4 .b8 depot[4];"), 1u);
}

// A third module of the same source: other contents under the same names, and
// the kernels whose code is another's as well.
const char Third[] = R"(.version 8.5
.target sm_90
.address_size 64
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0
)
;
.visible .global .align 4 .b8 Total[16];
.global .align 1 .b8 $str[3] = {99, 10};
.visible .func  (.param .b32 func_retval0) helper(
	.param .b32 x
)
{
	mov.u64 %rd1, $str;
	ret;
}
.visible .entry theirs()
{
	trap;
}
.visible .entry last()
{
	call.uni (retval0), helper, (param0);
	call.uni (retval0), vprintf, (param0);
	ld.global.u32 %r1, [Total];
	ret;
}
)";

TEST(PtxMerge, ThreeCompilersShareOneModule) {
  std::string Two = merged({"theirs"}, {"Total"});
  auto Three =
      mergePtx(Two, Third, ForeignCompiler::Clang, {"last"}, {"Total"});
  ASSERT_TRUE(bool(Three)) << toString(Three.takeError());
  const std::string &Text = *Three;
  for (const char *Once :
       {".entry mine(", ".entry theirs(", ".entry last(", "vprintf (",
        ".align 4 .b8 Total[16];", "$str[3] = {111, 10}",
        "$str__nvcc[3] = {104, 10}", "$str__clang[3] = {99, 10}",
        "mov.u64 %rd1, $str;", "mov.u64 %rd1, $str__nvcc;",
        "mov.u64 %rd1, $str__clang;", "call.uni (retval0), helper__nvcc,",
        "call.uni (retval0), helper__clang,", "[Total];", "[Total+4]"})
    EXPECT_EQ(count(Text, Once), 1u) << Once << "\n" << Text;
  EXPECT_EQ(count(Text, "trap;"), 0u);
  EXPECT_EQ(count(Text, "__nvcc__clang"), 0u);
  EXPECT_EQ(count(Text, ".version 9.0"), 1u) << "of the newest of the three";
  EXPECT_LT(Text.find("entry last"), Text.find(".file	1 \"/a//b.cu\""));
}

TEST(PtxMerge, WhatIsMissingIsNamed) {
  EXPECT_EQ(merged({"absent"}, {}),
            "error: nvcc's code has no kernel 'absent'");
  auto OfClang = mergePtx(Ours, Third, ForeignCompiler::Clang, {"absent"}, {});
  EXPECT_EQ(toString(OfClang.takeError()),
            "clang's code has no kernel 'absent'");
  EXPECT_NE(
      merged({"theirs"}, {"Total", "helper"}).find("no variable 'helper'"),
      std::string::npos);
}

} // namespace
