//===- rewrite/writer/Cases.h - The ways of a switch ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_CASES_H
#define RECONVERGE_REWRITE_WRITER_CASES_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>
#include <vector>

namespace reconverge::rewrite {

/// The cases of a switch that go the same way.
struct Group {
  std::vector<std::pair<int64_t, const clang::Expr *>> Values;
  bool IsDefault = false;
};

/// None: a range, or a value that is not known.
std::optional<std::vector<Group>> groupsOf(const clang::SwitchStmt &S,
                                           const clang::ASTContext &C);

/// The number of the way that \p Value, of the expression \p Asked, takes: its
/// place in \p Ways, or behind all. \p InOrder: it is the value itself, if there
/// is such a way. \p Written gives a label's text, if it has one.
std::string
textOf(llvm::ArrayRef<const Group *> Ways, bool InOrder,
       const std::string &Value, const clang::Expr &Asked,
       llvm::function_ref<std::optional<std::string>(const clang::Expr &Label)>
           Written);

} // namespace reconverge::rewrite

#endif
