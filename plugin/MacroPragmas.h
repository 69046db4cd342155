//===- plugin/MacroPragmas.h - Pragmas in macros ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_PLUGIN_MACROPRAGMAS_H
#define RECONVERGE_PLUGIN_MACROPRAGMAS_H

#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"

#include <string>

namespace reconverge::plugin {

/// nvcc's compilers read what its preprocessor has written, so a macro may be
/// defined as `#pragma unroll`. To clang that is a stray `#`: it gets
/// `_Pragma("unroll")` instead.
class MacroPragmas : public clang::PPCallbacks {
public:
  explicit MacroPragmas(clang::Preprocessor &PP) : PP(PP) {}

  void MacroDefined(const clang::Token &Name,
                    const clang::MacroDirective *Definition) override {
    using namespace clang;
    const MacroInfo &Old = *Definition->getMacroInfo();
    if (Old.isFunctionLike() || Old.getNumTokens() < 3 ||
        Old.getReplacementToken(0).isNot(tok::hash) ||
        PP.getSpelling(Old.getReplacementToken(1)) != "pragma")
      return;
    std::string Words;
    for (const Token &Word : Old.tokens().drop_front(2))
      for (const char C : PP.getSpelling(Word) + ' ')
        (Words += C == '"' || C == '\\' ? "\\" : "") += C;
    MacroInfo *New = PP.AllocateMacroInfo(Old.getDefinitionLoc());
    New->setDefinitionEndLoc(Old.getDefinitionEndLoc());
    Token Tokens[4];
    for (Token &T : Tokens) {
      T.startToken();
      T.setLocation(Old.getReplacementToken(0).getLocation());
      T.setLength(1);
    }
    Tokens[0].setKind(tok::identifier);
    Tokens[0].setIdentifierInfo(PP.getIdentifierInfo("_Pragma"));
    Tokens[1].setKind(tok::l_paren);
    Tokens[2].setKind(tok::string_literal);
    PP.CreateString('"' + Words + '"', Tokens[2]);
    Tokens[3].setKind(tok::r_paren);
    New->setTokens(Tokens, PP.getPreprocessorAllocator());
    PP.appendDefMacroDirective(Name.getIdentifierInfo(), New);
  }

private:
  clang::Preprocessor &PP;
};

} // namespace reconverge::plugin

#endif
