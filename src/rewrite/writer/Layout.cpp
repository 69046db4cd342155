//===- rewrite/writer/Layout.cpp - How lines look -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines are broken at 80 columns where people would: behind an assignment, before
// an operator of choice, between items; outside of parentheses rather than inside. What is above a line and belongs to it
// (comments, pragmas) is found by its first characters, for comments are not in
// the syntax tree.
//

#include "rewrite/writer/Layout.h"

#include "clang/AST/Attr.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace reconverge::rewrite {

static constexpr size_t Columns = 80;
static constexpr llvm::StringLiteral Global = "__global__";

std::string wrapped(const std::string &Indent, const std::string &Words) {
  std::string Result, Line = Indent;
  StringRef Rest = Words;
  std::string More = Indent + "    ";
  // What is assigned, whole, goes before its parts.
  if (const size_t Value = Rest.find(" = ");
      Value != StringRef::npos && Line.size() + Rest.size() > Columns &&
      More.size() + Rest.size() - Value - 3 <= Columns) {
    Result = Line + Rest.take_front(Value + 2).str() + "\n";
    Rest = Rest.drop_front(Value + 3);
    Line = More;
  }
  // Breaks go where a list or an operator of choice does.
  while (Line.size() + Rest.size() > Columns) {
    size_t Best = StringRef::npos;
    const size_t Room = Columns > Line.size() ? Columns - Line.size() : 0;
    int Depth = 0, BestDepth = INT_MAX; // of parentheses: whole parts stay so
    for (size_t At = 0; At != Rest.size(); ++At) {
      Depth += (Rest[At] == '(') - (Rest[At] == ')');
      if (Rest[At] != ' ')
        continue;
      if (At > Room && Best != StringRef::npos)
        break;
      const StringRef Next = Rest.drop_front(At + 1);
      const StringRef Before = Rest.take_front(At);
      if (Before.ends_with(",") || Before.ends_with(" =") ||
          Next.starts_with("? ") || Next.starts_with(": ") ||
          Next.starts_with("&& ") || Next.starts_with("|| ") ||
          Next.starts_with("+ "))
        if (Depth <= BestDepth) {
          Best = At;
          BestDepth = Depth;
        }
    }
    if (Best == StringRef::npos)
      break;
    Result += Line + Rest.take_front(Best).str() + "\n";
    Line = More;
    if (Rest.take_front(Best).ends_with(" ="))
      More += "    ";
    Rest = Rest.drop_front(Best + 1);
  }
  return Result + Line + Rest.str() + "\n";
}

std::string wrappedList(const std::string &Indent, std::string Head,
                        ArrayRef<std::string> Items, StringRef Tail) {
  const std::string All = Head + llvm::join(Items, ", ") + Tail.str();
  if (Indent.size() + All.size() <= Columns)
    return Indent + All + "\n";
  std::string Result, Start = Indent;
  if (const size_t Value = Head.find(" = "); Value != std::string::npos) {
    Result = Indent + Head.substr(0, Value + 2) + "\n";
    Head = Head.substr(Value + 3);
    Start += "    ";
  }
  std::string Line = Start + Head;
  const std::string Under = Start + std::string(Head.size(), ' ');
  for (auto [I, Item] : llvm::enumerate(Items)) {
    const std::string Word = Item + (I + 1 < Items.size() ? "," : Tail.str());
    if (Under.size() + Word.size() > Columns)
      return wrapped(Indent, All);
    const bool IsFirst = Line.size() == Under.size();
    if (!IsFirst && Line.size() + 1 + Word.size() > Columns) {
      Result += Line + "\n";
      Line = Under + Word;
    } else {
      Line += (IsFirst ? "" : " ") + Word;
    }
  }
  return Result + Line + "\n";
}

std::string indented(StringRef Lines, StringRef Unit) {
  std::string Result;
  while (!Lines.empty()) {
    const size_t End = std::min(Lines.find('\n'), Lines.size() - 1) + 1;
    const StringRef Line = Lines.take_front(End);
    Result += Line.trim().empty() ? Line.str() : (Unit + Line).str();
    Lines = Lines.drop_front(End);
  }
  return Result;
}

std::string outdented(StringRef Lines, StringRef Unit) {
  std::string Result;
  while (!Lines.empty()) {
    const size_t End = std::min(Lines.find('\n'), Lines.size() - 1) + 1;
    StringRef Line = Lines.take_front(End);
    Line.consume_front(Unit);
    Result += Line;
    Lines = Lines.drop_front(End);
  }
  return Result;
}

std::string reindented(StringRef Lines, StringRef Old, StringRef New) {
  std::string Result;
  for (size_t At = 0; At != Lines.size(); ++At) {
    Result += Lines[At];
    if (Lines[At] == '\n' && Lines.drop_front(At + 1).starts_with(Old)) {
      Result += New;
      At += Old.size();
    }
  }
  return Result;
}

bool hasWord(StringRef Code, StringRef Word) {
  const auto IsPart = [](char C) { return llvm::isAlnum(C) || C == '_'; };
  for (size_t At = Code.find(Word); At != StringRef::npos;
       At = Code.find(Word, At + 1)) {
    const size_t End = At + Word.size();
    if ((!At || !IsPart(Code[At - 1])) &&
        (End == Code.size() || !IsPart(Code[End])))
      return true;
  }
  return false;
}

std::string unitOf(StringRef Outer, StringRef Inner) {
  if (Inner.size() > Outer.size() && Inner.starts_with(Outer))
    return Inner.drop_front(Outer.size()).str();
  return "  ";
}

std::string negated(const Expr &E, const std::string &Written) {
  const auto *Op = dyn_cast<BinaryOperator>(E.IgnoreParenImpCasts());
  if (Op && Op->isComparisonOp() && E.IgnoreImpCasts() == Op &&
      Op->getLHS()->getType()->isIntegerType() && Op->getOpcode() != BO_Cmp) {
    // As people would write it.
    const StringRef Sign = BinaryOperator::getOpcodeStr(Op->getOpcode());
    const StringRef Other = BinaryOperator::getOpcodeStr(
        BinaryOperator::negateComparisonOp(Op->getOpcode()));
    const std::string Between = (" " + Sign + " ").str();
    const size_t At = Written.find(Between);
    if (At != std::string::npos &&
        Written.find(Between, At + 1) == std::string::npos)
      return Written.substr(0, At + 1) + Other.str() +
             Written.substr(At + 1 + Sign.size());
  }
  return "!(" + Written + ")";
}

bool isLoose(const Expr &E) {
  const Expr *Core = E.IgnoreParenImpCasts();
  const auto *Op = dyn_cast<BinaryOperator>(Core);
  return isa<ConditionalOperator>(Core) ||
         (Op && (Op->isAssignmentOp() || Op->isCommaOp()));
}

/// The line that ends before \p Start, a line's start; none: there is none.
static std::optional<Text::Span> lineAbove(const Text &T, unsigned Start) {
  if (!Start)
    return std::nullopt;
  return Text::Span{T.lineStart(Start - 1), Start};
}

static bool isRequest(StringRef Line, StringRef Remedy) {
  Line = Line.trim();
  if (!Line.consume_front("#"))
    return false;
  SmallVector<StringRef, 6> Words;
  Line.split(Words, ' ', -1, /*KeepEmpty=*/false);
  return Words.size() >= 3 && Words[0] == "pragma" &&
         Words[1] == "reconverge" && Words[2] == Remedy;
}

unsigned aboveComments(const Text &T, unsigned Offset) {
  unsigned Start = T.lineStart(Offset);
  while (const auto Above = lineAbove(T, Start)) {
    const std::string Line = T.textOf(*Above);
    const StringRef Words = StringRef(Line).trim();
    if (!Words.starts_with("//") && !Words.starts_with("#pragma") &&
        !(Words.starts_with("/*") && Words.ends_with("*/")))
      break;
    Start = Above->Begin;
  }
  return Start;
}

Text::Span requestAbove(const Text &T, unsigned Offset, StringRef Remedy) {
  unsigned Start = T.lineStart(Offset);
  while (const auto Above = lineAbove(T, Start)) {
    const std::string Line = T.textOf(*Above);
    if (isRequest(Line, Remedy))
      return *Above;
    if (!StringRef(Line).trim().starts_with("//"))
      break;
    Start = Above->Begin;
  }
  return {0, 0};
}

std::vector<Edit> requestsIn(const Text &T, Text::Span Of, StringRef Remedy) {
  std::vector<Edit> Found;
  for (unsigned At = Of.Begin; At < Of.End; At = T.lineEnd(At))
    if (isRequest(T.textOf({At, T.lineEnd(At)}), Remedy))
      Found.push_back({At, T.lineEnd(At) - At, ""});
  return Found;
}

Trouble dropConst(const Text &T, const VarDecl &V, std::vector<Edit> &Edits) {
  if (!V.getType().isConstQualified())
    return std::nullopt;
  const Trouble Fails =
      Refused{&refuse::Const, V.getLocation(), V.getNameAsString()};
  const auto Name = T.spanOf({V.getLocation(), V.getLocation()});
  const auto Begin = T.spanOf({V.getBeginLoc(), V.getBeginLoc()});
  if (!Name || !Begin)
    return Fails;
  const bool IsAuto = V.getType()->getContainedAutoType() != nullptr;
  const StringRef Before = T.bytes().slice(Begin->Begin, Name->Begin);
  const auto Take = [&](size_t At) {
    const size_t Length =
        5 + Before.drop_front(At + 5).take_while(llvm::isSpace).size();
    const Edit E = {unsigned(Begin->Begin + At), unsigned(Length), ""};
    if (!llvm::is_contained(Edits, E))
      Edits.push_back(E);
    return std::nullopt;
  };
  if (Before.starts_with("const") && Before.size() > 5 &&
      llvm::isSpace(Before[5]) && (IsAuto || !V.getType()->isPointerType()))
    return Take(0);
  if (const StringRef Head = Before.rtrim();
      Head.ends_with("const") &&
      (Head.size() == 5 || !llvm::isAlnum(Head[Head.size() - 6])))
    return Take(Head.size() - 5);
  return Fails;
}

/// Parameters on lines of their own stand under the first one, which is \p By
/// columns further left from now on.
static void editParameters(const Text &T, const FunctionDecl &Kernel, int By,
                           std::vector<Edit> &Edits) {
  const auto Name = T.spanOf({Kernel.getLocation(), Kernel.getLocation()});
  const auto Body = T.spanOf(Kernel.getBody()->getSourceRange());
  const size_t Open = Name ? T.bytes().find('(', Name->End) : StringRef::npos;
  if (Open == StringRef::npos || !Body || By == 0)
    return;
  const unsigned Column = Open + 1 - T.lineStart(Open);
  for (unsigned At = T.lineEnd(Open); At < Body->Begin; At = T.lineEnd(At)) {
    const std::string Indent = T.indentAt(At);
    if (Indent != std::string(Column, ' '))
      continue;
    if (By > 0)
      Edits.push_back({At, unsigned(By), ""});
    else
      Edits.push_back({At, 0, std::string(-By, ' ')});
  }
}

std::optional<unsigned> globalIn(const Text &T, const FunctionDecl &Kernel) {
  for (const auto *A : Kernel.specific_attrs<CUDAGlobalAttr>()) {
    const SourceLocation At = T.SM.getExpansionLoc(A->getLocation());
    if (T.SM.isInMainFile(At) &&
        T.bytes().substr(T.SM.getFileOffset(At)).starts_with(Global))
      return T.SM.getFileOffset(At);
  }
  return std::nullopt;
}

void editHead(const Text &T, const FunctionDecl &Kernel, const Order &What,
              std::vector<Edit> &Edits) {
  const auto Name = T.spanOf({Kernel.getLocation(), Kernel.getLocation()});
  int By = 0; // columns that the name goes left
  for (const auto *A : Kernel.specific_attrs<AnnotateAttr>()) {
    const auto Span =
        T.spanOf(T.SM.getExpansionRange(A->getLocation()).getAsRange());
    const std::string Asked = Span ? T.textOf(*Span) : "";
    if (Asked != "RECONVERGE_REMAP" &&
        !(What.Items && Asked == "RECONVERGE_COLLECT"))
      continue;
    unsigned End = Span->End;
    while (End < T.bytes().size() && llvm::isSpace(T.bytes()[End]))
      ++End;
    Edits.push_back({Span->Begin, End - Span->Begin, ""});
    if (Name && T.lineStart(Span->Begin) == T.lineStart(Name->Begin))
      By += int(End - Span->Begin);
  }
  if (What.IsBound || What.Behind || What.Threads >= 1024)
    return editParameters(T, Kernel, By, Edits);
  const std::optional<unsigned> Found = globalIn(T, Kernel);
  if (!Found || !Name)
    return editParameters(T, Kernel, By, Edits);
  const unsigned At = *Found;
  const std::string Bounds =
      " __launch_bounds__(" + std::to_string(What.Threads) + ")";
  const unsigned Behind = At + Global.size();
  const size_t Line = T.lineEnd(At) - T.lineStart(At);
  const bool SameLine = T.lineStart(At) == T.lineStart(Name->Begin);
  if (Line + Bounds.size() <= Columns + 1 || T.bytes()[Behind] != ' ') {
    Edits.push_back({Behind, 0, Bounds});
    By -= SameLine ? int(Bounds.size()) : 0;
  } else {
    Edits.push_back({Behind, 1, Bounds + "\n" + T.indentAt(At)});
    By = SameLine ? int(Behind + 1 - T.lineStart(At) - T.indentAt(At).size())
                  : By;
  }
  editParameters(T, Kernel, By, Edits);
}

void editIncludes(const Text &T, const Directives &Seen, StringRef Header,
                  unsigned Offset, std::vector<Edit> &Edits) {
  const std::string Line =
      ("#include <reconverge/block/" + Header + ">\n").str();
  unsigned At = 0;
  bool HasAny = false;
  for (unsigned Include : Seen.Includes)
    if (Include < Offset) {
      At = T.lineEnd(Include);
      HasAny = true;
    }
  if (!HasAny) {
    // Before the first word, behind the comments at the top.
    Lexer Raw(T.SM.getMainFileID(), T.SM.getBufferOrFake(T.SM.getMainFileID()),
              T.SM, T.Language);
    Token Tok;
    Raw.LexFromRawLexer(Tok);
    At = T.lineStart(T.SM.getFileOffset(Tok.getLocation()));
  }
  Edits.push_back({At, 0, HasAny ? Line : Line + "\n"});
}

} // namespace reconverge::rewrite
