//===- unittests/remedies/RemapKernelsTest.cpp - Remapped by hand --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of the shapes that remapping is for, over block sizes and ways that
// the data fall on paths: the same bytes as before, a round where one is
// expected, and warps that are purer.
//
//===----------------------------------------------------------------------===//

#include "RemapKernels.h"
#include "Harness.h"

#include "core/Error.h"

#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

constexpr const char *Prelude = R"(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier0()
@shared = internal addrspace(3) global [1024 x i32] undef
define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %z = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %nx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %ny = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %zy = mul i32 %z, %ny
  %zyy = add i32 %zy, %y
  %row = mul i32 %zyy, %nx
  %i = add i32 %row, %x
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %i
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %i
)";

// if (in[i] & 1) r = in[i] * 3 + y; else r = 7 - in[i] + x;  out[i] = r
constexpr const char *TwoPaths = R"(
  %v = load i32, ptr addrspace(1) %pi
  %bit = and i32 %v, 1
  %c = icmp ne i32 %bit, 0
  br i1 %c, label %t, label %f
t:
  %a0 = mul i32 %v, 3
  %a = add i32 %a0, %y
  br label %j
f:
  %b0 = sub i32 7, %v
  %b = add i32 %b0, %x
  br label %j
j:
  %r = phi i32 [ %a, %t ], [ %b, %f ]
  store i32 %r, ptr addrspace(1) %po
  ret void
})";

// if (i >= n) return; the same, with values before the branch that the threads
// that left do not have, one of them the same for all others.
constexpr const char *AfterExit = R"(
  %leaves = icmp uge i32 %i, %n
  br i1 %leaves, label %end, label %body
body:
  %v = load i32, ptr addrspace(1) %pi
  %d = or i32 %v, 1
  %q = udiv i32 100000, %d
  %third = udiv i32 %n, 3
  %wide = zext i32 %q to i64
  %bit = and i32 %v, 1
  %c = icmp ne i32 %bit, 0
  br i1 %c, label %t, label %f
t:
  %a0 = mul i64 %wide, 12345678901
  %a1 = lshr i64 %a0, 20
  %a = trunc i64 %a1 to i32
  br label %j
f:
  %b0 = add i32 %q, %x
  %b = add i32 %b0, %third
  br label %j
j:
  %r = phi i32 [ %a, %t ], [ %b, %f ]
  store i32 %r, ptr addrspace(1) %po
  br label %end
end:
  ret void
})";

// for (k = 0; k < n % 4; ++k) { if (s & 1) s = s * 3 + in[i]; else s = s / 2 +
// f; f = f * 0.5 + k }, with the parity as an i1 that lives on
constexpr const char *InLoop = R"(
  %first = load i32, ptr addrspace(1) %pi
  %trips = and i32 %n, 3
  br label %head
head:
  %k = phi i32 [ 0, %entry ], [ %k1, %latch ]
  %s = phi i32 [ %first, %entry ], [ %s1, %latch ]
  %f = phi double [ 1.0, %entry ], [ %f1, %latch ]
  %was = phi i1 [ false, %entry ], [ %c, %latch ]
  %more = icmp ule i32 %k, %trips
  br i1 %more, label %body, label %done
body:
  %bit = and i32 %s, 1
  %c = icmp ne i32 %bit, 0
  br i1 %c, label %odd, label %even
odd:
  %again = load i32, ptr addrspace(1) %pi
  %s3 = mul i32 %s, 3
  %o = add i32 %s3, %again
  br label %latch
even:
  %half = lshr i32 %s, 1
  %fi = fptosi double %f to i32
  %e0 = add i32 %half, %fi
  %wi = zext i1 %was to i32
  %e = add i32 %e0, %wi
  br label %latch
latch:
  %s1 = phi i32 [ %o, %odd ], [ %e, %even ]
  %f0 = fmul double %f, 0.5
  %kf = uitofp i32 %k to double
  %f1 = fadd double %f0, %kf
  %k1 = add i32 %k, 1
  br label %head
done:
  %fr = fptosi double %f to i32
  %r = add i32 %s, %fr
  store i32 %r, ptr addrspace(1) %po
  ret void
})";

// Two exits and two rounds, and communication through shared memory between.
constexpr const char *TwoRounds = R"(
  %leaves = icmp uge i32 %i, %n
  br i1 %leaves, label %end, label %body
body:
  %v = load i32, ptr addrspace(1) %pi
  %zero = icmp eq i32 %v, 0
  br i1 %zero, label %end, label %go
go:
  %bit = and i32 %v, 1
  %c = icmp ne i32 %bit, 0
  br i1 %c, label %t, label %f
t:
  %a = mul i32 %v, 3
  br label %j
f:
  %b = sub i32 7, %v
  br label %j
j:
  %r = phi i32 [ %a, %t ], [ %b, %f ]
  %ps = getelementptr i32, ptr addrspace(3) @shared, i32 %i
  store i32 %r, ptr addrspace(3) %ps
  %bit2 = and i32 %r, 4
  %c2 = icmp ne i32 %bit2, 0
  br i1 %c2, label %t2, label %j2
t2:
  %old = load i32, ptr addrspace(3) %ps
  %new = mul i32 %old, 5
  store i32 %new, ptr addrspace(3) %ps
  br label %j2
j2:
  %last = load i32, ptr addrspace(3) %ps
  %sum = add i32 %last, %v
  store i32 %sum, ptr addrspace(1) %po
  br label %end
end:
  ret void
})";

// if (i >= n) return; if (in[i] & 1) .. else if (in[i] & 2) .. else ..; and
// then if (in[i] & 4): six paths, and that of those that leave.
constexpr const char *Fragment = R"(
  %leaves = icmp uge i32 %i, %n
  br i1 %leaves, label %end, label %body
body:
  %v = load i32, ptr addrspace(1) %pi
  %bit = and i32 %v, 1
  %c = icmp ne i32 %bit, 0
  br i1 %c, label %t, label %f
t:
  %a = mul i32 %v, 3
  br label %j
f:
  %bit2 = and i32 %v, 2
  %c2 = icmp ne i32 %bit2, 0
  br i1 %c2, label %ft, label %ff
ft:
  %b = sub i32 %y, %v
  br label %j
ff:
  %d = add i32 %v, %x
  br label %j
j:
  %r = phi i32 [ %a, %t ], [ %b, %ft ], [ %d, %ff ]
  %bit3 = and i32 %v, 4
  %c3 = icmp ne i32 %bit3, 0
  br i1 %c3, label %more, label %last
more:
  %e = xor i32 %r, %i
  br label %last
last:
  %s = phi i32 [ %r, %j ], [ %e, %more ]
  store i32 %s, ptr addrspace(1) %po
  br label %end
end:
  ret void
})";

// switch (in[i] % 8), in a loop that all threads run twice; two cases share an
// arm, one has none.
constexpr const char *Switch = R"(
  %first = load i32, ptr addrspace(1) %pi
  br label %head
head:
  %k = phi i32 [ 0, %entry ], [ %k1, %j ]
  %v = phi i32 [ %first, %entry ], [ %r, %j ]
  %w = and i32 %v, 7
  switch i32 %w, label %d [ i32 0, label %j
                            i32 1, label %one
                            i32 2, label %two
                            i32 3, label %two
                            i32 4, label %four
                            i32 5, label %j ]
one:
  %r1 = mul i32 %v, 3
  br label %j
two:
  %r2 = add i32 %v, %y
  br label %j
four:
  %again = load i32, ptr addrspace(1) %pi
  %r4 = xor i32 %again, %w
  br label %j
d:
  %rd = sub i32 %i, %v
  br label %j
j:
  %r = phi i32 [ %v, %head ], [ %v, %head ], [ %r1, %one ], [ %r2, %two ], [ %r4, %four ], [ %rd, %d ]
  %k1 = add i32 %k, 1
  %more = icmp ult i32 %k1, 2
  br i1 %more, label %head, label %done
done:
  store i32 %r, ptr addrspace(1) %po
  ret void
})";

enum class Fall { Random, AllOdd, OneOdd, Sorted, Alternating };

struct Result {
  std::vector<uint32_t> Out;
  std::string Problem;
};

Result runOn(TestProgram &P, LaunchShape Shape, unsigned Threads, unsigned N,
             Fall How) {
  Random R(Threads * 8 + unsigned(How));
  std::vector<uint32_t> In(1024);
  for (unsigned I = 0; I < 1024; ++I) {
    const uint32_t X = uint32_t(R.next()) & ~1u;
    const bool Odd = How == Fall::Random   ? R.chance(50)
                     : How == Fall::AllOdd ? true
                     : How == Fall::OneOdd ? I == Threads / 2
                     : How == Fall::Sorted ? I < Threads / 2
                                           : I % 2;
    In[I] = (R.chance(10) ? 0 : X) | Odd;
  }
  Result Run;
  Run.Out.assign(1024, 0xdeadbeef);
  uint32_t *InAt = In.data(), *OutAt = Run.Out.data();
  if (Error E = P.launch("k", Shape, InAt, OutAt, N))
    Run.Problem = toString(std::move(E));
  return Run;
}

struct Case {
  const char *Name, *Code;
  unsigned Rounds;
  unsigned OfTwo; ///< of these, with two groups of threads
};
const Case Cases[] = {
    {"TwoPaths", TwoPaths, 1, 1}, {"AfterExit", AfterExit, 1, 0},
    {"InLoop", InLoop, 1, 1},     {"TwoRounds", TwoRounds, 2, 0},
    {"Fragment", Fragment, 1, 0}, {"Switch", Switch, 1, 0}};

class RemappedByHand : public testing::TestWithParam<Case> {};

/// The ways to find places; some for a processor that adds over a warp.
struct By {
  RemapAlgorithm Algorithm;
  unsigned Neighbours = 16;
  bool HasRedux = true;
  unsigned Threads = 1024;
  bool Exact = false;
};
constexpr auto Counts = RemapAlgorithm::Automatic;
constexpr By Ways[] = {
    {RemapAlgorithm::Automatic},
    {RemapAlgorithm::WarpAggregated, 16, false},
    {RemapAlgorithm::HeadOrTail}, // or data_group_indexing by 16
    {RemapAlgorithm::DataGroupIndexing, 4},
    {RemapAlgorithm::DataGroupIndexing, 64},
    // Blocks of 2, 8, 18 and 32 warps, and others that keep out.
    {Counts, 16, true, 64, true},
    {Counts, 16, true, 256, true},
    {RemapAlgorithm::WarpAggregated, 16, false, 576, true},
    {RemapAlgorithm::WarpAggregated, 16, true, 1024, true},
    {RemapAlgorithm::HeadOrTail, 16, true, 256, true},
    {RemapAlgorithm::DataGroupIndexing, 16, true, 256, true},
};

std::unique_ptr<Module> remapped(const Module &M, By How, unsigned Rounds) {
  auto After = CloneModule(M);
  RemapOptions Options;
  Options.Threshold = 0;
  Options.Algorithm = How.Algorithm;
  Options.Neighbours = How.Neighbours;
  Options.Threads = How.Threads;
  Options.Exact = How.Exact;
  chooseProcessor(*After, How.HasRedux);
  EXPECT_EQ(remapModule(*After, Options), Rounds);
  std::string Broken;
  raw_string_ostream OS(Broken);
  EXPECT_FALSE(verifyModule(*After, &OS)) << Broken;
  return After;
}

struct BlockShape {
  unsigned X, Y, Z;
};
constexpr BlockShape AllShapes[] = {{1, 1, 1},    {32, 1, 1},  {33, 1, 1},
                                    {64, 1, 1},   {95, 1, 1},  {256, 1, 1},
                                    {7, 19, 1},   {16, 16, 1}, {5, 4, 13},
                                    {1000, 1, 1}, {3, 3, 64},  {1024, 1, 1}};

/// \p After leave what \p Before does, whatever the block and the data.
void expectSame(Module &Before, ArrayRef<std::unique_ptr<Module>> After,
                ArrayRef<BlockShape> Shapes = AllShapes) {
  Machine &Vm = machineFor(setups(32)[0]);
  TestProgram Old(Before, Vm);
  std::vector<std::unique_ptr<TestProgram>> New;
  for (const auto &M : After)
    New.push_back(std::make_unique<TestProgram>(*M, Vm));
  for (auto S : Shapes) {
    const unsigned Threads = S.X * S.Y * S.Z;
    LaunchShape Shape = shape(1, S.X);
    Shape.Block = {S.X, S.Y, S.Z};
    for (Fall How : {Fall::Random, Fall::AllOdd, Fall::OneOdd, Fall::Sorted,
                     Fall::Alternating})
      for (unsigned N : {Threads, Threads * 2 / 3 + 1}) {
        const Result A = runOn(Old, Shape, Threads, N, How);
        ASSERT_EQ(A.Problem, "");
        for (auto [I, Each] : enumerate(New)) {
          const Result B = runOn(*Each, Shape, Threads, N, How);
          ASSERT_EQ(B.Problem, "");
          ASSERT_TRUE(A.Out == B.Out)
              << "number " << I << ", " << S.X << " x " << S.Y << " x " << S.Z
              << " threads, way " << unsigned(How) << ", n = " << N;
        }
      }
  }
}

TEST_P(RemappedByHand, LeavesTheSameBytes) {
  LLVMContext C;
  auto Before = parseKernel(C, std::string(Prelude) + GetParam().Code);
  std::vector<std::unique_ptr<Module>> After;
  for (By How : Ways)
    After.push_back(
        remapped(*Before, How,
                 How.Exact && How.Algorithm == RemapAlgorithm::HeadOrTail
                     ? GetParam().OfTwo
                     : GetParam().Rounds));
  expectSame(*Before, After);
}

/// A kernel that asks for one number of its threads alone, in blocks that have
/// several: who goes where must not go by that number.
TEST(RemappedByHand, OneNumberInBlocksOfSeveralDimensions) {
  std::string Flat = std::string(Prelude) + TwoPaths;
  for (StringRef D : {"y", "z"}) {
    const std::string Read =
        ("%" + D + " = call i32 @llvm.nvvm.read.ptx.sreg.tid." + D + "()")
            .str();
    Flat.replace(Flat.find(Read), Read.size(),
                 ("%" + D + " = add i32 0, 0").str());
  }
  LLVMContext C;
  auto Before = parseKernel(C, Flat);
  std::vector<std::unique_ptr<Module>> After;
  for (unsigned Threads : {64, 128})
    After.push_back(remapped(*Before, {Counts, 16, true, Threads, true}, 1));
  expectSame(*Before, After,
             {{64, 1, 1}, {64, 2, 1}, {32, 2, 1}, {128, 1, 1}, {64, 1, 2}});
}

INSTANTIATE_TEST_SUITE_P(All, RemappedByHand, testing::ValuesIn(Cases),
                         [](const auto &Info) { return Info.param.Name; });

/// \p Count branches, one after the other, each on what the last one left.
std::string steps(unsigned Count, bool InLoop) {
  std::string Code = "  %first = load i32, ptr addrspace(1) %pi\n"
                     "  store i32 %first, ptr addrspace(1) %po\n";
  Code += InLoop ? "  %trips = and i32 %n, 3\n  br label %head\nhead:\n"
                   "  %k = phi i32 [ 0, %entry ], [ %k1, %j" +
                       std::to_string(Count) + " ]\n"
                 : "  br label %head\nhead:\n";
  Code += "  br label %j0\nj0:\n";
  for (unsigned I = 1; I <= Count; ++I) {
    std::string Step = R"(
  %v# = load i32, ptr addrspace(1) %po
  %s# = lshr i32 %v#, !
  %b# = and i32 %s#, 1
  %c# = icmp ne i32 %b#, 0
  br i1 %c#, label %t#, label %f#
t#:
  %a# = mul i32 %v#, 77777
  store i32 %a#, ptr addrspace(1) %po
  br label %j#
f#:
  %d# = sub i32 %i, %v#
  store i32 %d#, ptr addrspace(1) %po
  br label %j#
j#:
)";
    for (char C : Step)
      Code += C == '#'   ? std::to_string(I)
              : C == '!' ? std::to_string(I % 4)
                         : std::string(1, C);
  }
  Code += InLoop ? "  %k1 = add i32 %k, 1\n"
                   "  %more = icmp ule i32 %k1, %trips\n"
                   "  br i1 %more, label %head, label %done\ndone:\n"
                 : "";
  return Code + "  ret void\n}";
}

/// Rounds share their memory, whatever algorithm each is of: every one comes
/// after every other, and after itself; in a loop, too, where rounds that vote
/// refuse others.
TEST(RemappedByHand, RoundsOfAllAlgorithmsFollowEachOther) {
  constexpr auto A = RemapAlgorithm::Automatic,
                 W = RemapAlgorithm::WarpAggregated,
                 H = RemapAlgorithm::HeadOrTail,
                 D = RemapAlgorithm::DataGroupIndexing;
  LLVMContext C;
  for (bool InLoop : {false, true}) {
    const std::vector<RemapAlgorithm> Cycle =
        InLoop ? std::vector{H, H, D, D}
               : std::vector{A, A, W, A, H, A, D, W, W, H, W, D, H, H, D, D, A};
    auto Before =
        parseKernel(C, std::string(Prelude) + steps(Cycle.size(), InLoop));
    auto Asks = CloneModule(*Before);
    askFor(*Asks, Cycle);
    std::vector<std::unique_ptr<Module>> After;
    After.push_back(remapped(*Asks, {}, Cycle.size()));
    expectSame(*Before, After);
  }
}

/// Alternating paths: every warp splits before, none or one afterwards.
TEST(RemappedByHand, WarpsArePurer) {
  LLVMContext C;
  auto Before = parseKernel(C, std::string(Prelude) + TwoPaths);
  auto WarpsOf = [](Module &M, unsigned Threads) {
    std::vector<uint32_t> In(1024), Out(1024);
    for (unsigned I = 0; I < 1024; ++I)
      In[I] = I % 2;
    TestProgram P(M, machineFor(setups(32)[0]));
    uint32_t *InAt = In.data(), *OutAt = Out.data();
    P.run(shape(1, Threads), InAt, OutAt, 0u);
    return P.block("t").Warps + P.block("f").Warps;
  };
  EXPECT_EQ(WarpsOf(*Before, 256), 16u);
  for (By How : Ways) {
    auto After = remapped(*Before, How, 1);
    if (How.Exact) { // blocks of other sizes stay as they are
      EXPECT_EQ(WarpsOf(*After, 256), How.Threads == 256 ? 8u : 16u);
      EXPECT_EQ(WarpsOf(*After, 256 + 32), 18u);
      continue;
    }
    EXPECT_EQ(WarpsOf(*After, 256), 8u);
    EXPECT_EQ(WarpsOf(*After, 256 + 32), 10u) << "one warp is of both";
  }
}

/// Six paths of whole warps: each warp takes one, at every branch.
TEST(RemappedByHand, WarpsArePureAtEveryBranchOfARound) {
  for (bool Exact : {false, true}) {
    LLVMContext C;
    auto M = parseKernel(C, std::string(Prelude) + Fragment);
    RemapOptions Options;
    Options.Threshold = 0;
    Options.Threads = 256;
    Options.Exact = Exact;
    ASSERT_EQ(remapModule(*M, Options), 1u);
    std::vector<uint32_t> In(256), Out(256);
    for (unsigned I = 0; I < 256; ++I)
      In[I] = I;
    TestProgram P(*M, machineFor(setups(32)[0]));
    uint32_t *InAt = In.data(), *OutAt = Out.data();
    P.run(shape(1, 256), InAt, OutAt, 256u);
    EXPECT_EQ(P.block("t").Warps, 4u);
    EXPECT_EQ(P.block("ft").Warps, 2u);
    EXPECT_EQ(P.block("ff").Warps, 2u);
    EXPECT_EQ(P.block("more").Warps, 4u);
  }
}

/// What a user has written wrong is the user's to mend: exit code 2, not 70.
TEST(RemapOptions, OneSizeIsOfWholeWarps) {
  EXPECT_TRUE(cantFail(parseRemapOptions("exact=1;threads=96")).Exact);
  auto Bad = parseRemapOptions("threads=100;exact=1");
  ASSERT_FALSE(Bad);
  handleAllErrors(Bad.takeError(), [](const UserError &E) {
    EXPECT_EQ(E.exitCode(), ExitCode::UserError);
  });
}

/// A block larger than the exchange has room for runs as before.
TEST(RemappedByHand, LargeBlocksSkip) {
  LLVMContext C;
  auto Before = parseKernel(C, std::string(Prelude) + TwoPaths);
  Machine &Vm = machineFor(setups(32)[0]);
  TestProgram Old(*Before, Vm);
  for (By How : Ways) {
    How.Threads = 64;
    auto After = remapped(*Before, How, 1);
    TestProgram New(*After, Vm);
    for (unsigned Threads : {64u, 65u, 512u})
      EXPECT_TRUE(runOn(Old, shape(1, Threads), Threads, 0, Fall::Random).Out ==
                  runOn(New, shape(1, Threads), Threads, 0, Fall::Random).Out)
          << Threads;
  }
}

} // namespace
} // namespace reconverge::remedies
