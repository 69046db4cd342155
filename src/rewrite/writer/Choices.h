//===- rewrite/writer/Choices.h - Branches in the text ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_CHOICES_H
#define RECONVERGE_REWRITE_WRITER_CHOICES_H

#include "rewrite/Order.h"

#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "clang/Basic/SourceManager.h"

namespace reconverge::rewrite {

/// Where a choice is made: from its first word to the end of its condition.
/// Invalid: \p S is none.
clang::SourceRange headOf(const clang::Stmt &S);

/// The outermost choice with \p P in its head, in \p S where it is come to.
const clang::Stmt *branchIn(const clang::Stmt *S, const Place &P,
                            const clang::SourceManager &SM);

/// Whether \p P is in the head of a loop of \p S.
bool isTrips(const clang::Stmt *S, const Place &P,
             const clang::SourceManager &SM);

/// The first `if` or `?:` of a function's body, which nothing but loops comes
/// before; or null.
const clang::Stmt *firstChoice(const clang::Stmt *Body);

/// The call at \p P, where it is always come to in \p S.
const clang::CallExpr *callIn(const clang::Stmt *S, const Place &P,
                              const clang::SourceManager &SM);

/// The statement of a function's body, or of a block right in it, that \p P is in
/// and that is always come to.
const clang::Stmt *statementAt(const clang::Stmt *Body, const Place &P,
                               const clang::SourceManager &SM,
                               llvm::ArrayRef<const clang::Stmt *> &Rest);

/// Nobody who comes to \p S comes to what follows it.
bool alwaysLeaves(const clang::Stmt *S);

} // namespace reconverge::rewrite

#endif
