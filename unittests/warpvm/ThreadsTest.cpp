//===- unittests/warpvm/ThreadsTest.cpp - When CPU threads join a launch --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A short launch stays on the thread that launches; a long one does not.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "llvm/Support/FileSystem.h"

#include <chrono>
#include <mutex>
#include <set>
#include <thread>

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

/// Notes who begins blocks and, if each takes its time, how many threads there
/// are then. To count them takes as long as a short launch may.
class Watch : public VectorObserver {
public:
  bool wants(uint64_t) override {
    std::lock_guard<std::mutex> Guard(Lock);
    Who.insert(std::this_thread::get_id());
    if (Each.count()) {
      std::this_thread::sleep_for(Each);
      Most = std::max(Most, threadsOfProcess());
    }
    return false;
  }
  void record(uint64_t, unsigned, ArrayRef<uint32_t>,
              ArrayRef<uint64_t>) override {}

  std::chrono::microseconds Each{0};
  std::mutex Lock;
  std::set<std::thread::id> Who;
  size_t Most = 0;
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
    Noted.Most = 0;
    uint32_t Count = 0;
    P.run(shape(Blocks, 32), &Count);
    EXPECT_EQ(Count, 32 * Blocks);
    return Each.count() ? Noted.Most - Others : Noted.Who.size();
  }
  const size_t Others = threadsOfProcess() - 1;
  Watch Noted;
  TestProgram P{R"(
    define ptx_kernel void @k(ptr %p) {
      %1 = atomicrmw add ptr %p, i32 1 seq_cst
      ret void
    })",
                options()};
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
  EXPECT_EQ(launch(8, 5ms), 4u);
  // This time it is known: with a block for each thread, none is left by then.
  EXPECT_EQ(launch(4, 20ms), 4u);
}

TEST_F(ThreadsTest, TheFirstLaunchIsTakenForALongOne) {
  EXPECT_EQ(launch(4, 20ms), 4u);
}

TEST_F(ThreadsTest, AsManyJoinAsThereAreBlocks) {
  EXPECT_EQ(launch(3, 20ms), 3u);
  EXPECT_EQ(launch(1, 20ms), 1u);
}

} // namespace
} // namespace reconverge::warpvm
