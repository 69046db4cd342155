//===- unittests/warpvm/ControlFlowTest.cpp - Shapes and their counts -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel a shape of control flow, run under every mask shape, warp size,
// tier and policy. For each block the table says how often a lane with input x
// passes it; lanes are the sum of that over lanes. Where lanes that can run a
// block together do, a warp passes it as often as the busiest of its lanes;
// shapes for which that is not so say in a comment what holds instead.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <algorithm>
#include <functional>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

using Input = ArrayRef<uint32_t>; ///< x of the lanes of one warp

/// How often a block runs.
struct Passes {
  const char *Block;
  unsigned (*OfLane)(uint32_t X);
  /// Of a warp, if that is not the most of its lanes.
  unsigned (*OfWarp)(Input X) = nullptr;
  unsigned (*OfWarpIpdom)(Input X) = nullptr;
};

struct Flow {
  const char *Name;
  const char *Text; ///< blocks behind the entry, which ends as it likes
  uint32_t (*Result)(uint32_t X);
  std::vector<Passes> Blocks;
};

/// `k(in, out)`: x = in[tid]; the flow's text sets %r at `done`.
std::string kernelOf(const Flow &F) {
  return R"(
    define ptx_kernel void @k(ptr %in, ptr %out) {
    entry:
      %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %i64 = zext i32 %tid to i64
      %pin = getelementptr i32, ptr %in, i64 %i64
      %pout = getelementptr i32, ptr %out, i64 %i64
      %x = load i32, ptr %pin, align 4
  )" + std::string(F.Text) +
         "\n}";
}

unsigned once(uint32_t) { return 1; }
unsigned ifAny(uint32_t X) { return X != 0; }

const Flow Flows[] = {
    {"if",
     R"(
       %c = icmp ne i32 %x, 0
       br i1 %c, label %then, label %join
     then:
       %t = mul i32 %x, 3
       br label %join
     join:
       %r = phi i32 [ 7, %entry ], [ %t, %then ]
       store i32 %r, ptr %pout, align 4
       ret void)",
     [](uint32_t X) { return X ? X * 3 : 7; },
     {{"entry", once}, {"then", ifAny}, {"join", once}}},

    {"if-else",
     R"(
       %c = icmp ne i32 %x, 0
       br i1 %c, label %then, label %else
     then:
       %t = mul i32 %x, 3
       br label %join
     else:
       %e = add i32 %tid, 5
       %e2 = sub i32 %e, %tid
       br label %join
     join:
       %r = phi i32 [ %e2, %else ], [ %t, %then ]
       store i32 %r, ptr %pout, align 4
       ret void)",
     [](uint32_t X) { return X ? X * 3 : 5; },
     {{"then", ifAny},
      {"else", [](uint32_t X) -> unsigned { return !X; }},
      {"join", once}}},

    {"nested if",
     R"(
       %c = icmp ne i32 %x, 0
       br i1 %c, label %outer, label %join
     outer:
       %o = and i32 %x, 1
       %odd = icmp ne i32 %o, 0
       br i1 %odd, label %inner, label %meet
     inner:
       %t = add i32 %x, 100
       br label %meet
     meet:
       %m = phi i32 [ %x, %outer ], [ %t, %inner ]
       br label %join
     join:
       %r = phi i32 [ 9, %entry ], [ %m, %meet ]
       store i32 %r, ptr %pout, align 4
       ret void)",
     [](uint32_t X) { return !X      ? 9
                             : X & 1 ? X + 100
                                     : X; },
     {{"outer", ifAny},
      {"inner", [](uint32_t X) -> unsigned { return X & 1; }},
      {"meet", ifAny},
      {"join", once}}},

    // while (i < x): a lane tests x + 1 times.
    {"loop with a divergent exit",
     R"(
       br label %head
     head:
       %i = phi i32 [ 0, %entry ], [ %n, %body ]
       %s = phi i32 [ 1, %entry ], [ %s2, %body ]
       %c = icmp ult i32 %i, %x
       br i1 %c, label %body, label %done
     body:
       %n = add i32 %i, 1
       %s2 = mul i32 %s, 3
       br label %head
     done:
       %r = add i32 %s, %i
       store i32 %r, ptr %pout, align 4
       ret void)",
     [](uint32_t X) {
       uint32_t S = 1;
       for (uint32_t I = 0; I < X; ++I)
         S *= 3;
       return S + X;
     },
     {{"head", [](uint32_t X) { return X + 1; }},
      {"body", [](uint32_t X) { return X; }},
      {"done", once}}},

    // do ... while: x rounds, one at least; the loop is one block.
    {"loop tested at the end",
     R"(
       br label %body
     body:
       %i = phi i32 [ 0, %entry ], [ %n, %body ]
       %n = add i32 %i, 1
       %c = icmp ult i32 %n, %x
       br i1 %c, label %body, label %done
     done:
       store i32 %n, ptr %pout, align 4
       ret void)",
     [](uint32_t X) { return std::max(X, 1u); },
     {{"body", [](uint32_t X) { return std::max(X, 1u); }}, {"done", once}}},

    // for (i = 0; i < 8; ++i) if (x > i) { if (x == i + 1) break; }
    // x = 0: eight rounds, never in `then`. x = k: `then` k times, `tail` k - 1
    // times, out at the k-th.
    // Under ipdom, `then` can leave the loop, so that lanes which part at
    // `body` meet only at `done`: those with x = 0 (rounds 1 to 7 and the last
    // test) go apart from the others (up to max x rounds) behind the first
    // `body`.
    {"break inside an if",
     R"(
       br label %head
     head:
       %i = phi i32 [ 0, %entry ], [ %n, %tail ]
       %c = icmp ult i32 %i, 8
       br i1 %c, label %body, label %done
     body:
       %in1 = icmp ugt i32 %x, %i
       br i1 %in1, label %then, label %tail
     then:
       %n1 = add i32 %i, 1
       %last = icmp eq i32 %x, %n1
       br i1 %last, label %done, label %tail
     tail:
       %n = add i32 %i, 1
       br label %head
     done:
       %r = phi i32 [ %i, %head ], [ %n1, %then ]
       store i32 %r, ptr %pout, align 4
       ret void)",
     [](uint32_t X) { return X ? X : 8; },
     {{"head", [](uint32_t X) { return X ? X : 9; }, nullptr,
       [](Input X) -> unsigned {
         unsigned Most = *std::max_element(X.begin(), X.end());
         bool Zero = is_contained(X, 0u);
         return Zero && Most ? 1 + 8 + (Most - 1) : Zero ? 9 : Most;
       }},
      {"body", [](uint32_t X) { return X ? X : 8; }, nullptr,
       [](Input X) -> unsigned {
         unsigned Most = *std::max_element(X.begin(), X.end());
         bool Zero = is_contained(X, 0u);
         return Zero && Most ? 1 + 7 + (Most - 1) : Zero ? 8 : Most;
       }},
      {"then", [](uint32_t X) { return X; }},
      {"tail", [](uint32_t X) { return X ? X - 1 : 8; }, nullptr,
       [](Input X) -> unsigned {
         unsigned Most = *std::max_element(X.begin(), X.end());
         return (is_contained(X, 0u) ? 8 : 0) + (Most ? Most - 1 : 0);
       }},
      {"done", once}}},

    // for (i = 0; i < 4; ++i) { if (i < x) continue; s += x + 1; }
    {"continue",
     R"(
       br label %head
     head:
       %i = phi i32 [ 0, %entry ], [ %n, %latch ]
       %s = phi i32 [ 0, %entry ], [ %s3, %latch ]
       %c = icmp ult i32 %i, 4
       br i1 %c, label %body, label %done
     body:
       %skip = icmp ult i32 %i, %x
       br i1 %skip, label %latch, label %work
     work:
       %x1 = add i32 %x, 1
       %s2 = add i32 %s, %x1
       br label %latch
     latch:
       %s3 = phi i32 [ %s, %body ], [ %s2, %work ]
       %n = add i32 %i, 1
       br label %head
     done:
       store i32 %s, ptr %pout, align 4
       ret void)",
     [](uint32_t X) { return X < 4 ? (4 - X) * (X + 1) : 0; },
     {{"head", [](uint32_t) -> unsigned { return 5; }},
      {"work", [](uint32_t X) -> unsigned { return X < 4 ? 4 - X : 0; }},
      {"latch", [](uint32_t) -> unsigned { return 4; }},
      {"done", once}}},

    {"switch whose default cannot be",
     R"(
       %k = and i32 %x, 3
       switch i32 %k, label %never [ i32 0, label %zero
                                     i32 1, label %one
                                     i32 2, label %two
                                     i32 3, label %three ]
     never:
       unreachable
     zero:
       br label %join
     one:
       %a = add i32 %x, 10
       br label %join
     two:
       %b = add i32 %x, 20
       br label %join
     three:
       %d = add i32 %x, 30
       br label %join
     join:
       %r = phi i32 [ %x, %zero ], [ %a, %one ], [ %b, %two ], [ %d, %three ]
       store i32 %r, ptr %pout, align 4
       ret void)",
     [](uint32_t X) { return X + 10 * (X & 3); },
     {{"zero", [](uint32_t X) -> unsigned { return (X & 3) == 0; }},
      {"one", [](uint32_t X) -> unsigned { return (X & 3) == 1; }},
      {"two", [](uint32_t X) -> unsigned { return (X & 3) == 2; }},
      {"three", [](uint32_t X) -> unsigned { return (X & 3) == 3; }},
      {"join", once}}},

    // 0 and 2 share a target; 1 falls through into it, under ipdom on its own:
    // where the sides of the switch all meet is `join`.
    {"switch with shared targets",
     R"(
       switch i32 %x, label %other [ i32 0, label %even
                                     i32 1, label %one
                                     i32 2, label %even ]
     one:
       br label %even
     even:
       %e = phi i32 [ 50, %entry ], [ 50, %entry ], [ 60, %one ]
       br label %join
     other:
       br label %join
     join:
       %r = phi i32 [ %e, %even ], [ %x, %other ]
       store i32 %r, ptr %pout, align 4
       ret void)",
     [](uint32_t X) -> uint32_t { return X == 1   ? 60
                                         : X <= 2 ? 50
                                                  : X; },
     {{"one", [](uint32_t X) -> unsigned { return X == 1; }},
      {"even", [](uint32_t X) -> unsigned { return X <= 2; }, nullptr,
       [](Input X) -> unsigned {
         return (is_contained(X, 0u) || is_contained(X, 2u)) +
                is_contained(X, 1u);
       }},
      {"other", [](uint32_t X) -> unsigned { return X > 2; }},
      {"join", once}}},

    // for (j = 0; j < 3; ++j) for (i = 0; i < x; ++i): each round of the outer
    // loop, all lanes begin the inner one together.
    {"divergent loop in a uniform one",
     R"(
       br label %outer
     outer:
       %j = phi i32 [ 0, %entry ], [ %j1, %next ]
       %s = phi i32 [ 0, %entry ], [ %t, %next ]
       br label %head
     head:
       %i = phi i32 [ 0, %outer ], [ %i1, %body ]
       %t = phi i32 [ %s, %outer ], [ %t1, %body ]
       %c = icmp ult i32 %i, %x
       br i1 %c, label %body, label %next
     body:
       %i1 = add i32 %i, 1
       %t1 = add i32 %t, %j
       br label %head
     next:
       %j1 = add i32 %j, 1
       %c2 = icmp ult i32 %j1, 3
       br i1 %c2, label %outer, label %done
     done:
       store i32 %t, ptr %pout, align 4
       ret void)",
     [](uint32_t X) { return 3 * X; },
     {{"outer", [](uint32_t) -> unsigned { return 3; }},
      {"head", [](uint32_t X) { return 3 * (X + 1); }},
      {"body", [](uint32_t X) { return 3 * X; }},
      {"next", [](uint32_t) -> unsigned { return 3; }},
      {"done", once}}},

    // for (j = 0; j < x; ++j) for (i = 0; i < 2; ++i)
    {"uniform loop in a divergent one",
     R"(
       br label %outer
     outer:
       %j = phi i32 [ 0, %entry ], [ %j1, %next ]
       %s = phi i32 [ 0, %entry ], [ %t1, %next ]
       %c2 = icmp ult i32 %j, %x
       br i1 %c2, label %body, label %done
     body:
       %i = phi i32 [ 0, %outer ], [ %i1, %body ]
       %t = phi i32 [ %s, %outer ], [ %t1, %body ]
       %i1 = add i32 %i, 1
       %t1 = add i32 %t, %j
       %c = icmp ult i32 %i1, 2
       br i1 %c, label %body, label %next
     next:
       %j1 = add i32 %j, 1
       br label %outer
     done:
       store i32 %s, ptr %pout, align 4
       ret void)",
     [](uint32_t X) { return X ? X * (X - 1) : 0; },
     {{"outer", [](uint32_t X) { return X + 1; }},
      {"body", [](uint32_t X) { return 2 * X; }},
      {"next", [](uint32_t X) { return X; }},
      {"done", once}}},

    // Inner trips depend on lane and round: i + 1 of them for lanes with x > i.
    // In each round of the outer loop the inner one runs as often as its round
    // says, if any lane is left.
    {"triangle",
     R"(
       br label %outer
     outer:
       %j = phi i32 [ 0, %entry ], [ %j1, %next ]
       %s = phi i32 [ 0, %entry ], [ %t1, %next ]
       %c2 = icmp ult i32 %j, %x
       br i1 %c2, label %body, label %done
     body:
       %i = phi i32 [ 0, %outer ], [ %i1, %body ]
       %t = phi i32 [ %s, %outer ], [ %t1, %body ]
       %i1 = add i32 %i, 1
       %t1 = add i32 %t, 1
       %c = icmp ule i32 %i1, %j
       br i1 %c, label %body, label %next
     next:
       %j1 = add i32 %j, 1
       br label %outer
     done:
       store i32 %s, ptr %pout, align 4
       ret void)",
     [](uint32_t X) { return X * (X + 1) / 2; },
     {{"body", [](uint32_t X) { return X * (X + 1) / 2; }},
      {"next", [](uint32_t X) { return X; }},
      {"done", once}}},
};

/// The inputs of a launch: 0 where the mask has no bit, 1 to 5 where it has.
std::vector<uint32_t> inputs(uint64_t Mask, unsigned Threads) {
  std::vector<uint32_t> X(Threads);
  for (unsigned T = 0; T < Threads; ++T)
    X[T] = Mask >> (T % 64) & 1 ? 1 + (T * 7 + T / 5) % 5 : 0;
  return X;
}

/// Warps, lanes and missing lanes that \p P says of a launch with inputs \p X.
BlockCounts expected(const Passes &P, Input X, const MachineOptions &O) {
  BlockCounts Want;
  auto *OfWarp = O.Policy == PolicyKind::PostDominator && P.OfWarpIpdom
                     ? P.OfWarpIpdom
                     : P.OfWarp;
  for (size_t First = 0; First < X.size(); First += O.WarpSize) {
    Input Warp = X.slice(First, std::min<size_t>(O.WarpSize, X.size() - First));
    unsigned Most = 0;
    for (uint32_t Lane : Warp) {
      Most = std::max(Most, P.OfLane(Lane));
      Want.Lanes += P.OfLane(Lane);
    }
    const unsigned Runs = OfWarp ? OfWarp(Warp) : Most;
    Want.Warps += Runs;
    Want.PartialIdle += Runs * (O.WarpSize - Warp.size());
  }
  return Want;
}

class ControlFlow : public testing::TestWithParam<const Flow *> {};

TEST_P(ControlFlow, ResultsAndCounts) {
  const Flow &F = *GetParam();
  for (unsigned WarpSize : {32u, 64u}) {
    std::vector<TestProgram> Programs;
    const auto Setups = setups(WarpSize);
    for (const MachineOptions &O : Setups)
      Programs.emplace_back(kernelOf(F), O);
    for (const MaskShape &Mask : maskShapes())
      for (unsigned Threads : {64u, 1u, 33u, 48u, 128u}) {
        const auto X = inputs(Mask.Bits, Threads);
        for (auto [P, O] : zip(Programs, Setups)) {
          SCOPED_TRACE(describe(O) + ", mask " + Mask.Name + ", " +
                       std::to_string(Threads) + " threads");
          std::vector<uint32_t> Out(Threads, 0xdead);
          P.run(shape(1, Threads), X.data(), Out.data());
          for (unsigned T = 0; T < Threads; ++T)
            ASSERT_EQ(Out[T], F.Result(X[T])) << "thread " << T;
          for (const Passes &Block : F.Blocks) {
            const BlockCounts Want = expected(Block, X, O);
            const BlockCounts &Got = P.block(Block.Block);
            EXPECT_EQ(Got.Lanes, Want.Lanes) << Block.Block;
            EXPECT_EQ(Got.Warps, Want.Warps) << Block.Block;
            EXPECT_EQ(Got.PartialIdle, Want.PartialIdle) << Block.Block;
            EXPECT_EQ(Got.ExitedIdle, 0u) << Block.Block;
          }
        }
        ASSERT_EQ(differenceOf(Programs[0].counts(), Programs[1].counts()), "");
        if (HasFailure())
          return;
      }
  }
}

std::vector<const Flow *> allFlows() {
  std::vector<const Flow *> All;
  for (const Flow &F : Flows)
    All.push_back(&F);
  return All;
}

INSTANTIATE_TEST_SUITE_P(Shapes, ControlFlow, testing::ValuesIn(allFlows()),
                         [](const auto &Info) {
                           std::string Name = Info.param->Name;
                           std::replace_if(
                               Name.begin(), Name.end(),
                               [](char C) { return !isalnum(C); }, '_');
                           return Name;
                         });

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Both sides of a branch, its splits, and the warps in which it split.
TEST(Branches, LanesToEachSideAndSplits) {
  for (const MachineOptions &O : allSetups()) {
    TestProgram P(kernelOf(Flows[1]), O);
    for (const MaskShape &Mask : maskShapes()) {
      SCOPED_TRACE(describe(O) + ", mask " + Mask.Name);
      const auto X = inputs(Mask.Bits, 64);
      std::vector<uint32_t> Out(64);
      P.run(shape(3, 64), X.data(), Out.data());
      uint64_t Then = 0, Splits = 0;
      for (unsigned First = 0; First < 64; First += O.WarpSize) {
        unsigned N = 0;
        for (unsigned L = First; L < First + O.WarpSize; ++L)
          N += X[L] != 0;
        Then += N;
        Splits += N && N < O.WarpSize;
      }
      const BranchCounts &B = P.branch("entry");
      EXPECT_EQ(B.Warps, 3 * 64 / O.WarpSize);
      EXPECT_EQ(B.Splits, 3 * Splits);
      EXPECT_EQ(B.LanesTo, (std::vector<uint64_t>{3 * Then, 3 * (64 - Then)}));
      EXPECT_EQ(P.counts().DivergentWarps, 3 * Splits);
      EXPECT_EQ(P.counts().Warps, 3 * 64 / O.WarpSize);
    }
  }
}

/// A switch counts each case in operand order, the default first.
TEST(Branches, SwitchCountsEachCase) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %in) {
      entry:
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %p = getelementptr i32, ptr %in, i32 %tid
        %x = load i32, ptr %p
        switch i32 %x, label %d [ i32 1, label %a
                                  i32 2, label %b
                                  i32 3, label %a ]
      a:
        ret void
      b:
        ret void
      d:
        ret void
      })",
                  O);
    std::vector<uint32_t> X(64);
    for (unsigned I = 0; I < 64; ++I)
      X[I] = I % 4;
    X[0] = 9;
    P.run(shape(1, 64), X.data());
    EXPECT_EQ(P.branch("entry").LanesTo,
              (std::vector<uint64_t>{16, 16, 16, 16}));
    EXPECT_EQ(P.branch("entry").Splits, 64 / O.WarpSize);
    EXPECT_EQ(P.block("a").Lanes, 32u);
    EXPECT_EQ(P.block("a").Warps, 64 / O.WarpSize);
  }
}

//===----------------------------------------------------------------------===//
// Returns, irreducible flow, long loops
//===----------------------------------------------------------------------===//

/// Lanes with x = 0 return at once. Those that stay pass `work`, and the odd
/// ones among them `odd`: the lanes that left are idle there because they left.
TEST(Returns, ExitedLanesAreToldFromOthers) {
  for (const MachineOptions &O : allSetups()) {
    TestProgram P(kernelOf({"",
                            R"(
         %c = icmp eq i32 %x, 0
         br i1 %c, label %gone, label %work
       work:
         %o = and i32 %x, 1
         %odd1 = icmp ne i32 %o, 0
         br i1 %odd1, label %odd, label %last
       odd:
         br label %last
       last:
         %r = phi i32 [ 1, %work ], [ 2, %odd ]
         store i32 %r, ptr %pout, align 4
         br label %gone
       gone:
         ret void)",
                            nullptr,
                            {}}),
                  O);
    for (const MaskShape &Mask : maskShapes())
      for (unsigned Threads : {64u, 48u}) {
        SCOPED_TRACE(describe(O) + ", mask " + Mask.Name + ", " +
                     std::to_string(Threads) + " threads");
        const auto X = inputs(Mask.Bits, Threads);
        std::vector<uint32_t> Out(Threads, 77);
        P.run(shape(1, Threads), X.data(), Out.data());
        BlockCounts Work, Odd, Gone;
        for (unsigned First = 0; First < Threads; First += O.WarpSize) {
          const unsigned End = std::min(First + O.WarpSize, Threads);
          const unsigned Missing = O.WarpSize - (End - First);
          unsigned Stay = 0, Odds = 0;
          for (unsigned L = First; L < End; ++L) {
            Stay += X[L] != 0;
            Odds += X[L] & 1;
          }
          const unsigned Left = End - First - Stay;
          auto Add = [&](BlockCounts &To, unsigned Lanes) {
            To.Warps += Lanes != 0;
            To.Lanes += Lanes;
            To.PartialIdle += Lanes ? Missing : 0;
            To.ExitedIdle += Lanes ? Left : 0;
          };
          Add(Work, Stay);
          Add(Odd, Odds);
          Gone.Warps += 1;
        }
        for (auto [Name, Want] :
             {std::pair("work", Work), {"odd", Odd}, {"last", Work}}) {
          const BlockCounts &Got = P.block(Name);
          EXPECT_EQ(Got.Warps, Want.Warps) << Name;
          EXPECT_EQ(Got.Lanes, Want.Lanes) << Name;
          EXPECT_EQ(Got.PartialIdle, Want.PartialIdle) << Name;
          EXPECT_EQ(Got.ExitedIdle, Want.ExitedIdle) << Name;
        }
        EXPECT_EQ(P.block("gone").Warps, Gone.Warps);
        EXPECT_EQ(P.block("gone").Lanes, Threads);
        for (unsigned T = 0; T < Threads; ++T)
          ASSERT_EQ(Out[T], !X[T] ? 77u : X[T] & 1 ? 2u : 1u);
      }
  }
}

/// A loop entered at two places. x rounds of `b`, and x or x - 1 of `a`,
/// depending on where a lane came in.
TEST(Irreducible, LanesAreCountedRight) {
  for (const MachineOptions &O : allSetups()) {
    TestProgram P(kernelOf({"",
                            R"(
         %o = and i32 %x, 1
         %odd = icmp ne i32 %o, 0
         br i1 %odd, label %a, label %b
       a:
         %ia = phi i32 [ 0, %entry ], [ %n, %b ]
         %sa = phi i32 [ 0, %entry ], [ %sb1, %b ]
         %sa1 = add i32 %sa, 100
         br label %b
       b:
         %ib = phi i32 [ 0, %entry ], [ %ia, %a ]
         %sb = phi i32 [ 0, %entry ], [ %sa1, %a ]
         %sb1 = add i32 %sb, 1
         %n = add i32 %ib, 1
         %c = icmp ult i32 %n, %x
         br i1 %c, label %a, label %done
       done:
         store i32 %sb1, ptr %pout, align 4
         ret void)",
                            nullptr,
                            {}}),
                  O);
    for (const MaskShape &Mask : maskShapes()) {
      SCOPED_TRACE(describe(O) + ", mask " + Mask.Name);
      const auto X = inputs(Mask.Bits, 64);
      std::vector<uint32_t> Out(64);
      P.run(shape(1, 64), X.data(), Out.data());
      uint64_t A = 0, B = 0;
      for (unsigned T = 0; T < 64; ++T) {
        const uint32_t Bs = std::max(X[T], 1u), As = X[T] & 1 ? Bs : Bs - 1;
        EXPECT_EQ(Out[T], 100 * As + Bs) << "thread " << T;
        A += As;
        B += Bs;
      }
      EXPECT_EQ(P.block("a").Lanes, A);
      EXPECT_EQ(P.block("b").Lanes, B);
      EXPECT_EQ(P.block("done").Lanes, 64u);
    }
  }
}

/// Half of the lanes wait while the others loop for long: nobody may be sent on
/// before them, however long it takes, as nothing in the loop waits.
TEST(LongLoops, KeepLanesTogether) {
  for (const char *Loop : {// one block
                           R"(
         br label %body
       body:
         %i = phi i32 [ 0, %entry ], [ %n, %body ]
         %n = add i32 %i, 1
         %c = icmp ult i32 %n, %x
         br i1 %c, label %body, label %done)",
                           // several
                           R"(
         br label %body
       body:
         %i = phi i32 [ 0, %entry ], [ %n, %latch ]
         %o = and i32 %i, 1
         %c1 = icmp ne i32 %o, 0
         br i1 %c1, label %odd, label %latch
       odd:
         br label %latch
       latch:
         %n = add i32 %i, 1
         %c = icmp ult i32 %n, %x
         br i1 %c, label %body, label %done)"}) {
    const std::string Text = kernelOf({"", Loop, nullptr, {}});
    const std::string Done = R"(
       done:
         store i32 %n, ptr %pout, align 4
         ret void
       })";
    for (const MachineOptions &O : allSetups()) {
      SCOPED_TRACE(describe(O));
      TestProgram P(Text.substr(0, Text.rfind('}')) + Done, O);
      std::vector<uint32_t> X(64), Out(64);
      for (unsigned I = 0; I < 64; ++I)
        X[I] = I % 2 ? 10000 : 1;
      P.run(shape(1, 64), X.data(), Out.data());
      EXPECT_EQ(Out, X);
      EXPECT_EQ(P.block("body").Warps, 10000u * 64 / O.WarpSize);
      EXPECT_EQ(P.block("done").Warps, 64 / O.WarpSize);
    }
  }
}

/// More successors than a warp's stack could hold masks for.
TEST(Switches, OfAThousandCases) {
  constexpr unsigned Cases = 1100, Threads = 64;
  std::string Jumps, Blocks;
  for (unsigned I = 0; I < Cases; ++I) {
    const std::string N = std::to_string(I);
    Jumps += "i32 " + N + ", label %c" + N + "\n";
    Blocks += "c" + N + ":\n store volatile i32 " + std::to_string(7 * I + 1) +
              ", ptr %pout, align 4\n br label %other\n";
  }
  const std::string Text = kernelOf({"",
                                     ("switch i32 %x, label %other [" + Jumps +
                                      "]\n" + Blocks + "other:\n ret void")
                                         .c_str(),
                                     nullptr,
                                     {}});
  for (const MachineOptions &O : {setups(32).front(), setups(32).back()}) {
    SCOPED_TRACE(describe(O));
    TestProgram P(Text, O);
    std::vector<uint32_t> X(Threads), Out(Threads);
    for (unsigned T = 0; T < Threads; ++T)
      X[T] = T * 37 % 1200;
    P.run(shape(1, Threads), X.data(), Out.data());
    for (unsigned T = 0; T < Threads; ++T)
      EXPECT_EQ(Out[T], X[T] < Cases ? 7 * X[T] + 1 : 0) << T;
  }
}

//===----------------------------------------------------------------------===//
// Thread indices
//===----------------------------------------------------------------------===//

/// Threads are linear with x fastest, over blocks and grids of all dimensions.
TEST(ThreadIndices, InThreeDimensions) {
  const char *Text = R"(
    define ptx_kernel void @k(ptr %out) {
      %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
      %tz = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
      %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
      %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
      %bz = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
      %nx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
      %ny = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
      %nz = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
      %gx = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
      %gy = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
      %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
      %b1 = mul i32 %bz, %gy
      %b2 = add i32 %b1, %by
      %b3 = mul i32 %b2, %gx
      %b = add i32 %b3, %bx
      %t1 = mul i32 %tz, %ny
      %t2 = add i32 %t1, %ty
      %t3 = mul i32 %t2, %nx
      %t = add i32 %t3, %tx
      %n1 = mul i32 %nx, %ny
      %n = mul i32 %n1, %nz
      %g1 = mul i32 %b, %n
      %g = add i32 %g1, %t
      %s1 = shl i32 %tz, 20
      %s2 = shl i32 %ty, 10
      %s3 = or i32 %s1, %s2
      %s4 = or i32 %s3, %tx
      %l1 = shl i32 %lane, 26
      %s = or i32 %s4, %l1
      %p = getelementptr i32, ptr %out, i32 %g
      store i32 %s, ptr %p
      ret void
    })";
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(Text, O);
    for (auto [X, Y, Z] : {std::array{7u, 1u, 1u},
                           {5u, 3u, 1u},
                           {4u, 3u, 7u},
                           {1u, 1u, 33u},
                           {32u, 4u, 1u}}) {
      LaunchShape S;
      S.Grid = {2, 3, 2};
      S.Block = {X, Y, Z};
      const unsigned Threads = X * Y * Z;
      std::vector<uint32_t> Out(12 * Threads);
      P.run(S, Out.data());
      for (unsigned G = 0; G < Out.size(); ++G) {
        const unsigned T = G % Threads;
        ASSERT_EQ(Out[G], (T % 32) << 26 | (T / X / Y) << 20 |
                              (T / X % Y) << 10 | (T % X));
      }
    }
  }
}

} // namespace
} // namespace reconverge::warpvm
