//===- rewrite/writer/Choices.cpp - Branches in the text ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rewrite/writer/Choices.h"

#include "rewrite/writer/Effects.h"
#include "rewrite/writer/Shape.h"

#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace reconverge::rewrite {

SourceRange headOf(const Stmt &S) {
  if (const auto *If = dyn_cast<IfStmt>(&S))
    return {If->getBeginLoc(), If->getCond()->getEndLoc()};
  if (const auto *Switch = dyn_cast<SwitchStmt>(&S))
    return {Switch->getBeginLoc(), Switch->getCond()->getEndLoc()};
  if (const auto *Choice = dyn_cast<ConditionalOperator>(&S))
    return {Choice->getBeginLoc(), Choice->getQuestionLoc()};
  return {};
}

const Stmt *branchIn(const Stmt *S, const Place &P, const SourceManager &SM) {
  const Stmt *Found = nullptr;
  walk(S, [&](const Stmt &At) {
    if (Found || isa<LambdaExpr, ForStmt, WhileStmt, DoStmt>(At))
      return false;
    if (const SourceRange Head = headOf(At); Head.isValid()) {
      if (isIn(P, Head, SM))
        Found = &At;
      return false; // its sides are not always come to
    }
    return true;
  });
  return Found;
}

const CallExpr *callIn(const Stmt *S, const Place &P, const SourceManager &SM) {
  const CallExpr *Found = nullptr;
  const auto Is = [&](SourceLocation L) {
    L = SM.getExpansionLoc(L);
    return L.isValid() && SM.getSpellingLineNumber(L) == P.Line &&
           SM.getSpellingColumnNumber(L) == P.Column;
  };
  const auto Look = [&](auto &&Self, const Stmt *Part) -> void {
    walk(Part, [&](const Stmt &At) {
      if (Found || isa<LambdaExpr, ForStmt, WhileStmt, DoStmt>(At))
        return false;
      if (const auto *Call = dyn_cast<CallExpr>(&At);
          Call && Call->getDirectCallee() &&
          (Is(Call->getBeginLoc()) || Is(Call->getExprLoc()) ||
           Is(Call->getCallee()->getExprLoc()))) {
        // `a(b(x))`: both begin in different places, but for `a(x)(y)`.
        Found = Call;
        return false;
      }
      if (const auto *Op = dyn_cast<BinaryOperator>(&At);
          Op && Op->isLogicalOp()) {
        Self(Self, Op->getLHS());
        return false;
      }
      if (const auto *If = dyn_cast<IfStmt>(&At)) {
        Self(Self, If->getCond());
        return false;
      }
      if (const auto *Switch = dyn_cast<SwitchStmt>(&At)) {
        Self(Self, Switch->getCond());
        return false;
      }
      if (const auto *Choice = dyn_cast<ConditionalOperator>(&At)) {
        Self(Self, Choice->getCond());
        return false;
      }
      return true;
    });
  };
  Look(Look, S);
  return Found;
}

const Stmt *statementAt(const Stmt *Body, const Place &P,
                        const SourceManager &SM, ArrayRef<const Stmt *> &Rest) {
  const auto *Block = dyn_cast<CompoundStmt>(Body);
  if (!Block)
    return Body;
  const ArrayRef<Stmt *> All(const_cast<CompoundStmt *>(Block)->body_begin(),
                             Block->size());
  for (size_t I = 0; I < All.size(); ++I) {
    if (isIn(P, All[I]->getSourceRange(), SM)) {
      Rest = ArrayRef<const Stmt *>(
          reinterpret_cast<const Stmt *const *>(All.data()) + I + 1,
          All.size() - I - 1);
      return statementAt(All[I], P, SM, Rest);
    }
    bool Leaves = false;
    walk(All[I], [&](const Stmt &At) {
      Leaves |= isa<ReturnStmt, GotoStmt, BreakStmt, ContinueStmt>(At);
      return !isa<LambdaExpr>(At);
    });
    if (Leaves)
      return nullptr;
  }
  return nullptr;
}

bool isTrips(const Stmt *S, const Place &P, const SourceManager &SM) {
  bool Found = false;
  walk(S, [&](const Stmt &At) {
    const Stmt *Body = nullptr;
    if (const auto *For = dyn_cast<ForStmt>(&At))
      Body = For->getBody();
    else if (const auto *While = dyn_cast<WhileStmt>(&At))
      Body = While->getBody();
    Found |= Body && isIn(P, {At.getBeginLoc(), Body->getBeginLoc()}, SM);
    return !Found;
  });
  return Found;
}

const Stmt *firstChoice(const Stmt *Body) {
  const Stmt *Found = nullptr;
  walk(Body, [&](const Stmt &At) {
    const auto *Op = dyn_cast<BinaryOperator>(&At);
    if (Found || isa<LambdaExpr, ForStmt, WhileStmt, DoStmt, SwitchStmt>(At) ||
        (Op && Op->isLogicalOp()))
      return false;
    if (isa<ConditionalOperator, IfStmt>(At))
      Found = &At;
    return true;
  });
  return Found;
}

bool alwaysLeaves(const Stmt *S) {
  if (const auto *Block = dyn_cast<CompoundStmt>(S))
    return !Block->body_empty() && alwaysLeaves(Block->body_back());
  if (const auto *If = dyn_cast<IfStmt>(S))
    return If->getElse() && alwaysLeaves(If->getThen()) &&
           alwaysLeaves(If->getElse());
  return isa<ReturnStmt, ContinueStmt>(S);
}

} // namespace reconverge::rewrite
