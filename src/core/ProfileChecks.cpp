//===- core/ProfileChecks.cpp - What must hold between counts -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who reads a profile believes nothing (ProfileReader.cpp), and who counts on
// hardware had better not either: a program that breaks the rules of warps may
// be counted as what cannot be (runtime/profile/Collector.cpp).
//
//===----------------------------------------------------------------------===//

#include "core/ProfileChecks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace reconverge {

bool fits(uint64_t Lanes, uint64_t Warps, uint32_t Size) {
  return Lanes <= SaturatingMultiply<uint64_t>(Warps, Size);
}

static bool isNegative(uint64_t N) { return int64_t(N) < 0; }

bool anyNegative(const BlockCounts &C) {
  return any_of(ArrayRef{C.Warps, C.Lanes, C.PartialIdle, C.ExitedIdle},
                isNegative);
}

bool anyNegative(const BranchCounts &C) {
  return isNegative(C.Warps) || isNegative(C.Splits) ||
         any_of(C.LanesTo, isNegative);
}

static uint64_t sumOf(ArrayRef<uint64_t> LanesTo) {
  uint64_t Lanes = 0;
  for (uint64_t N : LanesTo)
    Lanes = SaturatingAdd(Lanes, N);
  return Lanes;
}

StringLiteral faultOf(const BlockCounts &C, uint32_t WarpSize) {
  uint64_t All = SaturatingAdd(C.Lanes, C.PartialIdle, C.ExitedIdle);
  if (!fits(C.Lanes, C.Warps, WarpSize))
    return "block has more lanes than its warps";
  if (!fits(All, C.Warps, WarpSize))
    return "block has more lanes and idle lanes than its warps";
  return "";
}

StringLiteral faultOf(const BranchCounts &C, uint32_t WarpSize) {
  if (C.Splits > C.Warps)
    return "branch split more warps than reached it";
  if (!fits(sumOf(C.LanesTo), C.Warps, WarpSize))
    return "branch has more lanes than its warps";
  return "";
}

StringLiteral faultOf(const BranchCounts &C, const BlockCounts &Block) {
  if (sumOf(C.LanesTo) > Block.Lanes)
    return "more lanes leave a branch than come to it";
  return "";
}

StringLiteral faultOf(const RegroupedCounts &R, size_t Blocks,
                      uint32_t WarpSize) {
  const std::vector<uint64_t> *Rows[] = {&R.Lanes, &R.Warps, &R.InWarp,
                                         &R.InBlock, &R.InGrid};
  size_t Wanted = R.Launches ? Blocks : R.Lanes.size();
  if (!R.Launches && !R.Lanes.empty() && R.Lanes.size() != Blocks)
    return "list is not parallel to the blocks";
  for (const std::vector<uint64_t> *Row : Rows)
    if (Row->size() != Wanted)
      return "list is not parallel to the blocks";
  for (size_t B = 0; B != R.Lanes.size(); ++B)
    for (const std::vector<uint64_t> *Row : drop_begin(Rows))
      if (!fits(R.Lanes[B], (*Row)[B], WarpSize))
        return "block has more lanes than its warps";
  return "";
}

StringLiteral faultOf(const OrderTrials &T, uint64_t Launches) {
  auto Happened = [&](uint64_t Launch, uint64_t Order) {
    return Launch && Launch <= Launches && Order && Order <= T.Orders;
  };
  if (T.Launches > Launches || T.Untried > Launches - T.Launches)
    return "more launches tried than there were";
  if (T.Launches && !T.Orders)
    return "launches tried in no order";
  if (T.Differing > T.Launches ||
      T.FaultyRuns > SaturatingMultiply<uint64_t>(T.Launches, T.Orders))
    return "more findings than runs";
  if ((T.Differing != 0) != (T.Bytes != 0) ||
      (T.Differing != 0) != T.First.has_value())
    return "launches differ in no byte, or bytes in no launch";
  if (T.Faults.size() > T.FaultyRuns || T.Faults.empty() != !T.FaultyRuns)
    return "not as many faults as runs that faulted";
  if (T.First && !Happened(T.First->Launch, T.First->Order))
    return "the first difference is in no run";
  for (const OrderFault &F : T.Faults)
    if (!Happened(F.Launch, F.Order))
      return "a fault is in no run";
  return "";
}

} // namespace reconverge
