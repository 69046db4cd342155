//===- unittests/SeedRange.h - How many random cases ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_SEEDRANGE_H
#define RECONVERGE_UNITTESTS_SEEDRANGE_H

#include "llvm/ADT/StringRef.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace reconverge {

struct SeedRange {
  unsigned First = 1, Count = 0;
};

/// Seeds 1 to \p Count; or those that RECONVERGE_RANDOM_SEEDS="first,count"
/// names, none after a failure if it says something else. The sanitized build's
/// tests run few: what they look for is in the first of each kind.
inline SeedRange seedRange(unsigned Count) {
  SeedRange Seeds{1, Count};
  if (const char *Text = std::getenv("RECONVERGE_RANDOM_SEEDS")) {
    auto [First, Number] = llvm::StringRef(Text).split(',');
    if (First.getAsInteger(10, Seeds.First) ||
        Number.getAsInteger(10, Seeds.Count)) {
      ADD_FAILURE() << "RECONVERGE_RANDOM_SEEDS is not \"first,count\"";
      Seeds.Count = 0;
    }
  }
  return Seeds;
}

} // namespace reconverge

#endif
