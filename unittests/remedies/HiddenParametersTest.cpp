//===- unittests/remedies/HiddenParametersTest.cpp - Of kernels -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/HiddenParameters.h"

#include "analysis/Numbering.h"
#include "analysis/device/Annotations.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace llvm;

namespace reconverge::remedies {
namespace {

// A kernel that has all that a function can have, and metadata.
constexpr const char *Source = R"(
  target triple = "nvptx64-nvidia-cuda"
  $k = comdat any
  @llvm.used = appending global [1 x ptr] [ptr @k], section "llvm.metadata"
  @llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }]
    [{ ptr, ptr, ptr, i32, ptr } { ptr @k, ptr null, ptr null, i32 7,
                                   ptr null }], section "llvm.metadata"
  define void @before() {
    ret void
  }
  define weak_odr hidden ptx_kernel void @k({ i32, i32 } %pair,
      ptr byval({ i32, float }) align 8 %struct, ptr noalias readonly %p)
      #0 comdat align 32 !dbg !3 !own !{i32 5} {
  entry:
      #dbg_value(ptr %p, !6, !DIExpression(), !7)
    %x = load i32, ptr %struct, align 4, !dbg !7
    %c = icmp eq i32 %x, 0, !dbg !7
    br i1 %c, label %a, label %b, !dbg !7
  a:
    store i32 %x, ptr %p, align 4, !dbg !7
    br label %b, !dbg !7
  b:
    ret void, !dbg !7
  }
  define void @behind() {
    ret void
  }
  attributes #0 = { noinline "target-cpu"="sm_90" "mine"="yes" }
  !nvvm.annotations = !{!8, !9}
  !llvm.module.flags = !{!10}
  !llvm.dbg.cu = !{!0}
  !0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1,
                               emissionKind: FullDebug)
  !1 = !DIFile(filename: "k.cu", directory: "/")
  !2 = !DISubroutineType(types: !{null})
  !3 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 3, type: !2,
                              spFlags: DISPFlagDefinition, unit: !0)
  !6 = !DILocalVariable(name: "p", arg: 3, scope: !3, file: !1, line: 3)
  !7 = !DILocation(line: 4, scope: !3)
  !8 = !{ptr @k, !"kernel", i32 1, !"maxntidx", i32 96}
  !9 = !{ptr @k, !"grid_constant", !{i32 2}}
  !10 = !{i32 2, !"Debug Info Version", i32 3}
)";

class HiddenParameters : public testing::Test {
protected:
  void SetUp() override {
    SMDiagnostic Why;
    M = parseAssemblyString(Source, Why, C);
    ASSERT_TRUE(M) << Why.getMessage().str();
    analysis::numberBlocks(*M);
  }
  Function &add() {
    return addParameters(*M->getFunction("k"),
                         {PointerType::get(C, 1), Type::getInt64Ty(C)},
                         {"order", "items"});
  }
  std::string text() const {
    std::string Text;
    raw_string_ostream(Text) << *M;
    return Text;
  }

  LLVMContext C;
  std::unique_ptr<Module> M;
};

TEST_F(HiddenParameters, ComeBehindItsOwn) {
  Function &K = add();
  EXPECT_FALSE(verifyModule(*M, &errs()));
  ASSERT_EQ(K.arg_size(), 5u);
  EXPECT_EQ(K.getArg(2)->getName(), "p");
  EXPECT_EQ(K.getArg(3)->getName(), "order");
  EXPECT_EQ(K.getArg(3)->getType(), PointerType::get(C, 1));
  EXPECT_EQ(K.getArg(4)->getName(), "items");
  EXPECT_EQ(K.getArg(4)->getType(), Type::getInt64Ty(C));
}

/// But for the parameters the text is what it was, debug records and all.
TEST_F(HiddenParameters, AreAllThatIsNew) {
  std::string Expected = text();
  const std::string Last = "ptr noalias readonly %p";
  Expected.insert(Expected.find(Last) + Last.size(),
                  ", ptr addrspace(1) %order, i64 %items");
  ASSERT_NE(Expected.find("#dbg_value(ptr %p"), std::string::npos);
  add();
  EXPECT_EQ(text(), Expected);
}

TEST_F(HiddenParameters, LeaveTheInstructionsWhereTheyAre) {
  std::vector<const Instruction *> Before, After;
  for (const Instruction &I : instructions(*M->getFunction("k")))
    Before.push_back(&I);
  Function &K = add();
  for (const Instruction &I : instructions(K))
    After.push_back(&I);
  EXPECT_EQ(Before, After);
}

TEST_F(HiddenParameters, KeepWhatOthersAskAbout) {
  Function &K = add();
  EXPECT_EQ(&K, M->getFunction("k"));
  EXPECT_TRUE(analysis::isKernel(K));
  EXPECT_EQ(analysis::launchBound(K), 96u);
  EXPECT_EQ(analysis::blockNumber(K.getEntryBlock()), 1u);
  ASSERT_TRUE(K.getSubprogram());
  EXPECT_EQ(K.getParamAlign(1), Align(8));
  EXPECT_TRUE(K.hasParamAttribute(1, Attribute::ByVal));
}

TEST_F(HiddenParameters, MayComeTwice) {
  add();
  EXPECT_EQ(add().arg_size(), 7u);
  EXPECT_FALSE(verifyModule(*M, &errs()));
}

} // namespace
} // namespace reconverge::remedies
