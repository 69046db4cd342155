//===- plugin/TemplateWords.cpp - `template` where it was left out --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A part of libReconvergeClang.so.
//
// Of a class that hangs on a template's parameter a compiler cannot know what
// its members are, and C++ takes a `<` behind one for a comparison, unless
// `template` stands before the member. EDG reads the body of a template again
// for each instance, when the class is known, so device code that goes without
// the word compiles for nvcc if its arguments can be read as expressions too:
//
//   Cast<To, From>::cast<n>(to, from);   Cast<To, From>::template cast<n>(...)
//   object.times<n>(x);                  object.template times<n>(x)
//
// clang has parsed a comparison by then, and finds an overloaded function in
// it. So the word is put in before the parser sees the member:
//
//   1. An identifier comes behind `::`, `.` or `->`, and `<` behind it.
//   2. What stands before names a class template: by its name and arguments, by
//      an alias, or by a variable of such a type.
//   3. The class template has a function template of that name, as far as one
//      can tell: in the primary template, or, if that has no such member at
//      all, in a specialisation.
//
// Such a `<` can be no comparison, as a function template's name is no operand
// of one. In code that hangs on nothing the word is allowed, and changes
// nothing. At the level of namespaces, where members are defined, it is not,
// and not needed.
//
// Limitation: nothing is put in where the class template's name is qualified,
// the class is a template's parameter itself, the member's name comes from a
// macro, or an object's type is `auto`; nor, for objects, in the body of a
// function inside a class, whose tokens are read before its variables are.
//
//===----------------------------------------------------------------------===//

#include "TemplateWords.h"

#include "PutBefore.h"

#include "clang/AST/DeclTemplate.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/Lookup.h"
#include "clang/Sema/Sema.h"

using namespace clang;

namespace reconverge::plugin {

static bool isMemberAccess(const Token &Tok) {
  return Tok.isOneOf(tok::coloncolon, tok::period, tok::arrow);
}

/// Whether \p Class has a function template \p Name: nothing if it has no
/// member of that name.
static std::optional<bool> hasFunctionTemplate(const CXXRecordDecl &Class,
                                               DeclarationName Name) {
  const CXXRecordDecl *Defined = Class.getDefinition();
  if (!Defined)
    return std::nullopt;
  const auto Members = Defined->lookup(Name);
  if (Members.empty())
    return std::nullopt;
  return llvm::any_of(Members, [](const NamedDecl *Member) {
    return isa<FunctionTemplateDecl>(Member->getUnderlyingDecl());
  });
}

static bool hasFunctionTemplate(const ClassTemplateDecl &Template,
                                DeclarationName Name) {
  if (auto Has = hasFunctionTemplate(*Template.getTemplatedDecl(), Name))
    return *Has;
  SmallVector<ClassTemplatePartialSpecializationDecl *> Partial;
  auto &Mutable = const_cast<ClassTemplateDecl &>(Template);
  Mutable.getPartialSpecializations(Partial);
  const auto Has = [&](const CXXRecordDecl *Class) {
    return hasFunctionTemplate(*Class, Name).value_or(false);
  };
  return llvm::any_of(Partial, Has) ||
         llvm::any_of(Mutable.specializations(), Has);
}

static const ClassTemplateDecl *templateOf(QualType Type) {
  Type = Type.getNonReferenceType();
  if (const auto *Pointer = Type->getAs<PointerType>())
    Type = Pointer->getPointeeType();
  const auto *Class = Type->getAs<TemplateSpecializationType>();
  return Class ? dyn_cast_or_null<ClassTemplateDecl>(
                     Class->getTemplateName().getAsTemplateDecl())
               : nullptr;
}

/// What \p Name, unqualified, is where the parser stands.
const NamedDecl *TemplateWords::find(const Token &Name) const {
  if (Name.isNot(tok::identifier) || !S.getCurScope())
    return nullptr;
  LookupResult Found(S, Name.getIdentifierInfo(), Name.getLocation(),
                     Sema::LookupOrdinaryName);
  Found.suppressDiagnostics();
  return S.LookupName(Found, S.getCurScope()) ? Found.getAsSingle<NamedDecl>()
                                              : nullptr;
}

/// The class template that the tokens before \p End name, or whose type they
/// have.
const ClassTemplateDecl *TemplateWords::classBefore(size_t End) const {
  size_t Name = End - 1; // of the class or object
  if (Before[End].is(tok::coloncolon) &&
      Before[Name].isOneOf(tok::greater, tok::greatergreater)) {
    // Back over the arguments; what they have in parentheses is passed over.
    int Depth = 0, Parens = 0;
    do {
      const Token &Tok = Before[Name];
      Parens += Tok.is(tok::r_paren) - Tok.is(tok::l_paren);
      if (!Parens)
        Depth += Tok.is(tok::greater) + 2 * Tok.is(tok::greatergreater) -
                 Tok.is(tok::less);
      if (Name-- == 0)
        return nullptr;
    } while (Depth > 0 || Parens > 0);
  }
  if (Name > 0 && isMemberAccess(Before[Name - 1]))
    return nullptr;
  const NamedDecl *Found = find(Before[Name]);
  if (!Found)
    return nullptr;
  if (Before[End].isNot(tok::coloncolon)) {
    const auto *Variable = dyn_cast<VarDecl>(Found);
    return Variable ? templateOf(Variable->getType()) : nullptr;
  }
  if (const auto *Alias = dyn_cast<TypedefNameDecl>(Found))
    return templateOf(Alias->getUnderlyingType());
  return dyn_cast<ClassTemplateDecl>(Found);
}

bool TemplateWords::isWanted(const Token &Tok) const {
  const SourceLocation At = Tok.getLocation();
  if (Tok.isNot(tok::identifier) || Before.size() < 2 ||
      !isMemberAccess(Before.back()) || At.isMacroID() ||
      S.CurContext->isFileContext() ||
      S.getSourceManager().isInSystemHeader(At))
    return false;
  const auto Next =
      Lexer::findNextToken(At, S.getSourceManager(), S.getLangOpts());
  if (!Next || Next->isNot(tok::less))
    return false;
  const ClassTemplateDecl *Class = classBefore(Before.size() - 1);
  return Class && hasFunctionTemplate(*Class, Tok.getIdentifierInfo());
}

void TemplateWords::see(Token &Tok) {
  if (Tok.isOneOf(tok::semi, tok::l_brace, tok::r_brace)) {
    Before.clear();
    return;
  }
  const Token Seen = Tok;
  if (isWanted(Tok))
    putBefore(Tok, tok::kw_template, "template", Before.back().getLocation(),
              S.getPreprocessor());
  Before.push_back(Seen);
}

} // namespace reconverge::plugin
