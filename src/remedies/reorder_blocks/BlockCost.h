//===- remedies/reorder_blocks/BlockCost.h - Work of a block ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REORDER_BLOCKS_BLOCKCOST_H
#define RECONVERGE_REMEDIES_REORDER_BLOCKS_BLOCKCOST_H

#include "remedies/common/Refusal.h"

namespace llvm {
class Function;
class Twine;
} // namespace llvm

namespace reconverge::remedies::reorder_blocks {

/// A kernel that says how much thread blocks will do.
struct CostKernel {
  llvm::Function *Kernel;
  /// A thread does that for a block, threads in the order of blocks; else it is
  /// launched as the program's kernel is.
  bool ForWhole;
  unsigned Branches; ///< that it goes by
};

/// Adds to the module of \p Kernel, which is left alone and which nothing ends
/// by exit, a kernel \p Name with its parameters, and
///
///   (..., u32 *costs)                              not ForWhole; costs are zeros
///   (..., u32 *costs, u64 blocks, u32 grid.x, grid.y, grid.z,
///         block.x, block.y, block.z)               ForWhole, of the program's launch
///
/// costs[b] becomes the most instructions that a thread of block b will execute
/// beyond what all execute, estimated from what is known before. It writes
/// nothing else.
PlanOr<CostKernel> makeCostKernel(llvm::Function &Kernel,
                                  const llvm::Twine &Name);

} // namespace reconverge::remedies::reorder_blocks

#endif
