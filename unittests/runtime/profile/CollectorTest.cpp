//===- unittests/runtime/profile/CollectorTest.cpp - Sums over launches ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/profile/Collector.h"

#include "analysis/Numbering.h"
#include "core/ProfileJson.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::runtime;

// if (flag) (uniform) ...;  if (tid & 1) *p = 1;
static constexpr StringLiteral Source = R"(
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [6 x i32] undef
@other = internal addrspace(3) global [9 x i32] undef
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define void @kernel(ptr %p, i1 %flag) {
entry:
  br i1 %flag, label %a, label %b
a:
  store i32 7, ptr %p
  store i32 7, ptr addrspace(3) @tile
  br label %b
b:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bit = and i32 %tid, 1
  %odd = icmp ne i32 %bit, 0
  br i1 %odd, label %then, label %end
then:
  store i32 1, ptr %p
  br label %end
end:
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @kernel, !"kernel", i32 1}
)";

namespace {
class CollectorTest : public testing::Test {
protected:
  void SetUp() override {
    SMDiagnostic Error;
    M = parseAssemblyString(Source, Error, Context);
    ASSERT_TRUE(M) << Error.getMessage().str();
    analysis::numberBlocks(*M);
    Kernel = M->getFunction("kernel");
    Numbers = analysis::numbersOf(*Kernel);
    ASSERT_EQ(Numbers.Blocks.size(), 5u);
    ASSERT_EQ(Numbers.Branches.size(), 2u);
  }

  /// One warp; \p UniformSplits of the branch that analysis calls uniform.
  LaunchCounts counts(uint64_t UniformSplits = 0) const {
    LaunchCounts C;
    C.Blocks = {{1, 32, 0, 0},
                {1, 32, 0, 0},
                {1, 32, 0, 0},
                {1, 16, 1, 2},
                {1, 32, 0, 0}};
    C.Branches = {{1, UniformSplits, {32, 0}}, {1, 1, {15, 17}}};
    C.Warps = 1;
    C.DivergentWarps = 1;
    C.Seconds = 0.5;
    return C;
  }

  LLVMContext Context;
  std::unique_ptr<Module> M;
  Function *Kernel = nullptr;
  analysis::KernelNumbers Numbers;
  Collector Sums{analysis::MachineModel::unit()};
  LaunchShape Shape{{1, 1, 1}, {32, 1, 1}, 0};
};
} // namespace

TEST_F(CollectorTest, SumsUpLaunches) {
  for (unsigned I = 0; I != 3; ++I)
    Sums.finish(Sums.begin(*Kernel, "00ff", Shape), counts());
  Profile P = Sums.take();
  ASSERT_EQ(P.Kernels.size(), 1u);
  const KernelProfile &K = P.Kernels[0];
  EXPECT_EQ(K.Info.Name, "kernel");
  EXPECT_EQ(K.Info.Module, "00ff");
  EXPECT_EQ(K.Info.StaticShared, 24u) << "of tile alone";
  EXPECT_EQ(K.Launches, 3u);
  EXPECT_EQ(K.Threads, 96u);
  EXPECT_EQ(K.WarpsRun, 3u);
  EXPECT_EQ(K.DivergentWarps, 3u);
  EXPECT_EQ(K.Seconds, 1.5);
  EXPECT_EQ(K.Shapes, std::vector<LaunchShape>({Shape}));
  ASSERT_EQ(K.Blocks.size(), 5u);
  EXPECT_EQ(K.Blocks[3].Warps, 3u);
  EXPECT_EQ(K.Blocks[3].Lanes, 48u);
  EXPECT_EQ(K.Blocks[3].PartialIdle, 3u);
  EXPECT_EQ(K.Blocks[3].ExitedIdle, 6u);
  EXPECT_TRUE(P.Notes.empty());
  EXPECT_TRUE(Sums.take().Kernels.empty()) << "as new after take()";
}

TEST_F(CollectorTest, AccessesAreSummedWhereTheyWereCounted) {
  LaunchCounts C = counts();
  C.Accesses = {{1, 32, 4, 4, 1, 1, 0}, {}, {1, 16, 1, 2, 1, 1, 0}};
  C.Touched = {1, 5, 6, 7};
  for (unsigned I = 0; I != 3; ++I)
    Sums.finish(Sums.begin(*Kernel, "00ff", Shape), C);
  // One in which nobody counted leaves them as they are.
  Sums.finish(Sums.begin(*Kernel, "00ff", Shape), counts());
  Sums.finish(Sums.begin(*Kernel, "00fe", Shape), counts());
  Profile P = Sums.take();
  ASSERT_EQ(P.Kernels.size(), 2u);
  const KernelProfile &K = P.Kernels[0];
  ASSERT_EQ(K.Info.Accesses.size(), 3u);
  ASSERT_EQ(K.Accesses.size(), 3u);
  EXPECT_EQ(K.Accesses[0].Sectors, 12u);
  EXPECT_EQ(K.Accesses[2].Lanes, 48u);
  EXPECT_EQ(K.Touched.ThreadBlocks, 3u);
  EXPECT_EQ(K.Touched.BlockLoads, 15u);
  EXPECT_EQ(K.Touched.GridLoads, 18u);
  EXPECT_EQ(K.Touched.GridStores, 21u);
  EXPECT_TRUE(P.Kernels[1].Accesses.empty());
}

TEST_F(CollectorTest, BranchesAreMatchedById) {
  Sums.finish(Sums.begin(*Kernel, "00ff", Shape), counts());
  Profile P = Sums.take();
  const KernelProfile &K = P.Kernels[0];
  ASSERT_EQ(K.Info.Branches.size(), 1u) << "the uniform one is not listed";
  ASSERT_EQ(K.Branches.size(), 1u);
  EXPECT_EQ(K.Info.Branches[0].Id, Numbers.Branches[1]);
  EXPECT_EQ(K.Branches[0].Splits, 1u);
  EXPECT_EQ(K.Branches[0].LanesTo, std::vector<uint64_t>({15, 17}));
}

TEST_F(CollectorTest, SplitOfAUniformBranchIsSaid) {
  Sums.finish(Sums.begin(*Kernel, "00ff", Shape), counts(1));
  Profile P = Sums.take();
  ASSERT_EQ(P.Notes.size(), 1u);
  EXPECT_NE(P.Notes[0].find("1 branch(es) that analysis calls uniform"),
            std::string::npos);
}

TEST_F(CollectorTest, FailedLaunchesAreNotCounted) {
  Sums.begin(*Kernel, "00ff", Shape); // dropped
  EXPECT_TRUE(Sums.take().Kernels.empty());
}

TEST_F(CollectorTest, SameNameInTwoModulesIsTwoKernels) {
  Sums.finish(Sums.begin(*Kernel, "00ff", Shape), counts());
  Sums.finish(Sums.begin(*Kernel, "00fe", Shape), counts());
  EXPECT_EQ(Sums.take().Kernels.size(), 2u);
}

TEST_F(CollectorTest, SamplesSomeLaunchesAndKeepsEightShapes) {
  unsigned Sampled = 0;
  for (uint32_t I = 1; I <= 100; ++I) {
    LaunchShape S = Shape;
    S.Grid[0] = I;
    auto Record = Sums.begin(*Kernel, "00ff", S);
    if (VectorObserver *Observer = Record->observer()) {
      ++Sampled;
      ASSERT_TRUE(Observer->wants(0));
      // Even threads run "then", all run the rest.
      std::vector<uint32_t> Vectors;
      for (unsigned T = 0; T != 32; ++T)
        Vectors.insert(Vectors.end(), {1, 1, 1, T % 2 ? 0u : 1u, 1});
      std::vector<uint64_t> AsRun(5, 1);
      Observer->record(0, 32, Vectors, AsRun);
    }
    Sums.finish(std::move(Record), counts());
  }
  EXPECT_EQ(Sampled, 8u) << "1 2 3 4 8 16 32 64";
  Profile P = Sums.take();
  const KernelProfile &K = P.Kernels[0];
  EXPECT_EQ(K.Shapes.size(), 8u);
  EXPECT_EQ(K.Regrouped.Launches, 8u);
  EXPECT_EQ(K.Regrouped.Threads, 8u * 32);
  EXPECT_EQ(K.Regrouped.Lanes[3], 8u * 16);
  // Vectors are kept of the first of the largest samples.
  EXPECT_EQ(K.Vectors.Launch, 1u);
  ASSERT_EQ(K.Vectors.Classes.size(), 2u);
  EXPECT_EQ(K.Vectors.Classes[0], std::vector<uint32_t>({1, 1, 1, 1, 1}));
  ASSERT_EQ(K.Vectors.Blocks.size(), 1u);
  EXPECT_EQ(K.Vectors.Blocks[0].ClassOf[31], 1u);
}

TEST_F(CollectorTest, LaunchesAreTracedInOrder) {
  int Own, Another;
  LaunchShape Large = Shape;
  Large.Grid = {7, 1, 1};
  Sums.finish(Sums.begin(*Kernel, "00ff", Shape), counts());
  Sums.begin(*Kernel, "00fd", Shape, &Another); // dropped
  Sums.finish(Sums.begin(*Kernel, "00fe", Large, &Own), counts());
  Sums.finish(Sums.begin(*Kernel, "00ff", Shape, &Another), counts());
  Sums.finish(Sums.begin(*Kernel, "00ff", Large, &Own), counts());
  LaunchTrace T = Sums.take().Trace;
  EXPECT_EQ(T.Kernels, std::vector<LaunchTrace::Kernel>(
                           {{"kernel", "00ff"}, {"kernel", "00fe"}}));
  EXPECT_EQ(T.Shapes, std::vector<LaunchShape>({Shape, Large}));
  EXPECT_EQ(T.Launches, std::vector<LaunchTrace::Launch>(
                            {{0, 0, 0}, {1, 1, 1}, {0, 0, 2}, {0, 1, 1}}));
  EXPECT_EQ(T.More, 0u);
  EXPECT_TRUE(Sums.take().Trace.Launches.empty()) << "as new";
}

TEST_F(CollectorTest, TracesAreBounded) {
  for (size_t I = 0; I != LaunchTrace::MaxLaunches + 5; ++I)
    Sums.finish(Sums.begin(*Kernel, "00ff", Shape), counts());
  LaunchTrace T = Sums.take().Trace;
  EXPECT_EQ(T.Launches.size(), LaunchTrace::MaxLaunches);
  EXPECT_EQ(T.More, 5u);
}

// Counts as hardware gives them where a warp came in pieces.

/// Why nobody can read \p P, or nothing.
static std::string faultOf(const Profile &P) {
  std::string Text;
  raw_string_ostream OS(Text);
  printProfileJson(P, {}, OS);
  Expected<Profile> Read = parseProfile(Text, "test");
  return Read ? "" : toString(Read.takeError());
}

TEST_F(CollectorTest, ABranchThatCannotBeCostsItsRow) {
  LaunchCounts C = counts();
  C.Branches[1].Splits = 2; // of one warp
  Sums.finish(Sums.begin(*Kernel, "00ff", Shape), C);
  Profile P = Sums.take();
  ASSERT_EQ(P.Kernels.size(), 1u);
  EXPECT_TRUE(P.Kernels[0].Branches.empty());
  EXPECT_TRUE(P.Kernels[0].Info.Branches.empty());
  EXPECT_EQ(P.Notes, (std::vector<std::string>{
                         "kernel: a branch is not in the table, since its "
                         "counts cannot be: branch split more warps than "
                         "reached it"}));
  EXPECT_EQ(faultOf(P), "");
}

TEST_F(CollectorTest, NegativeLanesOfABranchCostItsRow) {
  LaunchCounts C = counts();
  C.Branches[1].LanesTo = {uint64_t(-3), 35};
  Sums.finish(Sums.begin(*Kernel, "00ff", Shape), C);
  // What later launches count right does not mend it.
  C.Branches[1].LanesTo = {15 + 3, 17 - 3};
  Sums.finish(Sums.begin(*Kernel, "00ff", Shape), C);
  Profile P = Sums.take();
  ASSERT_EQ(P.Kernels.size(), 1u);
  EXPECT_TRUE(P.Kernels[0].Branches.empty());
  EXPECT_EQ(P.Notes.size(), 1u);
}

TEST_F(CollectorTest, FlowThatIsNotConservedCostsTheRow) {
  LaunchCounts C = counts();
  C.Blocks[2].Lanes = 31;
  Sums.finish(Sums.begin(*Kernel, "00ff", Shape), C);
  EXPECT_TRUE(Sums.take().Kernels.at(0).Branches.empty());
}

TEST_F(CollectorTest, ABlockThatCannotBeCostsItsKernel) {
  for (BlockCounts Bad : {BlockCounts{1, 33, 0, 0}, BlockCounts{1, 31, 0, 2},
                          BlockCounts{uint64_t(1) << 59, uint64_t(-5), 0, 0}}) {
    LaunchCounts C = counts();
    C.Blocks[3] = Bad;
    Sums.finish(Sums.begin(*Kernel, "00ff", Shape), C);
    Sums.finish(Sums.begin(*Kernel, "other", Shape), counts());
    Profile P = Sums.take();
    ASSERT_EQ(P.Kernels.size(), 1u);
    EXPECT_EQ(P.Kernels[0].Info.Module, "other");
    EXPECT_EQ(P.Notes.size(), 1u);
    EXPECT_EQ(faultOf(P), "");
  }
}

TEST_F(CollectorTest, PiecesOfAWarpDivergeOnce) {
  LaunchCounts C = counts();
  C.DivergentWarps = 3;
  Sums.finish(Sums.begin(*Kernel, "00ff", Shape), C);
  EXPECT_EQ(Sums.take().Kernels.at(0).DivergentWarps, 1u);
}
