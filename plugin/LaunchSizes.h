//===- plugin/LaunchSizes.h - Launches as nvcc reads them -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_PLUGIN_LAUNCHSIZES_H
#define RECONVERGE_PLUGIN_LAUNCHSIZES_H

#include "PutBefore.h"

#include "llvm/ADT/SmallVector.h"

namespace reconverge::plugin {

/// Of `kernel<<<grid, {32, 4}>>>()` makes `kernel<<<grid, dim3{32, 4}>>>()`:
/// clang takes expressions alone there. And nvcc takes `<< <` and `>> >`, as
/// editors that do not know CUDA part them.
class LaunchSizes {
public:
  explicit LaunchSizes(clang::Preprocessor &PP) : PP(PP) {}

  /// Makes of a part of a bracket the whole. Before see().
  void join(clang::Token &Tok) {
    using namespace clang;
    const bool IsName = std::exchange(AfterOperator, Tok.is(tok::kw_operator));
    if (Tok.is(tok::lessless) && !IsName)
      join(Tok, '<', tok::lesslessless);
    else if (Tok.is(tok::greatergreater) && !Depths.empty() && !Depths.back())
      join(Tok, '>', tok::greatergreatergreater);
  }

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
  /// If \p Last is next in the file, takes it from there and into \p Tok.
  void join(clang::Token &Tok, char Last, clang::tok::TokenKind Whole) {
    auto *From = static_cast<clang::Lexer *>(PP.getCurrentFileLexer());
    const clang::SourceManager &SM = PP.getSourceManager();
    if (!From || !Tok.getLocation().isFileID() ||
        From->getFileID() != SM.getFileID(Tok.getLocation()))
      return;
    const unsigned End = SM.getFileOffset(Tok.getLocation()) + Tok.getLength();
    const llvm::StringRef Rest = From->getBuffer().substr(End);
    const size_t Space = Rest.find_first_not_of(" \t\r\n");
    if (End != From->getCurrentBufferOffset() || !Space || Space == Rest.npos ||
        Rest[Space] != Last ||
        Rest.substr(Space + 1).starts_with(llvm::StringRef(&Last, 1)))
      return;
    From->seek(End + unsigned(Space) + 1, /*IsAtStartOfLine=*/false);
    const bool IsKept = isKept(Tok, PP);
    Tok.setKind(Whole);
    Tok.setLength(Tok.getLength() + unsigned(Space) + 1);
    if (IsKept)
      PP.ReplacePreviousCachedToken(Tok);
  }

  llvm::SmallVector<unsigned, 2> Depths; ///< one for each launch around
  bool AtStart = false;                  ///< of one of its arguments
  bool AfterOperator = false;            ///< as in `operator<< <T>`
  clang::SourceLocation Last;
  clang::Preprocessor &PP;
};

} // namespace reconverge::plugin

#endif
