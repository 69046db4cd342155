//===- unittests/warpvm/ThreadsTest.cpp - When CPU threads join a launch --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A short launch stays on the thread that launches; a long one does not. Threads
// that have helped stay, and the program does not notice them.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "warpvm/run/Launch.h"

#include "llvm/Support/FileSystem.h"

#include <chrono>
#include <csignal>
#include <limits>
#include <mutex>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

using namespace std::chrono_literals;

size_t threadsOfProcess() {
  size_t Count = 0;
  std::error_code EC;
  for (sys::fs::directory_iterator I("/proc/self/task", EC), End;
       I != End && !EC; I.increment(EC))
    ++Count;
  return Count;
}

/// Notes who begins blocks. Each takes some time, if it is to.
class Watch : public VectorObserver {
public:
  bool wants(uint64_t) override {
    {
      std::lock_guard<std::mutex> Guard(Lock);
      Who.insert(std::this_thread::get_id());
    }
    if (Each.count())
      std::this_thread::sleep_for(Each);
    return false;
  }
  void record(uint64_t, unsigned, ArrayRef<uint32_t>,
              ArrayRef<uint64_t>) override {}

  std::chrono::microseconds Each{0};
  std::mutex Lock;
  std::set<std::thread::id> Who;
};

class ThreadsTest : public testing::Test {
protected:
  ThreadsTest() { P.Observer = &Noted; }
  static MachineOptions options() {
    MachineOptions O = optionsFor(32, Tier::Fused, PolicyKind::Frontier);
    O.Threads = 4;
    return O;
  }
  /// How many threads a launch of so many blocks has.
  size_t launch(unsigned Blocks, std::chrono::microseconds Each) {
    Noted.Each = Each;
    Noted.Who.clear();
    uint32_t Count = 0;
    P.run(shape(Blocks, 32), &Count);
    EXPECT_EQ(Count, 32 * Blocks);
    return Noted.Who.size();
  }
  /// The most of several launches: the system may let a thread wait.
  size_t launchOften(unsigned Blocks, std::chrono::microseconds Each) {
    size_t Most = 0;
    for (unsigned I = 0; I < 10 && Most < std::min(Blocks, 4u); ++I)
      Most = std::max(Most, launch(Blocks, Each));
    return Most;
  }
  Watch Noted;
  static constexpr const char *Code = R"(
    define ptx_kernel void @k(ptr %p) {
      %1 = atomicrmw add ptr %p, i32 1 seq_cst
      ret void
    })";
  TestProgram P{Code, options()};
};

TEST_F(ThreadsTest, ShortLaunchesStayWithWhoLaunches) {
  launch(4, 0us); // nothing is known of it yet
  // The system may take the CPU away for longer than a launch should last.
  unsigned Alone = 0;
  for (unsigned I = 0; I < 20; ++I)
    Alone += launch(4, 0us) == 1;
  EXPECT_GE(Alone, 10u);
}

TEST_F(ThreadsTest, LongOnesHaveAllThreads) {
  launch(4, 0us);
  launch(4, 0us);
  // Its first block is on one thread; then the others join.
  EXPECT_EQ(launch(8, 100ms), 4u);
  // This time it is known: with a block for each thread, none is left by then.
  EXPECT_EQ(launchOften(4, 20ms), 4u);
}

TEST_F(ThreadsTest, OfAFirstLaunchEachThreadHasABlock) {
  EXPECT_EQ(launch(4, 200ms), 4u);
}

TEST_F(ThreadsTest, AFirstLaunchHasOthersOnceItLasts) {
  // Its first block is on one thread.
  EXPECT_EQ(launch(8, 100ms), 4u);
}

/// With more blocks than threads.
TEST_F(ThreadsTest, AShortFirstLaunchHasNone) {
  unsigned Alone = 0;
  for (unsigned I = 0; I < 5; ++I) {
    TestProgram New(Code, options());
    New.Observer = &Noted;
    Noted.Who.clear();
    uint32_t Count = 0;
    New.run(shape(8, 32), &Count);
    Alone += Noted.Who.size() == 1;
  }
  EXPECT_GE(Alone, 3u);
}

TEST_F(ThreadsTest, AsManyJoinAsThereAreBlocks) {
  EXPECT_EQ(launchOften(3, 20ms), 3u);
  EXPECT_EQ(launchOften(1, 20ms), 1u);
}

TEST(OthersWorth, AThreadForEachQuarterOfAMillisecond) {
  EXPECT_EQ(othersWorth(0, 7), 0u);
  EXPECT_EQ(othersWorth(0.4e-3, 7), 0u);
  EXPECT_EQ(othersWorth(0.6e-3, 7), 1u);
  EXPECT_EQ(othersWorth(1.3e-3, 7), 4u);
  EXPECT_EQ(othersWorth(1, 7), 7u);
  EXPECT_EQ(othersWorth(std::numeric_limits<double>::infinity(), 7), 7u);
}

TEST_F(ThreadsTest, HelpersStay) {
  EXPECT_EQ(launchOften(4, 20ms), 4u);
  const size_t Then = threadsOfProcess();
  EXPECT_GE(Then, 4u);
  EXPECT_EQ(launchOften(4, 20ms), 4u);
  EXPECT_EQ(threadsOfProcess(), Then);
}

TEST_F(ThreadsTest, SignalsOfTheProgramAreNotForHelpers) {
  EXPECT_EQ(launchOften(4, 20ms), 4u);
  sigset_t Mine, Before, Pending;
  sigemptyset(&Mine);
  sigaddset(&Mine, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &Mine, &Before);
  kill(getpid(), SIGUSR1); // ends the process if any thread takes it
  std::this_thread::sleep_for(5ms);
  sigpending(&Pending);
  EXPECT_TRUE(sigismember(&Pending, SIGUSR1));
  int Taken = 0;
  sigwait(&Mine, &Taken);
  EXPECT_EQ(Taken, SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &Before, nullptr);
}

TEST_F(ThreadsTest, AForkedChildHasHelpersOfItsOwn) {
  EXPECT_EQ(launchOften(4, 20ms), 4u);
  const pid_t Child = fork();
  if (Child == 0)
    _exit(launchOften(4, 20ms) == 4 ? 0 : 1);
  int Status = 0;
  ASSERT_EQ(waitpid(Child, &Status, 0), Child);
  EXPECT_TRUE(WIFEXITED(Status) && WEXITSTATUS(Status) == 0);
}

} // namespace
} // namespace reconverge::warpvm
