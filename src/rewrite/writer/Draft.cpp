//===- rewrite/writer/Draft.cpp - What is written into a kernel -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rewrite/writer/Draft.h"

#include "rewrite/writer/Layout.h"

using namespace clang;

namespace reconverge::rewrite {

Trouble Draft::find(const FunctionDecl &Kernel) {
  const VarDecl *Other = libraryIn(Kernel);
  if (Other && !What.Behind)
    return Refused{&refuse::Second, Other->getLocation()};
  if (Trouble Why = findShape(Kernel, What, T, Where))
    return Why;
  if (Other && Where.After.size() > What.Behind)
    return Refused{&refuse::Second, Other->getLocation()};
  return std::nullopt;
}

void Draft::takeNames() {
  // In a kernel with rounds the word is theirs, as they have it.
  const auto Body = *T.spanOf(Where.Kernel->getBody()->getSourceRange());
  const bool IsTaken =
      What.Behind ? StringRef(T.textOf(Body)).contains("::reconverge::")
                  : T.hasWord("reconverge");
  Library = IsTaken ? "::reconverge::" : "reconverge::";
  Type = T.freshName(kind() + "_t");
  Storage = T.freshName(kind() + "_storage");
  Object = T.freshName(kind());
  PathOf = T.freshName("path_of");
}

void Draft::takeIndent(const Stmt &First) {
  const auto *Body = cast<CompoundStmt>(Where.Kernel->getBody());
  Indent = T.indentAt(beginOf(&First));
  Unit = unitOf(T.indentAt(beginOf(Body)),
                T.indentAt(beginOf(Body->body_front())));
}

Trouble Draft::checkConditionals() const {
  const auto Body = *T.spanOf(Where.Kernel->getBody()->getSourceRange());
  for (unsigned At : Seen.Conditionals)
    if (Body.Begin <= At && At < Body.End)
      return Refused{&refuse::Conditional, Where.Kernel->getLocation()};
  return std::nullopt;
}

Trouble Draft::checkOwn(ArrayRef<const Stmt *> All) const {
  for (const Stmt *S : All)
    if (!T.spanOf(S->getSourceRange()))
      return Refused{&refuse::Macro, S->getBeginLoc()};
  return std::nullopt;
}

std::string Draft::declare(const std::string &Indent, StringRef Note,
                           ArrayRef<std::string> Parameters,
                           ArrayRef<std::string> Arguments,
                           const std::string &Typename) const {
  return Indent + "// " + Note.str() + "\n" +
         wrappedList(Indent,
                     "using " + Type + " = " + Library + "block_" + kind() +
                         "<",
                     Parameters, ">;") +
         wrapped(Indent, "__shared__ " + Typename + Type + "::temp_storage " +
                             Storage + ";") +
         wrappedList(Indent, Type + " " + Object + "(", Arguments, ");");
}

void Draft::editAround(uint64_t Threads) {
  Order Head = What;
  Head.Threads = Threads;
  editHead(T, *Where.Kernel, Head, Edits);
  if (!(What.Items ? Seen.HasCollect : Seen.HasRemap))
    editIncludes(T, Seen, "block_" + kind() + ".cuh",
                 beginOf(Where.Kernel->getBody()), Edits);
}

} // namespace reconverge::rewrite
