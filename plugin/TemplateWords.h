//===- plugin/TemplateWords.h - `template` where it was left out -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_PLUGIN_TEMPLATEWORDS_H
#define RECONVERGE_PLUGIN_TEMPLATEWORDS_H

#include "clang/Lex/Token.h"
#include "llvm/ADT/SmallVector.h"

namespace clang {
class ClassTemplateDecl;
class NamedDecl;
class Sema;
} // namespace clang

namespace reconverge::plugin {

/// Puts in the word `template` before a member function template of a dependent
/// class, where the source goes without.
class TemplateWords {
public:
  explicit TemplateWords(clang::Sema &S) : S(S) {}
  /// Sees each token once, on its way to the parser, which owns it.
  void see(clang::Token &Tok);

private:
  bool isWanted(const clang::Token &Tok) const;
  const clang::ClassTemplateDecl *classBefore(size_t End) const;
  const clang::NamedDecl *find(const clang::Token &Name) const;

  /// Since the last `;`, `{` or `}`.
  llvm::SmallVector<clang::Token> Before;
  clang::Sema &S;
};

} // namespace reconverge::plugin

#endif
