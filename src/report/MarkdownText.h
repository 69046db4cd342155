//===- report/MarkdownText.h - Text and rows in Markdown --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_MARKDOWNTEXT_H
#define RECONVERGE_REPORT_MARKDOWNTEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::report {

/// \p Text with every sign escaped that Markdown or HTML would read.
std::string markdownOf(llvm::StringRef Text);

/// A row of a table; the cells are Markdown.
void printMarkdownRow(llvm::raw_ostream &OS, llvm::ArrayRef<std::string> Cells);

} // namespace reconverge::report

#endif
