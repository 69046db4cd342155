//===- driver/Condition.cpp - A branch's condition as written -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A report that shows `x[i] < pivot` is read faster than one that shows a line
// number. clang gives each branch one of these places, and the text around it
// tells which:
//
//   place                             condition
//   `if`, `while`, `switch`           what is in the parentheses that follow
//   `for`                             its middle clause
//   `do`, or `}` before `while`       that loop's parentheses
//   the start of what is in such      all that is in them (of a for: the
//     parentheses                     clause)
//   `&&`, `||`                        what is left of it, as far as the
//                                     operator before that has a branch, too
//   another operator of two operands  the comparison that it is in
//   elsewhere                         the expression up to `?`, or to its end;
//                                     nothing if that assigns: the end of a
//                                     variable's life, say
//
// clang evaluates `a && b || c` from left to right, a branch an operand, and
// places the branch of each at the operator behind it; that of the last one at
// the statement. So of a statement's condition a branch decides on the operands
// since the last operator before its place at which the kernel has a branch.
// Where the compiler has made one branch of several operands, some of these
// places have none; if the statement has none, the last operator's branch is
// also for what follows it.
//
// The text is read by its brackets, words and operators (ShadowText.cpp); where
// that is not enough the condition stays empty or is the expression as far as
// its closing bracket, which is never wrong, only longer.
//
//===----------------------------------------------------------------------===//

#include "driver/Condition.h"
#include "driver/ShadowText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <optional>

using namespace llvm;

namespace reconverge::driver {

/// A condition longer than this is no help to anybody.
static constexpr size_t LongestCondition = 200;

namespace {
/// What the branches of a text decide on.
class Scanner : ShadowText {
public:
  using ShadowText::ShadowText;

  /// The extent of the condition of the branch at offset \p At; empty if none.
  /// \p Others: the offsets of other branches of the kernel.
  StringRef conditionAt(size_t At, ArrayRef<size_t> Others) const {
    At = skipSpace(At);
    if (At >= Text.size())
      return "";
    if (std::optional<StringRef> Found = ofPlace(At))
      return Found->empty() ? "" : lastDecided(*Found, Others);
    StringRef Whole = enclosing(At);
    if (isLogical(At))
      return Whole.empty() ? operandAround(At, /*Left=*/true)
                           : decidedAt(At, Whole, Others);
    if (isBinaryOperator(At))
      return operandAround(At, /*Left=*/false);
    if (!Whole.empty() && Whole.contains(';')) // if (init; condition)
      return Whole;
    StringRef Expression = upToQuestion(At);
    return assigns(Expression) ? "" : Expression;
  }

  /// Whether \p Extent, a condition, is a part only of its statement's.
  bool isOperand(StringRef Extent) const {
    StringRef Whole = enclosing(offsetOf(Extent));
    return !Whole.empty() && Whole.trim() != Extent.trim();
  }

private:
  /// The condition of the statement at whose place \p At is: its keyword, where
  /// its condition begins, or the end of a do's body; none if it is elsewhere.
  std::optional<StringRef> ofPlace(size_t At) const {
    if (std::optional<StringRef> Found = ofStatement(wordAt(At), At))
      return Found;
    if (Text[At] == '}') {
      size_t Next = skipSpace(At + 1);
      return wordAt(Next) == "while" ? inParentheses(Next + 5) : "";
    }
    StringRef Whole = enclosing(At);
    if (!Whole.empty() && Text.slice(offsetOf(Whole), At).trim().empty())
      return Whole;
    return std::nullopt;
  }

  /// The offset behind the last operator in \p Whole before \p At that has a
  /// branch; where \p Whole begins if none has.
  size_t beginDecided(StringRef Whole, size_t At,
                      ArrayRef<size_t> Others) const {
    size_t Begin = offsetOf(Whole);
    for (size_t Other : Others)
      if (Other >= Begin && Other < At && isLogical(Other))
        Begin = Other + 2;
    return Begin;
  }

  /// What the branch at the statement of condition \p Whole decides on.
  StringRef lastDecided(StringRef Whole, ArrayRef<size_t> Others) const {
    const size_t End = offsetOf(Whole) + Whole.size();
    const size_t Begin = beginDecided(Whole, End, Others);
    return Begin == offsetOf(Whole) ? Whole : balanced(Text.slice(Begin, End));
  }

  /// What the branch at the operator at \p At decides on.
  StringRef decidedAt(size_t At, StringRef Whole,
                      ArrayRef<size_t> Others) const {
    const size_t Begin = offsetOf(Whole), End = Begin + Whole.size();
    // A later branch of the same condition: at an operator or the statement.
    const bool OthersFollow = any_of(Others, [&](size_t Other) {
      if (Other > At && Other < End && isLogical(Other))
        return true;
      std::optional<StringRef> Statement = ofPlace(Other);
      return Statement && Statement->data() == Whole.data();
    });
    const size_t From = beginDecided(Whole, At, Others);
    if (!OthersFollow)
      return From == Begin ? Whole : balanced(Text.slice(From, End));
    return balanced(Text.slice(From, At));
  }

  /// The operand of `&&` and `||` that \p At lies in, or of which it is the
  /// operator and that is left of it.
  StringRef operandAround(size_t At, bool Left) const {
    auto Ends = [&](size_t I) {
      return StringRef(";,?{}").contains(Text[I]) || isLogical(I) ||
             (Text[I] == '=' && !compares(Text, I)) ||
             (Text[I] == ':' && Text.substr(I + 1, 1) != ":" &&
              (I == 0 || Text[I - 1] != ':'));
    };
    size_t Begin = At;
    for (int Depth = 0; Begin > 0; --Begin) {
      const char C = Text[Begin - 1];
      if (C == ')' || C == ']')
        ++Depth;
      else if ((C == '(' || C == '[') && --Depth < 0)
        break;
      // An operator of two characters is found at its first.
      if (Depth == 0 &&
          (Ends(Begin - 1) || (Begin > 1 && isLogical(Begin - 2))))
        break;
    }
    size_t End = At;
    for (int Depth = 0; !Left && End < Text.size(); ++End) {
      const char C = Text[End];
      if (C == '(' || C == '[')
        ++Depth;
      else if ((C == ')' || C == ']') && --Depth < 0)
        break;
      if (Depth == 0 && Ends(End))
        break;
    }
    StringRef Operand = Text.slice(Begin, End).trim();
    if (Operand.starts_with("return") && Operand.size() > 6 &&
        !isWordChar(Operand[6]))
      Operand = Operand.drop_front(6);
    return balanced(Operand);
  }

  /// The condition of the statement that \p Keyword begins at \p At; none if
  /// it begins no statement.
  std::optional<StringRef> ofStatement(StringRef Keyword, size_t At) const {
    size_t After = At + Keyword.size();
    if (Keyword == "while" || Keyword == "switch")
      return inParentheses(After);
    if (Keyword == "for")
      return middleClause(inParentheses(After));
    if (Keyword == "if") {
      size_t Next = skipSpace(After);
      return inParentheses(wordAt(Next) == "constexpr" ? Next + 9 : After);
    }
    if (Keyword == "do") {
      size_t Body = skipSpace(After);
      if (Body >= Text.size() || Text[Body] != '{')
        return "";
      size_t End = behindBracket(Body);
      if (End == StringRef::npos)
        return "";
      End = skipSpace(End);
      return wordAt(End) == "while" ? inParentheses(End + 5) : "";
    }
    return std::nullopt;
  }

  /// The condition of the statement in whose parentheses \p At lies; of a for,
  /// the clause. Empty if it lies in none.
  StringRef enclosing(size_t At) const {
    int Depth = 0;
    for (size_t I = At; I > 0; --I) {
      char C = Text[I - 1];
      if (C == ')' || C == ']' || C == '}')
        ++Depth;
      else if (C == '[' || C == '{' || C == '(')
        --Depth;
      if (Depth >= 0)
        continue;
      if (C == '{' || C == '[')
        return {};
      StringRef Keyword = wordBefore(I - 1);
      if (Keyword == "for") {
        StringRef Clause = middleClause(inParentheses(I - 1));
        size_t Begin = Clause.data() - Text.data();
        if (At >= Begin && At <= Begin + Clause.size())
          return Clause;
        return {};
      }
      if (Keyword == "if" || Keyword == "while" || Keyword == "switch" ||
          Keyword == "constexpr")
        return inParentheses(I - 1);
      Depth = 0; // parentheses inside the expression: go on outwards
    }
    return {};
  }
};
} // namespace

/// \p Text with runs of white space as one blank.
static std::string onOneLine(StringRef Text) {
  std::string Line;
  for (char C : Text.trim()) {
    bool Space = isSpace(C);
    if (!Space || (!Line.empty() && Line.back() != ' '))
      Line += Space ? ' ' : C;
  }
  return Line;
}

ConditionText::ConditionText(StringRef Source)
    : Source(Source), Shadow(shadowOf(Source)) {
  Lines.push_back(0);
  for (size_t I = 0; I < Source.size(); ++I)
    if (Source[I] == '\n')
      Lines.push_back(I + 1);
}

/// npos if the text has no such place.
size_t ConditionText::offsetOf(Place Where) const {
  if (Where.Line == 0 || Where.Line > Lines.size() || Where.Column == 0)
    return StringRef::npos;
  const size_t Begin = Lines[Where.Line - 1];
  const size_t End = std::min(Source.find('\n', Begin), Source.size());
  return Begin + Where.Column - 1 >= End ? StringRef::npos
                                         : Begin + Where.Column - 1;
}

StringRef ConditionText::extentOf(size_t At, ArrayRef<Place> Others) const {
  SmallVector<size_t> OtherOffsets;
  for (Place Other : Others)
    if (size_t Offset = offsetOf(Other); Offset != StringRef::npos)
      OtherOffsets.push_back(Offset);
  return Scanner(Shadow).conditionAt(At, OtherOffsets);
}

Place ConditionText::leadingTo(Place Where, ArrayRef<Place> Others) const {
  const size_t At = offsetOf(Where);
  if (At == StringRef::npos)
    return Where;
  const StringRef Extent = extentOf(At, Others);
  if (Extent.empty() || !Scanner(Shadow).isOperand(Extent))
    return Where;
  const size_t Begin = Extent.data() - Shadow.data();
  const unsigned Line = unsigned(upper_bound(Lines, Begin) - Lines.begin());
  if (Line == Where.Line)
    return Where;
  return {Line, unsigned(Begin - Lines[Line - 1] + 1)};
}

std::string ConditionText::at(Place Where, ArrayRef<Place> Others) const {
  const size_t At = offsetOf(Where);
  if (At == StringRef::npos)
    return "";
  StringRef Extent = extentOf(At, Others);
  if (Extent.empty())
    return "";
  // The shadow says where, the source says what; comments stay blank.
  std::string Written = Extent.str();
  size_t Offset = Extent.data() - Shadow.data();
  for (size_t I = 0; I < Written.size(); ++I)
    if (Written[I] == 'x')
      Written[I] = Source[Offset + I];
  std::string Condition = onOneLine(Written);
  return Condition.size() > LongestCondition ? "" : Condition;
}

} // namespace reconverge::driver
