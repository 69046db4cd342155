//===- remedies/refill/Options.h - Parameters of refilling ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REFILL_OPTIONS_H
#define RECONVERGE_REMEDIES_REFILL_OPTIONS_H

#include "remedies/common/CommonOptions.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>

namespace reconverge::remedies {

/// Where a warp has its items from.
enum class ItemSource {
  Slice,  ///< its own part of the launch, and no more
  Counter ///< slices, one after the other, of those that nobody has taken
};

struct RefillOptions : OneBranchOptions {
  /// Lanes of 32 that must be idle before a warp stops for them; of fewer than
  /// 32 that are left at the end, as large a part.
  uint32_t Threshold = 8;
  /// Rounds that a warp makes from one vote to the next. A lane that is through
  /// waits for the vote.
  uint32_t Rounds = 1;
  ItemSource Source = ItemSource::Counter;
  /// Items of a slice for each lane; none: as sliceOf() says.
  std::optional<uint32_t> Slice;
  /// With the counter: items that there are for each lane, at least. Of fewer,
  /// not as many warps run as fit on the device.
  uint32_t Items = 1;
  /// Threads of the blocks that are launched; at most the launch bounds.
  uint32_t Block = 128;

  /// A warp's only slice should be long; many short ones leave no warp behind.
  uint32_t sliceOf() const {
    return Slice.value_or(Source == ItemSource::Counter ? 1 : 32);
  }

  /// A mistake to make on purpose, so that tests can show that they would
  /// notice: what a waiting lane needs is lost.
  bool PlantedBug = false;
};

/// Reads "threshold=4;slice=32;source=counter;branch=3" into \p Options; the
/// error names the word that is wrong.
llvm::Expected<RefillOptions> parseRefillOptions(llvm::StringRef Text,
                                                 RefillOptions Options = {});

} // namespace reconverge::remedies

#endif
