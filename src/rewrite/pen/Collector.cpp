//===- rewrite/pen/Collector.cpp - block_collect, as edits ----------------===//
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
// Why legal: the pass has found that a thread may be an item; each has the number
// that it had; and Items.cpp has found that numbers from the count on did nothing.
//
//===----------------------------------------------------------------------===//

#include "rewrite/pen/Collector.h"

#include "rewrite/pen/Early.h"
#include "rewrite/pen/Effects.h"
#include "rewrite/pen/Items.h"
#include "rewrite/pen/Layout.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace reconverge::rewrite {

namespace {
class Writer {
public:
  Writer(const Order &What, const Directives &Seen, Text &T,
         std::vector<Edit> &Edits)
      : What(What), Seen(Seen), T(T), Edits(Edits) {}
  Trouble write(const FunctionDecl &Kernel);

private:
  Trouble plan(const FunctionDecl &Kernel);
  Trouble check() const;
  void takeNames();
  std::string setup() const;
  std::string countText() const { // in `first >= ...`
    return Count.empty() ? textOf(*Items.Count) : Count;
  }
  std::string countValue() const;
  std::string blockItems(bool IsWide) const;
  std::string withItems(std::string Words) const;
  std::string castItem(const Expr &Number) const;
  std::string lastText() const;
  std::string pathText() const;
  std::string workText() const;
  std::string mainText() const;
  std::string linesOf(const Early &E, ArrayRef<const Decl *> Needed,
                      bool WithLead) const;
  std::string leadOf(Text::Span Lead) const;
  std::vector<Edit> editsIn(const Stmt &S) const;
  unsigned beginOf(const Stmt *S) const {
    return T.spanOf({S->getBeginLoc(), S->getBeginLoc()})->Begin;
  }
  std::string textOf(const Stmt &S) const {
    return edited(T, *T.spanOf(S.getSourceRange()), editsIn(S));
  }
  /// Numbers of items may be too large for an int.
  bool isWide() const {
    return !Items.CountType->isSignedIntegerOrEnumerationType() ||
           T.Context.getIntWidth(Items.CountType) > 32;
  }
  /// Of a block, as its author took it.
  bool isConstantSize() const { return partOf(Items.Size, "blockDim").empty(); }
  /// The number of items is compared as what it is.
  bool isOwnType() const {
    return T.Context.hasSameUnqualifiedType(
        Items.CountType, Items.Count->IgnoreParenImpCasts()->getType());
  }
  bool isImplied(const Expr *Condition) const {
    return Condition == Items.Implied;
  }

  const Order &What;
  const Directives &Seen;
  Text &T;
  std::vector<Edit> &Edits;
  Shape Where;
  PathPlan Path;
  ItemPlan Items;
  std::vector<Early> Before;
  std::string Indent, Unit; ///< of the kernel's body, and one step more
  std::string Type, Storage, Collect, First, Item, PathName, PathOf, Work,
      Count, Library;
};
} // namespace

void Writer::takeNames() {
  Library = T.hasWord("reconverge") ? "::reconverge::" : "reconverge::";
  Type = T.freshName("collect_t");
  Storage = T.freshName("collect_storage");
  Collect = T.freshName("collect");
  First = T.freshName("first");
  Item = T.freshName("item");
  PathName = T.freshName("path");
  PathOf = T.freshName("path_of");
  Work = T.freshName("work");
}

//===----------------------------------------------------------------------===//
// The user's lines
//===----------------------------------------------------------------------===//

/// Items for threads, and the path for the condition.
std::vector<Edit> Writer::editsIn(const Stmt &S) const {
  std::vector<Edit> Found;
  const auto Replace = [&](const Expr &E, std::string Words) {
    const auto Span = *T.spanOf(E.getSourceRange());
    Found.push_back({Span.Begin, Span.End - Span.Begin, std::move(Words)});
  };
  const std::string Bare = First + " + " + Item;
  // What has a type of its own, or may have any, needs no cast.
  llvm::SmallPtrSet<const Expr *, 4> Free;
  walk(&S, [&](const Stmt &At) {
    if (&At == Path.Condition) {
      Replace(*Path.Condition, PathName + Path.Question);
      return false;
    }
    if (const auto *Decls = dyn_cast<DeclStmt>(&At))
      for (const Decl *D : Decls->decls())
        if (const auto *V = dyn_cast<VarDecl>(D);
            V && V->getInit() && V->getType()->isIntegerType() &&
            !V->getType()->getContainedAutoType())
          Free.insert(V->getInit()->IgnoreParenImpCasts());
    if (const auto *Element = dyn_cast<ArraySubscriptExpr>(&At))
      Free.insert(Element->getIdx()->IgnoreParenImpCasts());
    const auto *E = dyn_cast<Expr>(&At);
    if (!E || !llvm::is_contained(Items.Numbers, E))
      return true;
    Replace(*E, Free.contains(E) ? Bare : castItem(*E));
    return false;
  });
  return Found;
}

/// What stands for \p Number, of the same type.
std::string Writer::castItem(const Expr &Number) const {
  return "static_cast<" +
         Number.getType().getAsString(T.Context.getPrintingPolicy()) + ">(" +
         First + " + " + Item + ")";
}

/// The same in \p Words, which have been put together of the user's.
std::string Writer::withItems(std::string Words) const {
  for (const Expr *Number : Items.Numbers) {
    const std::string Text = T.textOf(*T.spanOf(Number->getSourceRange()));
    for (size_t At = Words.find(Text); At != std::string::npos;
         At = Words.find(Text, At)) {
      const size_t End = At + Text.size();
      const bool IsIndex = At && Words[At - 1] == '[' && Words[End] == ']';
      const std::string New =
          IsIndex ? First + " + " + Item : castItem(*Number);
      Words.replace(At, Text.size(), New);
      At += New.size();
    }
  }
  return Words;
}

/// Comments and the like; not what asks for this.
std::string Writer::leadOf(Text::Span Lead) const {
  const std::string Lines = edited(T, Lead, requestsIn(T, Lead, "collect"));
  return StringRef(Lines).ltrim("\r\n").str();
}

/// One step further in than the kernel's body.
std::string Writer::linesOf(const Early &E, ArrayRef<const Decl *> Needed,
                            bool WithLead) const {
  const auto Span = *T.spanOf(E.S->getSourceRange());
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
  for (const Stmt *S : Where.After)
    llvm::append_range(Inside, editsIn(*S));
  const auto Lines = [&](unsigned Begin, SourceLocation Close) {
    const Text::Span All = {Begin,
                            T.lineStart(T.spanOf({Close, Close})->Begin)};
    std::vector<Edit> Here = requestsIn(T, All, "collect");
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
    Lead += Where.Wrapper ? Mine : indented(Mine, Unit);
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
  if (!Where.Wrapper)
    return Lead +
           indented(Lines(Start, Where.Kernel->getBody()->getEndLoc()), Unit);
  const Stmt *Then = Where.Wrapper->getThen();
  return Lead + (isa<CompoundStmt>(Then) ? Lines(Start, Then->getEndLoc())
                                         : Only(Where.At));
}

//===----------------------------------------------------------------------===//
// What is new
//===----------------------------------------------------------------------===//

static bool isWord(StringRef Text) {
  return llvm::all_of(Text,
                      [](char C) { return llvm::isAlnum(C) || C == '_'; });
}

/// The number of items, as it was compared.
std::string Writer::countValue() const {
  const std::string Text = textOf(*Items.Count);
  if (isOwnType())
    return Text;
  return "static_cast<" +
         Items.CountType.getUnqualifiedType().getAsString(
             T.Context.getPrintingPolicy()) +
         ">(" + Text + ")";
}

/// Of a block; in 64 bits if \p IsWide.
std::string Writer::blockItems(bool IsWide) const {
  if (isConstantSize())
    return (IsWide ? "1ll * " : "") + Type + "::items";
  return std::to_string(What.Items) + (IsWide ? "ll * " : " * ") +
         textOf(*Items.Size);
}

std::string Writer::setup() const {
  std::vector<std::string> Words = {
      std::to_string(Items.Threads),
      std::to_string(Items.Last ? Path.Ahead : Path.Leaves)};
  if (What.Items != 4 || What.Chunk != 32)
    Words.push_back(std::to_string(What.Items));
  if (What.Chunk != 32)
    Words.push_back(std::to_string(What.Chunk));
  std::string Result =
      Indent + "// A block does the work of " + std::to_string(What.Items) +
      "; its warps take items of one path.\n" +
      wrappedList(Indent, "using " + Type + " = " + Library + "block_collect<",
                  Words, ">;") +
      wrapped(Indent,
              "__shared__ " + Type + "::temp_storage " + Storage + ";") +
      wrappedList(
          Indent, Type + " " + Collect + "(",
          isConstantSize()
              ? std::vector{Storage}
              : std::vector<std::string>{Storage, "threadIdx.x", "blockDim.x"},
          ");");
  if (!Count.empty())
    Result += wrapped(
        Indent, std::string(isWide() ? "const long long " : "const int ") +
                    Count + " = " + countValue() + ";");
  // Far behind the last item an int would begin anew.
  const std::string Begin = blockItems(/*IsWide=*/true) + " * blockIdx.x";
  if (isWide())
    Result += wrapped(Indent, "const long long " + First + " = " + Begin + ";");
  Result += wrapped(Indent, "if (" + (isWide() ? First : Begin) +
                                " >= " + countText() + ")") +
            Indent + Unit + "return;\n";
  if (!isWide())
    Result +=
        wrapped(Indent, "const int " + First + " = " +
                            blockItems(/*IsWide=*/false) + " * blockIdx.x;");
  return Result;
}

/// The path of who goes there, and of who does not.
std::string Writer::lastText() const {
  const Expr *Core = Path.Condition->IgnoreParenImpCasts();
  const auto *Op = dyn_cast<BinaryOperator>(Core);
  const std::string Text =
      T.textOf(*T.spanOf(Path.Condition->getSourceRange()));
  const bool IsLoose = isa<ConditionalOperator>(Core) ||
                       (Op && (Op->isAssignmentOp() || Op->isCommaOp()));
  return (IsLoose ? "(" + Text + ")" : Text) + " ? " +
         (Path.Ahead == 1 ? Path.Then : "(" + Path.Then + ")") + " : -1";
}

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
  const std::string Words = withItems(Items.Last ? lastText() : Path.Text);
  return Result + wrapped(In, "return " + Words + ";") + Indent + "};\n";
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

/// All that is copied or edited is the user's own text, on lines of its own.
Trouble Writer::check() const {
  const auto *Body = cast<CompoundStmt>(Where.Kernel->getBody());
  const auto Whole = *T.spanOf(Body->getSourceRange());
  for (unsigned At : Seen.Conditionals)
    if (Whole.Begin <= At && At < Whole.End)
      return Refused{&refuse::Conditional, Where.Kernel->getLocation()};
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
  for (const Stmt *S : Words)
    if (!T.spanOf(S->getSourceRange()))
      return Refused{&refuse::Macro, S->getBeginLoc()};
  std::vector<const Stmt *> Blocks = {Body};
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
  if (const VarDecl *Other = libraryIn(Kernel))
    return Refused{&refuse::Second, Other->getLocation()};
  if (Trouble Why = findShape(Kernel, What, T, Where))
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
  const auto *Body = cast<CompoundStmt>(Kernel.getBody());
  if (isWide() || !isOwnType() || !isWord(textOf(*Items.Count)))
    Count = T.freshName("count");
  Indent = T.indentAt(beginOf(Body->body_front()));
  Unit = unitOf(T.indentAt(beginOf(Body)), Indent);
  Before = planEarly(Where, Path, Items, T);
  const unsigned Begin = T.lineEnd(beginOf(Body)),
                 End = T.lineStart(
                     T.spanOf({Body->getRBracLoc(), Body->getRBracLoc()})
                         ->Begin);
  const std::string Left = countText() + " - " + First;
  const std::string How =
      isWide() ? std::string("int(") + (T.hasWord("min") ? "::" : "") + "min(" +
                     Left + ", " + blockItems(/*IsWide=*/true) + "))"
               : Left;
  Edits.push_back(
      {Begin, End - Begin,
       setup() + pathText() + workText() +
           wrappedList(Indent, Collect + "(", {How, PathOf, Work}, ");")});
  Order Head = What;
  Head.Threads = Items.Threads;
  editHead(T, Kernel, Head, Edits);
  if (!Seen.HasCollect)
    editIncludes(T, Seen, "block_collect.cuh", beginOf(Body), Edits);
  return std::nullopt;
}

Trouble writeCollector(const FunctionDecl &Kernel, const Order &What,
                       const Directives &Seen, Text &T,
                       std::vector<Edit> &Edits) {
  return Writer(What, Seen, T, Edits).write(Kernel);
}

} // namespace reconverge::rewrite
