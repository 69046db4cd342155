//===- frontend/ptx/Lexer.h - Tokens of inline PTX --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_PTX_LEXER_H
#define RECONVERGE_FRONTEND_PTX_LEXER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reconverge::frontend::ptx {

struct Token {
  enum Kind : uint8_t {
    Word,      ///< identifier with its dotted parts: mad.lo.u32, %tid.x, .reg
    Argument,  ///< $3: Value
    Integer,   ///< Value
    FloatBits, ///< 0f..., 0d..., 1.5: Value holds the bits, Width of them
    Punct,     ///< Text has one character
    End,
  };
  Kind K = End;
  std::string Text;
  uint64_t Value = 0;
  unsigned Width = 0;

  bool is(char C) const { return K == Punct && Text[0] == C; }
};

/// The last token is End.
llvm::Expected<std::vector<Token>> tokenize(llvm::StringRef Text);

} // namespace reconverge::frontend::ptx

#endif
