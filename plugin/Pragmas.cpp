//===- plugin/Pragmas.cpp - #pragma reconverge in clang -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libReconvergeClang.so for -fplugin=: reads
//
//   #pragma reconverge <remedy> [<parameter>(<value>)] [off]
//
// before an `if` or a `switch`, a loop, or a kernel, also as _Pragma, and leaves
// what it has read in the device code, where the passes of libReconverge.so find it
// (remedies/common/RequestFormat.h). In host code it keeps the compiler from
// warning of an unknown pragma.
//
// Of a loop its first line is enough: clang keeps that in the loop's metadata.
// Of a choice all lines to the condition's end, and of a kernel those to its
// body, are found by lexing on from the pragma: a pragma's handler runs inside
// the preprocessor, which must not look ahead there. What is no statement is
// taken for a kernel; the passes see whether it is one.
//
// A library of its own, because it needs clang around it: opt has none, and
// with clang's library loaded opt ends over options that both register.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/RequestFormat.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/Support/Path.h"

#include <memory>

using namespace clang;
using namespace reconverge::remedies;

namespace {

/// Raw tokens after a place, without other pragmas.
class Following {
public:
  Following(SourceLocation After, const Preprocessor &PP)
      : SM(PP.getSourceManager()),
        Raw(SM.getLocForStartOfFile(SM.getFileID(After)), PP.getLangOpts(),
            begin(After), SM.getCharacterData(After), end(After)) {}
  Token next() {
    Token Tok;
    Raw.LexFromRawLexer(Tok);
    while (Tok.is(tok::hash) && Tok.isAtStartOfLine())
      do
        Raw.LexFromRawLexer(Tok);
      while (!Tok.isAtStartOfLine() && Tok.isNot(tok::eof));
    return Tok;
  }

private:
  const char *begin(SourceLocation At) const {
    return SM.getBufferData(SM.getFileID(At)).begin();
  }
  const char *end(SourceLocation At) const {
    return SM.getBufferData(SM.getFileID(At)).end();
  }
  SourceManager &SM;
  Lexer Raw;
};

class Reader : public PragmaHandler {
public:
  explicit Reader(std::string &Into)
      : PragmaHandler("reconverge"), Into(Into) {}
  void HandlePragma(Preprocessor &PP, PragmaIntroducer Introducer,
                    Token &Name) override;

private:
  bool readWords(Preprocessor &PP, Token &Tok);
  bool readParameter(Preprocessor &PP, Token &Tok);
  std::string whatThereIs() const;
  std::string Named;                   ///< remedy
  const RequestWords *Known = nullptr; ///< of that
  std::string Parameters;              ///< ":key=value;key=value", or empty
  bool Off = false, Said = false;      ///< Said: an error has been reported
  std::string &Into;                   ///< PragmaFormat.h
};

template <unsigned N>
DiagnosticBuilder report(Preprocessor &PP, SourceLocation At,
                         const char (&Message)[N]) {
  DiagnosticsEngine &Diagnostics = PP.getDiagnostics();
  return Diagnostics.Report(
      At, Diagnostics.getCustomDiagID(DiagnosticsEngine::Error, Message));
}

bool isWord(const Token &Tok, StringRef Word) {
  return Tok.is(tok::identifier) && Tok.getIdentifierInfo()->isStr(Word.data());
}

/// "<key>(<value>)"; \p Tok is the key, and then the closing parenthesis.
bool Reader::readParameter(Preprocessor &PP, Token &Tok) {
  if (Tok.isNot(tok::identifier))
    return false;
  const StringRef Key = Tok.getIdentifierInfo()->getName();
  const auto Values = Known->valuesOf(Key);
  PP.LexUnexpandedToken(Tok);
  if (!Values || Tok.isNot(tok::l_paren))
    return false;
  PP.LexUnexpandedToken(Tok);
  const std::string Value = PP.getSpelling(Tok);
  if (!isOneOf(Value, *Values)) {
    report(PP, Tok.getLocation(), "there is no %0 '%1'; write one of %2")
        << Key << Value << *Values;
    Said = true;
    return false;
  }
  Parameters += (Parameters.empty() ? ":" : ";") + Key.str() + "=" + Value;
  PP.LexUnexpandedToken(Tok);
  return Tok.is(tok::r_paren);
}

/// "reorder-blocks", of which \p Tok is the first word, and then the first token
/// behind it.
std::string readName(Preprocessor &PP, Token &Tok) {
  std::string Name;
  while (Tok.is(tok::identifier) || Tok.is(tok::minus)) {
    if (Tok.is(tok::identifier) && !Name.empty() && Name.back() != '-')
      break;
    Name += PP.getSpelling(Tok);
    PP.LexUnexpandedToken(Tok);
  }
  return Name;
}

/// The remedy, and all up to the end; \p Tok is then the end.
bool Reader::readWords(Preprocessor &PP, Token &Tok) {
  PP.LexUnexpandedToken(Tok);
  Named = readName(PP, Tok);
  Known = requestWordsOf(Named);
  if (!Known)
    return false;
  for (; Tok.isNot(tok::eod); PP.LexUnexpandedToken(Tok))
    if (isWord(Tok, "off"))
      Off = true;
    else if (!readParameter(PP, Tok))
      return false;
  return true;
}

/// Of what is misspelt, all that there is.
std::string Reader::whatThereIs() const {
  if (Known)
    return Known->Remedy.str() + " takes " +
           (Known->Words.empty() ? "no parameter" : Known->Words.str());
  std::string All;
  for (const RequestWords &Each : AllRequestWords)
    if (Each.mayBeAsked())
      All += (All.empty() ? "" : ", ") + Each.Remedy.str();
  return "there is no '" + Named + "', but " + All;
}

/// What begins with \p First; none: nothing that \p Words are about.
std::optional<Subject> subjectAt(const Token &First,
                                 const RequestWords &Words) {
  const StringRef Word =
      First.is(tok::raw_identifier) ? First.getRawIdentifier() : "";
  std::optional<Subject> Of = Subject::Kernel;
  if (isOneOf(Word, "if, switch"))
    Of = Subject::Branch;
  else if (isOneOf(Word, "for, while, do"))
    Of = Subject::Loop;
  else if (First.isOneOf(tok::eof, tok::semi, tok::l_brace, tok::r_brace))
    return std::nullopt;
  return Words.isOf(*Of) ? Of : std::nullopt;
}

/// The last token of it whose line says where it is.
Token lastOf(Subject Of, const Token &First, Following &Source) {
  Token Last = First;
  if (Of == Subject::Loop)
    return Last;
  if (Of == Subject::Branch)
    Last = Source.next();
  unsigned Depth = Last.is(tok::l_paren);
  const auto IsBody = [&] {
    return Depth == 0 && Last.isOneOf(tok::l_brace, tok::semi);
  };
  while (Last.isNot(tok::eof) &&
         (Of == Subject::Kernel ? !IsBody() : Depth != 0)) {
    Last = Source.next();
    Depth += Last.is(tok::l_paren);
    Depth -= Last.is(tok::r_paren);
  }
  return Last;
}

void Reader::HandlePragma(Preprocessor &PP, PragmaIntroducer Introducer,
                          Token &Name) {
  Parameters.clear();
  Off = Said = false;
  Token Tok;
  if (!readWords(PP, Tok)) {
    if (!Said)
      report(PP, Introducer.Loc, "write #pragma %0; %1")
          << StringRef(RequestSyntax) << whatThereIs();
    return;
  }
  SourceManager &SM = PP.getSourceManager();
  SourceLocation At = Introducer.Loc, End = Tok.getLocation();
  if (End.isMacroID() || Introducer.Kind != PIK_HashPragma) {
    At = SM.getExpansionLoc(At);
    End = Lexer::getLocForEndOfToken(SM.getExpansionRange(End).getEnd(), 0, SM,
                                     PP.getLangOpts());
  }
  Following Source(End, PP);
  const Token First = Source.next();
  const std::optional<Subject> Of = subjectAt(First, *Known);
  if (!Of) {
    report(PP, At,
           "#pragma reconverge %0 must come right before one of these: %1")
        << Known->Remedy << Known->Statements;
    return;
  }
  const Token Last = lastOf(*Of, First, Source);
  auto LineOf = [&](SourceLocation Loc) {
    return std::to_string(SM.getPresumedLoc(Loc).getLine());
  };
  SmallString<128> File(SM.getPresumedLoc(At).getFilename());
  SM.getFileManager().makeAbsolutePath(File);
  llvm::sys::path::remove_dots(File, /*remove_dot_dot=*/true);
  Into += LineOf(At) + " " + LineOf(First.getLocation()) + " " +
          LineOf(Last.getLocation()) + " " + nameOf(*Of).str() + " " +
          Known->Remedy.str() + (Off ? " off" : " on" + Parameters) + " " +
          File.str().str() + "\n";
}

/// At the end of the device's code, a variable with all pragmas in it.
class Writer : public ASTConsumer {
public:
  explicit Writer(CompilerInstance &Clang) : Clang(Clang) {
    Clang.getPreprocessor().AddPragmaHandler(new Reader(Pragmas));
  }
  void HandleTranslationUnit(ASTContext &C) override;

private:
  CompilerInstance &Clang;
  std::string Pragmas;
};

void Writer::HandleTranslationUnit(ASTContext &C) {
  if (Pragmas.empty() || !C.getLangOpts().CUDAIsDevice)
    return;
  const QualType T = C.getStringLiteralArrayType(C.CharTy, Pragmas.size());
  const char *Name = PragmaVariable;
  VarDecl *D = VarDecl::Create(C, C.getTranslationUnitDecl(), SourceLocation(),
                               SourceLocation(), &C.Idents.get(Name), T,
                               C.getTrivialTypeSourceInfo(T), SC_Static);
  D->setInit(StringLiteral::Create(C, Pragmas, StringLiteralKind::Ordinary,
                                   /*Pascal=*/false, T, SourceLocation()));
  D->addAttr(CUDADeviceAttr::CreateImplicit(C));
  D->addAttr(UsedAttr::CreateImplicit(C));
  D->addAttr(AsmLabelAttr::CreateImplicit(C, Name, /*IsLiteralLabel=*/true));
  Clang.getASTConsumer().HandleTopLevelDecl(DeclGroupRef(D));
}

class Action : public PluginASTAction {
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Clang,
                                                 StringRef) override {
    return std::make_unique<Writer>(Clang);
  }
  bool ParseArgs(const CompilerInstance &,
                 const std::vector<std::string> &) override {
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

} // namespace

static FrontendPluginRegistry::Add<Action>
    Registered("reconverge", "reads #pragma reconverge");
