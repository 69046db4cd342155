//===- rewrite/writer/Shape.cpp - A round's place in a kernel -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   __global__ void kernel(...) {
//     ...                       Before
//     if (i >= n)               Region: from the first way out on; goes into a
//       return;                 function object that gives the path, for it has
//     const float x = in[i];    to be done before the round by those that stay
//     if (x > 0)                At; a call that the branch has come from by
//       ...                     inlining counts as well
//     ...                       After
//   }
//
// `if (i < n) { const float x = in[i]; if (x > 0) ... }`, if nothing follows, is
// the same with another way out. In a loop nobody may leave.
//
//===----------------------------------------------------------------------===//

#include "rewrite/writer/Shape.h"

#include "rewrite/writer/Effects.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace reconverge::rewrite {

bool isIn(const Place &P, SourceRange R, const SourceManager &SM) {
  const auto At = [&](SourceLocation L) {
    L = SM.getExpansionLoc(L);
    return std::pair<uint64_t, uint64_t>(SM.getSpellingLineNumber(L),
                                         SM.getSpellingColumnNumber(L));
  };
  const std::pair Here(P.Line, P.Column);
  return R.isValid() && At(R.getBegin()) <= Here && Here <= At(R.getEnd());
}

static bool returnsOnly(const Stmt &S) {
  if (const auto *Block = dyn_cast<CompoundStmt>(&S))
    return Block->size() == 1 && returnsOnly(*Block->body_front());
  return isa<ReturnStmt, ContinueStmt>(S);
}

const Expr *exitCondition(const Stmt &S) {
  const auto *If = dyn_cast<IfStmt>(&S);
  if (!If || If->getElse() || If->getInit() || If->getConditionVariable() ||
      If->isConstexpr() || !returnsOnly(*If->getThen()))
    return nullptr;
  return If->getCond();
}

std::vector<const ReturnStmt *> returnsIn(const Stmt &S) {
  std::vector<const ReturnStmt *> Found;
  walk(&S, [&](const Stmt &At) {
    if (const auto *Return = dyn_cast<ReturnStmt>(&At))
      Found.push_back(Return);
    return !isa<LambdaExpr>(At);
  });
  return Found;
}

std::vector<const ContinueStmt *> continuesIn(const Stmt &S) {
  std::vector<const ContinueStmt *> Found;
  walk(&S, [&](const Stmt &At) {
    if (const auto *Continue = dyn_cast<ContinueStmt>(&At))
      Found.push_back(Continue);
    return !isa<LambdaExpr, ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(At);
  });
  return Found;
}

const CompoundStmt &Shape::body() const {
  return *cast<CompoundStmt>(Grid ? Grid->getBody() : Kernel->getBody());
}

bool Shape::hasExits() const {
  return Wrapper || llvm::any_of(Region, [](const Stmt *S) {
           return !returnsIn(*S).empty();
         });
}

/// Something in \p S leaves what is around it: the first of that.
static const Stmt *leaves(const Stmt *S, bool Loop) {
  const Stmt *Found = nullptr;
  walk(S, [&](const Stmt &At) {
    if (isa<LambdaExpr>(At))
      return false;
    const bool Inner = &At != S && isa<ForStmt, WhileStmt, DoStmt>(At);
    if (isa<ReturnStmt, GotoStmt>(At) ||
        (Loop && isa<BreakStmt, ContinueStmt>(At)))
      Found = Found ? Found : &At;
    return !Inner || !Loop;
  });
  return Found;
}

/// What in \p S ends more than a trip of the loop that it is right in: the first of
/// that.
static const Stmt *leavesTrip(const Stmt &S) {
  const Stmt *Found = nullptr;
  const auto Look = [&](auto &&Self, const Stmt &From, bool Breaks) -> void {
    walk(&From, [&](const Stmt &At) {
      if (isa<LambdaExpr>(At))
        return false;
      if (isa<ReturnStmt, GotoStmt>(At) || (Breaks && isa<BreakStmt>(At)))
        Found = Found ? Found : &At;
      if (Breaks &&
          isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt, SwitchStmt>(At)) {
        for (const Stmt *Child : At.children())
          if (Child)
            Self(Self, *Child, false);
        return false;
      }
      return true;
    });
  };
  Look(Look, S, true);
  return Found;
}

/// What a `#pragma unroll` or an attribute stands before.
static const Stmt *bare(const Stmt *S) {
  const auto *Attributed = dyn_cast<AttributedStmt>(S);
  return Attributed ? Attributed->getSubStmt() : S;
}

static const Stmt *bodyOf(const Stmt &Loop) {
  if (const auto *For = dyn_cast<ForStmt>(&Loop))
    return For->getBody();
  if (const auto *While = dyn_cast<WhileStmt>(&Loop))
    return While->getBody();
  const auto *Do = dyn_cast<DoStmt>(&Loop);
  return Do ? Do->getBody() : nullptr;
}

const VarDecl *libraryIn(const FunctionDecl &Kernel) {
  const VarDecl *Found = nullptr;
  walk(Kernel.getBody(), [&](const Stmt &At) {
    if (const auto *Decls = dyn_cast<DeclStmt>(&At))
      for (const Decl *D : Decls->decls())
        if (const auto *V = dyn_cast<VarDecl>(D))
          if (const auto *Type = V->getType()->getAsCXXRecordDecl();
              Type && (Type->getName() == "block_remap" ||
                       Type->getName() == "block_collect"))
            Found = V;
    return !Found;
  });
  return Found;
}

namespace {
class Finder {
public:
  Finder(const Order &What, const Text &T, Shape &Into)
      : P(What.Chain.front()), HasExits(What.HasExits), T(T), Into(Into) {}
  Trouble inBlock(const CompoundStmt &Block);
  Trouble inGrid(const CompoundStmt &Body);
  Trouble inWrapper(const IfStmt &If);

private:
  bool holds(const Stmt *S) const { return isIn(P, S->getSourceRange(), T.SM); }
  Trouble split(ArrayRef<const Stmt *> Earlier);
  Trouble addRegion(const Stmt *S);
  const Place &P;
  const bool HasExits; ///< else all leave together, or nobody
  const Text &T;
  Shape &Into;
};
} // namespace

/// Labels would stand in the function object, and what jumps to them not.
Trouble Finder::addRegion(const Stmt *S) {
  Trouble Why;
  walk(S, [&](const Stmt &At) {
    if (isa<GotoStmt, LabelStmt>(At))
      Why = Refused{&refuse::Exit, At.getBeginLoc()};
    return !Why && !isa<LambdaExpr>(At);
  });
  Into.Region.push_back(S);
  return Why;
}

/// What comes before the branch in its block: Before, and from the first way out
/// on, Region.
Trouble Finder::split(ArrayRef<const Stmt *> Earlier) {
  for (const Stmt *S : Earlier) {
    if (Into.Grid) {
      // A trip may end; nothing else may.
      const Stmt *Way = leavesTrip(*S);
      if (Way)
        return Refused{&refuse::Exit, Way->getBeginLoc()};
      if (!Into.Region.empty() || exitCondition(*S))
        Into.Region.push_back(S);
      else
        Into.Before.push_back(S);
      continue;
    }
    const Stmt *Way = leaves(S, Into.Loop);
    if (!Into.Region.empty() || (HasExits && Way && !Into.Loop)) {
      if (Trouble Why = addRegion(S))
        return Why;
      continue;
    }
    if (Way && (Into.Loop || !isa<ReturnStmt>(Way)))
      return Refused{&refuse::Exit, Way->getBeginLoc()};
    Into.Before.push_back(S);
  }
  if (Into.Loop && !Into.Region.empty())
    return Refused{&refuse::Exit, Into.Region.front()->getBeginLoc()};
  return std::nullopt;
}

Trouble Finder::inBlock(const CompoundStmt &Block) {
  const std::vector<const Stmt *> All(Block.body_begin(), Block.body_end());
  const auto Here = llvm::find_if(All, [&](const Stmt *S) { return holds(S); });
  if (Here == All.end())
    return Refused{&refuse::Lost, Block.getBeginLoc()};
  if (Trouble Why = split(ArrayRef(All).take_front(Here - All.begin())))
    return Why;
  const ArrayRef<const Stmt *> Rest =
      ArrayRef(All).drop_front(Here + 1 - All.begin());
  const Stmt *Inner = bodyOf(*bare(*Here));
  if (Inner && holds(Inner)) {
    const auto *InLoop = dyn_cast<CompoundStmt>(Inner);
    if (Into.Loop || !InLoop)
      return Refused{&refuse::Nested, (*Here)->getBeginLoc()};
    if (!Into.Region.empty())
      return Refused{&refuse::Exit, Into.Region.front()->getBeginLoc()};
    if (const Stmt *Way = leaves(InLoop, true))
      return Refused{&refuse::Exit, Way->getBeginLoc()};
    Into.Loop = bare(*Here);
    Into.Outside.assign(Rest.begin(), Rest.end());
    return inBlock(*InLoop);
  }
  if (const auto *If = dyn_cast<IfStmt>(*Here);
      If && !isIn(P, {If->getBeginLoc(), If->getCond()->getEndLoc()}, T.SM)) {
    if (If->getElse() || If->getInit() || If->getConditionVariable() ||
        If->isConstexpr() || Into.Loop || !Rest.empty())
      return Refused{&refuse::Nested, If->getBeginLoc()};
    return inWrapper(*If);
  }
  Into.At = *Here;
  Into.After.push_back(*Here);
  Into.After.insert(Into.After.end(), Rest.begin(), Rest.end());
  return std::nullopt;
}

/// The kernel is declarations, and then its loop over the grid.
Trouble Finder::inGrid(const CompoundStmt &Body) {
  const Stmt *Last = Body.body_empty() ? nullptr : bare(Body.body_back());
  const auto *For = dyn_cast_or_null<ForStmt>(Last);
  const auto *Inside = For ? dyn_cast<CompoundStmt>(For->getBody()) : nullptr;
  const auto *Init = For ? dyn_cast_or_null<DeclStmt>(For->getInit()) : nullptr;
  if (!Inside || !Init || !Init->isSingleDecl() || !For->getCond() ||
      !For->getInc() || For->getConditionVariable() || !holds(Inside))
    return Refused{&refuse::Grid, Body.getBeginLoc()};
  Into.Before.assign(Body.body_begin(), Body.body_end() - 1);
  Into.Grid = For;
  if (Trouble Why = inBlock(*Inside))
    return Why;
  for (const Stmt *S : Into.After)
    if (const Stmt *Way = leavesTrip(*S))
      return Refused{&refuse::Exit, Way->getBeginLoc()};
  return std::nullopt;
}

Trouble Finder::inWrapper(const IfStmt &If) {
  Into.Wrapper = &If;
  Into.InWrapper = Into.Region.size();
  const auto *Block = dyn_cast<CompoundStmt>(If.getThen());
  if (!Block) {
    Into.At = If.getThen();
    Into.After = {Into.At};
  } else {
    const std::vector<const Stmt *> All(Block->body_begin(), Block->body_end());
    const auto Here =
        llvm::find_if(All, [&](const Stmt *S) { return holds(S); });
    if (Here == All.end())
      return Refused{&refuse::Lost, Block->getBeginLoc()};
    for (const Stmt *S : ArrayRef(All).take_front(Here - All.begin()))
      if (Trouble Why = addRegion(S))
        return Why;
    Into.At = *Here;
    Into.After.assign(Here, All.end());
  }
  // What is behind the round must be a branch, or a call into one.
  if (const auto *Inner = dyn_cast<IfStmt>(Into.At);
      (Inner &&
       !isIn(P, {Inner->getBeginLoc(), Inner->getCond()->getEndLoc()}, T.SM)) ||
      bodyOf(*Into.At))
    return Refused{&refuse::Nested, Into.At->getBeginLoc()};
  return std::nullopt;
}

Trouble findShape(const FunctionDecl &Kernel, const Order &What, const Text &T,
                  Shape &Into) {
  Into.Kernel = &Kernel;
  const auto *Body = dyn_cast_or_null<CompoundStmt>(Kernel.getBody());
  if (What.Chain.empty() || !Body)
    return Refused{&refuse::Lost, Kernel.getLocation()};
  if (!T.SM.isInMainFile(T.SM.getExpansionLoc(Kernel.getLocation())))
    return Refused{&refuse::Elsewhere, Kernel.getLocation()};
  if (!T.spanOf(Body->getSourceRange()) || Body->getBeginLoc().isMacroID())
    return Refused{&refuse::Macro, Kernel.getLocation()};
  Finder Find(What, T, Into);
  if (Trouble Why = What.IsGrid ? Find.inGrid(*Body) : Find.inBlock(*Body))
    return Why;
  // Each on lines of its own, and none of a macro.
  std::vector<const Stmt *> Edged;
  if (Into.Wrapper)
    Edged.push_back(Into.Wrapper);
  if (!Into.Wrapper || isa<CompoundStmt>(Into.Wrapper->getThen()))
    Edged.push_back(Into.At);
  if (Into.Loop)
    Edged.push_back(Into.Loop);
  for (const Stmt *S : Edged) {
    if (S->getBeginLoc().isMacroID() || S->getEndLoc().isMacroID())
      return Refused{&refuse::Macro, S->getBeginLoc()};
    const auto Span = T.spanOf(S->getSourceRange());
    if (!Span)
      return Refused{&refuse::Macro, S->getBeginLoc()};
    if (!T.beginsLine(Span->Begin))
      return Refused{&refuse::Layout, S->getBeginLoc()};
  }
  // The other side of an if at the end leaves as well, and needs nothing else.
  const auto *Last = dyn_cast<IfStmt>(Into.At);
  const bool IsLast = Last && !Last->getElse() && Into.After.size() == 1 &&
                      What.Chain.size() == 1;
  if (!What.Items && What.HasExits && !Into.hasExits() && !IsLast)
    return Refused{&refuse::Exit, Into.At->getBeginLoc()};
  return std::nullopt;
}

} // namespace reconverge::rewrite
