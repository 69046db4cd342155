//===- rewrite/writer/State.h - What moves, in the user's words -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_STATE_H
#define RECONVERGE_REWRITE_WRITER_STATE_H

#include "rewrite/writer/Paths.h"
#include "rewrite/writer/Shape.h"

namespace reconverge::rewrite {

struct State {
  /// Exchanged in the round: declared before the region, or in it; these are
  /// declared in front of the function object then, without their values.
  std::vector<const clang::VarDecl *> Exchange, Hoisted;
  /// Get the value that their initialiser now has.
  std::vector<const clang::VarDecl *> Again;
  /// Declared once more behind the round: of the region, in its order.
  std::vector<const clang::DeclStmt *> Redeclare;
  /// Of the region, what is declared in front of the function object instead:
  /// variables without a value as yet, types, shared memory, constants.
  std::vector<const clang::Decl *> Kept;
  bool UsesThread = false; ///< threadIdx is read behind the round
  unsigned Dimensions = 1; ///< of threadIdx that the kernel reads

  bool moves(const clang::VarDecl *V) const;
};

/// May have the region of \p Where begin earlier: what is declared once more
/// belongs to it.
Trouble planState(Shape &Where, const Order &What, const PathPlan &Path,
                  const Text &T, State &Into);

/// Whether \p S has the name of \p V in it, but for the places that ask for the
/// path instead.
bool uses(const clang::Stmt *S, const clang::VarDecl &V, const PathPlan &Path);

/// The kernel's condition stays as it is: all that it asks for is computed again
/// behind the round anyway, and from the condition, unlike from a path's number,
/// compilers learn what holds on its sides.
bool staysAsked(const Shape &Where, const PathPlan &Path, const State &Moves);

} // namespace reconverge::rewrite

#endif
