//===- rewrite/writer/CollectDraft.cpp - A collector's own words ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lines that a collector adds, and what stands for the thread's number: an
// int, or where there may be more items than that has numbers, a long long. What
// has a type of its own takes either.
//
//===----------------------------------------------------------------------===//

#include "rewrite/writer/CollectDraft.h"

#include "rewrite/writer/Effects.h"
#include "rewrite/writer/Layout.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace reconverge::rewrite {

void CollectDraft::takeNames() {
  Draft::takeNames();
  First = T.freshName("first");
  Item = T.freshName("item");
  PathName = T.freshName("path");
  Work = T.freshName("work");
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

/// Numbers of items may be too large for an int.
bool CollectDraft::isWide() const {
  return Where.Grid || // the last step goes beyond it
         !Items.CountType->isSignedIntegerOrEnumerationType() ||
         T.Context.getIntWidth(Items.CountType) > 32;
}

/// Of a block, as its author took it.
bool CollectDraft::isConstantSize() const {
  return partOf(Items.Size, "blockDim").empty();
}

/// The number of items is compared as what it is.
bool CollectDraft::isOwnType() const {
  return T.Context.hasSameUnqualifiedType(
      Items.CountType, Items.Count->IgnoreParenImpCasts()->getType());
}

std::vector<Edit> CollectDraft::editsIn(const Stmt &S) const {
  std::vector<Edit> Found;
  const std::string Bare = First + " + " + Item;
  // What has a type of its own, or may have any, needs no cast.
  llvm::SmallPtrSet<const Expr *, 4> Free;
  walk(&S, [&](const Stmt &At) {
    if (&At == Path.Condition) {
      Found.push_back(instead(*Path.Condition, PathName + Path.Question));
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
    Found.push_back(instead(*E, Free.contains(E) ? Bare : castItem(*E)));
    return false;
  });
  return Found;
}

/// What stands for \p Number, of the same type.
std::string CollectDraft::castItem(const Expr &Number) const {
  return "static_cast<" +
         Number.getType().getAsString(T.Context.getPrintingPolicy()) + ">(" +
         First + " + " + Item + ")";
}

/// The same in \p Words, which have been put together of the user's.
std::string CollectDraft::withItems(std::string Words) const {
  for (const Expr *Number : Items.Numbers) {
    const std::string Text = wordsOf(*Number);
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

//===----------------------------------------------------------------------===//
// The collector
//===----------------------------------------------------------------------===//

static bool isWord(StringRef Text) {
  return llvm::all_of(Text,
                      [](char C) { return llvm::isAlnum(C) || C == '_'; });
}

void CollectDraft::takeCount() {
  if (isWide() || !isOwnType() || !isWord(textOf(*Items.Count)))
    Count = T.freshName("count");
}

/// The number of items, as it was compared.
std::string CollectDraft::countValue() const {
  const std::string Text = textOf(*Items.Count);
  if (isOwnType())
    return Text;
  return "static_cast<" +
         Items.CountType.getUnqualifiedType().getAsString(
             T.Context.getPrintingPolicy()) +
         ">(" + Text + ")";
}

/// Of a block; in 64 bits if \p IsWide.
std::string CollectDraft::blockItems(bool IsWide) const {
  if (isConstantSize())
    return (IsWide ? "1ll * " : "") + Type + "::items";
  return std::to_string(What.Items) + (IsWide ? "ll * " : " * ") +
         textOf(*Items.Size);
}

std::string CollectDraft::setup() const {
  std::vector<std::string> Words = {
      std::to_string(Items.Threads),
      std::to_string(Items.Last ? Path.Ahead : Path.Leaves)};
  if (What.Items != 4 || What.Chunk != 32)
    Words.push_back(std::to_string(What.Items));
  if (What.Chunk != 32)
    Words.push_back(std::to_string(What.Chunk));
  std::string Result = declare(
      Indent,
      "A block does the work of " + std::to_string(What.Items) +
          "; its warps take items of one path.",
      Words,
      isConstantSize()
          ? std::vector{Storage}
          : std::vector<std::string>{Storage, "threadIdx.x", "blockDim.x"});
  if (!Count.empty())
    Result += wrapped(
        Indent, std::string(isWide() ? "const long long " : "const int ") +
                    Count + " = " + countValue() + ";");
  // Far behind the last item an int would begin anew.
  const std::string Begin = blockItems(/*IsWide=*/true) + " * blockIdx.x";
  if (Where.Grid)
    return Result + wrapped(Indent, "long long " + First + " = " + Begin + ";");
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
std::string CollectDraft::lastText() const {
  const std::string Text = wordsOf(*Path.Condition);
  return (isLoose(*Path.Condition) ? "(" + Text + ")" : Text) + " ? " +
         (Path.Ahead == 1 ? Path.Then : "(" + Path.Then + ")") + " : -1";
}

std::string CollectDraft::pathOfItem() const {
  return withItems(Items.Last ? lastText() : Path.Text);
}

std::string CollectDraft::loopHead() const {
  return "for (; " + First + " < " + countText() + "; " + First +
         " += " + blockItems(/*IsWide=*/true) + " * gridDim.x)";
}

std::string CollectDraft::itemsLeft() const {
  const std::string Left = countText() + " - " + First;
  if (!isWide())
    return Left;
  return std::string("int(") + (T.hasWord("min") ? "::" : "") + "min(" + Left +
         ", " + blockItems(/*IsWide=*/true) + "))";
}

} // namespace reconverge::rewrite
