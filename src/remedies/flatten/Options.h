//===- remedies/flatten/Options.h - Parameters of flattening ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_FLATTEN_OPTIONS_H
#define RECONVERGE_REMEDIES_FLATTEN_OPTIONS_H

#include "remedies/common/CommonOptions.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace reconverge::remedies {

struct FlattenOptions : OneBranchOptions {
  /// Lanes of 32 that must be through with the inner loop before they go on in
  /// the outer one; of fewer than 32 that are left, as large a part. 0: each
  /// goes on at once, without a vote.
  uint32_t Threshold = 8;
  /// Rounds of the inner loop from one vote to the next.
  uint32_t Rounds = 1;
  /// Where rounds skip some work: which of the next 32 have some is found out
  /// first. There are no votes then.
  bool Ahead = false;

  /// A mistake to make on purpose, so that tests can show that they would
  /// notice: what a waiting lane needs is lost.
  bool PlantedBug = false;
};

/// Reads "threshold=4;rounds=2;branch=3" into \p Options; the error names the
/// word that is wrong.
llvm::Expected<FlattenOptions> parseFlattenOptions(llvm::StringRef Text,
                                                   FlattenOptions Options = {});

} // namespace reconverge::remedies

#endif
