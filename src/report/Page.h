//===- report/Page.h - A report as a page -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_PAGE_H
#define RECONVERGE_REPORT_PAGE_H

#include "core/Cost.h"
#include "core/Decision.h"
#include "core/Profile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::report {

struct SourceText {
  std::string Name;                ///< as the profile has it
  std::optional<std::string> Text; ///< none: it could not be read
  bool IsNewer = false;            ///< than the profile
};

/// All that a page shows; what it refers to outlives it.
struct PageInput {
  const Profile &P;
  const RunCost &Cost;
  const DecisionFile *Decisions = nullptr; ///< null: none were given
  std::vector<SourceText> Sources;
};

/// Of the files that the profile names, those with lines that cost something.
std::vector<std::string> sourcesWorthShowing(const Profile &P,
                                             const RunCost &Cost);

/// The data of a page as JSON, "reconverge-page/1": web/src/data.ts.
void printPageData(const PageInput &Input, llvm::raw_ostream &OS);
/// The block vectors of its kernels, a list parallel to them.
void printPageVectors(const PageInput &Input, llvm::raw_ostream &OS);

/// \p Template with the data in its place. No text of a program can end the
/// element that holds it. An internal error if \p Template has no such place.
llvm::Error printPage(llvm::StringRef Template, const PageInput &Input,
                      llvm::raw_ostream &OS);

} // namespace reconverge::report

#endif
