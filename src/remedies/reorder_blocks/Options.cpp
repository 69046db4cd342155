//===- remedies/reorder_blocks/Options.cpp - Of reordering blocks ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/reorder_blocks/Options.h"

#include "remedies/common/Parameters.h"
#include "remedies/common/Remedy.h"

using namespace llvm;

namespace reconverge::remedies {

Expected<ReorderOptions> parseReorderOptions(StringRef Text,
                                             ReorderOptions Options) {
  Error E = readParameters(
      Text, "reordering blocks", reorder_blocks::Parameters,
      [&](StringRef Key, StringRef Value) {
        if (Key == "least")
          return readBetween(Value, 1, 1u << 31, Options.Least);
        if (Key == "marked")
          return readFlag(Value, Options.Marked);
        Options.Order = Value == "last"    ? BlockOrder::Last
                        : Value == "slice" ? BlockOrder::Slice
                                           : BlockOrder::Reversed;
        return Key == "order" &&
               (Options.Order != BlockOrder::Reversed || Value == "reversed");
      });
  if (E)
    return std::move(E);
  return Options;
}

} // namespace reconverge::remedies
