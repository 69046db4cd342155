//===- rewrite/writer/Round.cpp - A round, as edits -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   const int i = blockIdx.x * blockDim.x      int i = ... ;             Again
//                 + threadIdx.x;               using remap_t = ...;      storage
//   if (i >= n)                                float x{};                Hoisted
//     return;                                  const auto path_of = [&]() -> int {
//   const float x = in[i];                       if (i >= n)
//   if (x > 0)                          ->         return 2;
//     a(i, x);                                   x = in[i];
//   else                                         return x > 0;
//     b(i, x);                                 };
//                                              const auto remapped =
//                                                  remap(path_of(), x);
//                                              if (remapped.path == 2)
//                                                return;
//                                              i = ... + remapped.id;
//                                              if (remapped.path)
//                                                a(i, x);
//
// Lines of the user's that are only in another place now keep their words and
// their comments. In a loop each thread has its own work again at the end of a
// trip, after a barrier, for what it reads next others may have written.
//
//===----------------------------------------------------------------------===//

#include "rewrite/writer/Round.h"

#include "rewrite/writer/Early.h"
#include "rewrite/writer/Effects.h"
#include "rewrite/writer/Layout.h"
#include "rewrite/writer/Locals.h"
#include "rewrite/writer/RoundDraft.h"

#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace reconverge::rewrite {

static constexpr uint64_t SharedLimit = 48 << 10; ///< bytes that a block has

namespace {
class Writer : RoundDraft {
public:
  using RoundDraft::RoundDraft;
  Trouble write(const FunctionDecl &Kernel);
  /// In a loop's body there is no other round.
  RoundPlace place() const {
    return {beginOf(Where.At), Where.Loop ? 0 : Where.After.size() - 1,
            isExact()};
  }

private:
  Trouble plan(const FunctionDecl &Kernel);
  Trouble check() const;
  Trouble checkHoists() const;
  std::string keptText() const;
  std::string regionText();
  std::vector<Edit> regionEdits();
  std::optional<std::string> regionWords(const DeclStmt &S);
  std::string valueOf(const VarDecl &V) const;
  Trouble checkRegion() const;
  std::string afterRound() const;
  std::string redeclare(const std::string &Indent) const;
  bool isForPath(const DeclStmt &S) const;
  bool isForPath(const VarDecl &V, const DeclStmt &In) const;
  bool isForRest(const VarDecl &V) const;
  Text::Span linesOf(const Stmt &S) const;
  void editAfter();
  void editLoop(const std::string &Round);
  void editRegion(const std::string &Round);
  void editTop(unsigned At, std::string Text);
  void takeRequest(unsigned At);
  /// Of all that the round is written around.
  const Stmt *first() const {
    if (!Where.Region.empty() && (Where.InWrapper || !Where.Wrapper))
      return Where.Region.front();
    return Where.Wrapper ? Where.Wrapper : Where.At;
  }
  bool hasRegion() const { return Where.Wrapper || !Where.Region.empty(); }
};
} // namespace

//===----------------------------------------------------------------------===//
// The path
//===----------------------------------------------------------------------===//

/// The path is made of \p V, which \p In declares.
bool Writer::isForPath(const VarDecl &V, const DeclStmt &In) const {
  bool IsAfter = false;
  for (const Stmt *Other : Where.Region) {
    const auto *Decls = dyn_cast<DeclStmt>(Other);
    if (Other == &In) {
      IsAfter = true;
      for (const Decl *D : In.decls()) // of the same statement, too
        if (const auto *Next = dyn_cast<VarDecl>(D);
            Next && Next != &V && Next->getInit() &&
            names(Next->getInit(), V) && isForPath(*Next, In))
          return true;
      continue;
    }
    if (IsAfter && names(Other, V) &&
        (!Decls || !llvm::is_contained(Moves.Redeclare, Decls) ||
         isForPath(*Decls)))
      return true;
  }
  const auto IsInPath = [&](const NamedDecl *D) {
    return hasWord(Path.Text, D->getName());
  };
  const auto *Parts = dyn_cast<DecompositionDecl>(&V);
  return llvm::any_of(Path.Hoists,
                      [&](const Hoist &H) { return names(H.Of, V); }) ||
         (Parts ? llvm::any_of(Parts->bindings(), IsInPath) : IsInPath(&V));
}

/// Of what \p S declares, that which \p Is.
static std::vector<const Decl *>
variablesOf(const DeclStmt &S, llvm::function_ref<bool(const VarDecl &)> Is) {
  std::vector<const Decl *> Found;
  for (const Decl *D : S.decls())
    if (const auto *V = dyn_cast<VarDecl>(D); !V || Is(*V))
      Found.push_back(D);
  return Found;
}

bool Writer::isForPath(const DeclStmt &S) const {
  return llvm::any_of(S.decls(), [&](const Decl *D) {
    const auto *V = dyn_cast<VarDecl>(D);
    return V && isForPath(*V, S);
  });
}

/// Named behind the round, or where others are declared there.
bool Writer::isForRest(const VarDecl &V) const {
  return llvm::any_of(Where.After,
                      [&](const Stmt *S) { return uses(S, V, Path); }) ||
         llvm::any_of(Moves.Redeclare,
                      [&](const DeclStmt *S) { return names(S, V); }) ||
         llvm::any_of(Moves.Again, [&](const VarDecl *Other) {
           return names(Other->getInit(), V);
         });
}

/// With the comments above and beside it.
Text::Span Writer::linesOf(const Stmt &S) const {
  const auto Span = *T.spanOf(S.getSourceRange());
  const unsigned First = Where.Region.front() == &S
                             ? T.lineStart(Span.Begin)
                             : aboveComments(T, Span.Begin);
  return {First, T.lineEnd(Span.End)};
}

/// In the function object, threads that leave say so, what is exchanged gets its
/// value, and what is only declared elsewhere is not there.
std::vector<Edit> Writer::regionEdits() {
  std::vector<Edit> Inside;
  for (const Stmt *S : Where.Region) {
    for (const ReturnStmt *Return : returnsIn(*S))
      Inside.push_back(
          instead(*Return, "return " + std::to_string(exitPath())));
    const auto *Decls = dyn_cast<DeclStmt>(S);
    if (!Decls)
      continue;
    const auto Words = regionWords(*Decls);
    if (!Words)
      continue;
    const auto Lines = linesOf(*S);
    if (Words->empty())
      Inside.push_back({Lines.Begin, Lines.End - Lines.Begin, ""});
    else
      Inside.push_back(instead(*S, *Words));
  }
  return Inside;
}

/// What \p S becomes in the function object; none: it stays.
std::optional<std::string> Writer::regionWords(const DeclStmt &S) {
  const bool IsAgain = llvm::is_contained(Moves.Redeclare, &S);
  std::vector<std::string> Words;
  std::vector<const Decl *> Stay;
  bool Changes = false;
  const auto Flush = [&] {
    if (!Stay.empty())
      Words.push_back(declared(S, Stay, T, {}));
    Stay.clear();
  };
  for (const Decl *D : S.decls()) {
    const auto *V = dyn_cast<VarDecl>(D);
    const bool IsHoisted = llvm::is_contained(Moves.Hoisted, D);
    if (!IsHoisted && !llvm::is_contained(Moves.Kept, D) &&
        !(IsAgain && V && !isForPath(*V, S))) {
      Stay.push_back(D);
      continue;
    }
    Changes = true;
    Flush();
    if (IsHoisted && !hasNoValue(*V))
      Words.push_back(V->getNameAsString() + " = " + valueOf(*V) + ";");
  }
  if (!Changes)
    return std::nullopt;
  Flush();
  return llvm::join(Words, " ");
}

/// The value that the declaration of \p V gives it.
std::string Writer::valueOf(const VarDecl &V) const {
  const auto Value = *T.spanOf(V.getInit()->getSourceRange()),
             Name = *T.spanOf({V.getLocation(), V.getLocation()});
  if (Value.Begin != Name.Begin)
    return T.textOf(Value);
  return typeOf(V) + T.textOf({Name.End, Value.End}); // type name(arguments)
}

/// What of the region stands in front of the round.
std::string Writer::keptText() const {
  std::string Result;
  for (const Stmt *S : Where.Region) {
    const auto *Decls = dyn_cast<DeclStmt>(S);
    std::vector<const Decl *> Kept;
    if (Decls)
      llvm::copy_if(Decls->decls(), std::back_inserter(Kept),
                    [&](Decl *D) { return llvm::is_contained(Moves.Kept, D); });
    if (!Kept.empty())
      Result += Indent + declared(*Decls, Kept, T, {}) + "\n";
  }
  return Result;
}

/// The round, by the function object that gives the path, or by the path alone if
/// nothing has to be done for it.
std::string Writer::regionText() {
  const std::vector<Edit> Inside = regionEdits();
  const std::string Exit = std::to_string(exitPath());
  const auto LinesFrom = [&](const Stmt *First, const Stmt *Last) {
    return Text::Span{T.lineStart(beginOf(First)),
                      aboveComments(T, beginOf(Last))};
  };
  const std::string In = Indent + Unit;
  std::string Body;
  if (Where.InWrapper || !Where.Wrapper)
    Body += indented(edited(T,
                            LinesFrom(Where.Region.front(),
                                      Where.Wrapper ? Where.Wrapper : Where.At),
                            Inside),
                     Unit);
  if (Where.Wrapper) {
    const Expr &Condition = *Where.Wrapper->getCond();
    Body += wrapped(In, "if (" + negated(Condition, wordsOf(Condition)) + ")") +
            In + Unit + "return " + Exit + ";\n";
    if (Where.Region.size() > Where.InWrapper)
      Body +=
          edited(T, LinesFrom(Where.Region[Where.InWrapper], Where.At), Inside);
  }
  if (StringRef(Body).trim().empty() && Path.Hoists.empty())
    return declareHoisted() + callRound(Path.Text);
  for (const Hoist &H : Path.Hoists)
    Body += wrapped(In, H.Name + " = " + wordsOf(*H.Of) + ";");
  return declareHoisted() +
         wrapped(Indent, "const auto " + PathOf + " = [&]() -> int {") + Body +
         wrapped(In, "return " + Path.Text + ";") + Indent + "};\n" +
         callRound(PathOf + "()");
}

std::string Writer::redeclare(const std::string &Indent) const {
  std::string Result;
  for (const DeclStmt *S : Moves.Redeclare) {
    const auto Needed =
        variablesOf(*S, [&](const VarDecl &V) { return isForRest(V); });
    const std::string Words = declared(*S, Needed, T, threadEdits(*S));
    const auto Span = *T.spanOf(S->getSourceRange()), Lines = linesOf(*S);
    Result += isForPath(*S) ? Indent + Words + "\n"
                            : T.textOf({Lines.Begin, Span.Begin}) + Words +
                                  T.textOf({Span.End, Lines.End});
  }
  return Result;
}

/// What variables are behind the round.
std::string Writer::afterRound() const {
  std::string Result;
  for (const VarDecl *V : Moves.Again)
    Result +=
        wrapped(Indent, V->getNameAsString() + " = " +
                            edited(T, *T.spanOf(V->getInit()->getSourceRange()),
                                   threadEdits(*V->getInit())) +
                            ";");
  return Result;
}

//===----------------------------------------------------------------------===//
// The user's lines
//===----------------------------------------------------------------------===//

/// The statements from the branch on.
void Writer::editAfter() {
  if (Path.Condition)
    Edits.push_back(
        instead(*Path.Condition, Remapped + ".path" + Path.Question));
  for (const Hoist &H : Path.Hoists)
    Edits.push_back(instead(*H.Of, H.Name));
  for (const Stmt *S : Where.After)
    llvm::append_range(Edits, threadEdits(*S));
  if (Where.Wrapper)
    Edits.push_back(
        instead(*Where.Wrapper->getCond(),
                Remapped + ".path != " + std::to_string(exitPath())));
}

/// A request for the round, right above the line of \p At, goes away.
void Writer::takeRequest(unsigned At) {
  const Text::Span Request = requestAbove(T, At, "remap");
  if (Request.End > Request.Begin)
    Edits.push_back({Request.Begin, Request.End - Request.Begin, ""});
}

/// \p Text goes before the line of \p At, above the comments that belong to it.
void Writer::editTop(unsigned At, std::string Text) {
  takeRequest(At);
  Edits.push_back({aboveComments(T, At), 0, std::move(Text)});
}

void Writer::editLoop(const std::string &Round) {
  const unsigned Begin = beginOf(Where.Loop);
  editTop(Begin, declareRound(T.indentAt(Begin)));
  editTop(beginOf(Where.At), Round);
  const SourceLocation End = Where.Loop->getEndLoc();
  Edits.push_back({T.lineStart(T.spanOf({End, End})->Begin), 0,
                   Indent + "__syncthreads(); // each thread is itself "
                            "again\n"});
}

/// \p Round takes the place of what is in the function object now.
void Writer::editRegion(const std::string &Round) {
  const unsigned From = T.lineStart(beginOf(first()));
  const auto Replace = [&](unsigned Begin, unsigned End, std::string Words) {
    Edits.push_back({Begin, End > Begin ? End - Begin : 0, std::move(Words)});
  };
  takeRequest(beginOf(Where.At));
  if (!Where.Wrapper)
    return Replace(From, aboveComments(T, beginOf(Where.At)),
                   Round + redeclare(Indent));
  const unsigned Above = aboveComments(T, beginOf(Where.Wrapper));
  Replace(Where.InWrapper ? From : Above, Above, Round);
  if (Where.Region.size() > Where.InWrapper)
    Replace(T.lineStart(beginOf(Where.Region[Where.InWrapper])),
            aboveComments(T, beginOf(Where.At)), redeclare(Indent + Unit));
}

Trouble Writer::checkHoists() const {
  for (const Hoist &H : Path.Hoists) {
    if (!T.spanOf(H.Of->getSourceRange()) || H.Of->getBeginLoc().isMacroID())
      return Refused{&refuse::Macro, H.Of->getBeginLoc()};
    Trouble Why;
    // What stands before it in its statement must not change it.
    walk(H.Of, [&](const Stmt &At) {
      if (const VarDecl *V = variableOf(At);
          V && V->hasLocalStorage() && mayChange(Where.At, *V))
        Why = Refused{&refuse::Condition, At.getBeginLoc()};
      return !Why;
    });
    if (Why)
      return Why;
  }
  return std::nullopt;
}

/// In the region, what is edited is the user's own text, on lines of its own; all
/// else is only moved.
Trouble Writer::checkRegion() const {
  for (const Stmt *S : Where.Region) {
    for (const Stmt *Return : returnsIn(*S))
      if (Return->getBeginLoc().isMacroID())
        return Refused{&refuse::Macro, Return->getBeginLoc()};
    if (!isa<DeclStmt>(S) && S != Where.Region.front())
      continue;
    const auto Span = T.spanOf(S->getSourceRange());
    if (!Span)
      return Refused{&refuse::Macro, S->getBeginLoc()};
    if (!T.beginsLine(Span->Begin))
      return Refused{&refuse::Layout, S->getBeginLoc()};
  }
  return std::nullopt;
}

/// All that is copied or edited is the user's own text.
Trouble Writer::check() const {
  if (Trouble Why = checkConditionals())
    return Why;
  if (Trouble Why = checkRegion())
    return Why;
  // A type that is said by a value has to be said in front of the region.
  for (const VarDecl *V : Moves.Hoisted) {
    bool IsInside = false;
    if (isDependentAuto(*V, *Where.Kernel))
      walk(V->getInit(), [&](const Stmt &At) {
        const VarDecl *Named = variableOf(At);
        IsInside |= Named && llvm::any_of(Where.Region, [&](const Stmt *S) {
                      const auto *Decls = dyn_cast<DeclStmt>(S);
                      return Decls && llvm::is_contained(Decls->decls(), Named);
                    });
        return !IsInside;
      });
    if (IsInside)
      return Refused{&refuse::Instances, V->getLocation(),
                     V->getNameAsString()};
  }
  std::vector<const Stmt *> Copied;
  for (const VarDecl *V : Moves.Again)
    Copied.push_back(V->getInit());
  for (const VarDecl *V : Moves.Hoisted) {
    if (V->getLocation().isMacroID())
      return Refused{&refuse::Macro, V->getLocation()};
    if (!hasNoValue(*V))
      Copied.push_back(V->getInit());
  }
  if (Path.Condition)
    Copied.push_back(Path.Condition);
  if (Where.Wrapper)
    Copied.push_back(Where.Wrapper->getCond());
  llvm::append_range(Copied, Moves.Redeclare);
  if (Trouble Why = checkOwn(Copied))
    return Why;
  if (Where.Loop) {
    const auto End =
        T.spanOf({Where.Loop->getEndLoc(), Where.Loop->getEndLoc()});
    if (isa<DoStmt>(Where.Loop) || !End || !T.beginsLine(End->Begin))
      return Refused{&refuse::Layout, Where.Loop->getBeginLoc()};
  }
  return checkHoists();
}

Trouble Writer::plan(const FunctionDecl &Kernel) {
  if (Trouble Why = find(Kernel))
    return Why;
  if (What.SharedBytes + What.Threads * What.ThreadBytes > SharedLimit)
    return Refused{&refuse::Block, Where.At->getBeginLoc()};
  if (Trouble Why = planPath(Where, What, T, Path))
    return Why;
  if (Trouble Why = planState(Where, What, Path, T, Moves))
    return Why;
  if (staysAsked(Where, Path, Moves))
    Path.Condition = nullptr;
  if (Trouble Why = check())
    return Why;
  for (const auto *List : {&Moves.Exchange, &Moves.Again})
    for (const VarDecl *V : *List)
      if (Trouble Why = dropConst(T, *V, Edits))
        return Why;
  return std::nullopt;
}

Trouble Writer::write(const FunctionDecl &Kernel) {
  if (Trouble Why = plan(Kernel))
    return Why;
  takeNames();
  takeIndent(*first());
  editAfter();
  AsksResult =
      Where.hasExits() || hasWord(afterRound() + redeclare(Indent), Remapped) ||
      llvm::any_of(Edits,
                   [&](const Edit &E) { return hasWord(E.Text, Remapped); });
  if (Where.Loop) {
    editLoop(declareHoisted() + callRound(Path.Text) + afterRound());
  } else if (!hasRegion()) {
    editTop(beginOf(first()), declareRound(Indent) + declareHoisted() +
                                  callRound(Path.Text) + afterRound());
  } else {
    std::string Round = keptText() + declareRound(Indent) + regionText();
    if (!Where.Wrapper && Where.hasExits())
      Round += wrapped(Indent, "if (" + Remapped + ".path == " +
                                   std::to_string(exitPath()) + ")") +
               Indent + Unit + "return;\n";
    editRegion(Round + afterRound());
  }
  editAround(What.Threads);
  return std::nullopt;
}

Trouble writeRound(const FunctionDecl &Kernel, const Order &What,
                   const Directives &Seen, Text &T, std::vector<Edit> &Edits,
                   RoundPlace &Written) {
  Writer Round(What, Seen, T, Edits);
  if (Trouble Why = Round.write(Kernel))
    return Why;
  Written = Round.place();
  return std::nullopt;
}

} // namespace reconverge::rewrite
