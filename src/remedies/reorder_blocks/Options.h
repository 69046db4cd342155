//===- remedies/reorder_blocks/Options.h - Of reordering blocks -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REORDER_BLOCKS_OPTIONS_H
#define RECONVERGE_REMEDIES_REORDER_BLOCKS_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace reconverge::remedies {

enum class BlockOrder {
  Reversed, ///< the last one first
  Last,     ///< those first that took longest in an earlier launch
  Slice     ///< those first that will do most, as a slice of the kernel says
};

struct ReorderOptions {
  BlockOrder Order = BlockOrder::Reversed;
  /// Threads that a launch has at least where memory is needed; others take the
  /// kernel as it was.
  uint32_t Least = 16 * 1024;

  /// Only what the source asks for.
  bool Marked = false;

  /// A mistake to make on purpose, so that tests can show that they would
  /// notice: some blocks run twice, and others never.
  bool PlantedBug = false;
};

/// Reads "order=last;least=4096" over \p Options; the error names the word that
/// is wrong.
llvm::Expected<ReorderOptions> parseReorderOptions(llvm::StringRef Text,
                                                   ReorderOptions Options = {});

} // namespace reconverge::remedies

#endif
