//===- remedies/common/RequestFormat.h - Pragmas in device code -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How plugin/Pragmas.cpp, which is in clang, hands `#pragma reconverge` to
// settleRequests(), which sees the device code that clang made: a constant
// string with a line for each pragma,
//
//   line first last subject remedy choice file
//
// the line of the pragma, the first and the last line of the `if (...)` or
// `switch (...)` after it (of a loop, twice its first line; of a kernel, of what
// is before its body), which of these it is ("branch", "loop", "kernel"), the
// remedy, "on", "on:<parameters>" or "off", and the absolute path of the file.
// Parameters are "key=value;key=value".
//
// All of it is in this header, for our plugin for clang links nothing of ours.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REMEDIES_COMMON_REQUESTFORMAT_H
#define RECONVERGE_REMEDIES_COMMON_REQUESTFORMAT_H

#include "remedies/common/Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace reconverge::remedies {

inline constexpr const char *PragmaVariable = "__reconverge_pragmas";

/// What a request is about; a loop's is about how often it goes round.
enum class Subject { Branch, Loop, Kernel };
inline constexpr llvm::StringLiteral SubjectNames[] = {"branch", "loop",
                                                       "kernel"};
inline llvm::StringRef nameOf(Subject S) { return SubjectNames[int(S)]; }

/// What the source may say of a remedy.
struct RequestWords {
  llvm::StringLiteral Remedy;
  llvm::StringLiteral Statements; ///< before which: "if, switch, kernel"
  llvm::StringLiteral Words; ///< "key(value, value)", with spaces between them

  bool mayBeAsked() const { return Statements != "none"; }
  bool isOf(Subject S) const {
    return Statements.contains(S == Subject::Branch ? "if"
                               : S == Subject::Loop ? "for"
                                                    : "kernel");
  }

  /// The values that \p Key may have, "a, b, c"; none: there is no such key.
  std::optional<llvm::StringRef> valuesOf(llvm::StringRef Key) const {
    llvm::StringRef Rest = Words;
    while (!Rest.empty()) {
      auto [Name, Others] = Rest.split('(');
      auto [Values, Behind] = Others.split(')');
      if (Name.trim() == Key)
        return Values;
      Rest = Behind;
    }
    return std::nullopt;
  }
};

/// Whether \p Value is one of \p Values, which may be "1 to 32".
inline bool isOneOf(llvm::StringRef Value, llvm::StringRef Values) {
  auto [Least, Most] = Values.split(" to ");
  unsigned From = 0, To = 0, Number = 0;
  if (!Least.getAsInteger(10, From) && !Most.getAsInteger(10, To))
    return !Value.getAsInteger(10, Number) && From <= Number && Number <= To;
  llvm::SmallVector<llvm::StringRef, 8> All;
  Values.split(All, ", ");
  return llvm::is_contained(All, Value);
}

inline constexpr RequestWords AllRequestWords[] = {
#define REMEDY(NAME, DOES, PARAMETERS, STATEMENTS, WORDS)                      \
  {NAME::Name, STATEMENTS, WORDS},
#include "remedies/Remedies.def"
#undef REMEDY
};

/// Null: the source can ask for no such remedy.
inline const RequestWords *requestWordsOf(llvm::StringRef Remedy) {
  for (const RequestWords &Each : AllRequestWords)
    if (Each.Remedy == Remedy && Each.mayBeAsked())
      return &Each;
  return nullptr;
}

/// How a request is written, for messages.
inline constexpr llvm::StringLiteral RequestSyntax =
    "reconverge <remedy> [<parameter>(<value>)] [off]";

} // namespace reconverge::remedies

#endif
