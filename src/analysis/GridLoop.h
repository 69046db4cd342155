//===- analysis/GridLoop.h - One loop over the grid -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_GRIDLOOP_H
#define RECONVERGE_ANALYSIS_GRIDLOOP_H

#include "llvm/IR/InstrTypes.h"

#include <optional>

namespace llvm {
class BasicBlock;
class Function;
class PHINode;
class Value;
} // namespace llvm

namespace reconverge::analysis {

/// What all work of a kernel is in:
///
///   for (i = blockIdx.x * blockDim.x + threadIdx.x; i < bound;
///        i += gridDim.x * blockDim.x)
///
/// In a grid of one dimension each i from 0 to bound - 1 has one iteration, and
/// an iteration asks for nothing of its thread but i. So each may as well be a
/// thread of its own, as far as none needs what another of its thread leaves in
/// memory: that is not looked at here.
struct GridLoop {
  /// The one block outside from which the loop is come to.
  llvm::BasicBlock *Before = nullptr;
  llvm::BasicBlock *Header = nullptr, *Latch = nullptr;
  llvm::BasicBlock *Exiting = nullptr; ///< the header or the latch
  llvm::BasicBlock *Exit = nullptr;    ///< from there the kernel only returns
  llvm::PHINode *Index = nullptr;      ///< i
  llvm::Value *Start = nullptr, *Bound = nullptr; ///< both of Index's type
  llvm::CmpInst::Predicate InBounds = llvm::CmpInst::ICMP_SLT; ///< or ULT
};

/// That of \p Kernel; none: it is another kind of kernel.
std::optional<GridLoop> findGridLoop(llvm::Function &Kernel);

} // namespace reconverge::analysis

#endif
