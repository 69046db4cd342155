//===- unittests/remedies/LaneByLane.h - Votes without a warp --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_REMEDIES_LANEBYLANE_H
#define RECONVERGE_UNITTESTS_REMEDIES_LANEBYLANE_H

#include "llvm/IR/Module.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace reconverge::remedies {

/// Functions of the host that the code calls besides, by name. They run as the
/// thread that calls.
using HostFunctions = std::map<std::string, void *>;

/// Runs kernel `k` of \p Device, as RandomKernel.h describes it, as scalar code
/// of the host: a block's threads by turns that \p Seed decides, each on a stack
/// of its own, until it comes to a barrier, a vote by a mask, or waitTogether.
/// No two are ever together, so that a vote hangs on its mask alone. Returns
/// what is wrong: lanes that name others which never come to the same vote with
/// the same mask.
std::string runLaneByLane(const llvm::Module &Device, uint64_t Seed,
                          unsigned Blocks, unsigned Threads,
                          const std::vector<uint32_t> &In,
                          std::vector<uint32_t> &Out,
                          std::vector<uint32_t> &Sums, uint32_t N,
                          const HostFunctions &Others = {});

/// Of the thread that runs: its number in the grid.
unsigned runningThread();
/// The thread that runs waits until all of its warp wait, or have ended. Then
/// those go on whose \p Key is the least, and of them all, by their numbers in
/// the grid, \p Decide is called once.
void waitTogether(std::vector<uint32_t> Key,
                  std::function<void(llvm::ArrayRef<unsigned> Threads)> Decide);

} // namespace reconverge::remedies

#endif
