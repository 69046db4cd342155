//===- remedies/permute/Options.h - Parameters of permuting -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_PERMUTE_OPTIONS_H
#define RECONVERGE_REMEDIES_PERMUTE_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace reconverge::remedies {

/// Which thread of the launch is run at a place.
enum class ItemOrder {
  Random,   ///< another one for each seed
  Reversed, ///< the last one first
  Same,     ///< as the program launches them
  Given     ///< as a file says (core/OrderFile.h)
};

struct PermuteOptions {
  ItemOrder Order = ItemOrder::Random;
  /// What changes places: single threads, or blocks with all their threads.
  bool WholeBlocks = false;
  uint32_t Seed = 1;
  /// Threads of the blocks that are launched in place of the program's; whole
  /// blocks stay as large as they are.
  uint32_t Block = 128;
};

/// Reads "order=random;seed=7;unit=thread;block=96"; the error names the word that is
/// wrong.
llvm::Expected<PermuteOptions> parsePermuteOptions(llvm::StringRef Text);

} // namespace reconverge::remedies

#endif
