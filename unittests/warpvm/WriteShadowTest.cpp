//===- unittests/warpvm/WriteShadowTest.cpp - Which bytes were written ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "warpvm/memory/WriteShadow.h"
#include "warpvm/memory/DeviceMemory.h"
#include "warpvm/run/Notes.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::warpvm;

static constexpr uint64_t Begin = uint64_t(1) << 40, Size = 1 << 20;

TEST(WriteShadow, KnowsEachByte) {
  auto Shadow = WriteShadow::create(Begin, Begin + Size);
  ASSERT_TRUE(Shadow);
  auto At = [](uint64_t Offset) {
    return reinterpret_cast<void *>(Begin + Offset);
  };
  auto All = [&](uint64_t Offset, uint64_t Bytes) {
    return allWritten(Shadow->of(Begin + Offset, Bytes), Bytes);
  };
  for (uint64_t Bytes : {1, 7, 8, 9, 31}) {
    Shadow->mark(At(100), Bytes);
    EXPECT_TRUE(All(100, Bytes));
    EXPECT_FALSE(All(99, Bytes + 1));
    EXPECT_FALSE(All(100, Bytes + 1));
  }
  EXPECT_TRUE(someWritten(Shadow->of(Begin + 90, 11), 11));
  EXPECT_FALSE(someWritten(Shadow->of(Begin + 90, 10), 10));

  // A copy takes along what is not written, too.
  Shadow->mark(At(200), 64);
  Shadow->copy(At(200), At(90), 20);
  EXPECT_FALSE(someWritten(Shadow->of(Begin + 200, 10), 10));
  EXPECT_TRUE(All(210, 54));
  int OfTheHost = 0;
  Shadow->copy(At(200), &OfTheHost, 4);
  EXPECT_TRUE(All(200, 4));

  Shadow->clear(At(201), 2);
  EXPECT_TRUE(All(200, 1) && All(203, 1));
  EXPECT_FALSE(someWritten(Shadow->of(Begin + 201, 2), 2));

  Shadow->forget(Begin, 4096);
  EXPECT_FALSE(someWritten(Shadow->of(Begin, 4096), 4096));
}

/// The hole in \p Bytes of which \p Unwritten[i] to \p Unwritten[i + 1] are not
/// written, as "offset+bytes".
static std::string hole(uint64_t Bytes, std::vector<uint64_t> Unwritten) {
  std::vector<uint8_t> Shadow(Bytes, 1);
  for (size_t I = 0; I != Unwritten.size(); I += 2)
    std::fill(&Shadow[Unwritten[I]], &Shadow[0] + Unwritten[I + 1], 0);
  auto Found = holeIn(Shadow.data(), Bytes);
  return Found ? std::to_string(Found->Offset) + "+" +
                     std::to_string(Found->Bytes)
               : "";
}

TEST(WriteShadow, TellsHolesFromPadding) {
  EXPECT_EQ(hole(256, {}), "");
  EXPECT_EQ(hole(4, {0, 4}), "0+4") << "all of it";
  EXPECT_EQ(hole(256, {240, 256}), "240+16");
  EXPECT_EQ(hole(256, {100, 116}), "100+16");
  EXPECT_EQ(hole(256, {252, 256}), "252+4") << "the last element";
  EXPECT_EQ(hole(256, {0, 4}), "0+4") << "the first one";
  EXPECT_EQ(hole(256, {100, 104}), "") << "padding of one large class";
  EXPECT_EQ(hole(256, {253, 256}), "") << "no whole word";
  EXPECT_EQ(hole(32, {25, 32}), "") << "padding of one small class";
  EXPECT_EQ(hole(64, {28, 32, 60, 64}), "") << "padding of two classes";
  EXPECT_EQ(hole(64, {28, 32, 40, 60}), "40+20");
}

TEST(WriteShadow, HasNothingOutsideOfItsRange) {
  auto Shadow = WriteShadow::create(Begin, Begin + Size);
  ASSERT_TRUE(Shadow);
  EXPECT_TRUE(Shadow->of(Begin, Size));
  EXPECT_FALSE(Shadow->of(Begin, Size + 1));
  EXPECT_FALSE(Shadow->of(Begin - 1, 1));
  EXPECT_FALSE(Shadow->of(Begin + Size, 1));
  EXPECT_FALSE(Shadow->of(~uint64_t(0), 2));
}

TEST(WriteShadow, MemoryThatIsGivenOutAgainIsUnwritten) {
  auto Memory = cantFail(DeviceMemory::create(1 << 24));
  ASSERT_TRUE(Memory->trackWrites());
  for (unsigned I = 0; I != 3; ++I) {
    void *P = cantFail(Memory->allocate(5000, MemoryKind::Device));
    uint8_t *Shadow = Memory->writes()->of(uint64_t(P), 5000);
    EXPECT_FALSE(someWritten(Shadow, 5000));
    Memory->writes()->mark(P, 5000);
    EXPECT_TRUE(Memory->release(P));
    EXPECT_FALSE(someWritten(Shadow, 5000));
  }
}

TEST(BlockWrites, BeginAnewWithEachBlock) {
  uint8_t Shared[64], Local[128];
  BlockWrites Writes;
  Writes.start(Shared, 64, Local, 128);
  EXPECT_FALSE(Writes.of(uint64_t(Shared) + 60, 8));
  uint8_t *Shadow = Writes.of(uint64_t(Local) + 120, 8);
  ASSERT_TRUE(Shadow);
  Shadow[7] = 1;
  Writes.start(Shared, 64, Local, 128);
  EXPECT_FALSE(someWritten(Writes.of(uint64_t(Local), 128), 128));
}

TEST(BlockWrites, HaveTheCallsOfABlock) {
  uint8_t Shared[64], Local[64], Calls[128];
  BlockWrites Writes;
  Writes.start(Shared, 64, Local, 64);
  EXPECT_FALSE(Writes.of(uint64_t(Calls), 1));
  Writes.addCall(Calls + 64, 64);
  Writes.addCall(Calls, 32);
  EXPECT_TRUE(Writes.of(uint64_t(Calls) + 28, 4));
  EXPECT_FALSE(Writes.of(uint64_t(Calls) + 30, 4)) << "past it";
  EXPECT_FALSE(Writes.of(uint64_t(Calls) + 62, 4)) << "before it";
  uint8_t *Shadow = Writes.of(uint64_t(Calls) + 64, 64);
  ASSERT_TRUE(Shadow);
  std::fill_n(Shadow, 64, 1);
  Writes.start(Shared, 64, Local, 64);
  EXPECT_FALSE(someWritten(Writes.of(uint64_t(Calls) + 64, 64), 64));
}

TEST(LaunchNotes, KeepTheFirstOfEachSite) {
  FaultSite Here = {}, There = {};
  Here.File = There.File = "a.cu";
  Here.Line = 3;
  LaunchNotes Notes("k()");
  Notes.add(FindingKind::Init, Here, "one", {{0, 0, 0}}, {{1, 0, 0}});
  Notes.add(FindingKind::Init, Here, "two", {{0, 0, 0}}, {{2, 0, 0}});
  Notes.add(FindingKind::Sync, Here, "three", {{0, 0, 0}}, {{2, 0, 0}});
  Notes.add(FindingKind::Init, There, "four", {{0, 0, 0}}, {{2, 0, 0}});
  EXPECT_TRUE(Notes.has(FindingKind::Sync, Here));
  EXPECT_FALSE(Notes.has(FindingKind::Sync, There));
  const std::vector<Finding> Found = Notes.take();
  ASSERT_EQ(Found.size(), 3u);
  EXPECT_EQ(Found[0].Text, "one");
  EXPECT_EQ(Found[0].Kernel, "k()");
  EXPECT_EQ(Found[0].Places[0].Where[0].Line, 3u);
  EXPECT_TRUE(Found[2].Places[0].Where.empty()) << "no line is known";
}
