//===- rewrite/writer/Shape.h - A round's place in a kernel -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_SHAPE_H
#define RECONVERGE_REWRITE_WRITER_SHAPE_H

#include "rewrite/Order.h"
#include "rewrite/writer/Text.h"

#include "clang/AST/Decl.h"

#include <variant>

namespace reconverge::rewrite {

/// The statements around a round.
struct Shape {
  const clang::FunctionDecl *Kernel = nullptr;
  const clang::Stmt *Loop = nullptr; ///< right in the kernel's body, around it
  /// The loop over the grid that the kernel ends with, whose trips become items;
  /// its body stands for the kernel's.
  const clang::ForStmt *Grid = nullptr;
  /// Statements before the round, in the kernel's body and then the loop's,
  /// without Region.
  std::vector<const clang::Stmt *> Before;
  /// From the first way out of the kernel to the branch. The first part of it is
  /// in the block that Before is of, the rest, from InWrapper on, in Wrapper.
  std::vector<const clang::Stmt *> Region;
  /// An if around the rest of the kernel, or null.
  const clang::IfStmt *Wrapper = nullptr;
  size_t InWrapper = 0;
  const clang::Stmt *At = nullptr; ///< the statement with the branch
  /// That, and all that a thread does afterwards, to the end of the kernel or of
  /// the loop's body.
  std::vector<const clang::Stmt *> After;
  /// Behind the loop.
  std::vector<const clang::Stmt *> Outside;

  bool hasExits() const;
  /// What an item is all of.
  const clang::CompoundStmt &body() const;
};

/// The condition of `if (...) return;`, or continue; null: \p S is something else.
const clang::Expr *exitCondition(const clang::Stmt &S);

/// The ways out of the kernel in \p S.
std::vector<const clang::ReturnStmt *> returnsIn(const clang::Stmt &S);

/// What ends a trip of the loop \p S or of the loop that it is right in.
std::vector<const clang::ContinueStmt *> continuesIn(const clang::Stmt &S);

/// What \p Kernel has of the library's rounds, by whomever; or null.
const clang::VarDecl *libraryIn(const clang::FunctionDecl &Kernel);

/// Whether \p P is in \p R, by lines and columns of the file where R is.
bool isIn(const Place &P, clang::SourceRange R, const clang::SourceManager &SM);

Trouble findShape(const clang::FunctionDecl &Kernel, const Order &What,
                  const Text &T, Shape &Into);

} // namespace reconverge::rewrite

#endif
