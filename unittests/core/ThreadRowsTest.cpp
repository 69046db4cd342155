//===- unittests/core/ThreadRowsTest.cpp - Rows of threads, as a file -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/ThreadRows.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace llvm;

namespace reconverge {
namespace {

std::vector<KernelRows> example() {
  KernelRows A, B;
  A.Kernel = "_Z1kPf";
  A.Module = "0123456789abcdef";
  A.Loads = {3, 17};
  A.Places = {"app.cu:4", ""};
  A.OfBlock = 128;
  A.Rows.Loads = 2;
  A.Rows.add({1.5f, -0.0f}, 0, 1234.5);
  A.Rows.add({std::nanf(""), 3e38f}, uint64_t(1) << 40, 0);
  B.Kernel = "empty";
  return {A, B};
}

std::string faultIn(StringRef Bytes) {
  auto Rows = parseRows(Bytes, "r.rows");
  return Rows ? "" : toString(Rows.takeError());
}

TEST(ThreadRows, WhatIsWrittenIsReadBack) {
  const std::string Bytes = printRows(example());
  EXPECT_EQ(Bytes, printRows(example()));
  auto Back = parseRows(Bytes, "r.rows");
  ASSERT_TRUE(bool(Back)) << toString(Back.takeError());
  ASSERT_EQ(Back->size(), 2u);
  const KernelRows &K = Back->front();
  EXPECT_EQ(K.Kernel, "_Z1kPf");
  EXPECT_EQ(K.Places, example()[0].Places);
  EXPECT_EQ(K.OfBlock, 128u);
  EXPECT_EQ(K.Rows.Took, example()[0].Rows.Took);
  EXPECT_EQ(K.Rows.Number, example()[0].Rows.Number);
  EXPECT_TRUE(std::isnan(K.Rows.read(1)[0]));
  EXPECT_EQ(K.Rows.read(1)[1], 3e38f);
  EXPECT_EQ(printRows(*Back), Bytes);
}

// Whatever byte has changed, and wherever the file ends: one message.
TEST(ThreadRows, DamageIsNamed) {
  const std::string Bytes = printRows(example());
  for (size_t At = 0; At != Bytes.size(); ++At) {
    std::string Other = Bytes;
    Other[At] ^= 1;
    EXPECT_NE(faultIn(Other), "") << At;
    EXPECT_NE(faultIn(StringRef(Bytes).take_front(At)), "") << At;
  }
  EXPECT_EQ(faultIn(StringRef(Bytes).drop_back()),
            "r.rows: the file is damaged\n  reconverge profile --paths writes "
            "such files.");
  EXPECT_NE(faultIn(Bytes + "x"), "");
  EXPECT_NE(
      faultIn("reconverge-rows/2\n")
          .find(
              "r.rows: rows of threads in another version, reconverge-rows/2"),
      std::string::npos);
  EXPECT_NE(faultIn("{}").find("r.rows: no rows of threads"),
            std::string::npos);
}

} // namespace
} // namespace reconverge
