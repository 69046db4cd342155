//===- unittests/remedies/ItemsTest.cpp - Threads as items ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that write down every number that they read, each thread at its own
// place. Handed out anew, in another launch and another order, their threads
// write the same. And the arithmetic alone, for launches that nobody can wait
// for.
//
//===----------------------------------------------------------------------===//

#include "ItemKernels.h"

#include "llvm/Transforms/Utils/Cloning.h"

#include <algorithm>
#include <numeric>

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

//===----------------------------------------------------------------------===//
// Launches in another order
//===----------------------------------------------------------------------===//

LaunchShape shapeOf(std::array<uint32_t, 3> Grid,
                    std::array<uint32_t, 3> Block) {
  LaunchShape S;
  S.Grid = Grid;
  S.Block = Block;
  return S;
}

/// Of a launch, and more in every dimension than one.
const LaunchShape Launches[] = {
    shapeOf({7, 1, 1}, {33, 1, 1}), shapeOf({5, 3, 1}, {9, 7, 1}),
    shapeOf({3, 5, 2}, {5, 3, 7}),  shapeOf({1, 4, 1}, {1, 1, 6}),
    shapeOf({1, 1, 3}, {1, 8, 1}),  shapeOf({4, 1, 1}, {1, 1, 1}),
    shapeOf({1, 1, 1}, {1, 1, 1}),  shapeOf({2, 1, 1}, {32, 4, 2})};

/// Launches that have room for \p Items, and some more.
std::vector<LaunchShape> roomFor(uint64_t Items) {
  return {shapeOf({uint32_t(divideCeil(Items, 96)), 1, 1}, {96, 1, 1}),
          shapeOf({3, 2, uint32_t(divideCeil(Items, 6 * 70))}, {5, 7, 2})};
}

std::vector<std::vector<uint64_t>> ordersOf(uint64_t Items) {
  std::vector<uint64_t> Natural(Items);
  std::iota(Natural.begin(), Natural.end(), 0);
  std::vector<uint64_t> Reversed(Natural.rbegin(), Natural.rend()),
      Any = Natural;
  Random R(Items);
  for (uint64_t I = Items; I > 1; --I)
    std::swap(Any[I - 1], Any[R.below(unsigned(I))]);
  return {Natural, Reversed, Any};
}

constexpr uint32_t Untouched = 0xdeadbeef, N = 1000;

using Memory = std::vector<uint32_t>;
Memory freshMemory(const LaunchShape &S) {
  return Memory(std::max<uint64_t>(S.threads() * Words, N), Untouched);
}

Memory runAsItIs(TestProgram &P, const LaunchShape &S) {
  Memory Out = freshMemory(S);
  P.run(S, Out.data(), N);
  return Out;
}

Memory runHandedOut(TestProgram &P, const LaunchShape &S,
                    const LaunchShape &Place,
                    const std::vector<uint64_t> &Order) {
  Memory Out = freshMemory(S);
  P.run(Place, Out.data(), N, Order.data(), uint64_t(Order.size()), S.Grid[0],
        S.Grid[1], S.Grid[2], S.Block[0], S.Block[1], S.Block[2]);
  return Out;
}

class HandedOut : public testing::TestWithParam<const std::string *> {};

TEST_P(HandedOut, ThreadsDoTheSame) {
  LLVMContext C;
  auto Before = parseKernel(C, prelude() + *GetParam());
  auto After = CloneModule(*Before);
  handOut(*After);
  ASSERT_FALSE(HasFatalFailure());
  for (const MachineOptions &Options : setups(32)) {
    TestProgram Old(*Before, machineFor(Options));
    TestProgram New(*After, machineFor(Options));
    for (const LaunchShape &S : Launches) {
      const Memory Expected = runAsItIs(Old, S);
      EXPECT_NE(Expected, freshMemory(S)) << "nothing is written";
      for (const LaunchShape &Place : roomFor(S.threads()))
        for (const auto &Order : ordersOf(S.threads()))
          EXPECT_EQ(Expected, runHandedOut(New, S, Place, Order))
              << describe(Options) << ", grid " << S.Grid[0] << "x" << S.Grid[1]
              << "x" << S.Grid[2];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, HandedOut,
                         testing::Values(&Straight, &InBlocks, &GridStride));

/// What is compared has a word of every thread: an item left out, or done
/// twice in another's place, shows.
TEST(HandedOut, AWrongOrderIsSeen) {
  LLVMContext C;
  auto M = parseKernel(C, prelude() + Straight);
  auto After = CloneModule(*M);
  handOut(*After);
  TestProgram Old(*M, machineFor(setups(32)[0]));
  TestProgram New(*After, machineFor(setups(32)[0]));
  const LaunchShape &S = Launches[2];
  auto Order = ordersOf(S.threads())[2];
  Order[17] = Order[18];
  EXPECT_NE(runAsItIs(Old, S),
            runHandedOut(New, S, roomFor(S.threads())[0], Order));
}

//===----------------------------------------------------------------------===//
// Blocks in another order
//===----------------------------------------------------------------------===//

// Each thread adds to its first word what its neighbour of the block, in the
// order of numbers, has left in shared memory: the place of its own in out.
const std::string ThroughShared = readAll() + OwnPlace + storeAll() + R"(
  %q0 = mul i32 %tz, %by
  %q1 = add i32 %q0, %ty
  %q2 = mul i32 %q1, %bx
  %q = add i32 %q2, %tx
  %s0 = mul i32 %bx, %by
  %s = mul i32 %s0, %bz
  %own = getelementptr [1024 x i32], ptr addrspace(3) @shared, i32 0, i32 %q
  store i32 %p9, ptr addrspace(3) %own
  call void @llvm.nvvm.barrier0()
  %r0 = add i32 %q, 1
  %r = urem i32 %r0, %s
  %next = getelementptr [1024 x i32], ptr addrspace(3) @shared, i32 0, i32 %r
  %v = load i32, ptr addrspace(3) %next
  %old = load i32, ptr addrspace(1) %at
  %sum = add i32 %old, %v
  store i32 %sum, ptr addrspace(1) %at
  ret void
}
@shared = internal addrspace(3) global [1024 x i32] undef
declare void @llvm.nvvm.barrier0()
)";

/// if (place >= blocks) return; become order[place];
void handOutBlocks(Module &M) {
  Function &Old = *M.getFunction("k");
  EXPECT_TRUE(std::holds_alternative<Refusal>(planItems(Old)));
  auto Plan = planBlocks(Old);
  ASSERT_TRUE(std::holds_alternative<BlocksPlan>(Plan));
  handOutBy(M, readBlock,
            [&](Value *Block, const LaunchValues &Of, IRBuilderBase &B) {
              becomeBlock(std::get<BlocksPlan>(Plan), Block, Of, B);
            });
}

TEST(HandedOutBlocks, DoTheSame) {
  LLVMContext C;
  auto Before = parseKernel(C, prelude() + ThroughShared);
  auto After = CloneModule(*Before);
  handOutBlocks(*After);
  ASSERT_FALSE(HasFatalFailure());
  for (const MachineOptions &Options : setups(32)) {
    TestProgram Old(*Before, machineFor(Options));
    TestProgram New(*After, machineFor(Options));
    for (const LaunchShape &S : Launches) {
      const Memory Expected = runAsItIs(Old, S);
      const uint32_t Blocks = uint32_t(S.blocks());
      for (const LaunchShape &Place :
           {shapeOf({Blocks, 1, 1}, S.Block), shapeOf({1, Blocks, 2}, S.Block),
            shapeOf({2, 3, uint32_t(divideCeil(Blocks, 6))}, S.Block)})
        for (const auto &Order : ordersOf(Blocks))
          EXPECT_EQ(Expected, runHandedOut(New, S, Place, Order))
              << describe(Options) << ", " << Blocks << " blocks";
    }
  }
}

//===----------------------------------------------------------------------===//
// The arithmetic alone
//===----------------------------------------------------------------------===//

using Numbers = std::array<uint32_t, Words>;

/// As CUDA defines them; the item is one of the launch.
Numbers numbersOf(uint64_t Item, const LaunchShape &S) {
  const uint64_t Block = Item / S.blockThreads(),
                 Thread = Item % S.blockThreads(),
                 Plane = uint64_t(S.Grid[0]) * S.Grid[1];
  return {uint32_t(Thread % S.Block[0]),
          uint32_t(Thread / S.Block[0] % S.Block[1]),
          uint32_t(Thread / S.Block[0] / S.Block[1]),
          uint32_t(Block % S.Grid[0]),
          uint32_t(Block % Plane / S.Grid[0]),
          uint32_t(Block / Plane),
          S.Block[0],
          S.Block[1],
          S.Block[2],
          S.Grid[0],
          S.Grid[1],
          S.Grid[2]};
}

/// Where something may go over: powers of two, ends of blocks and of rows.
std::vector<uint64_t> notableItems(const LaunchShape &S) {
  const uint64_t Last = S.threads() - 1, Row = S.Grid[0] * S.blockThreads();
  std::vector<uint64_t> All{0, 1, Last, Last / 2, Last - S.blockThreads()};
  std::vector<uint64_t> Edges{S.blockThreads(), Row, Row * S.Grid[1]};
  for (unsigned Bit : {31, 32, 33, 62, 63})
    Edges.push_back(uint64_t(1) << Bit);
  for (uint64_t Edge : Edges)
    for (uint64_t Item : {Edge - 1, Edge, Edge + 1})
      All.push_back(Item);
  Random R(Last);
  for (int I = 0; I < 64; ++I)
    All.push_back(R.next() % Last);
  erase_if(All, [&](uint64_t Item) { return Item > Last; });
  return All;
}

constexpr uint32_t MostX = INT32_MAX, MostY = 65535;

void expectNumbers(TestProgram &P, const LaunchShape &S) {
  const std::vector<uint64_t> Items = notableItems(S);
  std::vector<Numbers> Out(Items.size());
  P.run(shape(unsigned(Items.size()), 1), Out.data(), N, Items.data(),
        uint64_t(Items.size()), S.Grid[0], S.Grid[1], S.Grid[2], S.Block[0],
        S.Block[1], S.Block[2]);
  for (auto [Item, Found] : zip(Items, Out))
    EXPECT_EQ(Found, numbersOf(Item, S)) << Item;
}

TEST(Numbers, OfLargeLaunches) {
  LLVMContext C;
  auto M = parseKernel(C, prelude() + readAll() +
                              "%at = bitcast ptr addrspace(1) %out to ptr "
                              "addrspace(1)\n" +
                              storeAll() + "  ret void\n}\n");
  writeAtPlace(*M);
  ASSERT_FALSE(testing::Test::HasFatalFailure());
  TestProgram P(*M, machineFor(setups(32)[0]));
  const LaunchShape Large[] = {
      shapeOf({MostX, 1, 1}, {1024, 1, 1}),
      shapeOf({MostX, 1, 1}, {8, 16, 8}),
      shapeOf({MostX, 3, 1}, {1023, 1, 1}),
      shapeOf({1, MostY, MostY}, {31, 33, 1}),
      shapeOf({MostX, MostY, 1}, {1, 1, 64}),
      shapeOf({65537, MostY, MostY}, {7, 9, 11}),
      shapeOf({MostX, MostY, MostY}, {1, 1, 1}),
      shapeOf({1u << 16, 1u << 15, 1u << 15}, {4, 4, 4}),
      // 45761 * 20857 * 9 is 2^33 + 1: a product would take it for flat.
      shapeOf({5, 45761, 20857}, {1, 9, 1}),
  };
  for (const LaunchShape &S : Large)
    expectNumbers(P, S);
  for (const LaunchShape &S : Launches)
    if (S.threads() > 1)
      expectNumbers(P, S);
}

} // namespace
} // namespace reconverge::remedies
