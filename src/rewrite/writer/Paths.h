//===- rewrite/writer/Paths.h - A branch's ways, as a number ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_PATHS_H
#define RECONVERGE_REWRITE_WRITER_PATHS_H

#include "rewrite/writer/Shape.h"

#include "clang/AST/Expr.h"

namespace reconverge::rewrite {

/// An expression of the kernel that gets a name, and is computed before the
/// round.
struct Hoist {
  std::string Name, Type;
  const clang::Expr *Of;
};

struct PathPlan {
  std::string Text;    ///< of int or bool; with two leaves, true is 1
  unsigned Leaves = 0; ///< 2 to 31
  /// The kernel's own condition, which asks for the path from then on; null: all
  /// stays as it is.
  const clang::Expr *Condition = nullptr;
  /// How it asks: "" or " < 3".
  std::string Question;
  /// The leaves behind its first side, and their text alone.
  unsigned Ahead = 0;
  std::string Then;
  std::vector<Hoist> Hoists;
};

Trouble planPath(const Shape &Where, const Order &What, Text &T,
                 PathPlan &Into);

} // namespace reconverge::rewrite

#endif
