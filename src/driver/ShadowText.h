//===- driver/ShadowText.h - Source without what confuses -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_SHADOWTEXT_H
#define RECONVERGE_DRIVER_SHADOWTEXT_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace reconverge::driver {

/// \p Text with comments and line continuations blank and 'x' over the contents
/// of string and character literals: of the same length, byte for byte.
std::string shadowOf(llvm::StringRef Text);

/// Letters, digits and the underscore.
bool isWordChar(char C);

/// Reads a shadow by its brackets, words and operators. Offsets are from its
/// beginning; parts are of it.
class ShadowText {
public:
  explicit ShadowText(llvm::StringRef Shadow) : Text(Shadow) {}

  size_t offsetOf(llvm::StringRef Part) const {
    return Part.data() - Text.data();
  }

  // Words.
  size_t skipSpace(size_t At) const;
  llvm::StringRef wordAt(size_t At) const;
  /// The word that ends just before \p At, spaces between.
  llvm::StringRef wordBefore(size_t At) const;

  // Operators.
  bool isLogical(size_t At) const;
  /// An operator with an operand on its left: no sign, and no dereference.
  bool isBinaryOperator(size_t At) const;
  /// Whether the `=` at \p I is part of a comparison.
  static bool compares(llvm::StringRef In, size_t I);
  /// Whether \p Expression has an `=` outside brackets.
  static bool assigns(llvm::StringRef Expression);

  // Brackets.
  /// The offset behind the bracket that closes the one at \p At.
  size_t behindBracket(size_t At) const;
  /// The contents of the parentheses that follow \p At.
  llvm::StringRef inParentheses(size_t At) const;
  /// The middle of `a; b; c`; the whole of a range-for.
  llvm::StringRef middleClause(llvm::StringRef Clauses) const;
  /// Of the operands in \p Part, those of a condition that are between two
  /// operators: without brackets of which only one half is there, and without
  /// a pair around all.
  llvm::StringRef balanced(llvm::StringRef Part) const;
  /// From \p At to the end of the expression, or to its `?`.
  llvm::StringRef upToQuestion(size_t At) const;

protected:
  llvm::StringRef Text;

private:
  static size_t findAtDepth(llvm::StringRef In, char Wanted);
};

} // namespace reconverge::driver

#endif
