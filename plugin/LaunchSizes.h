//===- plugin/LaunchSizes.h - Sizes of a launch in braces -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_PLUGIN_LAUNCHSIZES_H
#define RECONVERGE_PLUGIN_LAUNCHSIZES_H

#include "PutBefore.h"

#include "llvm/ADT/SmallVector.h"

namespace reconverge::plugin {

/// Of `kernel<<<grid, {32, 4}>>>()` makes `kernel<<<grid, dim3{32, 4}>>>()`:
/// clang takes expressions alone there.
class LaunchSizes {
public:
  explicit LaunchSizes(clang::Preprocessor &PP) : PP(PP) {}

  /// Sees each token once, on its way to the parser, which owns it.
  void see(clang::Token &Tok) {
    using namespace clang;
    const SourceLocation Before = Last;
    Last = Tok.getLocation();
    if (Tok.is(tok::lesslessless)) {
      Depths.push_back(0);
      AtStart = true;
      return;
    }
    if (Depths.empty())
      return;
    const bool IsFirst = std::exchange(AtStart, false);
    unsigned &Depth = Depths.back(); ///< of brackets inside the launch's
    if (Tok.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
      ++Depth;
      if (IsFirst && Tok.is(tok::l_brace))
        putBefore(Tok, tok::identifier, "dim3", Before, PP);
    } else if (Tok.isOneOf(tok::r_paren, tok::r_square, tok::r_brace)) {
      Depth -= Depth != 0;
    } else if (!Depth && Tok.is(tok::comma)) {
      AtStart = true;
    } else if (!Depth && Tok.isOneOf(tok::greatergreatergreater, tok::semi)) {
      Depths.pop_back();
    }
  }

private:
  llvm::SmallVector<unsigned, 2> Depths; ///< one for each launch around
  bool AtStart = false;                  ///< of one of its arguments
  clang::SourceLocation Last;
  clang::Preprocessor &PP;
};

} // namespace reconverge::plugin

#endif
