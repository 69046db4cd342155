//===- unittests/core/GpuTurnTest.cpp - Turns on the machine's GPUs -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A child process stands for the program that has the turn, this one for the
// driver and for another user of the GPU.
//
//===----------------------------------------------------------------------===//

#include "core/GpuTurn.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace reconverge;

namespace {

struct GpuTurnTest : testing::Test {
  SmallString<128> Folder;
  int Other = -1; ///< another process' open lock

  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("turn", Folder));
    setenv("XDG_CACHE_HOME", Folder.c_str(), 1);
    ASSERT_FALSE(sys::fs::create_directories(Folder + "/reconverge"));
    Other = open((Folder + "/reconverge/gpu.lock").str().c_str(),
                 O_RDWR | O_CREAT, 0600);
    ASSERT_GE(Other, 0);
  }
  void TearDown() override {
    close(Other);
    sys::fs::remove_directories(Folder);
  }
  bool othersCanHaveIt() {
    if (flock(Other, LOCK_EX | LOCK_NB))
      return false;
    flock(Other, LOCK_UN);
    return true;
  }
};

void putEntry(const GpuTurn &Turn) {
  const std::string Entry = Turn.entry();
  auto [Name, Value] = StringRef(Entry).split('=');
  setenv(Name.str().c_str(), Value.str().c_str(), 1);
}

/// Waits until the other end writes a byte.
void await(int Pipe) {
  char Byte;
  ASSERT_EQ(read(Pipe, &Byte, 1), 1);
}
void tell(int Pipe) { ASSERT_EQ(write(Pipe, "x", 1), 1); }

TEST_F(GpuTurnTest, OthersHaveItInABreakAndItsEndWaits) {
  int ToChild[2], ToUs[2];
  ASSERT_FALSE(pipe(ToChild) || pipe(ToUs));
  GpuTurn Turn(true);
  EXPECT_FALSE(othersCanHaveIt());
  const pid_t Child = fork();
  ASSERT_GE(Child, 0);
  if (!Child) {
    close(Other);
    putEntry(Turn);
    {
      const GpuBreak Outer;
      const GpuBreak Inner; // as where one image is built for another
      tell(ToUs[1]);
      await(ToChild[0]);
    }
    tell(ToUs[1]);
    await(ToChild[0]);
    _exit(0);
  }
  await(ToUs[0]);
  ASSERT_FALSE(flock(Other, LOCK_EX | LOCK_NB)); // in the break
  EXPECT_EQ(Turn.waited(), 0);
  tell(ToChild[1]);
  while (Turn.waited() == 0)
    usleep(1000);
  const double Before = Turn.waited();
  usleep(20000);
  EXPECT_GE(Turn.waited(), Before + 0.02) << "time goes on in a wait";
  flock(Other, LOCK_UN);
  await(ToUs[0]);
  const double After = Turn.waited();
  EXPECT_FALSE(othersCanHaveIt());
  EXPECT_EQ(Turn.waited(), After) << "the wait is over";
  tell(ToChild[1]);
  int Status = 1;
  waitpid(Child, &Status, 0);
  EXPECT_EQ(Status, 0);
  EXPECT_FALSE(othersCanHaveIt());
}

TEST_F(GpuTurnTest, EndsWithTheDriver) {
  {
    const GpuTurn Turn(true);
  }
  EXPECT_TRUE(othersCanHaveIt());
}

TEST_F(GpuTurnTest, EndsThoughAProgramLeftAnotherRunning) {
  int ToChild[2];
  ASSERT_FALSE(pipe(ToChild));
  pid_t Child = -1;
  {
    const GpuTurn Turn(true);
    Child = fork();
    ASSERT_GE(Child, 0);
    if (!Child) { // has inherited what is open
      close(Other);
      await(ToChild[0]);
      _exit(0);
    }
  }
  EXPECT_TRUE(othersCanHaveIt());
  tell(ToChild[1]);
  waitpid(Child, nullptr, 0);
}

TEST_F(GpuTurnTest, UnwantedIsNone) {
  const GpuTurn Turn(false);
  EXPECT_TRUE(othersCanHaveIt());
  EXPECT_EQ(Turn.entry(), "RECONVERGE_GPU_TURN=");
  EXPECT_EQ(Turn.waited(), 0);
}

/// A program that runs without a turn, or under a foreign value.
TEST_F(GpuTurnTest, ABreakWithoutATurnDoesNothing) {
  for (const char *Value : {"", "7", "x,y", "-1,-1", "3,900"}) {
    const pid_t Child = fork();
    ASSERT_GE(Child, 0);
    if (!Child) {
      setenv("RECONVERGE_GPU_TURN", Value, 1);
      {
        const GpuBreak Break;
      }
      _exit(0);
    }
    int Status = 1;
    waitpid(Child, &Status, 0);
    EXPECT_EQ(Status, 0) << Value;
  }
}

} // namespace
