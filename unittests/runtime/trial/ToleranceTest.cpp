//===- ToleranceTest.cpp - Results inside a bound -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel for each mixture of types that it may write, and results that are
// off by a little on purpose.
//
//===----------------------------------------------------------------------===//

#include "runtime/trial/Comparison.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::runtime;

namespace {

const char Code[] = R"(
define void @floats(ptr %p) {
  store float 1.0, ptr %p
  ret void
}
define void @doubles(ptr %p) {
  store double 1.0, ptr %p
  ret void
}
define void @counts(ptr %p) {
  store float 1.0, ptr %p
  store i32 1, ptr %p
  ret void
}
define void @integers(ptr %p) {
  store i32 1, ptr %p
  ret void
}
define void @pixels(ptr %p) {
  store float 1.0, ptr %p
  store i8 1, ptr %p
  ret void
}
define void @both(ptr %p) {
  store float 1.0, ptr %p
  store double 1.0, ptr %p
  ret void
}
)";

constexpr float Inf = std::numeric_limits<float>::infinity(),
                NaN = std::numeric_limits<float>::quiet_NaN();

template <typename T> std::vector<uint8_t> bytes(std::vector<T> Values) {
  std::vector<uint8_t> B(Values.size() * sizeof(T));
  std::memcpy(B.data(), Values.data(), B.size());
  return B;
}

class ToleranceTest : public ::testing::Test {
protected:
  void SetUp() override {
    SMDiagnostic Problem;
    M = parseAssemblyString(Code, Problem, Context);
    ASSERT_TRUE(M) << Problem.getMessage().str();
  }

  /// What is said of \p Variant where the original gave \p Original and, in
  /// other orders, \p Others.
  Verdict verdictOf(StringRef Kernel, const std::vector<uint8_t> &Original,
                    const std::vector<uint8_t> &Variant,
                    std::optional<Tolerance> Bound = Tolerance{1e-5, 0},
                    const std::vector<std::vector<uint8_t>> &Others = {}) {
    const MemoryPage Page{0x1000, 64, [] { return std::string("a block"); }};
    OrderSpread Spread(*M->getFunction(Kernel));
    for (const std::vector<uint8_t> &Other : Others)
      Spread.add(Page, Original, Other);
    Comparison C(Spread, Bound);
    if (Original != Variant)
      C.add(Page, Original, Variant);
    return C.verdict(1000, "");
  }
  Verdict floats(std::vector<float> Original, std::vector<float> Variant,
                 Tolerance Bound = {1e-5, 0},
                 std::vector<std::vector<float>> Others = {}) {
    std::vector<std::vector<uint8_t>> More;
    for (const std::vector<float> &O : Others)
      More.push_back(bytes(O));
    return verdictOf("floats", bytes(Original), bytes(Variant), Bound, More);
  }

  LLVMContext Context;
  std::unique_ptr<Module> M;
};

TEST_F(ToleranceTest, WhatLiesInsideTellsHowMuchItTakes) {
  const Verdict V = floats({1, 2, 1000}, {1.000001f, 2, 999.999f});
  EXPECT_EQ(V.Kind, VerdictKind::Within);
  EXPECT_EQ(V.Used.Values, 2u);
  EXPECT_NEAR(V.Used.Largest.Relative, 1e-6, 1e-7);
  EXPECT_EQ(V.Used.Largest.Absolute, 0);
  EXPECT_EQ(V.Used.Bound, (Tolerance{1e-5, 0}));
  EXPECT_EQ(V.First.Offset, 64u) << "the first that differs";
  EXPECT_EQ(floats({1, 2}, {1, 2}).Kind, VerdictKind::Identical);
}

TEST_F(ToleranceTest, WhatLiesBeyondIsNamed) {
  const Verdict V = floats({1, 2, 4}, {1.000001f, 2.001f, 5});
  EXPECT_EQ(V.Kind, VerdictKind::Differs);
  EXPECT_EQ(V.First.Offset, 68u) << "not the one that lies inside";
  EXPECT_EQ(V.First.Original, "2");
  EXPECT_EQ(V.First.Ulps, 0u);
  EXPECT_EQ(floats({1}, {-1}).Kind, VerdictKind::Differs);
  EXPECT_EQ(floats({1e30f}, {-1e30f}).Kind, VerdictKind::Differs);
}

TEST_F(ToleranceTest, RoundingBeyondABoundIsRounding) {
  const float Next = std::nextafterf(1, 2), After = std::nextafterf(Next, 2);
  const Tolerance OneUlp{1.5e-7, 0};
  EXPECT_EQ(floats({1}, {Next}, OneUlp).Kind, VerdictKind::Within);
  Verdict V = floats({1, 1}, {Next, After}, OneUlp);
  EXPECT_EQ(V.Kind, VerdictKind::Differs);
  EXPECT_EQ(V.First.Ulps, 2u);
  // With one inside that is more than rounding, not all is.
  V = floats({1e-20f, 1}, {0, After}, {1.5e-7, 1e-10});
  EXPECT_EQ(V.Kind, VerdictKind::Differs);
  EXPECT_EQ(V.First.Offset, 68u);
  EXPECT_EQ(V.First.Ulps, 0u);
}

TEST_F(ToleranceTest, WithoutABoundEveryByteCounts) {
  EXPECT_EQ(verdictOf("floats", bytes<float>({1}), bytes<float>({1.000001f}),
                      std::nullopt)
                .Kind,
            VerdictKind::Differs);
}

TEST_F(ToleranceTest, NearZeroTheAbsoluteBoundCounts) {
  EXPECT_EQ(floats({0}, {1e-9f}).Kind, VerdictKind::Differs);
  const Verdict V = floats({0, 100}, {1e-9f, 100.0001f}, {1e-5, 1e-8});
  EXPECT_EQ(V.Kind, VerdictKind::Within);
  EXPECT_NEAR(V.Used.Largest.Absolute, 1e-9, 1e-12);
  EXPECT_NEAR(V.Used.Largest.Relative, 1e-6, 1e-7);
  EXPECT_EQ(floats({0}, {-0.0f}, {0, 0}).Kind, VerdictKind::Within);
  EXPECT_EQ(floats({0}, {2e-8f}, {1e-5, 1e-8}).Kind, VerdictKind::Differs);
}

TEST_F(ToleranceTest, NaNAndInfinitiesAreOnlyThemselves) {
  const Tolerance Any{1e30, 1e30};
  EXPECT_EQ(floats({NaN}, {-NaN}, Any).Kind, VerdictKind::Within);
  EXPECT_EQ(floats({NaN}, {1}, Any).Kind, VerdictKind::Differs);
  EXPECT_EQ(floats({1}, {NaN}, Any).Kind, VerdictKind::Differs);
  EXPECT_EQ(floats({Inf}, {-Inf}, Any).Kind, VerdictKind::Differs);
  EXPECT_EQ(floats({Inf}, {NaN}, Any).Kind, VerdictKind::Differs);
  EXPECT_EQ(floats({Inf}, {3e38f}, Any).Kind, VerdictKind::Differs);
  EXPECT_EQ(floats({3e38f}, {Inf}, Any).Kind, VerdictKind::Differs);
}

TEST_F(ToleranceTest, DoublesAreMeasuredAsSuch) {
  auto With = [&](double X) {
    return verdictOf("doubles", bytes<double>({1, 3}), bytes<double>({1, X}));
  };
  EXPECT_EQ(With(3.00001).Kind, VerdictKind::Within);
  EXPECT_NEAR(With(3.00001).Used.Largest.Relative, 1e-5 / 3, 1e-9);
  EXPECT_EQ(With(3.0001).Kind, VerdictKind::Differs);
}

TEST_F(ToleranceTest, IntegersAreExact) {
  auto Of = [&](StringRef Kernel, std::vector<int> A, std::vector<int> B) {
    return verdictOf(Kernel, bytes(A), bytes(B), Tolerance{0.5, 1e-3}).Kind;
  };
  EXPECT_EQ(Of("integers", {1000000000}, {1000000001}), VerdictKind::Differs);
  // Beside floats as well: neither these nor negative ones look like any.
  EXPECT_EQ(Of("counts", {5}, {6}), VerdictKind::Differs);
  EXPECT_EQ(Of("counts", {100000000}, {100000001}), VerdictKind::Differs);
  EXPECT_EQ(Of("counts", {-1}, {-2}), VerdictKind::Differs);
  EXPECT_EQ(Of("counts", {0}, {1}), VerdictKind::Differs);
  EXPECT_EQ(
      verdictOf("counts", bytes<float>({1}), bytes<float>({1.000001f})).Kind,
      VerdictKind::Within);
  // Four letters are a number of which the last hardly matters.
  const std::vector<uint8_t> Text = {'t', 'e', 'x', 't'},
                             Other = {'n', 'e', 'x', 't'};
  EXPECT_EQ(verdictOf("pixels", Text, Other).Kind, VerdictKind::Differs);
  EXPECT_EQ(
      verdictOf("pixels", bytes<float>({1}), bytes<float>({1.000001f})).Kind,
      VerdictKind::Differs);
}

TEST_F(ToleranceTest, BesideDoublesFloatsHaveToBeInsideThemselves) {
  // As one double the two differ by 1e-7 or so.
  EXPECT_EQ(verdictOf("both", bytes<float>({1, 1}), bytes<float>({2, 1})).Kind,
            VerdictKind::Differs);
  EXPECT_EQ(
      verdictOf("both", bytes<float>({1, 1}), bytes<float>({1.000001f, 1}))
          .Kind,
      VerdictKind::Within);
  EXPECT_EQ(verdictOf("both", bytes<double>({1}), bytes<double>({1.001})).Kind,
            VerdictKind::Differs);
}

TEST_F(ToleranceTest, WhatVariesIsMeasuredFromTheSpread) {
  const std::vector<float> Natural = {1, 2, 4};
  auto With = [&](float First, float Second) {
    return floats(Natural, {First, Second, 4}, {1e-5, 0}, {{1.5f, 2, 4}});
  };
  // Inside of the spread, which takes nothing of the bound.
  EXPECT_EQ(With(1.25f, 2).Kind, VerdictKind::UpToOrder);
  // A little beside it.
  Verdict V = With(1.50001f, 2);
  EXPECT_EQ(V.Kind, VerdictKind::Within);
  EXPECT_NEAR(V.Used.Largest.Relative, 1e-5 / 1.5, 1e-6);
  EXPECT_GT(V.OrderDependent, 0u);
  // Inside of it here, and inside the bound there.
  V = With(1.25f, 2.00001f);
  EXPECT_EQ(V.Kind, VerdictKind::Within);
  EXPECT_EQ(V.Used.Values, 1u);
  EXPECT_GT(V.OrderDependent, 0u);
  EXPECT_EQ(With(1.501f, 2).Kind, VerdictKind::Differs);
  EXPECT_EQ(With(1.25f, 2.001f).Kind, VerdictKind::Differs);
  // A NaN that the original gives in some order is one of its results.
  EXPECT_EQ(floats(Natural, {-NaN, 2, 4}, {1e-5, 0}, {{NaN, 2, 4}}).Kind,
            VerdictKind::Within);
}

TEST_F(ToleranceTest, TheWordsOfASetAreExact) {
  auto With = [&](float Last) {
    return floats({1, 2, 3, 4}, {3, 4, 1, Last}, {1e-5, 0}, {{2, 1, 4, 3}})
        .Kind;
  };
  EXPECT_EQ(With(2), VerdictKind::UpToOrder);
  EXPECT_EQ(With(2.000001f), VerdictKind::Differs);
}

} // namespace
