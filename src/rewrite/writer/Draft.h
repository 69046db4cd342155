//===- rewrite/writer/Draft.h - What is written into a kernel ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_DRAFT_H
#define RECONVERGE_REWRITE_WRITER_DRAFT_H

#include "rewrite/writer/Paths.h"
#include "rewrite/writer/Shape.h"

namespace reconverge::rewrite {

/// An object of the library that a kernel gets, a block_remap or a block_collect:
/// where it goes, what it is called, and the lines that both have.
struct Draft {
  Draft(const Order &What, const Directives &Seen, Text &T,
        std::vector<Edit> &Edits)
      : What(What), Seen(Seen), T(T), Edits(Edits) {}

  /// Finds the branch in a kernel that has no such object yet.
  Trouble find(const clang::FunctionDecl &Kernel);
  /// Chooses the names, which the kernel must not have.
  void takeNames();
  /// Its lines are as far in as \p First is.
  void takeIndent(const clang::Stmt &First);

  /// The kernel is all there, whatever the preprocessor is told.
  Trouble checkConditionals() const;
  /// Each is the user's own text.
  Trouble checkOwn(llvm::ArrayRef<const clang::Stmt *> All) const;

  /// The object with its type and its storage, under the comment \p Note.
  /// \p Typename goes before what is in the type.
  std::string declare(const std::string &Indent, llvm::StringRef Note,
                      llvm::ArrayRef<std::string> Parameters,
                      llvm::ArrayRef<std::string> Arguments,
                      const std::string &Typename = "") const;
  /// The kernel's head, and the #include.
  void editAround(uint64_t Threads);

  unsigned beginOf(const clang::Stmt *S) const {
    return T.spanOf({S->getBeginLoc(), S->getBeginLoc()})->Begin;
  }
  std::string wordsOf(const clang::Stmt &S) const {
    return T.textOf(*T.spanOf(S.getSourceRange()));
  }
  /// \p Words in the place of \p S.
  Edit instead(const clang::Stmt &S, std::string Words) const {
    const auto Span = *T.spanOf(S.getSourceRange());
    return {Span.Begin, Span.End - Span.Begin, std::move(Words)};
  }

  const Order &What;
  const Directives &Seen;
  Text &T;
  std::vector<Edit> &Edits;
  Shape Where;
  PathPlan Path;
  std::string Indent, Unit; ///< before its lines, and one step more
  std::string Type, Storage, Object, PathOf, Library;

private:
  /// "remap" or "collect".
  std::string kind() const { return What.Items ? "collect" : "remap"; }
};

} // namespace reconverge::rewrite

#endif
