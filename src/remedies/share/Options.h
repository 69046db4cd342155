//===- remedies/share/Options.h - Parameters of sharing ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_SHARE_OPTIONS_H
#define RECONVERGE_REMEDIES_SHARE_OPTIONS_H

#include "remedies/common/CommonOptions.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace reconverge::remedies {

struct ShareOptions : OneBranchOptions {
  /// Percent. A warp shares its iterations where its longest lane alone would
  /// take as large a part of the issue slots that sharing takes. 0: always.
  uint32_t Threshold = 100;
  /// Atomic sums of floating-point values may be made in another order also
  /// within a thread.
  bool Atomics = false;

  /// A mistake to make on purpose, so that tests can show that they would
  /// notice: all iterations of a round are taken for the first owner's.
  bool PlantedBug = false;
};

/// Reads "threshold=150;branch=3" into \p Options; the error names the word that
/// is wrong.
llvm::Expected<ShareOptions> parseShareOptions(llvm::StringRef Text,
                                               ShareOptions Options = {});

} // namespace reconverge::remedies

#endif
