//===- rewrite/writer/Layout.h - How lines look -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_LAYOUT_H
#define RECONVERGE_REWRITE_WRITER_LAYOUT_H

#include "rewrite/Order.h"
#include "rewrite/writer/Text.h"

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace reconverge::rewrite {

/// A statement with \p Indent before it and a new line behind, over several
/// lines if it is long.
std::string wrapped(const std::string &Indent, const std::string &Words);

/// The same of "\p Head<item>, <item>\p Tail", whose items stand under each other
/// if they need several lines.
std::string wrappedList(const std::string &Indent, std::string Head,
                        llvm::ArrayRef<std::string> Items,
                        llvm::StringRef Tail);

/// \p Unit more before each line of \p Lines that is not empty.
std::string indented(llvm::StringRef Lines, llvm::StringRef Unit);

/// \p Unit less, where a line begins with it.
std::string outdented(llvm::StringRef Lines, llvm::StringRef Unit);

/// \p Lines with \p New for \p Old, which all but the first are indented by at
/// least.
std::string reindented(llvm::StringRef Lines, llvm::StringRef Old,
                       llvm::StringRef New);

/// Whether \p Word is one of the names in \p Code.
bool hasWord(llvm::StringRef Code, llvm::StringRef Word);

/// One step of indentation: what \p Inner has more than \p Outer.
std::string unitOf(llvm::StringRef Outer, llvm::StringRef Inner);

/// The opposite of the condition \p E, which is written so.
std::string negated(const clang::Expr &E, const std::string &Written);

/// \p E needs parentheses before a `?`.
bool isLoose(const clang::Expr &E);

/// Where the comments begin that stand right above the line of \p Offset, or that
/// line.
unsigned aboveComments(const Text &T, unsigned Offset);

/// The lines of `#pragma reconverge <remedy>` right above the line of \p Offset;
/// empty if there are none.
Text::Span requestAbove(const Text &T, unsigned Offset, llvm::StringRef Remedy);

/// What takes all such lines in \p Of away.
std::vector<Edit> requestsIn(const Text &T, Text::Span Of,
                             llvm::StringRef Remedy);

/// What gets a value at the round must not be const.
Trouble dropConst(const Text &T, const clang::VarDecl &V,
                  std::vector<Edit> &Edits);

/// Where the file says __global__ of \p Kernel; none: a macro does.
std::optional<unsigned> globalIn(const Text &T,
                                 const clang::FunctionDecl &Kernel);

/// RECONVERGE_REMAP goes, RECONVERGE_COLLECT if that is written; __launch_bounds__ comes, where the order says how large
/// blocks are and the source does not.
void editHead(const Text &T, const clang::FunctionDecl &Kernel,
              const Order &What, std::vector<Edit> &Edits);

/// #include of the library's \p Header, for a kernel at \p Offset.
void editIncludes(const Text &T, const Directives &Seen, llvm::StringRef Header,
                  unsigned Offset, std::vector<Edit> &Edits);

} // namespace reconverge::rewrite

#endif
