//===- remedies/reorder_blocks/Options.h - Of reordering blocks -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REORDER_BLOCKS_OPTIONS_H
#define RECONVERGE_REMEDIES_REORDER_BLOCKS_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace reconverge::remedies {

struct ReorderOptions {
  /// A mistake to make on purpose, so that tests can show that they would
  /// notice: some blocks run twice, and others never.
  bool PlantedBug = false;
};

/// Reads "order=reversed"; the error names the word that is wrong.
llvm::Expected<ReorderOptions> parseReorderOptions(llvm::StringRef Text);

} // namespace reconverge::remedies

#endif
