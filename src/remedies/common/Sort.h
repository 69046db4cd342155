//===- remedies/common/Sort.h - An order by key, as steps -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that sort on the device (Sort.cu), and the steps of a recipe that
// launch them. What is sorted are the numbers of the threads of a launch, or of
// its blocks.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REMEDIES_COMMON_SORT_H
#define RECONVERGE_REMEDIES_COMMON_SORT_H

#include "core/Recipe.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies::sorting {

/// As Sort.cu has them: threads of a block, keys of a digit, items of a block.
inline constexpr uint64_t Threads = 256, Digits = 256, Tile = 16 * Threads;
inline constexpr unsigned DigitBits = 8;

/// Two passes at most: more bits are not worth a third.
inline constexpr unsigned MostBits = 2 * DigitBits;

/// Scratch, by number, of items of which there are \p Of. What is kept of an
/// order lies where addPasses() says.
struct Scratch {
  LaunchAmount::Base Of = LaunchAmount::Threads;
  uint32_t Keys = 0;        ///< four bytes an item
  uint32_t Ids[2] = {0, 0}; ///< the same: between passes, and the order
  uint32_t Sorted = 0;      ///< the same, for keys between passes
  uint32_t Counts = 0;      ///< countsOf()
  uint32_t Totals = 0;      ///< totals()
};

/// Bytes for Scratch::Counts, in launches of \p Least items or more.
LaunchAmount countsOf(LaunchAmount::Base Of, uint64_t Least);
/// Bytes for Scratch::Totals.
LaunchAmount totals();

/// Adds those of Sort.cu's kernels that \p Names has to the module of
/// \p Kernel, for the same target.
void link(llvm::Function &Kernel, llvm::ArrayRef<llvm::StringRef> Names);
/// Kernels that the steps of addPasses() launch.
inline constexpr llvm::StringRef Passes[] = {"count", "scan", "scatter"};

/// A launch of kernel \p Name of Sort.cu with so many blocks, which link() was
/// asked for.
RecipeStep step(const llvm::Function &Kernel, llvm::StringRef Name,
                RecipeStep::Extent Grid, std::vector<RecipeArgument> Arguments);

/// Adds steps that sort by the lowest \p Bits bits of the keys, 1 to MostBits,
/// stable. Returns the number of the scratch that has the order.
uint32_t addPasses(Recipe &R, const llvm::Function &Kernel, const Scratch &On,
                   unsigned Bits);

/// The same within windows of Tile items, by one step, which launches Within.
/// Ids[1] and what lies behind is not needed.
uint32_t addWithin(Recipe &R, const llvm::Function &Kernel, const Scratch &On,
                   unsigned Bits);
inline constexpr llvm::StringRef Within = "within";

/// Of arrays (core/Recipe.h, RecipeRows); the first and last are launched with a
/// block for 32 threads each.
inline constexpr llvm::StringRef Rows[] = {"take_rows", "invert", "bring_rows"};

/// Arguments of steps.
inline RecipeArgument scratch(uint32_t Number) {
  return {RecipeArgument::Scratch, Number};
}
inline RecipeArgument number(uint64_t Value) {
  return {RecipeArgument::Amount, 0, {LaunchAmount::One, Value, 1}};
}

} // namespace reconverge::remedies::sorting

#endif
