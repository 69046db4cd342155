//===- plugin/PutBefore.h - A word that the source lacks --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_PLUGIN_PUTBEFORE_H
#define RECONVERGE_PLUGIN_PUTBEFORE_H

#include "clang/Lex/Preprocessor.h"

namespace reconverge::plugin {

/// Whether the parser, which tries a reading, keeps a copy of \p Tok, which it
/// is about to get, to go back to.
inline bool isKept(const clang::Token &Tok, clang::Preprocessor &PP) {
  return PP.isBacktrackEnabled() && PP.IsPreviousCachedToken(Tok) &&
         PP.getLastCachedTokenLocation() == Tok.getLocation();
}

/// Puts \p Word before \p Tok, which the parser is about to get: the word goes
/// into it, and what it was comes once more. Where the parser tries a reading,
/// it keeps tokens to go back to: what it kept of this one is replaced as well.
/// It tells kept tokens apart by their places, so \p At is that of the token
/// before.
inline void putBefore(clang::Token &Tok, clang::tok::TokenKind Kind,
                      llvm::StringRef Word, clang::SourceLocation At,
                      clang::Preprocessor &PP) {
  const bool IsKept = isKept(Tok, PP);
  auto Again = std::make_unique<clang::Token[]>(1);
  Again[0] = Tok;
  Tok.setLocation(At);
  Tok.setKind(Kind);
  Tok.setIdentifierInfo(PP.getIdentifierInfo(Word));
  if (IsKept)
    PP.ReplacePreviousCachedToken(Tok);
  PP.EnterTokenStream(std::move(Again), 1, /*DisableMacroExpansion=*/true,
                      /*IsReinject=*/true);
}

} // namespace reconverge::plugin

#endif
