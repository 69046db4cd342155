//===- core/ProfileChecks.h - What must hold between counts -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_PROFILECHECKS_H
#define RECONVERGE_CORE_PROFILECHECKS_H

#include "core/Profile.h"

#include "llvm/ADT/StringRef.h"

namespace reconverge {

/// Whether \p Lanes lanes fit into \p Warps warps of \p Size.
bool fits(uint64_t Lanes, uint64_t Warps, uint32_t Size);

/// Whether some count of a launch is what a difference below 0 wraps round to:
/// no launch counts so much that 63 bits do not hold it.
bool anyNegative(const BlockCounts &C);
bool anyNegative(const BranchCounts &C);

/// The fault of these counts in words, or empty.
llvm::StringLiteral faultOf(const BlockCounts &C, uint32_t WarpSize);
llvm::StringLiteral faultOf(const BranchCounts &C, uint32_t WarpSize);

/// The same of a branch and the block that it ends.
llvm::StringLiteral faultOf(const BranchCounts &C, const BlockCounts &Block);

/// The same of a kernel with \p Blocks blocks.
llvm::StringLiteral faultOf(const RegroupedCounts &R, size_t Blocks,
                            uint32_t WarpSize);

/// The same of runs in other orders, of a kernel with \p Launches launches.
llvm::StringLiteral faultOf(const OrderTrials &T, uint64_t Launches);

} // namespace reconverge

#endif
