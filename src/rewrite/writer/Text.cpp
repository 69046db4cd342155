//===- rewrite/writer/Text.cpp - The user's file --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rewrite/writer/Text.h"

#include "clang/Lex/Lexer.h"

using namespace clang;

namespace reconverge::rewrite {

Text::Text(ASTContext &C, Preprocessor &PP, const FunctionDecl &Kernel)
    : Context(C), SM(C.getSourceManager()), Language(C.getLangOpts()), PP(PP),
      Bytes(SM.getBufferData(SM.getMainFileID())) {
  Lexer Raw(SM.getMainFileID(), SM.getBufferOrFake(SM.getMainFileID()), SM,
            Language);
  const auto Offset = [&](SourceLocation At) {
    return SM.getFileOffset(SM.getExpansionLoc(At));
  };
  const unsigned Begin = Offset(Kernel.getBeginLoc()),
                 End = Offset(Kernel.getEndLoc());
  // Of directives, the texts of macros alone have names.
  enum { Code, Begins, Macro, Other } Line = Code;
  for (Token Tok; !Raw.LexFromRawLexer(Tok) || Tok.isNot(tok::eof);) {
    if (Tok.isAtStartOfLine())
      Line = Tok.is(tok::hash) ? Begins : Code;
    if (!Tok.is(tok::raw_identifier))
      continue;
    const StringRef Word = Tok.getRawIdentifier();
    const unsigned At = Offset(Tok.getLocation());
    if (Line == Begins)
      Line = Word == "define" ? Macro : Other;
    else if (Line == Macro || (Line == Code && Begin <= At && At <= End))
      Words.insert(Word);
  }
}

StringRef newlineOf(StringRef Bytes) {
  const size_t End = Bytes.find('\n');
  return End != StringRef::npos && End > 0 && Bytes[End - 1] == '\r' ? "\r\n"
                                                                     : "\n";
}

std::optional<Text::Span> Text::spanOf(SourceRange R) const {
  const CharSourceRange Written =
      Lexer::makeFileCharRange(CharSourceRange::getTokenRange(R), SM, Language);
  if (Written.isInvalid() || !SM.isWrittenInMainFile(Written.getBegin()))
    return std::nullopt;
  return Span{SM.getFileOffset(Written.getBegin()),
              SM.getFileOffset(Written.getEnd())};
}

unsigned Text::lineStart(unsigned Offset) const {
  const size_t Before = Bytes.take_front(Offset).rfind('\n');
  return Before == StringRef::npos ? 0 : Before + 1;
}

unsigned Text::lineEnd(unsigned Offset) const {
  const size_t At = Bytes.find('\n', Offset);
  return At == StringRef::npos ? Bytes.size() : At + 1;
}

std::string Text::indentAt(unsigned Offset) const {
  return Bytes.drop_front(lineStart(Offset))
      .take_while([](char C) { return C == ' ' || C == '\t'; })
      .str();
}

bool Text::beginsLine(unsigned Offset) const {
  return lineStart(Offset) + indentAt(Offset).size() == Offset;
}

std::string Text::freshName(StringRef Base) {
  std::string Name = Base.str();
  for (unsigned N = 2;
       hasWord(Name) || PP.isMacroDefined(PP.getIdentifierInfo(Name)); ++N)
    Name = (Base + "_" + Twine(N)).str();
  Words.insert(Name);
  return Name;
}

std::string edited(const Text &T, Text::Span R, std::vector<Edit> Edits) {
  llvm::sort(Edits, [](const Edit &A, const Edit &B) {
    return std::tie(A.Offset, A.Length) < std::tie(B.Offset, B.Length);
  });
  std::string Result;
  unsigned At = R.Begin;
  for (const Edit &E : Edits) {
    if (E.Offset < R.Begin || E.Offset + E.Length > R.End)
      continue;
    Result += T.textOf({At, E.Offset}) + E.Text;
    At = E.Offset + E.Length;
  }
  return Result + T.textOf({At, R.End});
}

} // namespace reconverge::rewrite
