//===- rewrite/writer/Early.cpp - What comes before a branch --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of the declarations before a branch, the path needs those that it is made of,
// and the work those that it names; who needs none has none, or compilers would
// warn of it. Variables are found in the syntax tree, types by their words. Ways
// out of the kernel are the path's alone.
//
//===----------------------------------------------------------------------===//

#include "rewrite/writer/Early.h"

#include "rewrite/writer/Effects.h"
#include "rewrite/writer/Layout.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/AST/TypeLoc.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace reconverge::rewrite {

static std::vector<Early> earlyIn(const Shape &Where, const Text &T) {
  const auto LineBehind = [&](const Stmt *S) {
    return T.lineEnd(T.spanOf({S->getBeginLoc(), S->getBeginLoc()})->Begin);
  };
  std::vector<Early> All;
  unsigned Behind = LineBehind(Where.Kernel->getBody());
  const auto Add = [&](const Stmt *S, bool InWrapper) {
    const auto Span = *T.spanOf(S->getSourceRange());
    All.push_back({S, InWrapper, {Behind, T.lineStart(Span.Begin)}});
    Behind = T.lineEnd(Span.End);
  };
  // Of a loop over the grid, its number stands between what is before it and in it.
  const auto IsBefore = [&](const Stmt *S) {
    return !Where.Grid || S->getBeginLoc() < Where.Grid->getBeginLoc();
  };
  for (const Stmt *S : Where.Before)
    if (IsBefore(S))
      Add(S, false);
  if (Where.Grid) {
    All.push_back({Where.Grid->getInit(), false, {0, 0}, /*IsOnLine=*/false});
    Behind = LineBehind(&Where.body());
  }
  for (const Stmt *S : Where.Before)
    if (!IsBefore(S))
      Add(S, true);
  for (auto [I, S] : llvm::enumerate(Where.Region)) {
    const bool InWrapper =
        Where.Grid || (Where.Wrapper && I >= Where.InWrapper);
    if (Where.Wrapper && I == Where.InWrapper)
      Behind = LineBehind(Where.Wrapper->getThen());
    Add(S, InWrapper);
  }
  return All;
}

namespace {
/// What is written again for the path, or for the work.
struct Users {
  std::vector<const Stmt *> All; ///< what names variables
  std::string Words;             ///< of all that is written
  void add(const Stmt *S, const Text &T) {
    All.push_back(S);
    Words += T.textOf(*T.spanOf(S->getSourceRange())) + " ";
  }
  bool need(const Decl &D, const Expr *But) const;
};
} // namespace

static bool hasName(StringRef Words, const Decl &D) {
  if (const auto *Parts = dyn_cast<DecompositionDecl>(&D))
    return llvm::any_of(Parts->bindings(), [&](const BindingDecl *B) {
      return hasWord(Words, B->getName());
    });
  const auto *Named = dyn_cast<NamedDecl>(&D);
  return Named && Named->getIdentifier() && hasWord(Words, Named->getName());
}

/// \p But is the condition that asks for the path.
bool Users::need(const Decl &D, const Expr *But) const {
  if (!isa<VarDecl>(D))
    return hasName(Words, D);
  bool Found = false;
  for (const Stmt *User : All)
    walk(User, [&](const Stmt &At) {
      if (&At == But)
        return false;
      if (const auto *Name = dyn_cast<DeclRefExpr>(&At)) {
        const auto *Part = dyn_cast<BindingDecl>(Name->getDecl());
        Found |= &D == (Part ? Part->getDecomposedDecl() : Name->getDecl());
      }
      return !Found;
    });
  return Found;
}

/// Which of \p Decls, the last first, somebody needs.
static std::vector<const Decl *> neededOf(const DeclStmt &Decls, Users &By,
                                          StringRef Path, const Expr *But,
                                          const Text &T) {
  std::vector<const Decl *> All(Decls.decl_begin(), Decls.decl_end()), Needed;
  for (const Decl *D : llvm::reverse(All)) {
    if (!hasName(Path, *D) && !By.need(*D, But))
      continue;
    Needed.insert(Needed.begin(), D);
    if (const auto *V = dyn_cast<VarDecl>(D); V && V->getInit())
      By.add(V->getInit(), T);
  }
  if (!Needed.empty())
    By.Words += T.textOf(*T.spanOf(Decls.getSourceRange())) + " ";
  return Needed;
}

std::vector<Early> planEarly(const Shape &Where, const PathPlan &Path,
                             const ItemPlan &Items, const Text &T) {
  Users ForPath, ForWork;
  for (const Hoist &H : Path.Hoists)
    ForPath.add(H.Of, T);
  if (Where.Wrapper && Where.Wrapper->getCond() != Items.Implied)
    ForPath.add(Where.Wrapper->getCond(), T);
  if (Items.Last)
    ForWork.add(Items.Last->getThen(), T);
  else
    for (const Stmt *S : Where.After)
      ForWork.add(S, T);
  std::vector<Early> All = earlyIn(Where, T);
  for (Early &E : llvm::reverse(All)) {
    if (const Expr *Condition = exitCondition(*E.S)) {
      E.IsAsked = Condition != Items.Implied;
      if (E.IsAsked)
        ForPath.add(Condition, T);
    } else if (const auto *Decls = dyn_cast<DeclStmt>(E.S)) {
      E.ForPath = neededOf(*Decls, ForPath, Path.Text, nullptr, T);
      E.ForWork = neededOf(*Decls, ForWork, "", Path.Condition, T);
    }
  }
  return All;
}

/// Where \p V begins in its declaration, behind the type that it shares.
static unsigned beginOf(const VarDecl &V, unsigned Statement, const Text &T) {
  const TypeSourceInfo *Info = V.getTypeSourceInfo();
  TypeLoc Type = Info->getTypeLoc();
  while (true) {
    Type = Type.getUnqualifiedLoc();
    if (!Type.getAs<PointerTypeLoc>() && !Type.getAs<ReferenceTypeLoc>() &&
        !Type.getAs<ArrayTypeLoc>())
      break;
    Type = Type.getNextTypeLoc();
  }
  const auto Span = T.spanOf(Type.getSourceRange());
  return Span ? std::max(Span->End, Statement) : Statement;
}

std::string declared(const DeclStmt &S, ArrayRef<const Decl *> Needed,
                     const Text &T, const std::vector<Edit> &Edits) {
  const auto Whole = *T.spanOf(S.getSourceRange());
  const auto *First = dyn_cast<VarDecl>(*S.decl_begin());
  if (S.isSingleDecl() || !First ||
      Needed.size() == size_t(std::distance(S.decl_begin(), S.decl_end())))
    return edited(T, Whole, Edits);
  const unsigned Behind = beginOf(*First, Whole.Begin, T);
  std::vector<std::string> Words;
  unsigned Begin = Behind;
  for (const Decl *D : S.decls()) {
    const unsigned End = T.spanOf({D->getEndLoc(), D->getEndLoc()})->End;
    if (llvm::is_contained(Needed, D))
      Words.push_back(
          StringRef(edited(T, {Begin, End}, Edits)).ltrim(", \t\n").str());
    Begin = End;
  }
  return T.textOf({Whole.Begin, Behind}) + " " + llvm::join(Words, ", ") + ";";
}

} // namespace reconverge::rewrite
