//===- unittests/remedies/DummyRemedyTest.cpp - A folder and a line -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With the folder dummy/remedies/dummy and a line in its Remedies.def, what the
// rest of the project knows of remedies knows one more.
//
//===----------------------------------------------------------------------===//

#include "core/Error.h"
#include "model/Model.h"
#include "remedies/Table.h"
#include "remedies/common/RequestFormat.h"
#include "remedies/common/Requests.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <set>

using namespace llvm;

namespace reconverge::remedies {
namespace {

std::unique_ptr<Module> parse(LLVMContext &C) {
  SMDiagnostic Why;
  auto M = parseAssemblyString(R"(
    target triple = "nvptx64-nvidia-cuda"
    define ptx_kernel void @k(i1 %c) {
      br i1 %c, label %a, label %b
    a:
      br label %b
    b:
      ret void
    }
    define ptx_kernel void @straight() {
      ret void
    }
    @.what = private constant [28 x i8] c"reconverge dummy pace(slow)\00"
    @.file = private constant [5 x i8] c"a.cu\00"
    @llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }]
      [{ ptr, ptr, ptr, i32, ptr } { ptr @k, ptr @.what, ptr @.file, i32 7,
                                     ptr null }], section "llvm.metadata"
  )",
                               Why, C);
  EXPECT_TRUE(M) << Why.getMessage().str();
  return M;
}

TEST(DummyRemedy, IsInTheTable) {
  ASSERT_EQ(all().back()->Name, "dummy");
  EXPECT_EQ(all().size(), rules().size() + 3)
      << "all but permute, reorder-blocks and herd";
  EXPECT_EQ(rules().back().Words.Name, "dummy");
  EXPECT_EQ(candidates(KernelProfile(), true, nullptr).back(),
            (Candidate{"dummy", "times=2", Promise::Order}));
  ASSERT_TRUE(refusalNamed("rc9901"));
  EXPECT_EQ(refusalNamed("RC9901")->Page, "Code in a line cannot diverge.");
  std::set<unsigned> Numbers;
  for (const RefusalKind *Kind : refusals())
    EXPECT_TRUE(Numbers.insert(Kind->Number).second) << Kind->code();
}

TEST(DummyRemedy, CodesAreOfOneRefusalEach) {
  std::set<unsigned> Numbers;
  for (const RefusalKind *Kind : refusals())
    EXPECT_TRUE(Numbers.insert(Kind->Number).second) << Kind->code();
}

TEST(DummyRemedy, HasItsProofsInFront) {
  // It moves threads, not blocks; nothing else of the project's moves any yet.
  EXPECT_EQ(movedBy({"dummy", ""}), Moved::Threads);
  const std::vector<Candidate> All = candidates(KernelProfile(), true, nullptr);
  std::vector<Candidate> Proofs;
  copy_if(All, std::back_inserter(Proofs), isProof);
  ASSERT_EQ(Proofs.size(), 3u);
  EXPECT_TRUE(std::equal(Proofs.begin(), Proofs.end(), All.begin()));
  for (const Candidate &P : Proofs) {
    EXPECT_EQ(movedBy(P), Moved::Threads);
    EXPECT_FALSE(errorToBool(check(P)));
  }
}

TEST(DummyRemedy, ReadsItsParameters) {
  EXPECT_FALSE(check({"dummy", "times=3"}));
  EXPECT_EQ(toString(check({"dummy", "size=3"})),
            "doing nothing has no parameter 'size=3'\n  The parameters are "
            "times=<n>, marked=<0 or 1>, with ; between them.");
}

TEST(DummyRemedy, IsApplied) {
  LLVMContext C;
  auto M = parse(C);
  auto Done = apply({"dummy", "times=2"}, *M->getFunction("k"));
  ASSERT_TRUE(bool(Done)) << toString(Done.takeError());
  EXPECT_TRUE(Done->Changed);
  EXPECT_EQ(M->getFunction("k")->getFnAttribute("dummy").getValueAsString(),
            "2");
  Done = apply({"dummy", ""}, *M->getFunction("straight"));
  ASSERT_TRUE(bool(Done)) << toString(Done.takeError());
  EXPECT_FALSE(Done->Changed);
  EXPECT_EQ(Done->Missed, std::vector<std::string>{
                              "nothing done: there is no branch [RC9901]"});
}

TEST(DummyRemedy, IsAskedForInTheSource) {
  LLVMContext C;
  auto M = parse(C);
  auto Found = settleRequests(*M);
  ASSERT_TRUE(bool(Found)) << toString(Found.takeError());
  EXPECT_EQ(Found->Asked, std::set<std::string>{"dummy"});
  const BasicBlock &Entry = M->getFunction("k")->getEntryBlock();
  auto Here = requestOf(Entry, "dummy");
  ASSERT_TRUE(Here);
  EXPECT_TRUE(Here->On);
  EXPECT_FALSE(Here->AtAnyCost) << "an attribute, no pragma";
  EXPECT_EQ(Here->valueOf("pace"), "slow");
  EXPECT_FALSE(requestOf(Entry, "remap"));
  EXPECT_FALSE(requestWordsOf("meld")) << "the source cannot ask for melding";
  EXPECT_EQ(requestWordsOf("dummy")->valuesOf("pace"), "slow, fast");
  EXPECT_TRUE(isOneOf("fast", "slow, fast"));
  EXPECT_FALSE(isOneOf("1", "slow, fast"));
  EXPECT_TRUE(isOneOf("32", "1 to 32"));
  EXPECT_FALSE(isOneOf("33", "1 to 32"));
  EXPECT_FALSE(isOneOf("1 to 32", "1 to 32"));
}

/// Of a kernel with one branch, which half of the lanes take.
KernelProfile oneBranch() {
  KernelProfile K;
  K.WarpSize = 32;
  K.Info.Blocks.resize(2);
  for (BlockInfo &B : K.Info.Blocks) {
    B.Instructions = 10;
    B.IssueSlots = 10;
  }
  K.Blocks = {{4, 128}, {4, 64}};
  BranchInfo Branch;
  Branch.Kind = BranchKind::If;
  Branch.Block = 0;
  Branch.Successors = {1, 0};
  Branch.Region = {1};
  K.Info.Branches.push_back(Branch);
  K.Branches = {{4, 4, {64, 64}}};
  return K;
}

TEST(DummyRemedy, IsForeseenWhereItApplies) {
  LLVMContext C;
  auto M = parse(C);
  const KernelProfile Seen = oneBranch();
  const Foreseen InK = foreseen(*M->getFunction("k"), Seen).back();
  EXPECT_EQ(InK.Remedy, "dummy");
  EXPECT_EQ(InK.Parameters, "times=2");
  EXPECT_FALSE(InK.IsRefused);
  EXPECT_FALSE(InK.Added) << "the rule's price holds";
  ASSERT_EQ(InK.Slots.size(), 1u);
  EXPECT_GT(InK.Slots[0], 1e300) << "and the rule's bound";
  EXPECT_TRUE(foreseen(*M->getFunction("straight"), Seen).back().IsRefused);
  EXPECT_FALSE(M->getFunction("k")->hasFnAttribute("dummy")) << "but a copy";
}

TEST(DummyRemedy, IsInTheAdvice) {
  Profile P;
  P.Kernels.push_back(oneBranch());
  const RunCost Cost = model::costOf(P, rules());
  ASSERT_EQ(Cost.Places.size(), 1u);
  const RemedyBound &Last = Cost.Places[0].Remedies.back();
  EXPECT_EQ(Last.What.Name, "dummy");
  EXPECT_EQ(Last.What.Advice, "do nothing");
  EXPECT_DOUBLE_EQ(Last.Gain, Cost.Places[0].Self / 2);
  EXPECT_EQ(Cost.Automatic.back(), "dummy");
}

} // namespace
} // namespace reconverge::remedies
