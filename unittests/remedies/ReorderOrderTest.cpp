//===- unittests/remedies/ReorderOrderTest.cpp - Longest blocks first -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sort of a recipe's, with costs that are given in place of measured ones;
// and the costs that a slice of the kernel finds.
//
//===----------------------------------------------------------------------===//

#include "RandomKernel.h"
#include "RecipeRuns.h"

#include "remedies/reorder_blocks/Reorder.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

constexpr const char *Text = R"(
  target triple = "nvptx64-nvidia-cuda"
  declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  define ptx_kernel void @k(ptr %out) {
    %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
    %p = getelementptr i32, ptr %out, i32 %b
    store i32 %b, ptr %p
    ret void
  })";

/// The order that costs make of so many blocks.
std::vector<uint32_t> orderBy(std::vector<uint32_t> Costs) {
  LLVMContext C;
  auto M = parseKernel(C, Text);
  ReorderOptions Options;
  Options.Order = BlockOrder::Last;
  Options.Least = 1;
  Recipe R = std::get<Recipe>(reorderBlocks(*M->getFunction("k"), Options));
  // Nothing is timed, and nothing launched by the order.
  R.Steps.erase(R.Steps.begin());
  R.Steps.pop_back();
  R.Scratch[0].Zeroed = false;
  R.Scratch[0].Kept = true;
  TestProgram P(*M, machineFor(setups(32)[0]));
  TestPlace Place(P);
  std::vector<void *> Kept(R.Scratch.size());
  Kept[0] = Costs.data();
  void *Args[] = {nullptr};
  EXPECT_EQ(launch::execute(R, shape(unsigned(Costs.size()), 32), Args, Place,
                            {.Kept = &Kept}),
            launch::Ended::Done);
  EXPECT_EQ(Place.Problem, "");
  const auto *Ids = static_cast<const uint32_t *>(Kept[2]);
  return {Ids, Ids + Costs.size()};
}

TEST(ReorderLast, StartsWhatTookLongestFirst) {
  EXPECT_EQ(orderBy({5, 100, 0, 4000000000, 100, 70}),
            (std::vector<uint32_t>{3, 1, 4, 5, 0, 2}));
  Random R(7);
  for (unsigned Blocks : {1u, 16u, 4096u, 5000u}) {
    std::vector<uint32_t> Costs(Blocks);
    for (uint32_t &Cost : Costs)
      Cost = uint32_t(R.next()) >> R.below(32);
    const std::vector<uint32_t> Order = orderBy(Costs);
    std::vector<uint32_t> Sorted = Order, All(Blocks);
    llvm::sort(Sorted);
    std::iota(All.begin(), All.end(), 0);
    EXPECT_EQ(Sorted, All) << "a permutation";
    for (unsigned I = 1; I < Blocks; ++I)
      EXPECT_LE(Costs[Order[I]], Costs[Order[I - 1]] / 8. * 9 + 8)
          << I << " of " << Blocks;
  }
}

/// For so many rounds, rounds[block] or rounds[thread]: with a barrier, shared
/// memory and a side that costs more.
constexpr const char *Rounds = R"(
  target triple = "nvptx64-nvidia-cuda"
  declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  declare void @llvm.nvvm.barrier0()
  @all = internal addrspace(3) global [64 x i32] undef
  define ptx_kernel void @k(ptr noalias %out, ptr noalias readonly %rounds) {
  entry:
    %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
    %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
    %first = mul i32 %b, %n
    %i = add i32 %first, %t
    %s = getelementptr i32, ptr addrspace(3) @all, i32 %t
    store i32 %i, ptr addrspace(3) %s
    call void @llvm.nvvm.barrier0()
    %pr = getelementptr i32, ptr %rounds, i32 $BY
    %r = load i32, ptr %pr
    %none = icmp eq i32 %r, 0
    br i1 %none, label %done, label %loop
  loop:
    %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
    %v = phi i32 [ %i, %entry ], [ %v3, %loop ]
    %at = and i32 %v, 63
    %q = getelementptr i32, ptr addrspace(3) @all, i32 %at
    %o = load i32, ptr addrspace(3) %q
    %v1 = mul i32 %v, %o
    %v2 = xor i32 %v1, %k
    %v3 = mul i32 %v2, 747796405
    %k1 = add i32 %k, 1
    %c = icmp ult i32 %k1, %r
    br i1 %c, label %loop, label %done
  done:
    %w = phi i32 [ %i, %entry ], [ %v3, %loop ]
    %p = getelementptr i32, ptr %out, i32 %i
    store i32 %w, ptr %p
    ret void
  })";

/// The order that the slice makes where block b, or its thread 5, has Of[b]
/// rounds.
std::vector<uint32_t> orderBySlice(ArrayRef<uint32_t> Of, bool OfThread) {
  constexpr unsigned Threads = 64;
  LLVMContext C;
  std::string Code = Rounds;
  Code.replace(Code.find("$BY"), 3, OfThread ? "%i" : "%b");
  auto M = parseKernel(C, Code);
  ReorderOptions Options;
  Options.Order = BlockOrder::Slice;
  Options.Least = 1;
  PlanOr<Recipe> Made = reorderBlocks(*M->getFunction("k"), Options);
  if (!std::holds_alternative<Recipe>(Made)) {
    ADD_FAILURE() << std::get<Refusal>(Made).Kind->code();
    return {};
  }
  Recipe R = std::get<Recipe>(Made);
  EXPECT_EQ(R.Steps.front().Grid.OfProgram, OfThread)
      << "a thread computes a block where none of its threads differ";
  R.Scratch[2].Kept = true; // the order
  TestProgram P(*M, machineFor(setups(32)[0]));
  TestPlace Place(P);
  const size_t Blocks = Of.size();
  std::vector<uint32_t> Out(Blocks * Threads), In(Blocks * Threads, 1);
  for (size_t B = 0; B != Blocks; ++B)
    In[OfThread ? B * Threads + 5 : B] = Of[B];
  std::vector<void *> Kept(R.Scratch.size());
  std::vector<uint32_t> Order(Blocks);
  Kept[2] = Order.data();
  void *OutAt = Out.data(), *InAt = In.data();
  void *Args[] = {&OutAt, &InAt};
  EXPECT_EQ(launch::execute(R, shape(unsigned(Blocks), Threads), Args, Place,
                            {.Kept = &Kept}),
            launch::Ended::Done);
  EXPECT_EQ(Place.Problem, "");
  return Order;
}

TEST(ReorderSlice, StartsFirstWhatWillDoMost) {
  for (bool OfThread : {false, true}) {
    Random R(OfThread);
    std::vector<uint32_t> Of(300);
    for (uint32_t &Each : Of)
      Each = 1 + uint32_t(R.below(200));
    const std::vector<uint32_t> Order = orderBySlice(Of, OfThread);
    std::vector<uint32_t> Sorted = Order, All(Of.size());
    llvm::sort(Sorted);
    std::iota(All.begin(), All.end(), 0);
    ASSERT_EQ(Sorted, All) << "a permutation";
    for (size_t I = 1; I < Of.size(); ++I)
      EXPECT_LE(Of[Order[I]], Of[Order[I - 1]] / 8. * 9 + 2) << I;
  }
}

} // namespace
} // namespace reconverge::remedies
