//===- remedies/collect/Options.h - Parameters of collecting ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COLLECT_OPTIONS_H
#define RECONVERGE_REMEDIES_COLLECT_OPTIONS_H

#include "remedies/common/CommonOptions.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace reconverge::remedies {

struct CollectOptions : CommonOptions {
  /// Items a thread: a block does the work of so many of the program's.
  uint32_t Items = 4;
  /// Most paths that are told apart; those with the least code are one.
  uint32_t Paths = 8;
  /// Items that a warp claims at once: a multiple of 32. 0: warps take turns.
  /// None: 32 where a loop's trips differ, turns elsewhere.
  std::optional<uint32_t> Chunk;
  /// The largest block that sorts; larger ones, and those that are not of whole
  /// warps, run their items as they come. 0: what launch bounds say, or 256.
  uint32_t Threads = 0;
  /// Least number of instructions that a branch controls, those of a loop
  /// counted eight times.
  uint64_t Threshold = 100;
  /// Most instructions that decide an item's path: they run twice.
  uint64_t Prologue = 100;
  /// Most instructions of a path that is run where it is found, in the sort.
  uint64_t Short = 24;
  /// Also branches that depend on the thread's number alone.
  bool Ids = false;
  /// Numbers (!rc.branch) of the branches that make a path; empty: all.
  std::vector<uint32_t> Branches;

  /// A mistake to make on purpose, so that tests can show that they would
  /// notice: the last path is worked on as if it had an item less.
  bool PlantedBug = false;
};

/// Reads "items=8;branch=3" into \p Options; the error names the word that is
/// wrong.
llvm::Expected<CollectOptions> parseCollectOptions(llvm::StringRef Text,
                                                   CollectOptions Options = {});

} // namespace reconverge::remedies

#endif
