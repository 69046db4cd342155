//===- unittests/analysis/MachineCodeTest.cpp - Blocks in machine code ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code made by hand, priced by the H200's file: 2 cycles of the ALU for
// an IADD3, 4 of LSU for an LDS, whose result comes after 23.
//
//===----------------------------------------------------------------------===//

#include "analysis/MachineCode.h"

#include "Parsed.h"
#include "analysis/Costs.h"
#include "analysis/Numbering.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::analysis;

namespace {

constexpr const char *Code = R"(
  target triple = "nvptx64-nvidia-cuda"
  define ptx_kernel void @k(i32 %n, ptr addrspace(3) %p) {
  entry:
    %a = add i32 %n, 1
    %c = icmp slt i32 %a, 9
    br i1 %c, label %then, label %end
  then:
    %l = load i32, ptr addrspace(3) %p
    %s = add i32 %l, %a
    br label %end
  end:
    %m = load i32, ptr addrspace(3) %p
    ret void
  }
)";

enum Opcode : uint64_t {
  IADD3 = 0x010,
  ISETP = 0x00c,
  LDS = 0x184,
  BRA = 0x147,
  EXIT = 0x14d,
  RET = 0x150,
  Unknown = 0x1ff
};
constexpr uint64_t Always = 7, P0 = 0;

/// \p Sets, \p WaitsFor: a scoreboard; 7: none.
MachineInstruction make(const Instruction *For, Opcode Number,
                        uint64_t Guard = Always, uint64_t Stall = 1,
                        uint64_t Sets = 7, uint64_t WaitsFor = 7) {
  const uint64_t Mask = WaitsFor < 6 ? uint64_t(1) << WaitsFor : 0;
  return {For, Number | (Guard << 12),
          (Stall | (Sets << 5) | (Mask << 11)) << 41};
}

class MachineCodeTest : public testing::Test {
protected:
  void SetUp() override {
    numberBlocks(P.module());
    Info = describeKernel(P.function(), Machine, "");
    A = &P.value("a"), C = &P.value("c"), L = &P.value("l"), S = &P.value("s");
    M = &P.value("m");
  }
  Error price(std::vector<MachineInstruction> List) {
    MachineCode All;
    All.Functions["k"] = std::move(List);
    All.Registers["k"] = 24;
    return priceByMachineCode(Info, P.function(), All, Machine);
  }
  double busy(unsigned Block, Unit U) {
    return Info.Blocks[Block].Busy[size_t(U)];
  }

  Parsed P{Code};
  MachineModel Machine =
      cantFail(MachineModel::load(MACHINES_DIR "/h200.json"));
  KernelInfo Info;
  const Instruction *A, *C, *L, *S, *M;
};

TEST(MachineInstruction, IsDecoded) {
  // @P0 LDS R16, [R10] and IADD3 with a uniform register, as ptxas made them.
  const MachineInstruction Load{nullptr, 0x000000000a100984, 0};
  const MachineInstruction Add{nullptr, 0x0000000410137c10, 0};
  EXPECT_EQ(opcodeOf(Load), "LDS");
  EXPECT_TRUE(isGuarded(Load));
  EXPECT_EQ(opcodeOf(Add), "IADD3");
  EXPECT_FALSE(isGuarded(Add));
  EXPECT_EQ(opcodeOf(make(nullptr, Unknown)), "");
}

TEST_F(MachineCodeTest, BlocksCostWhatTheyBecame) {
  ASSERT_FALSE(
      errorToBool(price({make(A, IADD3), make(C, ISETP), make(C, BRA, P0),
                         make(L, LDS, Always, 2, /*Sets=*/0),
                         make(S, IADD3, Always, 5, 7, /*WaitsFor=*/0),
                         make(&P.block("end").front(), EXIT)})));
  EXPECT_TRUE(Info.HasMachineCode);
  EXPECT_EQ(Info.Registers, 24u);
  EXPECT_EQ(busy(0, Unit::Issue), 3);
  EXPECT_EQ(busy(0, Unit::Alu), 4);
  EXPECT_EQ(busy(1, Unit::Lsu), 4);
  EXPECT_EQ(busy(1, Unit::Alu), 2);
  // The addition starts when the load's result is there, and takes five.
  EXPECT_EQ(Info.Blocks[1].Path, 23 + 5);
}

/// Unrolled by three: an execution runs one copy. The load says how often; the
/// addition takes two instructions each time.
TEST_F(MachineCodeTest, CopiesAreOneEach) {
  std::vector<MachineInstruction> List = {make(C, BRA, P0)};
  for (int Copy = 0; Copy != 3; ++Copy)
    for (auto I : {make(L, LDS), make(S, IADD3), make(S, IADD3)})
      List.push_back(I);
  EXPECT_EQ(machineBlocksOf(P.function(), List)[&P.block("then")].Copies, 3u);
  ASSERT_FALSE(errorToBool(price(std::move(List))));
  EXPECT_EQ(busy(1, Unit::Lsu), 4);
  EXPECT_EQ(busy(1, Unit::Alu), 4);
}

/// Where predicates stand for the branch, every warp issues the side's code.
TEST_F(MachineCodeTest, PredicatedCodeIsIssuedByWhoDecides) {
  ASSERT_FALSE(errorToBool(
      price({make(A, IADD3), make(C, ISETP), make(L, LDS, P0),
             make(S, IADD3, P0), make(&P.block("end").front(), EXIT)})));
  EXPECT_EQ(busy(0, Unit::Lsu), 4);
  EXPECT_EQ(busy(0, Unit::Alu), 6);
  EXPECT_EQ(busy(1, Unit::Issue), 0);
}

/// Of two loads in one straight piece of code the second is under way while the
/// first is waited for; behind a jump it starts when that has ended.
TEST_F(MachineCodeTest, BlocksInStraightCodeOverlap) {
  auto Lay = [&](Opcode Between) {
    return price({make(C, ISETP),
                  make(L, LDS, Between == BRA ? Always : P0, 1, /*Sets=*/0),
                  make(L, Between, P0), make(M, LDS, Always, 1, /*Sets=*/1),
                  make(M, EXIT, Always, 5, 7, /*WaitsFor=*/1)});
  };
  ASSERT_FALSE(errorToBool(Lay(IADD3)));
  EXPECT_EQ(Info.Blocks[0].Path, 1 + 1 + 1);
  EXPECT_EQ(Info.Blocks[2].Path, 23 + 5);
  ASSERT_FALSE(errorToBool(Lay(BRA)));
  EXPECT_EQ(Info.Blocks[0].Path, 1);
  EXPECT_EQ(Info.Blocks[1].Path, 23);
  EXPECT_EQ(Info.Blocks[2].Path, 23 + 5);
}

/// Behind the end lies what is called where a division goes the long way.
TEST_F(MachineCodeTest, RoutinesBehindTheEndAreNotCounted) {
  const Instruction *End = &P.block("end").front();
  ASSERT_FALSE(errorToBool(price({make(A, IADD3), make(End, EXIT),
                                  make(nullptr, IADD3), make(nullptr, RET)})));
  EXPECT_EQ(busy(2, Unit::Issue), 1);
}

TEST_F(MachineCodeTest, AnUnknownInstructionLeavesThePrices) {
  const double Before = busy(0, Unit::Issue);
  Error E = price({make(A, IADD3), make(C, Unknown)});
  EXPECT_EQ(toString(std::move(E)), "no price of machine instruction 0x1FF");
  EXPECT_EQ(busy(0, Unit::Issue), Before);
  EXPECT_FALSE(Info.HasMachineCode);
}

} // namespace
