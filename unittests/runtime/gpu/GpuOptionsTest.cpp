//===- GpuOptionsTest.cpp - RECONVERGE_GPU --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/gpu/Options.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge::gpu;

TEST(GpuOptions, AreReadInAnyOrder) {
  Expected<Options> O = parseOptions("cache=/tmp/x, vectors=off,registers=64");
  ASSERT_TRUE(bool(O)) << toString(O.takeError());
  EXPECT_EQ(O->CacheDir, "/tmp/x");
  EXPECT_EQ(O->Registers, 64u);
  EXPECT_FALSE(O->Vectors);
  EXPECT_TRUE(O->Counters);
  EXPECT_FALSE(O->Bitcode);
  EXPECT_EQ(O->HangSeconds, 2);
  O = parseOptions("hang=0.5");
  ASSERT_TRUE(bool(O)) << toString(O.takeError());
  EXPECT_EQ(O->HangSeconds, 0.5);
}

TEST(GpuOptions, TheLastOneCounts) {
  Expected<Options> O = parseOptions("counters=off,counters=on");
  ASSERT_TRUE(bool(O)) << toString(O.takeError());
  EXPECT_TRUE(O->Counters);
}

TEST(GpuOptions, SoManyThreadBlocksOrAll) {
  for (auto [Text, Blocks] :
       {std::pair("", 1024u), {"blocks=16", 16u}, {"blocks=all", 0u}}) {
    Expected<Options> O = parseOptions(Text);
    ASSERT_TRUE(bool(O)) << toString(O.takeError());
    EXPECT_EQ(O->Blocks, Blocks) << Text;
  }
}

TEST(GpuOptions, MistakesAreNamed) {
  for (auto [Text, Word] : {std::pair("vectors=perhaps", "vectors"),
                            {"registers=16", "registers"},
                            {"memory=0", "memory"},
                            {"memory=some", "memory"},
                            {"registers=many", "registers"},
                            {"hang=0", "hang"},
                            {"hang=long", "hang"},
                            {"blocks=none", "blocks"},
                            {"blocks=0", "blocks"},
                            {"vectors", "key=value"},
                            {"colour=red", "colour"}}) {
    Expected<Options> O = parseOptions(Text);
    ASSERT_FALSE(bool(O)) << Text;
    EXPECT_NE(toString(O.takeError()).find(Word), std::string::npos) << Text;
  }
}
