//===- driver/Words.h - Words that are almost right -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_WORDS_H
#define RECONVERGE_DRIVER_WORDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace reconverge::driver {

/// Those of \p Known that \p Word may be a slip of, or begins or is part of:
/// at most three, the likeliest first.
std::vector<std::string> nearestOf(llvm::StringRef Word,
                                   llvm::ArrayRef<std::string> Known);

/// "Did you mean a, b or c? "; empty if there are no such words.
std::string didYouMean(llvm::StringRef Word, llvm::ArrayRef<std::string> Known);

} // namespace reconverge::driver

#endif
