//===- driver/ShadowText.cpp - Source without what confuses ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A shadow of the text, of the same length, in which comments are blank and the
// contents of literals are 'x', so that brackets in them do not count. Who reads
// it knows no macros and no grammar beyond brackets, words and operators, and
// finds the same offsets in the source.
//
//===----------------------------------------------------------------------===//

#include "driver/ShadowText.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace reconverge::driver {

bool isWordChar(char C) { return isAlnum(C) || C == '_'; }

std::string shadowOf(StringRef Text) {
  std::string Shadow = Text.str();
  auto Blank = [&](size_t From, size_t To) {
    for (size_t I = From; I < To && I < Shadow.size(); ++I)
      if (Shadow[I] != '\n')
        Shadow[I] = ' ';
  };
  for (size_t I = 0; I < Text.size();) {
    StringRef Rest = Text.substr(I);
    if (Rest.starts_with("//")) {
      size_t End = std::min(Text.find('\n', I), Text.size());
      Blank(I, End);
      I = End;
    } else if (Rest.starts_with("/*")) {
      size_t End = Text.find("*/", I + 2);
      End = End == StringRef::npos ? Text.size() : End + 2;
      Blank(I, End);
      I = End;
    } else if (Rest.starts_with("\\\n")) {
      Shadow[I] = ' ';
      I += 2;
    } else if (Rest[0] == '"' ||
               // A quote after a digit separates digits.
               (Rest[0] == '\'' && (I == 0 || !isWordChar(Text[I - 1])))) {
      size_t End = I + 1;
      while (End < Text.size() && Text[End] != Rest[0] && Text[End] != '\n') {
        if (Text[End] == '\\' && End + 1 < Text.size())
          Shadow[End++] = 'x';
        Shadow[End++] = 'x';
      }
      I = End + 1;
    } else {
      ++I;
    }
  }
  return Shadow;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

size_t ShadowText::skipSpace(size_t At) const {
  while (At < Text.size() && isSpace(Text[At]))
    ++At;
  return At;
}

StringRef ShadowText::wordAt(size_t At) const {
  size_t End = At;
  while (End < Text.size() && isWordChar(Text[End]))
    ++End;
  return Text.slice(At, End);
}

StringRef ShadowText::wordBefore(size_t At) const {
  while (At > 0 && isSpace(Text[At - 1]))
    --At;
  size_t Begin = At;
  while (Begin > 0 && isWordChar(Text[Begin - 1]))
    --Begin;
  return Text.slice(Begin, At);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

bool ShadowText::isLogical(size_t At) const {
  StringRef Two = Text.substr(At, 2);
  return Two == "&&" || Two == "||";
}

bool ShadowText::isBinaryOperator(size_t At) const {
  if (!StringRef("<>=!&|^+-*/%").contains(Text[At]))
    return false;
  size_t Before = At;
  while (Before > 0 && isSpace(Text[Before - 1]))
    --Before;
  if (Before == 0 || wordBefore(Before) == "return")
    return false;
  const char C = Text[Before - 1];
  return isWordChar(C) || C == ')' || C == ']';
}

bool ShadowText::compares(StringRef In, size_t I) {
  return (I > 0 && StringRef("=!<>").contains(In[I - 1])) ||
         (I + 1 < In.size() && In[I + 1] == '=');
}

bool ShadowText::assigns(StringRef Expression) {
  int Depth = 0;
  for (size_t I = 0; I < Expression.size(); ++I) {
    char C = Expression[I];
    if (StringRef("([{").contains(C))
      ++Depth;
    else if (StringRef(")]}").contains(C))
      --Depth;
    else if (C == '=' && Depth == 0) {
      if (!compares(Expression, I))
        return true;
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Brackets
//===----------------------------------------------------------------------===//

size_t ShadowText::behindBracket(size_t At) const {
  int Depth = 0;
  for (; At < Text.size(); ++At) {
    if (StringRef("([{").contains(Text[At]))
      ++Depth;
    else if (StringRef(")]}").contains(Text[At]) && --Depth == 0)
      return At + 1;
  }
  return StringRef::npos;
}

StringRef ShadowText::inParentheses(size_t At) const {
  At = skipSpace(At);
  if (At >= Text.size() || Text[At] != '(')
    return "";
  size_t End = behindBracket(At);
  return End == StringRef::npos ? "" : Text.slice(At + 1, End - 1);
}

size_t ShadowText::findAtDepth(StringRef In, char Wanted) {
  int Depth = 0;
  for (size_t I = 0; I < In.size(); ++I) {
    if (StringRef("([{").contains(In[I]))
      ++Depth;
    else if (StringRef(")]}").contains(In[I]))
      --Depth;
    else if (In[I] == Wanted && Depth == 0)
      return I;
  }
  return StringRef::npos;
}

StringRef ShadowText::middleClause(StringRef Clauses) const {
  size_t First = findAtDepth(Clauses, ';');
  if (First == StringRef::npos)
    return Clauses;
  StringRef Tail = Clauses.substr(First + 1);
  return Tail.take_front(findAtDepth(Tail, ';'));
}

StringRef ShadowText::balanced(StringRef Part) const {
  for (bool Again = true; Again;) {
    Part = Part.trim();
    Again = false;
    SmallVector<size_t> Open;
    size_t Closed = StringRef::npos; // by what the first is closed
    for (size_t I = 0; I < Part.size(); ++I) {
      if (StringRef("([{").contains(Part[I]))
        Open.push_back(I);
      else if (StringRef(")]}").contains(Part[I])) {
        if (Open.empty()) {
          Part = Part.take_front(I);
          Again = true;
          break;
        }
        if (Open.pop_back_val() == 0)
          Closed = I;
      }
    }
    if (Again)
      continue;
    if (!Open.empty()) {
      Part = Part.substr(Open.back() + 1);
      Again = true;
    } else if (Part.starts_with("(") && Closed == Part.size() - 1) {
      Part = Part.drop_front().drop_back();
      Again = true;
    }
  }
  return Part;
}

StringRef ShadowText::upToQuestion(size_t At) const {
  int Depth = 0;
  size_t I = At;
  for (; I < Text.size(); ++I) {
    char C = Text[I];
    if (StringRef("([{").contains(C))
      ++Depth;
    else if (StringRef(")]}").contains(C)) {
      if (--Depth < 0)
        break;
    } else if (Depth == 0 && (C == ';' || C == ',' || C == '?'))
      break;
  }
  return I < Text.size() ? Text.slice(At, I) : "";
}

} // namespace reconverge::driver
