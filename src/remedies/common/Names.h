//===- remedies/common/Names.h - What remedies are called -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_NAMES_H
#define RECONVERGE_REMEDIES_COMMON_NAMES_H

#include "llvm/ADT/StringRef.h"

namespace reconverge::remedies {

/// An identifier as users write it: reorder-blocks.
template <size_t Size> struct Written {
  char Text[Size];
  constexpr explicit Written(const char (&Identifier)[Size]) : Text() {
    for (size_t I = 0; I != Size; ++I)
      Text[I] = Identifier[I] == '_' ? '-' : Identifier[I];
  }
};

#define REMEDY(NAME, DOES, PARAMETERS, STATEMENTS, WORDS)                      \
  namespace NAME {                                                             \
  inline constexpr Written NameText(#NAME);                                    \
  inline constexpr llvm::StringLiteral Name =                                  \
      llvm::StringLiteral::withInnerNUL(NameText.Text);                        \
  }
#include "remedies/Remedies.def"
#undef REMEDY

} // namespace reconverge::remedies

#endif
