//===- rewrite/writer/Items.h - A kernel's threads as items -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_ITEMS_H
#define RECONVERGE_REWRITE_WRITER_ITEMS_H

#include "rewrite/writer/Paths.h"
#include "rewrite/writer/Shape.h"

#include "clang/AST/Expr.h"

namespace reconverge::rewrite {

struct ItemPlan {
  /// `blockIdx.x * Size + threadIdx.x`, as often as the kernel asks for it.
  std::vector<const clang::Expr *> Numbers;
  const clang::Expr *Size = nullptr; ///< blockDim.x, or a constant
  uint64_t Threads = 0;              ///< of the largest block
  /// Who is not below that has nothing to do.
  const clang::Expr *Count = nullptr;
  clang::QualType CountType; ///< that it is compared as
  /// The condition that says no more than that, which no item asks again.
  const clang::Expr *Implied = nullptr;
  /// At is an if without an else, the last statement: who does not go there has
  /// nothing to do.
  const clang::IfStmt *Last = nullptr;
};

/// The kernel may be collected by its first items on.
Trouble planItems(const Shape &Where, const Order &What, const PathPlan &Path,
                  const Text &T, ItemPlan &Into);

} // namespace reconverge::rewrite

#endif
