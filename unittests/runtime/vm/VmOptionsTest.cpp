//===- VmOptionsTest.cpp - What the environment asks for ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/vm/Options.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::runtime;

namespace {

BackendOptions good(StringRef Text) {
  Expected<BackendOptions> O = parseOptions(Text);
  if (!O) {
    ADD_FAILURE() << toString(O.takeError());
    return {};
  }
  return *O;
}

std::string bad(StringRef Text) {
  Expected<BackendOptions> O = parseOptions(Text);
  return O ? "accepted" : toString(O.takeError());
}

TEST(Options, NothingSaidIsTheDefault) {
  BackendOptions O = good("");
  EXPECT_EQ(O.Machine.Threads, 0u);
  EXPECT_EQ(O.Machine.Code, warpvm::Tier::Fused);
  EXPECT_EQ(O.Machine.Policy, warpvm::PolicyKind::Frontier);
  EXPECT_FALSE(O.Machine.Counters);
  EXPECT_TRUE(O.Machine.Tolerant);
  EXPECT_EQ(O.Memory, 0u);
  EXPECT_FALSE(O.HasCache);
  EXPECT_FALSE(O.Machine.Check || O.Machine.Sync || O.Machine.Init);
}

TEST(Options, ChecksAreNamed) {
  const BackendOptions On = good("check=on");
  EXPECT_TRUE(On.Machine.Check && On.Machine.Sync && !On.Machine.Init);
  const BackendOptions Some = good("check=init:sync");
  EXPECT_TRUE(!Some.Machine.Check && Some.Machine.Sync && Some.Machine.Init);
  const BackendOptions Off = good("check=on,check=off");
  EXPECT_FALSE(Off.Machine.Check || Off.Machine.Sync);
}

TEST(Options, EveryKeyIsRead) {
  BackendOptions O =
      good("threads=2,tier=blocks, "
           "policy=ipdom,warp=64,isa=avx2,seed=7,steps=1000,vectors=off,"
           "counters=on,cache=/tmp/a=b,memory=3G,shuffle=8,snapshots=5M,"
           "compile=fast,guard=on");
  EXPECT_EQ(O.Machine.Threads, 2u);
  EXPECT_EQ(O.Machine.Code, warpvm::Tier::Blocks);
  EXPECT_EQ(O.Machine.Policy, warpvm::PolicyKind::PostDominator);
  EXPECT_EQ(O.Machine.WarpSize, 64u);
  EXPECT_EQ(O.Machine.Isa, "avx2");
  EXPECT_EQ(O.Machine.Seed, 7u);
  EXPECT_EQ(O.Machine.StepLimit, 1000u);
  EXPECT_TRUE(O.Machine.Counters);
  EXPECT_FALSE(O.Vectors);
  EXPECT_EQ(O.Machine.CacheDir, "/tmp/a=b");
  EXPECT_EQ(O.Memory, uint64_t(3) << 30);
  EXPECT_EQ(O.Machine.Compile, warpvm::Effort::Fast);
  EXPECT_FALSE(O.Machine.Tolerant);
  EXPECT_TRUE(O.HasCache);
  EXPECT_EQ(O.CacheBytes, uint64_t(1) << 30);
  EXPECT_EQ(good("cachebytes=3K").CacheBytes, 3072u);
  EXPECT_EQ(good("cachebytes=0").CacheBytes, 0u) << "no bound";
  EXPECT_TRUE(O.Machine.Later);
  EXPECT_FALSE(good("later=off").Machine.Later);
  EXPECT_FALSE(O.Races);
  EXPECT_TRUE(good("races=on").Races);
  EXPECT_FALSE(O.Accesses);
  EXPECT_EQ(good("accesses=off").Accesses, false);
  EXPECT_FALSE(good("clock=wall").needsCosts());
  EXPECT_TRUE(good("clock=model").ModelClock);
  EXPECT_TRUE(good("clock=model").needsCosts());
  EXPECT_EQ(O.Shuffle.Orders, 8u);
  EXPECT_EQ(O.Shuffle.Budget, 5u << 20);
  EXPECT_EQ(good("memory=512").Memory, 512u);
  EXPECT_EQ(good("memory=2M").Memory, 2u << 20);
  EXPECT_EQ(O.Multiprocessors, 132u);
  EXPECT_EQ(good("multiprocessors=1").Multiprocessors, 1u);
}

TEST(Options, MistakesAreNamed) {
  EXPECT_EQ(bad("tier=fast"), "RECONVERGE_VM: tier is 'fast'\n"
                              "  tier wants fused or blocks.");
  EXPECT_EQ(bad("threads=-1"),
            "RECONVERGE_VM: threads is '-1'\n"
            "  threads wants a whole number from 0 to 4096.");
  EXPECT_EQ(bad("fused"), "RECONVERGE_VM: 'fused' is no key=value\n"
                          "  For example RECONVERGE_VM=threads=4,tier=blocks.");
  EXPECT_EQ(
      bad("colour=red"),
      "RECONVERGE_VM: there is no key 'colour'\n"
      "  The keys are threads, tier, policy, threshold, block, branches, "
      "loads, "
      "trust, warp, compile, later, isa, seed, steps, check, races, guard, "
      "counters, accesses, vectors, features, orders, "
      "shuffle, "
      "snapshots, clock, cache, cachebytes, memory and multiprocessors.");
  for (StringRef Text : {"threads=",
                         "threads=5000",
                         "threads=2x",
                         "seed=99999999999999999999",
                         "steps=many",
                         "warp=16",
                         "isa=sse",
                         "compile=o3",
                         "policy=min-pc",
                         "counters=yes",
                         "accesses=1",
                         "clock=slow",
                         "check=maybe",
                         "guard=soft",
                         "policy=herd",
                         "threshold=32",
                         "block=16",
                         "branches=",
                         "loads=1:",
                         "branches=1::2",
                         "loads=-1",
                         "trust=1",
                         "memory=0",
                         "memory=G",
                         "memory=99999999999G",
                         "memory=1T",
                         "multiprocessors=0",
                         "multiprocessors=133"})
    EXPECT_NE(bad(Text), "accepted") << Text.str();
}

TEST(Options, PoliciesThatHerd) {
  EXPECT_FALSE(good("").Herd.any());
  EXPECT_FALSE(good("policy=ipdom").Herd.any());
  for (StringRef Policy :
       {"frontier", "ipdom", "herd-branch", "herd-data", "herd-both"})
    EXPECT_EQ(policyName(good(("policy=" + Policy).str())), Policy);
  const BackendOptions O =
      good("policy=herd-both,threshold=9,block=64,branches=7,loads=3:12:4");
  EXPECT_EQ(O.Machine.Policy, warpvm::PolicyKind::Frontier);
  EXPECT_TRUE(O.Herd.Branches && O.Herd.Loads && !O.Herd.Trust);
  EXPECT_EQ(O.Herd.Threshold, 9u);
  EXPECT_EQ(O.Herd.BlockBytes, 64u);
  EXPECT_EQ(*O.Herd.NamedBranches, std::vector<uint32_t>{7});
  EXPECT_EQ(*O.Herd.NamedLoads, (std::vector<uint32_t>{3, 12, 4}));
  EXPECT_TRUE(good("policy=herd-data,loads=3,trust=on").Herd.Trust);
  EXPECT_TRUE(herdingOf(O.Herd));
  EXPECT_FALSE(herdingOf(good("policy=ipdom").Herd));
}

TEST(Options, AProfileNeedsCounts) {
  setenv("RECONVERGE_VM", "threads=3", 1);
  setenv("RECONVERGE_PROFILE", "/tmp/p.json", 1);
  Expected<BackendOptions> O = optionsFromEnvironment();
  unsetenv("RECONVERGE_VM");
  unsetenv("RECONVERGE_PROFILE");
  ASSERT_TRUE(bool(O));
  EXPECT_EQ(O->Machine.Threads, 3u);
  EXPECT_TRUE(O->Machine.Counters);
  EXPECT_EQ(O->ProfilePath, "/tmp/p.json");
}

} // namespace
