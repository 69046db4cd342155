//===- rewrite/writer/Paths.cpp - A branch's ways, as a number ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The branch is the kernel's own, or that of a function which it calls, perhaps
// by way of others; then its condition is written in the kernel's words: for a
// parameter stands what is given for it.
//
//   out[i] = order(m, at, rule_of(m, at));     int rule = rule_of(m, at);
//   int order(..., int rule) {             ->  path: rule & 4 ? 0 : 1
//     if (rule & 4) ...                        out[i] = order(m, at, rule);
//
// What is given may be much to compute, or read memory: then it gets a name, a
// variable like others, and is computed once. In a called function the branch
// itself stays: the path only sorts threads, and nothing hangs on its being what
// the branch then finds. The kernel's own condition is not asked twice.
//
// Branches right in the sides of the first one, which the pass's round serves as
// well, make more leaves if their conditions are cheap and read no memory; and where
// the optimiser has made one switch of it all, those in a function that a side
// calls, in whose conditions memory may be read once more.
//
//===----------------------------------------------------------------------===//

#include "rewrite/writer/Paths.h"

#include "rewrite/writer/Cases.h"
#include "rewrite/writer/Choices.h"
#include "rewrite/writer/Effects.h"
#include "rewrite/writer/Layout.h"
#include "rewrite/writer/Locals.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace reconverge::rewrite {

static constexpr unsigned MaxLeaves = 31;

namespace {

/// A call, and the parameters of the function that it calls.
struct Level {
  const Expr *Call;
  const FunctionDecl *Callee;
  const Expr *argument(unsigned N) const {
    if (const auto *C = dyn_cast<CallExpr>(Call)) {
      // An operator's first argument is the object.
      const unsigned Skip =
          isa<CXXOperatorCallExpr>(C) && isa<CXXMethodDecl>(Callee);
      return N + Skip < C->getNumArgs() ? C->getArg(N + Skip) : nullptr;
    }
    return nullptr;
  }
};

class Planner {
public:
  Planner(const Shape &Where, const Order &What, Text &T, PathPlan &Into)
      : Where(Where), What(What), T(T), Into(Into) {}
  Trouble plan();

private:
  Trouble refused(const Stmt *S) const {
    return Refused{&refuse::Condition, S->getBeginLoc()};
  }
  std::optional<std::string> written(const Expr &E, bool Nested);
  std::optional<std::string> parameter(const ParmVarDecl &P, size_t Depth);
  std::string hoist(const Expr &E, QualType Type, StringRef Name);
  bool isChoice(const Stmt &S) const;
  std::optional<std::string> tree(const Stmt *S, ArrayRef<const Stmt *> Rest);
  std::optional<std::string> ofIf(const Expr &C, const Stmt *Then,
                                  const Stmt *Else, ArrayRef<const Stmt *> Rest,
                                  bool IsRoot);
  std::optional<std::string> inCall(const Stmt &S);
  Trouble ofSwitch(const SwitchStmt &S);
  Trouble ofFirst();
  std::optional<std::string> later(const Place &P);
  void addLater();
  bool isSwitched() const { return What.Leaves > What.Choices.size() + 1; }

  const Shape &Where;
  const Order &What;
  Text &T;
  PathPlan &Into;
  std::vector<Level> Levels;
  llvm::MapVector<const ParmVarDecl *, std::string> Given;
  bool IsInside = false; ///< in what a side calls: nothing is computed ahead
};

} // namespace

bool Planner::isChoice(const Stmt &S) const {
  const SourceRange Head = headOf(S);
  // The optimiser makes one switch of many branches on a value.
  if (Head.isValid() && isSwitched())
    return true;
  return Head.isValid() && llvm::any_of(What.Choices, [&](const Place &P) {
           return isIn(P, Head, T.SM);
         });
}

std::string Planner::hoist(const Expr &E, QualType Type, StringRef Name) {
  for (const Hoist &H : Into.Hoists)
    if (H.Of == &E)
      return H.Name;
  const std::string Fresh = T.freshName(Name.empty() ? "key" : Name);
  Into.Hoists.push_back(
      {Fresh,
       Type.getNonReferenceType().getUnqualifiedType().getAsString(
           T.Context.getPrintingPolicy()),
       &E});
  return Fresh;
}

static bool isSimple(StringRef Text) {
  return llvm::all_of(Text, [](char C) {
    return llvm::isAlnum(C) || StringRef("_.:[]").contains(C);
  });
}

/// Without parentheses around all of it.
static std::string unwrapped(const std::string &Text) {
  int Depth = 0;
  for (size_t At = 0; At + 1 < Text.size(); ++At) {
    Depth += (Text[At] == '(') - (Text[At] == ')');
    if (!Depth)
      return Text;
  }
  return Text.size() > 1 ? Text.substr(1, Text.size() - 2) : Text;
}

/// A whole number of type \p From is the same in type \p To.
static bool keepsValue(QualType From, QualType To, const ASTContext &C) {
  To = To.getNonReferenceType();
  if (!From->isIntegralOrUnscopedEnumerationType() ||
      !To->isIntegralOrUnscopedEnumerationType())
    return false;
  const unsigned Narrow = C.getIntWidth(From), Wide = C.getIntWidth(To);
  const bool FromSign = From->isSignedIntegerOrEnumerationType(),
             ToSign = To->isSignedIntegerOrEnumerationType();
  return FromSign == ToSign ? Narrow <= Wide : ToSign && Narrow < Wide;
}

static bool hasCall(const Stmt *S) {
  bool Found = false;
  walk(S, [&](const Stmt &At) {
    Found |= isa<CallExpr, CXXConstructExpr>(At);
    return !Found;
  });
  return Found;
}

/// What stands for \p P, of the callee of Levels[Depth], in the kernel's words.
std::optional<std::string> Planner::parameter(const ParmVarDecl &P,
                                              size_t Depth) {
  const Level &Of = Levels[Depth];
  const Expr *Arg = Of.argument(P.getFunctionScopeIndex());
  if (!Arg || mayChange(Of.Callee->getBody(), P) || effectOf(Arg).Acts)
    return std::nullopt;
  const Expr *Inner = Arg->IgnoreParenImpCasts();
  const bool SameType = T.Context.hasSameUnqualifiedType(
      Inner->getType(), P.getType().getNonReferenceType());
  Effect Does = effectOf(Arg);
  Does.Reads &= !IsInside;
  if (Does.isCheap() && !hasCall(Arg) &&
      (SameType || keepsValue(Inner->getType(), P.getType(), T.Context)))
    if (auto Text = written(*Inner, /*Nested=*/true))
      return Text;
  // Only the kernel's own text gets another name.
  QualType Type = P.getType().getNonReferenceType();
  if (Depth > 0 || IsInside || !Type->isScalarType() ||
      isDependent(*Arg, *Where.Kernel))
    return std::nullopt;
  return hoist(*Arg, Type, P.getName());
}

/// \p E in the kernel's words; in parentheses if it is \p Nested and needs them.
std::optional<std::string> Planner::written(const Expr &E, bool Nested) {
  const CharSourceRange R = Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(E.getSourceRange()), T.SM, T.Language);
  bool Invalid = R.isInvalid() || E.getBeginLoc().isMacroID();
  if (Invalid)
    return std::nullopt;
  const StringRef Text = Lexer::getSourceText(R, T.SM, T.Language, &Invalid);
  const unsigned Begin = T.SM.getFileOffset(R.getBegin());
  std::vector<std::pair<unsigned, const ParmVarDecl *>> Names;
  bool Fails = Invalid;
  walk(&E, [&](const Stmt &At) {
    if (isa<CXXThisExpr, LambdaExpr>(At) ||
        (!Levels.empty() && threadIndex(&At) >= 0))
      Fails = true;
    const VarDecl *V = variableOf(At);
    if (!V || !V->hasLocalStorage())
      return true;
    if (V->getDeclContext() == Where.Kernel)
      return true;
    const auto *P = dyn_cast<ParmVarDecl>(V);
    Fails |= !P || At.getBeginLoc().isMacroID();
    if (!Fails)
      Names.push_back({T.SM.getFileOffset(At.getBeginLoc()) - Begin, P});
    return true;
  });
  if (Fails)
    return std::nullopt;
  llvm::sort(Names);
  std::string Result;
  unsigned At = 0;
  for (auto [Offset, P] : Names) {
    auto &Known = Given[P];
    if (Known.empty()) {
      std::optional<std::string> Found;
      for (size_t Depth = 0; Depth < Levels.size(); ++Depth)
        if (P->getDeclContext() == Levels[Depth].Callee)
          Found = parameter(*P, Depth);
      if (!Found)
        return std::nullopt;
      Given[P] = *Found;
    }
    Result += Text.slice(At, Offset).str() + Given[P];
    At = Offset + P->getName().size();
  }
  Result += Text.drop_front(At);
  return Nested && !isSimple(Result) ? "(" + Result + ")" : Result;
}

/// The leaves of \p S, which \p Rest follow in its block.
std::optional<std::string> Planner::tree(const Stmt *S,
                                         ArrayRef<const Stmt *> Rest) {
  const auto Leaf = [&]() -> std::optional<std::string> {
    if (Into.Leaves == MaxLeaves)
      return std::nullopt;
    return std::to_string(Into.Leaves++);
  };
  const Stmt *At = S;
  std::vector<const Stmt *> Inside;
  if (const auto *Block = dyn_cast_or_null<CompoundStmt>(S)) {
    Inside.assign(Block->body_begin(), Block->body_end());
    At = Inside.empty() ? nullptr : Inside.front();
    if (!Inside.empty())
      Inside.erase(Inside.begin());
    Rest = Inside;
  } else if (!S && !Rest.empty()) {
    At = Rest.front();
    Rest = Rest.drop_front();
  }
  if (const auto *Return = dyn_cast_or_null<ReturnStmt>(At);
      Return && Return->getRetValue())
    At = Return->getRetValue()->IgnoreParenImpCasts();
  if (!At || !isChoice(*At)) {
    auto Inside = At ? inCall(*At) : std::nullopt;
    return Inside ? Inside : Leaf();
  }
  if (const auto *If = dyn_cast<IfStmt>(At);
      If && !If->getInit() && !If->getConditionVariable()) {
    if (!effectOf(If->getCond()).isCheap() || !written(*If->getCond(), true))
      return Leaf();
    return ofIf(*If->getCond(), If->getThen(), If->getElse(), Rest, false);
  }
  if (const auto *Choice = dyn_cast<ConditionalOperator>(At))
    if (effectOf(Choice->getCond()).isCheap() &&
        written(*Choice->getCond(), true))
      return ofIf(*Choice->getCond(), Choice->getTrueExpr(),
                  Choice->getFalseExpr(), {}, false);
  return Leaf();
}

/// The leaves of the first branch in a function that \p S calls.
std::optional<std::string> Planner::inCall(const Stmt &S) {
  const auto *Call = dyn_cast<CallExpr>(&S);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  const Stmt *Body = Callee ? Callee->getBody(Callee) : nullptr;
  if (!Body || !isSwitched() || IsInside)
    return std::nullopt;
  const Stmt *First = firstChoice(Body);
  const auto *Choice = dyn_cast_or_null<ConditionalOperator>(First);
  const auto *If = dyn_cast_or_null<IfStmt>(First);
  if (!Choice && (!If || If->getInit() || If->getConditionVariable()))
    return std::nullopt;
  const Expr *Condition = If ? If->getCond() : Choice->getCond();
  Effect Does = effectOf(Condition);
  Does.Reads = false;
  const unsigned Leaves = Into.Leaves;
  Levels.push_back({Call, Callee});
  IsInside = true;
  std::optional<std::string> Text;
  if (Does.isCheap())
    Text = If ? ofIf(*Condition, If->getThen(), If->getElse(), {}, false)
              : ofIf(*Condition, Choice->getTrueExpr(), Choice->getFalseExpr(),
                     {}, false);
  IsInside = false;
  Levels.pop_back();
  if (!Text)
    Into.Leaves = Leaves;
  return Text;
}

std::optional<std::string> Planner::ofIf(const Expr &C, const Stmt *Then,
                                         const Stmt *Else,
                                         ArrayRef<const Stmt *> Rest,
                                         bool IsRoot) {
  auto Condition = written(C, /*Nested=*/false);
  if (!Condition)
    return std::nullopt;
  auto First = tree(Then, {});
  if (!First)
    return std::nullopt;
  const unsigned Behind = Into.Leaves;
  // What follows is the other side if this one does not come to it.
  auto Second =
      tree(Else, !Else && alwaysLeaves(Then) ? Rest : ArrayRef<const Stmt *>());
  if (!Second)
    return std::nullopt;
  if (IsRoot) {
    Into.Question = " < " + std::to_string(Behind);
    Into.Ahead = Behind;
    Into.Then = *First;
  }
  const auto Inner = [](const std::string &Text) {
    return isSimple(Text) ? Text : "(" + Text + ")";
  };
  // One after the other, as people write them; else as a tree.
  return *Condition + " ? " + Inner(*First) + " : " +
         (isSimple(*First) ? *Second : Inner(*Second));
}

Trouble Planner::ofSwitch(const SwitchStmt &S) {
  const auto Groups = groupsOf(S, T.Context);
  if (!Groups || S.getInit() || S.getConditionVariable())
    return refused(&S);
  const Expr &Asked = *S.getCond();
  std::optional<std::string> Value = written(Asked, /*Nested=*/true);
  if (Value && !isSimple(*Value) && Levels.empty() &&
      isDependent(Asked, *Where.Kernel))
    return refused(&S);
  if (Value && !isSimple(*Value) && Levels.empty())
    Value = hoist(Asked, Asked.IgnoreParenImpCasts()->getType(), "key");
  if (!Value || (Levels.empty() && effectOf(&Asked).Acts))
    return refused(&S);
  std::vector<const Group *> Ways;
  bool InOrder = true;
  for (const Group &G : *Groups) {
    if (G.IsDefault)
      continue;
    InOrder &=
        G.Values.size() == 1 && G.Values.front().first == int64_t(Ways.size());
    Ways.push_back(&G);
  }
  Into.Leaves = Ways.size() + 1;
  if (Into.Leaves > MaxLeaves)
    return Refused{&refuse::Ways, S.getBeginLoc()};
  if (Into.Leaves < 2)
    return refused(&S);
  Into.Text = textOf(Ways, InOrder, *Value, Asked, [&](const Expr &Label) {
    return written(Label, /*Nested=*/true);
  });
  return std::nullopt;
}

/// The condition of the if at \p P behind the round, as 0 or 1, if it is known
/// before.
std::optional<std::string> Planner::later(const Place &P) {
  for (const Stmt *S : ArrayRef(Where.After).drop_front()) {
    const auto *If = dyn_cast<IfStmt>(S);
    if (!If || !isIn(P, headOf(*S), T.SM))
      continue;
    const Expr &C = *If->getCond();
    bool Known = !If->getInit() && !If->getConditionVariable() &&
                 !If->isConstexpr() && effectOf(&C).isCheap();
    walk(&C, [&](const Stmt &At) {
      const VarDecl *V = variableOf(At);
      if (!V || !V->hasLocalStorage())
        return Known;
      Known &= T.SM.isBeforeInTranslationUnit(V->getLocation(),
                                              Where.At->getBeginLoc());
      for (const Stmt *Earlier : Where.After) {
        if (Earlier == S)
          break;
        Known &= !mayChange(Earlier, *V);
      }
      return Known;
    });
    auto Text = Known ? written(C, isLoose(C)) : std::nullopt;
    if (Text && !C.IgnoreParenImpCasts()->getType()->isBooleanType())
      *Text += " ? 1 : 0";
    return Text;
  }
  return std::nullopt;
}

/// Each way is two, for each branch behind the round that is known before. Those
/// ask again: the round only sorts for them.
void Planner::addLater() {
  unsigned Ways = 1;
  for (const Place &P : What.Later) {
    const auto Condition =
        2 * Into.Leaves <= MaxLeaves ? later(P) : std::nullopt;
    if (!Condition)
      continue;
    Into.Text = "(" + Into.Text + ") * 2 + (" + *Condition + ")";
    Into.Leaves *= 2;
    Ways *= 2;
  }
  if (Ways > 1 && Into.Condition)
    Into.Question = Into.Question.empty()
                        ? " >= " + std::to_string(Ways)
                        : " < " + std::to_string(Ways * Into.Ahead);
}

Trouble Planner::plan() {
  const Trouble Why = ofFirst();
  if (!Why)
    addLater();
  return Why;
}

Trouble Planner::ofFirst() {
  const Stmt *Body = Where.At;
  ArrayRef<const Stmt *> Rest;
  for (size_t I = 0; I + 1 < What.Chain.size(); ++I) {
    const CallExpr *Call = callIn(Body, What.Chain[I], T.SM);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    if (Callee && !Callee->getBody(Callee))
      Callee = nullptr;
    if (!Callee)
      return Refused{&refuse::Lost, Body->getBeginLoc()};
    Levels.push_back({Call, Callee});
    Rest = {};
    Body = statementAt(Callee->getBody(), What.Chain[I + 1], T.SM, Rest);
    if (!Body)
      return refused(Call);
  }
  const Stmt *Branch = branchIn(Body, What.Chain.back(), T.SM);
  if (!Branch && isTrips(Body, What.Chain.back(), T.SM))
    return Refused{&refuse::Trips, Levels.empty()
                                       ? Body->getBeginLoc()
                                       : Levels.front().Call->getBeginLoc()};
  if (!Branch)
    return Levels.empty() ? Refused{&refuse::Lost, Body->getBeginLoc()}
                          : refused(Levels.front().Call);
  if (Levels.empty() && Branch->getBeginLoc().isMacroID())
    return Refused{&refuse::Macro, Branch->getBeginLoc()};
  if (const auto *Switch = dyn_cast<SwitchStmt>(Branch))
    return ofSwitch(*Switch);
  const auto *If = dyn_cast<IfStmt>(Branch);
  const auto *Choice = dyn_cast<ConditionalOperator>(Branch);
  if (If == Where.At) // who does not leave by it comes to what follows
    Rest = ArrayRef(Where.After).drop_front();
  if (If && (If->getInit() || If->getConditionVariable() || If->isConstexpr()))
    return refused(If);
  const Expr *Condition = If ? If->getCond() : Choice->getCond();
  // The kernel's own is asked once, so it may do more than compute.
  if (!Levels.empty() && effectOf(Condition).Acts)
    return refused(Branch);
  auto Text = If ? ofIf(*Condition, If->getThen(), If->getElse(), Rest, true)
                 : ofIf(*Condition, Choice->getTrueExpr(),
                        Choice->getFalseExpr(), {}, true);
  if (!Text)
    return Into.Leaves == MaxLeaves
               ? Refused{&refuse::Ways, Branch->getBeginLoc()}
               : refused(Branch);
  Into.Text = *Text;
  if (Into.Leaves == 2) {
    Into.Question.clear();
    const bool IsBool =
        Condition->IgnoreParenImpCasts()->getType()->isBooleanType();
    const Expr *Core = Condition->IgnoreParenImpCasts();
    const bool IsPart =
        isa<DeclRefExpr, MemberExpr, ArraySubscriptExpr, CallExpr>(Core);
    const auto Bare = unwrapped(*written(*Condition, isLoose(*Condition)));
    Into.Text = IsBool ? Bare
                : IsPart
                    ? Bare + " != " +
                          (Core->getType()->isPointerType() ? "nullptr" : "0")
                    : Bare + " ? 1 : 0";
  }
  if (Levels.empty() && If)
    Into.Condition = Condition;
  return std::nullopt;
}

Trouble planPath(const Shape &Where, const Order &What, Text &T,
                 PathPlan &Into) {
  return Planner(Where, What, T, Into).plan();
}

} // namespace reconverge::rewrite
