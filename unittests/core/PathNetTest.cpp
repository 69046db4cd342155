//===- unittests/core/PathNetTest.cpp - Nets, and their files -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/PathNet.h"

#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace llvm;

namespace reconverge {
namespace {

/// Two loads, a unit that is their difference and one that is the negative, three
/// classes: 0 where the first is larger by more than 1, 2 where the second is,
/// else 1.
PathNet example() {
  PathNet N;
  N.Kernel = "_Z1kPf";
  N.Module = "0123456789abcdef";
  N.Inputs.resize(2);
  N.Inputs[0] = {3, "app.cu:4", 1, 0, -10, 10};
  N.Inputs[1] = {17, "", 1, 0, -10, 10};
  N.Classes = {300, 200, 100.25};
  N.Hidden = {{1, -1, -1, 1}, {0, 0}};
  N.Output = {{1, 0, 0, 0, 0, 1}, {0, 1, 0}};
  N.Trained.Library = "hand";
  N.Trained.Confusion.assign(9, 0);
  N.Trained.Accuracy = 0.5;
  return N;
}

std::string textOf(const PathNet &N) {
  std::string Text;
  raw_string_ostream OS(Text);
  printPathNet(N, OS);
  return Text;
}

std::string faultIn(const std::string &Text) {
  auto N = parsePathNet(Text, "n.json");
  return N ? "" : toString(N.takeError());
}

std::string replaced(std::string Text, StringRef From, StringRef To) {
  const size_t At = Text.find(From.str());
  EXPECT_NE(At, std::string::npos) << From.str();
  return Text.replace(At, From.size(), To.str());
}

TEST(PathNet, Computes) {
  const PathNet N = example();
  EXPECT_EQ(N.classOf({5, 1}), 0u);
  EXPECT_EQ(N.classOf({1, 5}), 2u);
  EXPECT_EQ(N.classOf({2, 2}), 1u);
  // The difference is 1: as much as the bias of class 1; of equals the first.
  EXPECT_EQ(N.classOf({3, 2}), 0u);
  // What is no number is of some class.
  EXPECT_EQ(N.classOf({std::nanf(""), 2}), 0u);
  EXPECT_EQ(N.classOf({std::numeric_limits<float>::infinity(), 2}), 0u);
}

TEST(PathNet, OutOfRange) {
  const PathNet N = example();
  EXPECT_FALSE(N.isOutOfRange({-10, 10}));
  EXPECT_TRUE(N.isOutOfRange({-10.5, 10}));
  EXPECT_TRUE(N.isOutOfRange({0, 11}));
  EXPECT_TRUE(N.isOutOfRange({0, std::nanf("")}));
}

TEST(PathNet, WhatIsWrittenIsReadBack) {
  PathNet N = example();
  N.Hidden.Weights[1] = 0.1f;
  N.Inputs[0].Scale = 1e-30f;
  const std::string Text = textOf(N);
  auto Back = parsePathNet(Text, "n.json");
  ASSERT_TRUE(bool(Back)) << toString(Back.takeError());
  EXPECT_EQ(textOf(*Back), Text);
  EXPECT_EQ(Back->Hidden.Weights, N.Hidden.Weights);
  EXPECT_EQ(Back->loads(), std::vector<uint32_t>({3, 17}));
}

TEST(PathNet, DamageIsNamedWithItsPlace) {
  const std::string Text = textOf(example());
  const struct {
    StringRef From, To, Fault;
  } Cases[] = {
      {"reconverge-path-net/1", "reconverge-path-net/2",
       "schema \"reconverge-path-net/2\" is not known"},
      {"\"weights\": [1,-1", "\"weights\": [2,-1",
       "the net is damaged: its hash is another"},
      {"\"weights\": [1,-1", "\"weights\": [1e39,-1",
       "expected a number that a float can hold at (root).hidden.weights[0]"},
      {"\"weights\": [1,-1,", "\"weights\": [1,",
       "a layer has another size than its neighbours"},
      {"\"classes\": [300,200,100.25]", "\"classes\": [300]",
       "expected 2 to 32 classes"},
      {"\"normalise\":[1,0]", "\"normalise\":[1]",
       "expected two numbers at (root).inputs[0].normalise"},
      {"\"module\": \"01", "\"module\": \"02",
       "the net is damaged: its hash is another"},
  };
  for (const auto &C : Cases)
    EXPECT_NE(faultIn(replaced(Text, C.From, C.To)).find(C.Fault.str()),
              std::string::npos)
        << C.From.str() << ": " << faultIn(replaced(Text, C.From, C.To));
  EXPECT_NE(faultIn(Text.substr(0, Text.size() / 2)), "");
}

} // namespace
} // namespace reconverge
