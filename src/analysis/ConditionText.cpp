//===- analysis/ConditionText.cpp - A condition as written ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Debug information has a line and a column for a branch, not its extent. Where
// clang 19 points, and what is taken from there:
//
//   for (A; B; C)             at `for`             B
//   while (A), switch (A)     at the keyword       A
//   do {} while (A);          at the `}`           A
//   if (A)                    at the start of A    up to the closing bracket
//   A ? B : C                 at the start of A    up to the question mark
//   A && B, A || B            at the operator      all that its brackets hold
//
// A walk over the text that knows brackets, strings, character literals and
// comments finds the ends. Text it cannot make sense of gives nothing: a
// condition is a help to the reader, the place says what is meant.
//
// Limitation: macros are not expanded; the text is that of the macro's use.
//
//===----------------------------------------------------------------------===//

#include "analysis/ConditionText.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace reconverge::analysis {

/// The byte at \p Line and \p Column, or npos.
static size_t offsetOf(StringRef Source, unsigned Line, unsigned Column) {
  size_t At = 0;
  for (unsigned L = 1; L < Line; ++L) {
    At = Source.find('\n', At);
    if (At == StringRef::npos)
      return At;
    ++At;
  }
  At += Column - 1;
  return Line && Column && At < Source.size() ? At : StringRef::npos;
}

/// The end of the comment or literal that starts at \p At; \p At if none does.
static size_t skipInert(StringRef Source, size_t At) {
  StringRef Rest = Source.drop_front(At);
  size_t End = StringRef::npos;
  if (Rest.starts_with("//")) {
    End = Source.find('\n', At);
  } else if (Rest.starts_with("/*")) {
    End = Source.find("*/", At + 2);
    End = End == StringRef::npos ? End : End + 2;
  } else if (Rest.starts_with("\"") ||
             (Rest.starts_with("'") && (At == 0 || !isAlnum(Source[At - 1])))) {
    for (size_t I = At + 1; I < Source.size(); ++I)
      if (Source[I] == '\\')
        ++I;
      else if (Source[I] == Source[At])
        return I + 1;
  } else {
    return At;
  }
  return End == StringRef::npos ? Source.size() : End;
}

/// From \p At to the first of \p Stops outside brackets, or to a bracket that
/// closes more than was opened. npos if the text ends first.
static size_t findEnd(StringRef Source, size_t At, StringRef Stops) {
  unsigned Depth = 0;
  while (At < Source.size()) {
    if (size_t End = skipInert(Source, At); End != At) {
      At = End;
      continue;
    }
    char C = Source[At];
    if (Depth == 0 && Stops.contains(C))
      return At;
    if (C == '(' || C == '[' || C == '{')
      ++Depth;
    if (C == ')' || C == ']' || C == '}') {
      if (Depth == 0)
        return At;
      --Depth;
    }
    ++At;
  }
  return StringRef::npos;
}

/// The start of what the innermost brackets around \p At hold, or of the
/// expression statement that \p At is in.
static size_t findStart(StringRef Source, size_t At) {
  unsigned Depth = 0;
  while (At > 0) {
    char C = Source[At - 1];
    if (C == ')' || C == ']')
      ++Depth;
    if (C == '(' || C == '[') {
      if (Depth == 0)
        return At;
      --Depth;
    }
    if (Depth == 0 && StringRef(";{}=,?:").contains(C)) {
      bool Comparison =
          C == '=' &&
          (StringRef("=<>!").contains(Source[At >= 2 ? At - 2 : 0]) ||
           Source[At] == '=');
      bool Scope =
          C == ':' && (Source[At] == ':' || (At >= 2 && Source[At - 2] == ':'));
      if (!Comparison && !Scope)
        return At;
    }
    --At;
  }
  return At;
}

/// On one line, without comments and without blanks at either end.
static std::string tidied(StringRef Text) {
  std::string Result;
  bool Blank = false;
  for (size_t At = 0; At < Text.size();) {
    size_t End = skipInert(Text, At);
    bool Comment = End != At && Text[At] == '/';
    if (isSpace(Text[At]) || Comment) {
      Blank = !Result.empty();
      At = Comment ? End : At + 1;
      continue;
    }
    if (Blank)
      Result += ' ';
    Blank = false;
    End = std::max(End, At + 1);
    Result += Text.slice(At, End);
    At = End;
  }
  return Result;
}

static bool startsWithWord(StringRef Text, StringRef Word) {
  return Text.starts_with(Word) &&
         (Text.size() == Word.size() ||
          (!isAlnum(Text[Word.size()]) && Text[Word.size()] != '_'));
}

/// What the brackets after a keyword hold: for `for`, the second clause.
static std::string inBrackets(StringRef Source, size_t At, bool IsFor) {
  size_t Open = Source.find('(', At);
  if (Open == StringRef::npos)
    return "";
  size_t Start = Open + 1;
  if (IsFor) {
    Start = findEnd(Source, Start, ";");
    if (Start == StringRef::npos || Source[Start] != ';')
      return ""; // over a range: there is no condition to show
    ++Start;
  }
  size_t End = findEnd(Source, Start, ";");
  return End == StringRef::npos ? "" : tidied(Source.slice(Start, End));
}

std::string conditionAt(StringRef Source, unsigned Line, unsigned Column) {
  size_t At = offsetOf(Source, Line, Column);
  if (At == StringRef::npos)
    return "";
  StringRef Rest = Source.drop_front(At);
  if (startsWithWord(Rest, "for"))
    return inBrackets(Source, At, /*IsFor=*/true);
  for (StringRef Word : {"while", "switch", "if"})
    if (startsWithWord(Rest, Word))
      return inBrackets(Source, At, /*IsFor=*/false);
  if (Rest.starts_with("}") || startsWithWord(Rest, "do")) {
    size_t End = At + 1; // of the body
    if (Rest.starts_with("do")) {
      size_t Open = Source.find('{', At);
      End = Open == StringRef::npos ? Open : findEnd(Source, Open + 1, "");
      if (End == StringRef::npos)
        return "";
      ++End;
    }
    StringRef After = Source.drop_front(End).ltrim();
    if (!startsWithWord(After, "while"))
      return "";
    return inBrackets(Source, After.data() - Source.data(), /*IsFor=*/false);
  }
  size_t Start = At;
  if (Rest.starts_with("&&") || Rest.starts_with("||"))
    Start = findStart(Source, At);
  else if (StringRef("){};,").contains(Rest.front()) || isSpace(Rest.front()))
    return "";
  size_t End = findEnd(Source, At, "?;,");
  return End == StringRef::npos ? "" : tidied(Source.slice(Start, End));
}

} // namespace reconverge::analysis
