//===- rewrite/writer/Collector.cpp - block_collect, as edits -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   const int i = blockIdx.x * blockDim.x      using collect_t = ...;    storage
//                 + threadIdx.x;               const long long first = ...;
//   if (i >= n)                                if (first >= n)
//     return;                                    return;
//   const float x = in[i];                     const auto path_of =
//   if (x > 0)                          ->         [&](int item) -> int {
//     a(i, x);                                   const int i = first + item;
//   else                                         const float x = in[i];
//     b(i, x);                                   return x > 0;
//                                              };
//                                              const auto work =
//                                                  [&](int item, int path) {
//                                                const int i = first + item;
//                                                const float x = in[i];
//                                                if (path)
//                                                  a(i, x);
//                                                else
//                                                  b(i, x);
//                                              };
//                                              collect(int(n - first), path_of,
//                                                      work);
//
// The work is the user's own lines, further in; a return there ends the item. Of
// the declarations each of the two has those that it needs, and the comments stay
// with the work. Who leaves early has the path -1.
//
// A loop over the grid, `for (int i = ...; i < n; i += gridDim.x * blockDim.x)`, is
// the same: its body stands for the kernel's, a trip is an item, and a block goes on
// to the next items behind those of all blocks.
//
// Why legal: the pass has found that a thread may be an item; each has the number
// that it had; and Items.cpp has found that numbers from the count on did nothing.
//
//===----------------------------------------------------------------------===//

#include "rewrite/writer/Collector.h"

#include "rewrite/writer/CollectDraft.h"
#include "rewrite/writer/Early.h"
#include "rewrite/writer/Effects.h"
#include "rewrite/writer/Layout.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace reconverge::rewrite {

namespace {
class Writer : CollectDraft {
public:
  using CollectDraft::CollectDraft;
  Trouble write(const FunctionDecl &Kernel);

private:
  Trouble plan(const FunctionDecl &Kernel);
  Trouble check() const;
  Trouble checkLines() const;
  std::string pathText() const;
  std::string workText() const;
  std::string mainText() const;
  std::string callText() const;
  std::string linesOf(const Early &E, ArrayRef<const Decl *> Needed,
                      bool WithLead) const;
  std::string leadOf(Text::Span Lead) const;
  bool isImplied(const Expr *Condition) const {
    return Condition == Items.Implied;
  }

  std::vector<Early> Before;
};
} // namespace

//===----------------------------------------------------------------------===//
// The user's lines
//===----------------------------------------------------------------------===//

/// What asks for this, or for a round, which there is none of any more.
static std::vector<Edit> withoutRequests(const Text &T, Text::Span Of) {
  std::vector<Edit> Found = requestsIn(T, Of, "collect");
  llvm::append_range(Found, requestsIn(T, Of, "remap"));
  return Found;
}

/// Comments and the like; not what asks for this.
std::string Writer::leadOf(Text::Span Lead) const {
  const std::string Lines = edited(T, Lead, withoutRequests(T, Lead));
  return StringRef(Lines).ltrim("\r\n").str();
}

/// One step further in than the kernel's body.
std::string Writer::linesOf(const Early &E, ArrayRef<const Decl *> Needed,
                            bool WithLead) const {
  const auto Span = *T.spanOf(E.S->getSourceRange());
  if (!E.IsOnLine)
    return Indent + Unit +
           declared(*cast<DeclStmt>(E.S), Needed, T, editsIn(*E.S)) + "\n";
  std::string Lines = T.indentAt(Span.Begin) +
                      declared(*cast<DeclStmt>(E.S), Needed, T, editsIn(*E.S));
  Lines = WithLead ? leadOf(E.Lead) + Lines +
                         T.textOf({Span.End, T.lineEnd(Span.End)})
                   : Lines + "\n";
  return E.InWrapper ? Lines : indented(Lines, Unit);
}

/// The branch and what follows it, one step further in than the kernel's body.
std::string Writer::mainText() const {
  std::vector<Edit> Inside;
  for (const Stmt *S : Where.After) {
    llvm::append_range(Inside, editsIn(*S));
    for (const ContinueStmt *Continue : continuesIn(*S))
      Inside.push_back(instead(*Continue, "return"));
  }
  const auto Lines = [&](unsigned Begin, SourceLocation Close) {
    const Text::Span All = {Begin,
                            T.lineStart(T.spanOf({Close, Close})->Begin)};
    std::vector<Edit> Here = withoutRequests(T, All);
    llvm::append_range(Here, Inside);
    return edited(T, All, Here);
  };
  // A statement that is all there is behind a condition.
  const auto Only = [&](const Stmt *S) {
    auto Span = *T.spanOf(S->getSourceRange());
    const StringRef Behind = T.bytes().drop_front(Span.End).ltrim();
    if (!isa<DeclStmt>(S) && Behind.starts_with(";"))
      Span.End = Behind.begin() + 1 - T.bytes().begin();
    return Indent + Unit +
           reindented(edited(T, Span, Inside), T.indentAt(Span.Begin),
                      Indent + Unit) +
           "\n";
  };
  std::string Lead;
  if (Where.Wrapper) {
    const unsigned At = beginOf(Where.Wrapper);
    Lead = indented(leadOf({aboveComments(T, At), T.lineStart(At)}), Unit);
  }
  const unsigned At = beginOf(Where.At);
  if (!Where.Wrapper || isa<CompoundStmt>(Where.Wrapper->getThen())) {
    const unsigned Above =
        Before.empty() || (Where.Wrapper && !Before.back().InWrapper)
            ? aboveComments(T, At)
            : T.lineEnd(T.spanOf(Before.back().S->getSourceRange())->End);
    const std::string Mine = leadOf({Above, T.lineStart(At)});
    Lead += Where.Wrapper || Where.Grid ? Mine : indented(Mine, Unit);
  }
  if (Items.Last) {
    const Stmt *Then = Items.Last->getThen();
    const auto *Block = dyn_cast<CompoundStmt>(Then);
    if (!Block)
      return Lead + Only(Then);
    const std::string Text =
        Lines(T.lineEnd(beginOf(Block)), Block->getRBracLoc());
    return Lead + (Where.Wrapper ? outdented(Text, Unit) : Text);
  }
  const unsigned Start = T.lineStart(At);
  if (Where.Grid)
    return Lead + Lines(Start, Where.body().getEndLoc());
  if (!Where.Wrapper)
    return Lead + indented(Lines(Start, Where.body().getEndLoc()), Unit);
  const Stmt *Then = Where.Wrapper->getThen();
  return Lead + (isa<CompoundStmt>(Then) ? Lines(Start, Then->getEndLoc())
                                         : Only(Where.At));
}

//===----------------------------------------------------------------------===//
// The two functions
//===----------------------------------------------------------------------===//

std::string Writer::pathText() const {
  const std::string In = Indent + Unit;
  std::string Result = wrapped(Indent, "const auto " + PathOf + " = [&](int " +
                                           Item + ") -> int {");
  const auto Leave = [&](const std::string &Condition) {
    return wrapped(In, "if (" + Condition + ")") + In + Unit + "return -1;\n";
  };
  const auto AskWrapper = [&] {
    if (!Where.Wrapper || isImplied(Where.Wrapper->getCond()))
      return;
    const Expr &Condition = *Where.Wrapper->getCond();
    Result += Leave(negated(Condition, textOf(Condition)));
  };
  bool Asked = false;
  for (const Early &E : Before) {
    if (E.InWrapper && !Asked) {
      AskWrapper();
      Asked = true;
    }
    if (const Expr *Condition = E.IsAsked ? exitCondition(*E.S) : nullptr)
      Result += indented(leadOf(E.Lead), E.InWrapper ? "" : Unit) +
                Leave(textOf(*Condition));
    else if (!E.ForPath.empty())
      Result += linesOf(E, E.ForPath, /*WithLead=*/E.ForWork.empty());
  }
  if (!Asked)
    AskWrapper();
  for (const Hoist &H : Path.Hoists)
    Result += wrapped(In, "const " + H.Type + " " + H.Name + " = " +
                              textOf(*H.Of) + ";");
  return Result + wrapped(In, "return " + pathOfItem() + ";") + Indent + "};\n";
}

std::string Writer::workText() const {
  std::string Lines;
  for (const Early &E : Before)
    if (!E.ForWork.empty())
      Lines += linesOf(E, E.ForWork, /*WithLead=*/true);
  Lines += mainText();
  const bool AsksPath = Path.Condition && !Items.Last;
  return wrapped(Indent, "const auto " + Work + " = [&](int" +
                             (hasWord(Lines, Item) ? " " + Item : "") +
                             ", int" + (AsksPath ? " " + PathName : "") +
                             ") {") +
         Lines + Indent + "};\n";
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

std::string Writer::callText() const {
  const auto Call = [&](const std::string &In) {
    return wrappedList(In, Object + "(", {itemsLeft(), PathOf, Work}, ");");
  };
  if (!Where.Grid)
    return Call(Indent);
  const unsigned At = beginOf(Where.Grid);
  return leadOf({aboveComments(T, At), T.lineStart(At)}) +
         wrapped(Indent, loopHead()) + Call(Indent + Unit);
}

/// All that is copied or edited is the user's own text, on lines of its own.
Trouble Writer::check() const {
  if (Trouble Why = checkConditionals())
    return Why;
  std::vector<const Stmt *> Edged = Where.Before;
  llvm::append_range(Edged, Where.Region);
  for (const Stmt *S : Edged) {
    const auto Span = T.spanOf(S->getSourceRange());
    if (!Span)
      return Refused{&refuse::Macro, S->getBeginLoc()};
    if (!T.beginsLine(Span->Begin))
      return Refused{&refuse::Layout, S->getBeginLoc()};
  }
  std::vector<const Stmt *> Words = Where.After;
  if (Path.Condition)
    Words.push_back(Path.Condition);
  for (const Hoist &H : Path.Hoists)
    Words.push_back(H.Of);
  if (Where.Wrapper)
    Words.push_back(Where.Wrapper->getCond());
  if (Trouble Why = checkOwn(Words))
    return Why;
  return checkLines();
}

/// What is moved begins and ends with lines of its own.
Trouble Writer::checkLines() const {
  const auto *Body = cast<CompoundStmt>(Where.Kernel->getBody());
  std::vector<const Stmt *> Blocks = {Body, &Where.body()};
  if (Where.Wrapper)
    Blocks.push_back(Where.Wrapper->getThen());
  if (Items.Last)
    Blocks.push_back(Items.Last->getThen());
  for (const Stmt *S : Blocks) {
    if (!isa<CompoundStmt>(S))
      continue;
    const auto End = T.spanOf({S->getEndLoc(), S->getEndLoc()});
    if (!End || !T.beginsLine(End->Begin))
      return Refused{&refuse::Layout, S->getEndLoc()};
  }
  // Lines are moved as they are, but for blanks at their beginnings.
  Trouble Why;
  walk(Body, [&](const Stmt &At) {
    if (isa<StringLiteral>(At))
      if (const auto Span = T.spanOf(At.getSourceRange());
          Span && T.lineStart(Span->Begin) != T.lineStart(Span->End))
        Why = Refused{&refuse::Layout, At.getBeginLoc()};
    return !Why;
  });
  return Why;
}

Trouble Writer::plan(const FunctionDecl &Kernel) {
  if (Trouble Why = find(Kernel))
    return Why;
  if (Where.Loop)
    return Refused{&refuse::Nested, Where.Loop->getBeginLoc()};
  takeNames();
  if (Trouble Why = planPath(Where, What, T, Path))
    return Why;
  if (Trouble Why = planItems(Where, What, Path, T, Items))
    return Why;
  return check();
}

Trouble Writer::write(const FunctionDecl &Kernel) {
  if (Trouble Why = plan(Kernel))
    return Why;
  takeCount();
  const auto *Body = cast<CompoundStmt>(Kernel.getBody());
  takeIndent(*Body->body_front());
  Before = planEarly(Where, Path, Items, T);
  const unsigned Begin = T.lineEnd(beginOf(Body)),
                 End = T.lineStart(
                     T.spanOf({Body->getRBracLoc(), Body->getRBracLoc()})
                         ->Begin);
  Edits.push_back(
      {Begin, End - Begin, setup() + pathText() + workText() + callText()});
  editAround(Items.Threads);
  return std::nullopt;
}

Trouble writeCollector(const FunctionDecl &Kernel, const Order &What,
                       const Directives &Seen, Text &T,
                       std::vector<Edit> &Edits) {
  return Writer(What, Seen, T, Edits).write(Kernel);
}

} // namespace reconverge::rewrite
