//===- unittests/remedies/LaneByLane.h - Votes without a warp --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_REMEDIES_LANEBYLANE_H
#define RECONVERGE_UNITTESTS_REMEDIES_LANEBYLANE_H

#include "llvm/IR/Module.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reconverge::remedies {

/// Runs kernel `k` of \p Device, as RandomKernel.h describes it, as scalar code
/// of the host: a block's threads by turns that \p Seed decides, each on a stack
/// of its own, until it comes to a barrier or a vote by a mask. No two are ever
/// together, so that a vote hangs on its mask alone. Returns what is wrong: lanes
/// that name others which never come to the same vote with the same mask.
std::string runLaneByLane(const llvm::Module &Device, uint64_t Seed,
                          unsigned Blocks, unsigned Threads,
                          const std::vector<uint32_t> &In,
                          std::vector<uint32_t> &Out,
                          std::vector<uint32_t> &Sums, uint32_t N);

} // namespace reconverge::remedies

#endif
