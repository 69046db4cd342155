//===- analysis/ConditionText.h - A condition as written --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_CONDITIONTEXT_H
#define RECONVERGE_ANALYSIS_CONDITIONTEXT_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace reconverge::analysis {

/// The condition, on one line, of the branch that clang's debug information
/// places at \p Line and \p Column (both from 1) of the source text \p Source.
/// Empty if the text there does not look like one.
std::string conditionAt(llvm::StringRef Source, unsigned Line, unsigned Column);

} // namespace reconverge::analysis

#endif
