//===- rewrite/writer/Text.h - The user's file ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_TEXT_H
#define RECONVERGE_REWRITE_WRITER_TEXT_H

#include "rewrite/Refusals.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Stmt.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <string>
#include <vector>

namespace reconverge::rewrite {

/// Why nothing is written, and where.
struct Refused {
  const remedies::RefusalKind *Kind;
  clang::SourceLocation At;
  std::string Detail = {};
};
/// None: all is well.
using Trouble = std::optional<Refused>;

/// A change of the main file: bytes to take away, and what to put there.
struct Edit {
  unsigned Offset, Length;
  std::string Text;
  bool operator==(const Edit &) const = default;
};

/// What the preprocessor has seen of the main file.
struct Directives {
  std::vector<unsigned> Conditionals; ///< offsets of #if, #else, #endif ...
  std::vector<unsigned> Includes;     ///< offsets of those outside of any #if
  /// The library's headers that have been read, by whomever.
  bool HasRemap = false, HasCollect = false;
};

/// The main file as bytes. Ranges are of tokens, as in the AST.
class Text {
public:
  /// For changes of \p Kernel.
  Text(clang::ASTContext &C, clang::Preprocessor &PP,
       const clang::FunctionDecl &Kernel);

  /// Bytes of the main file from the first to behind the last token; none where
  /// macros or other files have them.
  struct Span {
    unsigned Begin, End;
  };
  std::optional<Span> spanOf(clang::SourceRange R) const;
  std::string textOf(Span S) const { return Bytes.slice(S.Begin, S.End).str(); }
  llvm::StringRef bytes() const { return Bytes; }

  unsigned lineStart(unsigned Offset) const;
  unsigned lineEnd(unsigned Offset) const; ///< behind its \n
  /// Blanks and tabs that the line begins with.
  std::string indentAt(unsigned Offset) const;
  /// Nothing but blanks stands before it on its line.
  bool beginsLine(unsigned Offset) const;

  /// \p Base, or with a number behind it, that is no word of the kernel and of no
  /// macro's text. It is taken from then on.
  std::string freshName(llvm::StringRef Base);
  bool hasWord(llvm::StringRef Word) const { return Words.contains(Word); }

  clang::ASTContext &Context;
  const clang::SourceManager &SM;
  const clang::LangOptions &Language;

private:
  clang::Preprocessor &PP;
  llvm::StringRef Bytes;
  llvm::StringSet<> Words;
};

/// How lines end.
llvm::StringRef newlineOf(llvm::StringRef Bytes);

/// \p R as it stands in \p T, with \p Edits of it made; those may stand in any
/// order, and must not overlap. Those outside of \p R are left out.
std::string edited(const Text &T, Text::Span R, std::vector<Edit> Edits);

} // namespace reconverge::rewrite

#endif
