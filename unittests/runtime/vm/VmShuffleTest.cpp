//===- VmShuffleTest.cpp - The same launch in other orders ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With a machine of the test's own: what it does to memory depends on the seed
// as the test wants it.
//
//===----------------------------------------------------------------------===//

#include "FakeMachine.h"
#include "core/Error.h"
#include "core/ProfileJson.h"
#include "runtime/vm/Api.h"
#include "runtime/vm/Snapshot.h"

#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::runtime;
using warpvm::Allocation;
using warpvm::DeviceMemory;
using warpvm::MemoryKind;

namespace {

//===----------------------------------------------------------------------===//
// Snapshots
//===----------------------------------------------------------------------===//

struct Memory {
  std::unique_ptr<DeviceMemory> M =
      cantFail(DeviceMemory::create(uint64_t(1) << 30, uint64_t(1) << 32));
  uint8_t *take(uint64_t Bytes, MemoryKind Kind = MemoryKind::Device) {
    return static_cast<uint8_t *>(cantFail(M->allocate(Bytes, Kind)));
  }
};

std::string differencesOf(const MemorySnapshot &S) {
  std::string Text;
  S.differences([&](const Allocation &In, uint64_t Offset,
                    ArrayRef<uint8_t> Then, ArrayRef<uint8_t> Now) {
    for (size_t I = 0; I != Then.size(); ++I)
      if (Then[I] != Now[I])
        Text += std::to_string(In.Serial) + "+" + std::to_string(Offset + I) +
                ":" + std::to_string(Then[I]) + ">" + std::to_string(Now[I]) +
                " ";
  });
  return Text;
}

TEST(Snapshot, RestoresEveryKindOfMemory) {
  Memory All;
  uint8_t *A = All.take(10000), *B = All.take(7, MemoryKind::Managed),
          *C = All.take(300, MemoryKind::Pool);
  std::vector<uint8_t> Own(5000, 1);
  ASSERT_TRUE(All.M->addRegistered(Own.data(), Own.size()));
  A[0] = A[9999] = 1;
  B[6] = 2;
  auto S = MemorySnapshot::take(*All.M, 1 << 20);
  ASSERT_TRUE(S.has_value());
  EXPECT_EQ(differencesOf(*S), "");
  A[0] = 9;    // a page that was copied
  A[5000] = 8; // one that was all zero
  A[9999] = 0; // one that becomes it
  B[6] = 7;
  C[299] = 6;
  Own[4999] = 5;
  EXPECT_EQ(differencesOf(*S), "1+0:1>9 1+5000:0>8 1+9999:1>0 1+6:2>7 "
                               "1+299:0>6 0+4999:1>5 ");
  S->restore();
  EXPECT_EQ(differencesOf(*S), "");
  EXPECT_EQ(A[0], 1);
  EXPECT_EQ(A[5000], 0);
  EXPECT_EQ(A[9999], 1);
  EXPECT_EQ(B[6], 2);
  EXPECT_EQ(C[299], 0);
  EXPECT_EQ(Own[4999], 1);
}

TEST(Snapshot, ASecondOneTakesOnlyWhatHasChanged) {
  Memory All;
  uint8_t *A = All.take(1 << 20);
  std::memset(A, 1, 1 << 20);
  auto Before = MemorySnapshot::take(*All.M, 2 << 20);
  ASSERT_TRUE(Before.has_value());
  EXPECT_GE(Before->bytes(), 1u << 20);
  A[12345] = 7;
  auto After = MemorySnapshot::take(*All.M, 64 << 10, &*Before);
  ASSERT_TRUE(After.has_value());
  EXPECT_LT(After->bytes(), 16u << 10);
  Before->restore();
  EXPECT_EQ(A[12345], 1);
  After->restore();
  EXPECT_EQ(A[12345], 7);
}

TEST(Snapshot, KeepsToItsBudgetAndSkipsWhatWasNeverTouched) {
  Memory All;
  uint8_t *A = All.take(uint64_t(512) << 20); // of which one page is used
  A[uint64_t(300) << 20] = 1;
  auto S = MemorySnapshot::take(*All.M, 4 << 20);
  ASSERT_TRUE(S.has_value());
  A[uint64_t(300) << 20] = 2;
  S->restore();
  EXPECT_EQ(A[uint64_t(300) << 20], 1);
  std::memset(A, 1, 8 << 20);
  EXPECT_FALSE(MemorySnapshot::take(*All.M, 4 << 20).has_value());
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

constexpr char Code[] = R"(
target triple = "nvptx64-nvidia-cuda"
define void @k(ptr %p) {
  store i32 1, ptr %p
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @k, !"kernel", i32 1}
)";
char Kernel;

/// What the launch does to memory; the tests' own.
std::function<Error(uint64_t Seed, int *Out)> Deed;
int *Out;

Error run(const fake::Launch &L, LaunchCounts *Counts) {
  if (Counts) {
    Counts->Blocks = {{1, 32, 0, 0}};
    Counts->Warps = 1;
  }
  return Deed(L.Seed, Out);
}

class ShuffledLaunches : public testing::Test {
protected:
  void SetUp() override {
    SmallString<128> Name;
    ASSERT_FALSE(sys::fs::createUniqueDirectory("reconverge-vm", Name));
    Folder = Name.str().str();
    Path = Folder + "/raw.json";
  }
  void TearDown() override { sys::fs::remove_directories(Folder); }

  /// \p Body in a child, in which launches are tried in \p Orders orders; the
  /// profile that it leaves.
  template <typename Body>
  Expected<Profile> profileOf(uint32_t Orders, uint64_t Budget, Body &&B) {
    auto Run = [&] {
      Engine::get().reset();
      BackendOptions O;
      O.ProfilePath = Path;
      O.MachineFile = MACHINE_FILE;
      O.Machine.Counters = true;
      O.Shuffle.Orders = Orders;
      O.Shuffle.Budget = Budget;
      cantFail(Engine::get().configure(O, fake::factory(run)));
      auto *Unit = new fake::Object{StringRef(Code)};
      Unit->kernel(&Kernel, "k");
      EXPECT_EQ(api::cudaMalloc(reinterpret_cast<void **>(&Out), 40000),
                cudaSuccess);
      B();
      std::exit(testing::Test::HasFailure() ? 1 : 0);
    };
    EXPECT_EXIT(Run(), testing::ExitedWithCode(0), "");
    return readProfile(Path);
  }

  std::string Folder, Path;
};

cudaError_t launch() {
  return api::cudaLaunchKernel(&Kernel, 1, 32, nullptr, 0, nullptr);
}

TEST_F(ShuffledLaunches, StartFromOneStateAndLeaveTheNaturalResult) {
  Expected<Profile> P = profileOf(4, 0, [] {
    // Adds, so that a state that was not restored would show; in order 4, the
    // last, one word comes out otherwise.
    Deed = [](uint64_t Seed, int *Out) {
      Out[0] += 5;
      Out[9000] += Seed == 4 ? 70000 : 7;
      return Error::success();
    };
    for (int I = 1; I <= 3; ++I) {
      EXPECT_EQ(launch(), cudaSuccess);
      EXPECT_EQ(Out[0], 5 * I);
      EXPECT_EQ(Out[9000], 7 * I);
    }
  });
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  ASSERT_EQ(P->Kernels.size(), 1u);
  const OrderTrials &T = P->Kernels[0].Orders;
  EXPECT_EQ(T.Orders, 4u);
  EXPECT_EQ(T.Launches, 3u);
  EXPECT_EQ(T.Differing, 3u);
  EXPECT_EQ(T.Bytes, 3u); // 70000 and 7 differ in three bytes
  ASSERT_TRUE(T.First.has_value());
  EXPECT_EQ(T.First->Launch, 1u);
  EXPECT_EQ(T.First->Order, 4u);
  EXPECT_EQ(T.First->Memory, "an allocation of 40000 bytes by call 1 of "
                             "cudaMalloc");
  EXPECT_EQ(T.First->Offset, 36000u);
  EXPECT_EQ(T.First->Type, "int");
  EXPECT_EQ(T.First->Natural, "7");
  EXPECT_EQ(T.First->Other, "70000");
}

TEST_F(ShuffledLaunches, FaultsOfOneOrderAreFindingsAndTheRunGoesOn) {
  Expected<Profile> P = profileOf(3, 0, [] {
    Deed = [](uint64_t Seed, int *Out) -> Error {
      Out[0] = int(Seed) + 1;
      if (Seed == 2)
        return make_error<warpvm::FaultError>(warpvm::FaultKind::Assert,
                                              "only in order 2");
      Out[0] = 1;
      return Error::success();
    };
    EXPECT_EQ(launch(), cudaSuccess);
    EXPECT_EQ(api::cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(Out[0], 1);
  });
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  const OrderTrials &T = P->Kernels[0].Orders;
  EXPECT_EQ(T.Differing, 0u);
  EXPECT_EQ(T.FaultyRuns, 1u);
  ASSERT_EQ(T.Faults.size(), 1u);
  EXPECT_EQ(T.Faults[0].Order, 2u);
  EXPECT_EQ(T.Faults[0].Message, "only in order 2");
}

TEST_F(ShuffledLaunches, KernelsWithAHeapAreNotTried) {
  Expected<Profile> P = profileOf(3, 0, [] {
    static constexpr char WithHeap[] = R"(
target triple = "nvptx64-nvidia-cuda"
declare void @free(ptr)
define void @h(ptr %p) {
  call void @free(ptr %p)
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @h, !"kernel", i32 1}
)";
    static char Stub;
    auto *Unit = new fake::Object{StringRef(WithHeap)};
    Unit->kernel(&Stub, "h");
    Deed = [](uint64_t Seed, int *) -> Error {
      EXPECT_EQ(Seed, 0u);
      return Error::success();
    };
    EXPECT_EQ(api::cudaLaunchKernel(&Stub, 1, 32, nullptr, 0, nullptr),
              cudaSuccess);
  });
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  EXPECT_EQ(P->Kernels[0].Orders.Untried, 1u);
  ASSERT_FALSE(P->Notes.empty());
  EXPECT_NE(P->Notes.back().find("malloc() or free()"), std::string::npos);
}

TEST_F(ShuffledLaunches, TooLargeForTheBudgetIsSaid) {
  Expected<Profile> P = profileOf(3, 8192, [] {
    Deed = [](uint64_t Seed, int *Out) -> Error {
      EXPECT_EQ(Seed, 0u);
      return Error::success();
    };
    for (int I = 0; I != 10000; ++I)
      Out[I] = I;
    EXPECT_EQ(launch(), cudaSuccess);
  });
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  EXPECT_EQ(P->Kernels[0].Orders.Launches, 0u);
  EXPECT_EQ(P->Kernels[0].Orders.Untried, 1u);
  ASSERT_FALSE(P->Notes.empty());
  EXPECT_NE(P->Notes.back().find("is not tried: snapshots"), std::string::npos);
}

TEST_F(ShuffledLaunches, TheFirstAndSomeLaterOnesAreTried) {
  Expected<Profile> P = profileOf(1, 0, [] {
    Deed = [](uint64_t, int *) -> Error { return Error::success(); };
    for (int I = 0; I != 70; ++I)
      EXPECT_EQ(launch(), cudaSuccess);
  });
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  EXPECT_EQ(P->Kernels[0].Launches, 70u);
  EXPECT_EQ(P->Kernels[0].Orders.Launches, 18u); // 1 to 16, 32, 64
}

//===----------------------------------------------------------------------===//
// Other threads of the program
//===----------------------------------------------------------------------===//

/// Of so many bytes, each a row: slow, so that a launch can come in between.
constexpr size_t SlowRows = size_t(16) << 20;

// What was put back in the middle of the copy would lack the rest of it.
TEST_F(ShuffledLaunches, ACopyUnderWayIsOverBeforeTheLaunch) {
  Expected<Profile> P = profileOf(2, 0, [] {
    uint8_t *Rows = nullptr;
    EXPECT_EQ(api::cudaMalloc(reinterpret_cast<void **>(&Rows), SlowRows),
              cudaSuccess);
    const std::vector<uint8_t> Ones(SlowRows, 1);
    std::atomic<bool> Copied = false;
    Deed = [&](uint64_t Seed, int *) -> Error {
      // Whoever still copies gets the time to end it before memory is put back.
      for (int I = 0; Seed == 2 && I != 2000 && !Copied; ++I)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return Error::success();
    };
    std::thread Other([&] {
      EXPECT_EQ(api::cudaMemcpy2D(Rows, 1, Ones.data(), 1, 1, SlowRows,
                                  cudaMemcpyHostToDevice),
                cudaSuccess);
      Copied = true;
    });
    while (!std::atomic_ref<uint8_t>(Rows[0]).load()) // it has begun
      ;
    EXPECT_EQ(launch(), cudaSuccess);
    Other.join();
    EXPECT_EQ(std::memcmp(Rows, Ones.data(), SlowRows), 0);
  });
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  EXPECT_EQ(P->Kernels[0].Orders.Launches, 1u);
  EXPECT_EQ(P->Kernels[0].Orders.Differing, 0u);
}

// Two snapshots of one launch are of the same allocations.
TEST_F(ShuffledLaunches, MemoryThatComesOrGoesWaitsForTheLaunch) {
  Expected<Profile> P = profileOf(2, 0, [] {
    static int Own[1000];
    const std::function<cudaError_t(void **)> Calls[] = {
        [](void **At) { return api::cudaMalloc(At, 4000); },
        [](void **At) { return api::cudaMallocAsync(At, 4000, nullptr); },
        [](void **At) { return api::cudaMallocHost(At, 4000); },
        [](void **At) { return api::cudaMallocManaged(At, 4000, 1); },
        [](void **) { return api::cudaHostRegister(Own, sizeof(Own), 0); },
        [](void **) { return api::cudaHostUnregister(Own); },
        [](void **) { return api::cudaMemset(Out, 0, 4000); },
        [](void **) { return api::cudaFree(Out); }};
    for (const auto &Call : Calls) {
      std::atomic<bool> Done = false;
      std::thread Other;
      Deed = [&](uint64_t Seed, int *) -> Error {
        if (Seed == 0)
          Other = std::thread([&] {
            void *At = nullptr;
            EXPECT_EQ(Call(&At), cudaSuccess);
            Done = true;
          });
        if (Seed == 1)
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        EXPECT_FALSE(Done) << "call " << &Call - Calls;
        return Error::success();
      };
      EXPECT_EQ(launch(), cudaSuccess);
      Other.join();
      EXPECT_TRUE(Done);
    }
  });
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  EXPECT_EQ(P->Kernels[0].Orders.Launches, 8u);
}

} // namespace
