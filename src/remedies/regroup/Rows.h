//===- remedies/regroup/Rows.h - Arrays in the order of threads -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REGROUP_ROWS_H
#define RECONVERGE_REMEDIES_REGROUP_ROWS_H

#include "core/Recipe.h"
#include "remedies/common/Refusal.h"

#include "llvm/ADT/SmallVector.h"

namespace llvm {
class Function;
class Instruction;
} // namespace llvm

namespace reconverge::remedies::regroup {

/// Arrays that threads access in rows, side by side, and use again and again.
struct RowsPlan {
  std::vector<RecipeRows> Arrays;
  std::vector<RecipePointer> Elsewhere; ///< as in a recipe
  unsigned Accesses = 0;                ///< to the arrays
  std::vector<uint32_t> Numbers;        ///< of those
};

/// The arrays of \p Kernel that may be copied into the order; a refusal if there
/// is none. Of a kernel that has some, loops get preheaders, and terms of indices
/// are extended.
PlanOr<RowsPlan> planRows(llvm::Function &Kernel);

/// Has the accesses to the arrays that \p Plan names be made to copies. \p F:
/// the kernel, not redirected yet, with two parameters more for each array from
/// number \p First on: RecipeRows::Row0 and Step. Returns what stands for the
/// thread's column of each array.
llvm::SmallVector<llvm::Instruction *, 2>
useRows(llvm::Function &F, const RowsPlan &Plan, unsigned First);

/// Once F is redirected, and which thread runs is known: \p Columns, from
/// useRows(), become what they stand for.
void placeRows(llvm::Function &F, const RowsPlan &Plan, unsigned First,
               llvm::ArrayRef<llvm::Instruction *> Columns);

} // namespace reconverge::remedies::regroup

#endif
