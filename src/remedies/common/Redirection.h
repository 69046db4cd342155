//===- remedies/common/Redirection.h - Threads by an index ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reference redirection: the thread at place p of a launch is item index[p] of
// the launch that the program made. An index is a scratch of four bytes a unit.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REMEDIES_COMMON_REDIRECTION_H
#define RECONVERGE_REMEDIES_COMMON_REDIRECTION_H

#include "core/Recipe.h"
#include "remedies/common/Items.h"

namespace reconverge::remedies {

/// An extent that is not the program's.
inline RecipeStep::Extent extentOf(LaunchAmount A) {
  return {/*OfProgram=*/false, A};
}
inline RecipeStep::Extent constantExtent(uint64_t Number) {
  return extentOf({LaunchAmount::One, Number, 1});
}

/// \p Kernel with a place for each thread in a grid of one dimension, which
/// may have more threads than there are items. It is replaced by one of the same
/// name, whose parameters redirectedArguments() lists. \p Block: threads of the
/// blocks that are launched; its launch bounds become that, if it has some.
llvm::Function &redirectThreads(llvm::Function &Kernel, const ItemsPlan &Plan,
                                unsigned Block);

/// \p Kernel as a loop over blocks, in a grid of any size: parameters as of
/// placeArguments(), the units being blocks. Threads have their places in the blocks
/// that the program would launch.
llvm::Function &loopOverBlocks(llvm::Function &Kernel, const BlocksPlan &Plan);

/// The same of whole blocks, in a grid of as many.
llvm::Function &redirectBlocks(llvm::Function &Kernel, const BlocksPlan &Plan);

/// The same, the thread at place p being the first one of block p: without an
/// index.
llvm::Function &redirectToFirstThreads(llvm::Function &Kernel,
                                       const ItemsPlan &Plan, unsigned Block);

/// What redirectToFirstThreads() adds: how many \p Units there are, and six
/// sizes.
std::vector<RecipeArgument> placeArguments(LaunchAmount Units);

/// What the others are launched with, of which the program knows the first
/// \p OfProgram: the index, how many units there are, and six sizes.
std::vector<RecipeArgument> redirectedArguments(unsigned OfProgram,
                                                RecipeArgument Index,
                                                LaunchAmount Units);

/// \p Wanted, or fewer threads a block if the registers of \p Kernel's launch
/// bounds allow no more.
unsigned blockWithin(const llvm::Function &Kernel, unsigned Wanted);

} // namespace reconverge::remedies

#endif
