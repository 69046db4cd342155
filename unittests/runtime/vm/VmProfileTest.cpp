//===- VmProfileTest.cpp - The profile that a process leaves --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FakeMachine.h"
#include "core/Error.h"
#include "core/ProfileJson.h"
#include "runtime/vm/Api.h"

#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::runtime;

namespace {

constexpr char Code[] = R"(
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define void @k(ptr %p) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %t, 8
  br i1 %c, label %then, label %end
then:
  store i32 %t, ptr %p
  br label %end
end:
  ret void
}
define void @refused() #0 { ret void }
attributes #0 = { "refuse" }
!nvvm.annotations = !{!0}
!0 = !{ptr @k, !"kernel", i32 1}
)";
char Kernel, Refused;

/// Each thread block is one warp of 32 that splits, eight lanes into "then".
Error countOne(const fake::Launch &L, LaunchCounts *Counts) {
  EXPECT_NE(Counts, nullptr);
  const uint64_t N = L.Shape.Grid[0];
  Counts->Blocks = {{N, 32 * N, 0, 0}, {N, 8 * N, 0, 0}, {N, 32 * N, 0, 0}};
  Counts->Branches = {{N, N, {8 * N, 24 * N}}};
  Counts->Warps = Counts->DivergentWarps = N;
  Counts->Seconds = 0.5;
  return Error::success();
}

class ProfileFile : public testing::Test {
protected:
  void SetUp() override {
    SmallString<128> Name;
    ASSERT_FALSE(sys::fs::createUniqueDirectory("reconverge-vm", Name));
    Folder = Name.str().str();
    Path = Folder + "/raw.json";
  }
  void TearDown() override { sys::fs::remove_directories(Folder); }

  /// In a child: configures with a profile, does \p Body, exits by exit().
  template <typename Body> void inChild(Body &&B) {
    auto Run = [&] {
      Engine::get().reset();
      BackendOptions O;
      O.ProfilePath = Path;
      O.MachineFile = MACHINE_FILE;
      O.Machine.Counters = true;
      cantFail(Engine::get().configure(O, fake::factory(countOne)));
      // Kept: exit handlers run with the program's code still registered.
      auto *Unit = new fake::Object{StringRef(Code)};
      Unit->kernel(&Kernel, "k");
      Unit->kernel(&Refused, "refused");
      B();
      std::exit(testing::Test::HasFailure() ? 1 : 0);
    };
    EXPECT_EXIT(Run(), testing::ExitedWithCode(0), "");
  }

  std::string Folder, Path;
};

cudaError_t launch(unsigned Grid = 1) {
  return api::cudaLaunchKernel(&Kernel, Grid, 32, nullptr, 0, nullptr);
}

TEST_F(ProfileFile, SumsTheLaunches) {
  inChild([] {
    EXPECT_EQ(launch(), cudaSuccess);
    EXPECT_EQ(launch(), cudaSuccess);
    EXPECT_EQ(launch(2), cudaSuccess);
    EXPECT_EQ(api::cudaLaunchKernel(&Refused, 1, 1, nullptr, 0, nullptr),
              cudaErrorNotSupported);
  });
  Expected<Profile> P = readProfile(Path);
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  EXPECT_EQ(P->Backend, "vm");
  EXPECT_EQ(P->Policy, "frontier");
  EXPECT_EQ(P->Device, "Reconverge warp VM (CPU), no CPU at all");
  EXPECT_NE(P->Program.find("VmLaunchTest"), std::string::npos);
  ASSERT_EQ(P->Kernels.size(), 1u);
  const KernelProfile &K = P->Kernels[0];
  EXPECT_EQ(K.Info.Name, "k");
  EXPECT_EQ(K.Info.Module, "0123456789abcdef");
  EXPECT_EQ(K.Launches, 3u);
  EXPECT_EQ(K.Shapes.size(), 2u);
  EXPECT_DOUBLE_EQ(K.Seconds, 1.5);
  ASSERT_EQ(K.Blocks.size(), 3u);
  EXPECT_EQ(K.Blocks[1].Lanes, 32u);
  ASSERT_EQ(K.Branches.size(), 1u);
  EXPECT_EQ(K.Branches[0].Splits, 4u);
  // What could not be run is told, so that a reader knows it is missing.
  ASSERT_FALSE(P->Refused.empty());
  EXPECT_NE(P->Refused.back().find("kernel 'refused' uses a texture"),
            std::string::npos);
}

TEST_F(ProfileFile, TracesLaunchesByStream) {
  inChild([] {
    cudaStream_t Own = nullptr;
    ASSERT_EQ(api::cudaStreamCreate(&Own), cudaSuccess);
    EXPECT_EQ(launch(), cudaSuccess);
    EXPECT_EQ(api::cudaLaunchKernel(&Kernel, 2, 32, nullptr, 0, Own),
              cudaSuccess);
    EXPECT_EQ(
        api::cudaLaunchKernel(&Kernel, 1, 32, nullptr, 0, cudaStreamLegacy),
        cudaSuccess);
  });
  Expected<Profile> P = readProfile(Path);
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  ASSERT_EQ(P->Trace.Kernels.size(), 1u);
  EXPECT_EQ(P->Trace.Kernels[0].Name, "k");
  EXPECT_EQ(P->Trace.Shapes.size(), 2u);
  EXPECT_EQ(P->Trace.Launches, std::vector<LaunchTrace::Launch>(
                                   {{0, 0, 0}, {0, 1, 1}, {0, 0, 0}}));
}

TEST_F(ProfileFile, IsWrittenWithoutALaunch) {
  inChild([] {});
  Expected<Profile> P = readProfile(Path);
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  EXPECT_TRUE(P->Kernels.empty());
}

TEST_F(ProfileFile, IsTheParentsAfterAFork) {
  inChild([] {
    EXPECT_EQ(launch(), cudaSuccess);
    const pid_t Forked = fork();
    if (Forked == 0)
      std::exit(0);
    int Status = 0;
    ASSERT_EQ(waitpid(Forked, &Status, 0), Forked);
    EXPECT_EQ(launch(), cudaSuccess);
  });
  Expected<Profile> P = readProfile(Path);
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  ASSERT_EQ(P->Kernels.size(), 1u);
  EXPECT_EQ(P->Kernels[0].Launches, 2u);
}

TEST_F(ProfileFile, ThatCannotBeWrittenIsSaid) {
  Path = Folder + "/there/is/none.json";
  auto Run = [&] {
    Engine::get().reset();
    BackendOptions O;
    O.ProfilePath = Path;
    O.MachineFile = MACHINE_FILE;
    cantFail(Engine::get().configure(O, fake::factory(countOne)));
    std::exit(0);
  };
  EXPECT_EXIT(Run(), testing::ExitedWithCode(0),
              "reconverge: the profile was not written: .*none.json");
}

TEST_F(ProfileFile, NeedsAMachineFile) {
  Engine::get().reset();
  BackendOptions O;
  O.ProfilePath = Path;
  O.MachineFile = Folder + "/h100.json";
  Error E = Engine::get().configure(O, fake::factory(countOne));
  ASSERT_TRUE(bool(E));
  EXPECT_NE(toString(std::move(E)).find("h100.json"), std::string::npos);
  Engine::get().reset();
}

} // namespace
