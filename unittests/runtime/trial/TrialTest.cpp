//===- TrialTest.cpp - What all backends' trials share --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/trial/Comparison.h"
#include "runtime/trial/LaunchChoice.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::runtime;

namespace {

const char Code[] = R"(
declare i32 @vprintf(ptr, ptr)
declare ptr @malloc(i64)
declare void @__assertfail(ptr, ptr, i32, ptr, i64)
define void @stores(ptr %p) {
  store float 1.0, ptr %p
  ret void
}
define internal void @helper() {
  %p = call ptr @malloc(i64 8)
  ret void
}
define void @allocates() {
  call void @helper()
  ret void
}
define void @prints(ptr %p) {
  %r = call i32 @vprintf(ptr %p, ptr null)
  ret void
}
define internal void @says(ptr %p) {
  %r = call i32 @vprintf(ptr %p, ptr null)
  store double 1.0, ptr %p
  ret void
}
@table = internal addrspace(1) global [1 x ptr] [ptr @says]
define void @points(ptr %p) {
  %f = load ptr, ptr addrspace(1) @table
  call void %f(ptr %p)
  ret void
}
define void @asserts(ptr %p) {
  call void @__assertfail(ptr %p, ptr %p, i32 1, ptr %p, i64 1)
  ret void
}
)";

class Trial : public ::testing::Test {
protected:
  void SetUp() override {
    SMDiagnostic Problem;
    M = parseAssemblyString(Code, Problem, Context);
    ASSERT_TRUE(M) << Problem.getMessage().str();
  }

  static std::vector<uint8_t> bytes(std::vector<float> Values) {
    std::vector<uint8_t> B(Values.size() * 4);
    std::memcpy(B.data(), Values.data(), B.size());
    return B;
  }
  static MemoryPage page(function_ref<std::string()> Name) {
    return {0x1000, 64, Name};
  }

  /// The verdict where the original gave 1, 2, 4 and, in other orders, these
  /// first values, and the candidate \p Variant.
  Verdict verdictOf(std::vector<float> Others, std::vector<float> Variant,
                    StringRef Unknown = "") {
    auto Name = [] { return std::string("a block"); };
    const auto Natural = bytes({1, 2, 4});
    OrderSpread Spread(*M->getFunction("stores"));
    for (float Other : Others)
      Spread.add(page(Name), Natural, bytes({Other, 2, 4}));
    Comparison C(Spread);
    if (bytes(Variant) != Natural)
      C.add(page(Name), Natural, bytes(Variant));
    return C.verdict(1000, Unknown);
  }

  LLVMContext Context;
  std::unique_ptr<Module> M;
};

TEST_F(Trial, EqualBytesAreIdentical) {
  const Verdict V = verdictOf({}, {1, 2, 4});
  EXPECT_EQ(V.Kind, VerdictKind::Identical);
  EXPECT_EQ(V.Bytes, 1000u);
  EXPECT_EQ(V.OrderDependent, 0u);
}

TEST_F(Trial, TheFirstDifferenceIsNamed) {
  const Verdict V = verdictOf({}, {1, 3, 5});
  EXPECT_EQ(V.Kind, VerdictKind::Differs);
  EXPECT_EQ(V.First.Where, "a block");
  EXPECT_EQ(V.First.Offset, 68u);
  EXPECT_EQ(V.First.Original, "2");
  EXPECT_EQ(V.First.Variant, "3");
}

TEST_F(Trial, RoundingIsToldFromMore) {
  const float Next = std::nextafterf(2, 3);
  Verdict V =
      verdictOf({}, {1, Next, std::nextafterf(std::nextafterf(4, 0), 0)});
  EXPECT_EQ(V.Kind, VerdictKind::Differs);
  EXPECT_EQ(V.First.Ulps, 2u); // the most
  EXPECT_EQ(V.First.Offset, 68u);
  // One value that is more settles it, and is the one to be told.
  V = verdictOf({}, {1, Next, 5});
  EXPECT_EQ(V.First.Ulps, 0u);
  EXPECT_EQ(V.First.Offset, 72u);
  EXPECT_EQ(V.First.Variant, "5");
  // Across zero there are two of each.
  EXPECT_EQ(verdictOf({}, {1, -2, 4}).First.Ulps, 0u);
}

TEST_F(Trial, WhatVariesMustStayInsideTheSpread) {
  // Between what the original gave, its natural result included.
  for (float Inside : {1.0f, 1.25f, 1.5f}) {
    const Verdict V = verdictOf({1.5f, 1.25f}, {Inside, 2, 4});
    EXPECT_EQ(V.Kind, VerdictKind::UpToOrder) << Inside;
    EXPECT_GT(V.OrderDependent, 0u);
  }
  EXPECT_EQ(verdictOf({1.5f}, {1.75f, 2, 4}).Kind, VerdictKind::Differs);
  EXPECT_EQ(verdictOf({1.5f}, {0.5f, 2, 4}).Kind, VerdictKind::Differs);
  EXPECT_EQ(verdictOf({1.5f}, {1.5f, 3, 4}).Kind, VerdictKind::Differs);
}

TEST_F(Trial, ASumMayLieALittleBeyondTheSpread) {
  const float Step = 0x1p-20f; // keeps half of the digits
  for (float Near : {1 - Step, 1.0f, 1 + 2 * Step})
    EXPECT_EQ(verdictOf({1 + Step}, {Near, 2, 4}).Kind, VerdictKind::UpToOrder)
        << Near;
  for (float Far : {1 - 2 * Step, 1 + 3 * Step})
    EXPECT_EQ(verdictOf({1 + Step}, {Far, 2, 4}).Kind, VerdictKind::Differs)
        << Far;
}

TEST_F(Trial, WhatIsAppendedIsASet) {
  auto Name = [] { return std::string("a list"); };
  const auto Natural = bytes({1, 2, 3, 4});
  OrderSpread Spread(*M->getFunction("stores"));
  Spread.add(page(Name), Natural, bytes({2, 1, 4, 3}));
  Spread.add(page(Name), Natural, bytes({4, 2, 3, 1}));
  EXPECT_TRUE(Spread.isSet(0x1000));
  EXPECT_EQ(whyUnstable(Spread, 16), ""); // however much it is
  auto Judge = [&](std::vector<float> Variant, const OrderSpread &By) {
    Comparison C(By);
    C.add(page(Name), Natural, bytes(Variant));
    return C.verdict(16, "");
  };
  // In places in which the original never had them.
  EXPECT_EQ(Judge({3, 4, 1, 2}, Spread).Kind, VerdictKind::UpToOrder);
  const Verdict V = Judge({3, 4, 1, 1}, Spread);
  EXPECT_EQ(V.Kind, VerdictKind::Differs);
  EXPECT_EQ(V.First.Where, "a list");
  // Where the original's own results are more than places, it is none.
  Spread.add(page(Name), Natural, bytes({2, 1, 4, 5}));
  EXPECT_FALSE(Spread.isSet(0x1000));
  EXPECT_EQ(Judge({3, 4, 1, 2}, Spread).Kind, VerdictKind::Differs);
  EXPECT_NE(whyUnstable(Spread, 16), "");
}

TEST_F(Trial, TooMuchThatVariesIsUnknown) {
  OrderSpread Spread(*M->getFunction("stores"));
  auto Name = [] { return std::string(); };
  Spread.add(page(Name), bytes({1}), bytes({-1})); // a byte: the sign
  EXPECT_EQ(Spread.bytes(), 1u);
  EXPECT_EQ(whyUnstable(Spread, 100), "");
  EXPECT_EQ(whyUnstable(Spread, 99),
            "1 of 99 bytes depend on the order of the kernel's threads");
  // A sum that keeps half of its digits is no unknown, however much it is.
  OrderSpread Sums(*M->getFunction("stores"));
  Sums.add(page(Name), bytes({1}), bytes({1 + 1e-5f}));
  EXPECT_GT(Sums.bytes(), 0u);
  EXPECT_EQ(whyUnstable(Sums, 4), "");
  Sums.add(page(Name), bytes({1}), bytes({1 + 1e-2f}));
  EXPECT_NE(whyUnstable(Sums, 4), "");
  const Verdict V = verdictOf({}, {1, 3, 4}, "no idea");
  EXPECT_EQ(V.Kind, VerdictKind::Unknown);
  EXPECT_EQ(V.Reason, "no idea");
}

TEST_F(Trial, KernelsThatCannotRunAgainAreNamed) {
  EXPECT_EQ(hindrance(*M->getFunction("stores")), "");
  EXPECT_EQ(hindrance(*M->getFunction("prints")), "");
  EXPECT_EQ(hindrance(*M->getFunction("asserts")), "");
  EXPECT_EQ(hindrance(*M->getFunction("allocates")),
            "it takes or frees memory itself");
}

TEST_F(Trial, KernelsThatMayPrintAreKnown) {
  EXPECT_TRUE(mayPrint(*M->getFunction("prints")));
  EXPECT_TRUE(mayPrint(*M->getFunction("points")))
      << "a call through a pointer may reach what prints";
  EXPECT_FALSE(mayPrint(*M->getFunction("stores")));
  EXPECT_FALSE(mayPrint(*M->getFunction("asserts")));
}

TEST_F(Trial, LibraryFunctionsAreReachedThroughPointersToo) {
  SMDiagnostic Problem;
  auto Direct = parseAssemblyString(R"(
    declare i32 @vprintf(ptr, ptr)
    @table = internal addrspace(1) global [1 x ptr] [ptr @vprintf]
    define void @points(ptr %p) {
      %f = load ptr, ptr addrspace(1) @table
      %r = call i32 %f(ptr %p, ptr null)
      ret void
    }
    define void @stays(ptr %p) { ret void }
  )",
                                    Problem, Context);
  ASSERT_TRUE(Direct) << Problem.getMessage().str();
  EXPECT_TRUE(mayPrint(*Direct->getFunction("points")));
  EXPECT_FALSE(mayPrint(*Direct->getFunction("stays")));
}

TEST_F(Trial, TypesAreThoseOfAllThatAKernelCanCall) {
  using enum ValueType;
  EXPECT_EQ(writtenTypes(*M->getFunction("stores")),
            std::vector<ValueType>({Float}));
  EXPECT_EQ(writtenTypes(*M->getFunction("points")),
            std::vector<ValueType>({Double}));
}

TEST(LaunchChoice, TakesTheFirstNewShapesAndLaterOnes) {
  LaunchChoice Choice;
  LaunchShape Small, Large;
  Large.Grid = {100, 1, 1};
  std::vector<unsigned> Wanted;
  for (unsigned Launch = 1; Launch <= 40; ++Launch)
    if (Choice.wants(Launch == 7 ? Large : Small, 6))
      Wanted.push_back(Launch);
  EXPECT_EQ(Wanted, (std::vector<unsigned>{1, 2, 3, 4, 7, 8}));
  EXPECT_EQ(Choice.launches(), 40u);
}

TEST(LaunchChoice, GoesToTheLastOfTheLaunchesExpected) {
  // Sorting by merging: each launch has half the threads and twice the keys.
  auto Wanted = [](uint64_t Expected, unsigned Shapes) {
    LaunchChoice Choice(Expected);
    std::vector<unsigned> Tried;
    for (unsigned Launch = 1; Launch <= 17; ++Launch) {
      LaunchShape Shape;
      Shape.Grid = {Shapes - std::min(Launch, Shapes) + 1, 1, 1};
      if (Choice.wants(Shape, 4))
        Tried.push_back(Launch);
    }
    return Tried;
  };
  using Numbers = std::vector<unsigned>;
  EXPECT_EQ(Wanted(17, 17), (Numbers{1, 2, 12, 17}));
  EXPECT_EQ(Wanted(17, 1), (Numbers{1, 7, 12, 17}));
  EXPECT_EQ(Wanted(3, 1), (Numbers{1, 2, 3, 4})) << "more than expected";
  EXPECT_EQ(Wanted(1, 1), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(Wanted(0, 17), (Numbers{1, 2, 3, 4}));
}

} // namespace
