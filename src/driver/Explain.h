//===- driver/Explain.h - Codes and words, explained ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_EXPLAIN_H
#define RECONVERGE_DRIVER_EXPLAIN_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::driver {

/// `reconverge explain`: the page of code \p Name ("RC101"); the entry of the
/// word \p Name in docs/glossary.md, in upper or lower case; all of that for
/// "glossary"; all codes, as docs/codes.md has them, for "codes"; or, if \p Name
/// is empty, what there is to ask for.
llvm::Error explain(llvm::StringRef Name, llvm::raw_ostream &OS);

/// All that it knows: words, then codes.
std::vector<std::string> explained();

} // namespace reconverge::driver

#endif
