//===- report/Accesses.h - Requests that take more than they must -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_ACCESSES_H
#define RECONVERGE_REPORT_ACCESSES_H

#include "report/Text.h"
#include "report/View.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace reconverge::report {

/// Whether the file is one of the compiler's or the toolkit's headers.
bool isToolkits(llvm::StringRef File);

/// The place in the source where the user has an access: out of these, or, where
/// it is the toolkit's, out of the compiler's. Null: the compiler kept none.
const SourceLoc *userPlace(const SourceChain &Where);

/// Accesses of \p K, which is kernel \p Number, that are worth a row, dearest
/// first. \p At gives a place in short.
std::vector<AccessView>
accessesOf(const KernelProfile &K, uint32_t Number,
           llvm::function_ref<std::string(const SourceLoc &)> At);

/// A table of View::Accesses; nothing if there are none.
void printAccesses(const View &V, llvm::raw_ostream &OS,
                   const TerminalOptions &Options);

} // namespace reconverge::report

#endif
