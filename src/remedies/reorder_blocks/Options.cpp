//===- remedies/reorder_blocks/Options.cpp - Of reordering blocks ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/reorder_blocks/Options.h"

#include "remedies/common/Parameters.h"
#include "remedies/common/Remedy.h"

using namespace llvm;

namespace reconverge::remedies {

Expected<ReorderOptions> parseReorderOptions(StringRef Text) {
  if (Error E =
          readParameters(Text, "reordering blocks", reorder_blocks::Parameters,
                         [](StringRef Key, StringRef Value) {
                           return Key == "order" && Value == "reversed";
                         }))
    return std::move(E);
  return ReorderOptions();
}

} // namespace reconverge::remedies
