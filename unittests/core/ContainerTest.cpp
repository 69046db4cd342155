//===- unittests/core/ContainerTest.cpp - Containers, whole and broken ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/ContainerIO.h"
#include "core/Error.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;

namespace {

using Bytes = SmallVector<char, 0>;

Bytes sample() { return makeContainer("bitcode", "a fat binary"); }

/// The message of the failure to open \p B; empty if it opens.
std::string failure(const Bytes &B) {
  Expected<ContainerView> View = openContainer(B.data(), B.size());
  return View ? "" : toString(View.takeError());
}

/// \p B with the 64-bit field at \p Offset of the header set to \p Value.
Bytes withField(Bytes B, size_t Offset, uint64_t Value) {
  std::memcpy(B.data() + Offset, &Value, sizeof(Value));
  return B;
}

TEST(Container, GivesBackWhatWentIn) {
  Bytes B = sample();
  Expected<ContainerView> View = openContainer(B.data(), B.size());
  ASSERT_TRUE(bool(View)) << toString(View.takeError());
  EXPECT_EQ(View->Bitcode, "bitcode");
  EXPECT_EQ(View->Fatbin, "a fat binary");
  EXPECT_EQ((View->Bitcode.data() - B.data()) % 8, 0);
  EXPECT_EQ((View->Fatbin.data() - B.data()) % 8, 0);
}

TEST(Container, FatBinaryMayBeEmpty) {
  Bytes B = makeContainer("bitcode", "");
  Expected<ContainerView> View = openContainer(B.data(), B.size());
  ASSERT_TRUE(bool(View)) << toString(View.takeError());
  EXPECT_EQ(View->Bitcode, "bitcode");
  EXPECT_TRUE(View->Fatbin.empty());
}

TEST(Container, MappedOneOpensWithoutALimit) {
  Bytes B = sample();
  EXPECT_TRUE(bool(openContainer(B.data(), SIZE_MAX)));
}

TEST(Container, SameInputSameBytesAndOtherInputOtherHash) {
  EXPECT_EQ(sample(), sample());
  Bytes A = makeContainer("bitcode", ""), B = makeContainer("bitcodf", "");
  EXPECT_NE(openContainer(A.data(), A.size())->Hash,
            openContainer(B.data(), B.size())->Hash);
}

TEST(Container, ForeignBytesAreNotOurs) {
  Bytes B(100, 'x');
  EXPECT_NE(failure(B).find("not built by reconverge"), std::string::npos);
}

TEST(Container, EveryTruncationIsFound) {
  Bytes Whole = sample();
  for (size_t Size = 0; Size < Whole.size(); ++Size) {
    Bytes Cut(Whole.begin(), Whole.begin() + Size);
    EXPECT_NE(failure(Cut).find("cut off"), std::string::npos) << Size;
  }
}

TEST(Container, EveryFlippedByteIsFound) {
  Bytes Whole = sample();
  for (size_t I = 0; I < Whole.size(); ++I) {
    Bytes Flipped = Whole;
    Flipped[I] ^= 0x40;
    // A damaged seal leaves the rest whole, and the whole foreign.
    const size_t Seal = offsetof(ContainerHeader, Seal);
    if (I == Seal || I == Seal + 1)
      EXPECT_TRUE(
          cantFail(openContainer(Flipped.data(), Flipped.size())).Foreign)
          << "byte " << I;
    else
      EXPECT_NE(failure(Flipped), "") << "byte " << I;
  }
}

TEST(Container, AnothersIsWholeAndForeign) {
  Bytes Ours = sample();
  EXPECT_FALSE(cantFail(openContainer(Ours.data(), Ours.size())).Foreign);
  Bytes Theirs = makeContainer("bitcode", "a fat binary", "reconverge 9");
  ContainerView View = cantFail(openContainer(Theirs.data(), Theirs.size()));
  EXPECT_TRUE(View.Foreign);
  EXPECT_EQ(View.Bitcode, "bitcode");
}

TEST(Container, TheHeaderOpensWithoutTheRest) {
  Bytes B = sample();
  B.back() ^= 1;
  Expected<ContainerView> View = openHeader(B.data(), B.size());
  ASSERT_TRUE(bool(View)) << toString(View.takeError());
  EXPECT_EQ(View->Bitcode, "bitcode");
  EXPECT_NE(toString(checkRest(*View)).find("hash"), std::string::npos);
  B.back() ^= 1;
  EXPECT_EQ(toString(checkRest(*View)), "");
}

TEST(Container, OtherVersionIsNamed) {
  Bytes B = sample();
  B[offsetof(ContainerHeader, Version)] = 7;
  EXPECT_NE(failure(B).find("version 7"), std::string::npos);
}

TEST(Container, PartsOutsideDoNotOverflow) {
  for (size_t Field : {offsetof(ContainerHeader, BitcodeOffset),
                       offsetof(ContainerHeader, BitcodeBytes),
                       offsetof(ContainerHeader, FatbinOffset),
                       offsetof(ContainerHeader, FatbinBytes)})
    for (uint64_t Value : {UINT64_MAX, UINT64_MAX - 7, uint64_t(1) << 63})
      EXPECT_NE(failure(withField(sample(), Field, Value)).find("corrupt"),
                std::string::npos)
          << "field at " << Field << " = " << Value;
}

TEST(Container, FailuresAreTheUsers) {
  Bytes B = sample();
  B.back() ^= 1;
  std::string Text;
  raw_string_ostream OS(Text);
  EXPECT_EQ(reportError(openContainer(B.data(), B.size()).takeError(), OS),
            int(ExitCode::UserError));
  EXPECT_NE(Text.find("Build the program again"), std::string::npos);
}

} // namespace
