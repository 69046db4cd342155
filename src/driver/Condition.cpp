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
//   `&&`, `||`                        its right operand, if the kernel has a
//                                     branch for what is left of it; otherwise
//                                     both are one branch: the whole
//   elsewhere                         the expression up to `?`, or to its end;
//                                     nothing if that assigns: the end of a
//                                     variable's life, say
//
// The scanner works on a shadow of the text, of the same length, in which
// comments are blank and the contents of literals are 'x', so that brackets in
// them do not count. It knows no macros and no grammar beyond brackets; where
// that is not enough the condition stays empty or is the expression as far as
// its closing bracket, which is never wrong, only longer.
//
//===----------------------------------------------------------------------===//

#include "driver/Condition.h"

#include "core/File.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <optional>

using namespace llvm;

namespace reconverge::driver {

/// A condition longer than this is no help to anybody.
static constexpr size_t LongestCondition = 200;

static bool isWordChar(char C) { return isAlnum(C) || C == '_'; }

/// Blanks comments and line continuations; writes 'x' over the contents of
/// string and character literals.
static std::string shadowOf(StringRef Text) {
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

namespace {
class Scanner {
public:
  explicit Scanner(StringRef Shadow) : Text(Shadow) {}

  /// The extent of the condition of the branch at offset \p At; empty if none.
  /// \p Others: the offsets of other branches of the kernel.
  StringRef conditionAt(size_t At, ArrayRef<size_t> Others) const {
    At = skipSpace(At);
    if (At >= Text.size())
      return "";
    if (std::optional<StringRef> Found = ofStatement(wordAt(At), At))
      return *Found;
    StringRef Rest = Text.substr(At);
    if (Rest[0] == '}') {
      size_t Next = skipSpace(At + 1);
      return wordAt(Next) == "while" ? inParentheses(Next + 5) : "";
    }
    auto [Whole, Statement] = enclosing(At);
    if (Rest.starts_with("&&") || Rest.starts_with("||")) {
      bool LeftBranches = false;
      for (size_t Other : Others)
        LeftBranches |= Other >= Statement && Other < At;
      if (!Whole.empty() && !LeftBranches)
        return Whole;
      return upTo(At + 2, Rest.starts_with("&&") ? Stop::And : Stop::Or);
    }
    if (!Whole.empty() &&
        Text.slice(Whole.data() - Text.data(), At).trim() == "")
      return Whole;
    if (!Whole.empty() && Whole.contains(';')) // if (init; condition)
      return Whole;
    StringRef Expression = upTo(At, Stop::Question);
    return assigns(Expression) ? "" : Expression;
  }

private:
  enum class Stop { And, Or, Question };
  struct Enclosing {
    StringRef Condition;
    size_t Statement = 0; ///< offset of the keyword
  };
  StringRef Text;

  size_t skipSpace(size_t At) const {
    while (At < Text.size() && isSpace(Text[At]))
      ++At;
    return At;
  }

  StringRef wordAt(size_t At) const {
    size_t End = At;
    while (End < Text.size() && isWordChar(Text[End]))
      ++End;
    return Text.slice(At, End);
  }

  /// The word that ends just before \p At, spaces between.
  StringRef wordBefore(size_t At) const {
    while (At > 0 && isSpace(Text[At - 1]))
      --At;
    size_t Begin = At;
    while (Begin > 0 && isWordChar(Text[Begin - 1]))
      --Begin;
    return Text.slice(Begin, At);
  }

  /// The offset behind the bracket that closes the one at \p At.
  size_t behindBracket(size_t At) const {
    int Depth = 0;
    for (; At < Text.size(); ++At) {
      if (StringRef("([{").contains(Text[At]))
        ++Depth;
      else if (StringRef(")]}").contains(Text[At]) && --Depth == 0)
        return At + 1;
    }
    return StringRef::npos;
  }

  /// The contents of the parentheses that follow \p At.
  StringRef inParentheses(size_t At) const {
    At = skipSpace(At);
    if (At >= Text.size() || Text[At] != '(')
      return "";
    size_t End = behindBracket(At);
    return End == StringRef::npos ? "" : Text.slice(At + 1, End - 1);
  }

  /// The middle of `a; b; c`; the whole of a range-for.
  StringRef middleClause(StringRef Clauses) const {
    size_t First = findAtDepth(Clauses, ';');
    if (First == StringRef::npos)
      return Clauses;
    StringRef Tail = Clauses.substr(First + 1);
    return Tail.take_front(findAtDepth(Tail, ';'));
  }

  static size_t findAtDepth(StringRef In, char Wanted) {
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
  Enclosing enclosing(size_t At) const {
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
      size_t Statement = Keyword.data() - Text.data();
      if (Keyword == "for") {
        StringRef Clause = middleClause(inParentheses(I - 1));
        size_t Begin = Clause.data() - Text.data();
        if (At >= Begin && At <= Begin + Clause.size())
          return {Clause, Statement};
        return {};
      }
      if (Keyword == "if" || Keyword == "while" || Keyword == "switch" ||
          Keyword == "constexpr")
        return {inParentheses(I - 1), Statement};
      Depth = 0; // parentheses inside the expression: go on outwards
    }
    return {};
  }

  /// Whether \p Expression has an `=` outside brackets.
  static bool assigns(StringRef Expression) {
    int Depth = 0;
    for (size_t I = 0; I < Expression.size(); ++I) {
      char C = Expression[I];
      if (StringRef("([{").contains(C))
        ++Depth;
      else if (StringRef(")]}").contains(C))
        --Depth;
      else if (C == '=' && Depth == 0) {
        bool Compares =
            (I > 0 && StringRef("=!<>").contains(Expression[I - 1])) ||
            (I + 1 < Expression.size() && Expression[I + 1] == '=');
        if (!Compares)
          return true;
      }
    }
    return false;
  }

  /// From \p At to the end of the expression or operand.
  StringRef upTo(size_t At, Stop Where) const {
    int Depth = 0;
    size_t I = At;
    for (; I < Text.size(); ++I) {
      char C = Text[I];
      StringRef Two = Text.substr(I, 2);
      if (StringRef("([{").contains(C))
        ++Depth;
      else if (StringRef(")]}").contains(C)) {
        if (--Depth < 0)
          break;
      } else if (Depth == 0 && (C == ';' || C == ',' || C == '?' ||
                                (Where != Stop::Question && Two == "||") ||
                                (Where == Stop::And && Two == "&&")))
        break;
    }
    return I < Text.size() ? Text.slice(At, I) : "";
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

/// The offset of a place; npos if the text has no such place.
static size_t offsetOf(StringRef Source, unsigned Line, unsigned Column) {
  size_t At = 0;
  for (unsigned N = 1; N < Line; ++N) {
    At = Source.find('\n', At);
    if (At == StringRef::npos)
      return StringRef::npos;
    ++At;
  }
  size_t End = std::min(Source.find('\n', At), Source.size());
  if (Line == 0 || Column == 0 || At + Column - 1 >= End)
    return StringRef::npos;
  return At + Column - 1;
}

static std::string conditionIn(StringRef Source, StringRef Shadow,
                               const Place &Where, ArrayRef<Place> Others) {
  size_t At = offsetOf(Source, Where.Line, Where.Column);
  if (At == StringRef::npos)
    return "";
  SmallVector<size_t> OtherOffsets;
  for (const Place &Other : Others)
    if (size_t Offset = offsetOf(Source, Other.Line, Other.Column);
        Offset != StringRef::npos)
      OtherOffsets.push_back(Offset);
  StringRef Extent = Scanner(Shadow).conditionAt(At, OtherOffsets);
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

std::string conditionAt(StringRef Source, Place Where, ArrayRef<Place> Others) {
  std::string Shadow = shadowOf(Source);
  return conditionIn(Source, Shadow, Where, Others);
}

namespace {
/// Sources that were read, with their shadows.
class SourceFiles {
public:
  struct File {
    std::unique_ptr<MemoryBuffer> Source; ///< null if it cannot be read
    std::string Shadow;
  };

  const File &get(StringRef Path) {
    auto [It, New] = Files.try_emplace(Path);
    if (!New)
      return It->second;
    Expected<std::unique_ptr<MemoryBuffer>> Source = readFile(Path);
    if (Source) {
      It->second.Source = std::move(*Source);
      It->second.Shadow = shadowOf(It->second.Source->getBuffer());
    } else {
      // Of a program built elsewhere: the table does without.
      consumeError(Source.takeError());
    }
    return It->second;
  }

private:
  StringMap<File> Files;
};
} // namespace

void fillConditions(Profile &P) {
  SourceFiles Files;
  for (KernelProfile &Kernel : P.Kernels) {
    StringMap<SmallVector<Place>> PlacesOf; // of this kernel, by file
    for (const BranchInfo &Branch : Kernel.Info.Branches)
      if (!Branch.Where.empty())
        PlacesOf[Branch.Where.front().File].push_back(
            {Branch.Where.front().Line, Branch.Where.front().Column});
    for (BranchInfo &Branch : Kernel.Info.Branches) {
      if (Branch.Where.empty() || !Branch.Condition.empty())
        continue;
      const SourceLoc &Where = Branch.Where.front();
      const SourceFiles::File &F = Files.get(Where.File);
      if (F.Source)
        Branch.Condition =
            conditionIn(F.Source->getBuffer(), F.Shadow,
                        {Where.Line, Where.Column}, PlacesOf[Where.File]);
    }
  }
}

} // namespace reconverge::driver
