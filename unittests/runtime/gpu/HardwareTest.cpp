//===- HardwareTest.cpp - The GPU in words --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/gpu/Hardware.h"

#include <gtest/gtest.h>

using namespace reconverge::gpu;

static constexpr char AdminOnly[] = "Mobile: 4294967295\n"
                                    "RmProfilingAdminOnly: 1\n";
static constexpr char Root[] = "Uid:\t0\nCapEff:\t000001ffffffffff\nSeccomp: 0";
static constexpr char RootInContainer[] =
    "Uid:\t0\nCapEff:\t00000000a80425fb\n";
static constexpr char User[] = "Uid:\t1000\nCapEff:\t0000000000000000\n";

static bool says(const std::string &Sentence, const char *Words) {
  return Sentence.find(Words) != std::string::npos;
}

TEST(CounterAccess, IsForAdministratorsIfTheDriverSaysSo) {
  EXPECT_TRUE(says(counterAccess(AdminOnly, User), "ERR_NVGPUCTRPERM"));
  EXPECT_TRUE(
      says(counterAccess(AdminOnly, RootInContainer), "ERR_NVGPUCTRPERM"));
  EXPECT_TRUE(says(counterAccess(AdminOnly, ""), "ERR_NVGPUCTRPERM"));
  EXPECT_TRUE(says(counterAccess(AdminOnly, Root), "may be read here;"));
}

TEST(CounterAccess, IsForAllOtherwise) {
  EXPECT_TRUE(
      says(counterAccess("RmProfilingAdminOnly: 0\n", User), "may be read"));
}

TEST(CounterAccess, IsNotGuessed) {
  EXPECT_TRUE(says(counterAccess("", Root), "does not say"));
}

TEST(CounterAccess, IsOneLine) {
  for (const char *Driver : {"", AdminOnly, "RmProfilingAdminOnly: 0"})
    EXPECT_FALSE(says(counterAccess(Driver, User), "\n"));
}
