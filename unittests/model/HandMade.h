//===- unittests/model/HandMade.h - Small profiles for tests ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_MODEL_HANDMADE_H
#define RECONVERGE_UNITTESTS_MODEL_HANDMADE_H

#include "analysis/Costs.h"
#include "core/Profile.h"

#include <utility>

namespace reconverge::test {

/// A kernel put together block by block. Every instruction takes one slot
/// unless a test says otherwise.
struct HandMadeKernel {
  KernelProfile K;

  explicit HandMadeKernel(std::string Name = "kernel") {
    K.Info.Name = Name;
    K.Info.Display = Name + "(int*)";
    K.Info.Module = "0123456789abcdef";
  }

  /// \p N instructions, run by \p Warps warps with \p Lanes lanes.
  uint32_t block(uint32_t N, uint64_t Warps, uint64_t Lanes,
                 uint64_t Partial = 0, uint64_t Exited = 0) {
    uint32_t Position = static_cast<uint32_t>(K.Info.Blocks.size());
    BlockInfo &B = K.Info.Blocks.emplace_back();
    B.Id = Position;
    B.Instructions = N;
    B.IssueSlots = N;
    B.Latency = 4.0 * N;
    K.Blocks.push_back({Warps, Lanes, Partial, Exited});
    return Position;
  }

  uint32_t branch(BranchKind Kind, uint32_t Block,
                  std::vector<uint32_t> Successors,
                  std::vector<uint32_t> Region, uint64_t Splits,
                  std::vector<uint64_t> LanesTo) {
    uint32_t Position = static_cast<uint32_t>(K.Info.Branches.size());
    BranchInfo B;
    B.Id = Position;
    B.Block = Block;
    B.Kind = Kind;
    B.Successors = std::move(Successors);
    B.Region = std::move(Region);
    K.Info.Branches.push_back(std::move(B));
    K.Branches.push_back({K.Blocks[Block].Warps, Splits, std::move(LanesTo)});
    return Position;
  }

  /// Of the last branch.
  HandMadeKernel &at(std::string File, unsigned Line, std::string Condition) {
    BranchInfo &B = K.Info.Branches.back();
    B.Where = {{std::move(File), Line, 7, K.Info.Display}};
    B.Condition = std::move(Condition);
    B.Reason = "thread id";
    return *this;
  }
};

/// One warp; even lanes take the one side, odd lanes the other:
///
///   entry (2 instructions, 32 lanes)
///     |-- then (3, 16 lanes)   else (5, 16 lanes) --|
///   join (1, 32 lanes)
inline HandMadeKernel alternating(std::string Name = "kernel") {
  HandMadeKernel H(std::move(Name));
  uint32_t Entry = H.block(2, 1, 32);
  uint32_t Then = H.block(3, 1, 16);
  uint32_t Else = H.block(5, 1, 16);
  H.block(1, 1, 32);
  H.branch(BranchKind::IfElse, Entry, {Then, Else}, {Then, Else}, 1, {16, 16});
  H.at("src/alt.cu", 12, "i & 1");
  H.K.Launches = 1;
  H.K.Threads = 32;
  H.K.WarpsRun = 1;
  H.K.DivergentWarps = 1;
  H.K.Seconds = 0.00125;
  H.K.Shapes = {{{1, 1, 1}, {32, 1, 1}, 0}};
  return H;
}

/// \p H, whose instructions keep the schedulers busy for a cycle each.
inline HandMadeKernel issuing(HandMadeKernel H) {
  for (BlockInfo &B : H.K.Info.Blocks)
    B.Busy = {double(B.Instructions)};
  return H;
}

/// A GPU of one multiprocessor with one scheduler, so that a kernel's time is
/// its instructions.
inline analysis::MachineLimits oneScheduler() {
  analysis::MachineLimits L;
  L.Multiprocessors = L.Schedulers = L.Norm = 1;
  L.ClockMHz = 1000;
  L.Threads = 2048;
  L.Blocks = 32;
  L.Registers = 65536;
  L.SharedBytes = L.L1Bytes = 102400;
  L.L1Latency = L.L2Latency = L.DramLatency = 1;
  L.L2Bytes = 1 << 20;
  L.L2BytesPerCycle = L.DramBytesPerCycle = 1;
  return L;
}

} // namespace reconverge::test

#endif
