//===- rewrite/writer/Early.h - What comes before a branch ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_EARLY_H
#define RECONVERGE_REWRITE_WRITER_EARLY_H

#include "rewrite/writer/Items.h"
#include "rewrite/writer/Text.h"

namespace reconverge::rewrite {

/// A statement before the branch, and what it is written again for.
struct Early {
  const clang::Stmt *S;
  bool InWrapper;       ///< or in a loop over the grid: one step further in
  Text::Span Lead;      ///< the lines above it, from the statement before on
  bool IsOnLine = true; ///< it has lines of its own, which go with it
  bool IsAsked = false; ///< a way out, on the path
  std::vector<const clang::Decl *> ForPath = {}, ForWork = {}; ///< of its own
};

/// Those of \p Where, in order.
std::vector<Early> planEarly(const Shape &Where, const PathPlan &Path,
                             const ItemPlan &Items, const Text &T);

/// \p S with those of its variables alone that are \p Needed, to its semicolon.
std::string declared(const clang::DeclStmt &S,
                     llvm::ArrayRef<const clang::Decl *> Needed, const Text &T,
                     const std::vector<Edit> &Edits);

} // namespace reconverge::rewrite

#endif
