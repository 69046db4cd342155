//===- unittests/train/TrainTest.cpp - Nets of rows of threads ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "train/Train.h"

#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace llvm;

namespace reconverge::train {
namespace {

struct Rows : KernelRows {
  Rows() {
    Kernel = "_Z1kPf";
    Module = "0123456789abcdef";
    Loads = {3, 17};
    Places = {"app.cu:4", "app.cu:5"};
    OfBlock = 64;
    KernelRows::Rows.Loads = 2;
  }
  void add(float A, float B, uint32_t Class) {
    ThreadRows &R = KernelRows::Rows;
    R.add({A, B}, R.size(), 1000.0 - 100 * Class);
    ClassOf.push_back(Class);
  }
  std::vector<uint32_t> ClassOf;
};

/// Which of two neighbours is larger, by little of what both are, and whether
/// that is much: four classes that hang on the difference.
Rows neighbours(size_t Count) {
  Rows R;
  std::mt19937 Random(1);
  for (size_t I = 0; I != Count; ++I) {
    const float A = float(1000 + Random() % 1000),
                Off = float(Random() % 2001) / 100 - 10;
    R.add(A, A + Off, Off > 5 ? 0 : Off > 0 ? 1 : Off > -5 ? 2 : 3);
  }
  return R;
}

std::string faultIn(const Rows &R) {
  auto Net = trainNet(R, R.ClassOf, drawHeldOut(R, 1));
  return Net ? "" : toString(Net.takeError());
}

} // namespace

TEST(Train, HeldOutIsAQuarterOfTheBlocks) {
  const Rows R = neighbours(64 * 16);
  const std::vector<bool> Held = drawHeldOut(R, 1);
  EXPECT_EQ(std::count(Held.begin(), Held.end(), true), 64 * 4);
  for (size_t Row = 0; Row != Held.size(); ++Row)
    EXPECT_EQ(Held[Row], Held[Row / 64 * 64]);
  EXPECT_EQ(Held, drawHeldOut(R, 1));
  EXPECT_NE(Held, drawHeldOut(R, 2));
  // Too few blocks: a quarter of the rows.
  const Rows Few = neighbours(128);
  const std::vector<bool> OfFew = drawHeldOut(Few, 1);
  EXPECT_EQ(std::count(OfFew.begin(), OfFew.end(), true), 32);
}

TEST(Train, BadRowsAreNamed) {
  Rows R = neighbours(63);
  EXPECT_NE(faultIn(R).find("k(float*): 63 rows are too few to train a net"),
            std::string::npos)
      << faultIn(R);
  R = neighbours(256);
  R.KernelRows::Rows.Read[7] = std::nanf("");
  R.KernelRows::Rows.Read[9] = INFINITY;
  EXPECT_NE(faultIn(R).find("k(float*): load 17 (app.cu:5) reads no number in "
                            "2 of 256 rows"),
            std::string::npos)
      << faultIn(R);
  R = neighbours(256);
  R.ClassOf.assign(256, 0);
  EXPECT_NE(faultIn(R).find("there is a single class"), std::string::npos);
  if (!canTrain()) {
    EXPECT_NE(faultIn(neighbours(256)).find("RECONVERGE_TRAIN=ON"),
              std::string::npos);
  }
}

// What decides is a hundredth of what is read, and found.
TEST(Train, LearnsDifferences) {
  if (!canTrain())
    GTEST_SKIP() << "a build without RECONVERGE_TRAIN";
  const Rows R = neighbours(4096);
  auto Net = trainNet(R, R.ClassOf, drawHeldOut(R, 1));
  ASSERT_TRUE(bool(Net)) << toString(Net.takeError());
  EXPECT_GT(Net->Trained.Accuracy, 0.95);
  EXPECT_EQ(Net->Trained.HeldOut, 1024u);
  EXPECT_EQ(Net->Trained.Fitted, 3072u);
  EXPECT_EQ(Net->Classes, std::vector<double>({1000, 900, 800, 700}));
  uint64_t All = 0, Right = 0;
  for (size_t C = 0; C != 4; ++C) {
    for (size_t Taken = 0; Taken != 4; ++Taken)
      All += Net->Trained.Confusion[C * 4 + Taken];
    Right += Net->Trained.Confusion[C * 5];
  }
  EXPECT_EQ(All, 1024u);
  EXPECT_DOUBLE_EQ(double(Right) / 1024, Net->Trained.Accuracy);
  // Same rows, same bytes; and it is a net that can be read.
  auto Again = trainNet(R, R.ClassOf, drawHeldOut(R, 1));
  ASSERT_TRUE(bool(Again));
  std::string First, Second;
  raw_string_ostream FirstOS(First), SecondOS(Second);
  printPathNet(*Net, FirstOS);
  printPathNet(*Again, SecondOS);
  EXPECT_EQ(First, Second);
  EXPECT_TRUE(bool(parsePathNet(First, "n.json")));

  // Another run: what lies beyond is counted.
  Rows Other = neighbours(500);
  Other.add(5000, 5000, 1);
  auto J = judge(*Net, Other);
  ASSERT_TRUE(bool(J)) << toString(J.takeError());
  EXPECT_EQ(J->Rows, 501u);
  EXPECT_GE(J->OutOfRange, 1u);
  EXPECT_GT(J->Right, 450u);
  Other.Module = "fedcba9876543210";
  auto None = judge(*Net, Other);
  ASSERT_FALSE(bool(None));
  EXPECT_NE(toString(None.takeError()).find("the net is of another kernel"),
            std::string::npos);
}

// One load always reads the same, and two read alike.
TEST(Train, LoadsThatTellNothing) {
  if (!canTrain())
    GTEST_SKIP() << "a build without RECONVERGE_TRAIN";
  Rows R;
  R.Loads = {3, 17, 18};
  R.Places = {"", "", ""};
  R.KernelRows::Rows.Loads = 3;
  for (unsigned I = 0; I != 512; ++I) {
    const float A = float(I * 37 % 100);
    R.KernelRows::Rows.add({7, A, A}, I, 100);
    R.ClassOf.push_back(A < 50);
  }
  auto Net = trainNet(R, R.ClassOf, drawHeldOut(R, 1));
  ASSERT_TRUE(bool(Net)) << toString(Net.takeError());
  EXPECT_GT(Net->Trained.Accuracy, 0.95);
  EXPECT_EQ(Net->Inputs[0].Scale, 0);
  for (float W : Net->Hidden.Weights)
    EXPECT_TRUE(std::isfinite(W));
}

} // namespace reconverge::train
