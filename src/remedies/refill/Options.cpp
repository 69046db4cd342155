//===- remedies/refill/Options.cpp - Parameters of refilling --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/refill/Options.h"

#include "remedies/common/Parameters.h"

using namespace llvm;

namespace reconverge::remedies {

Expected<RefillOptions> parseRefillOptions(StringRef Text,
                                           RefillOptions Options) {
  Error E = readParameters(
      Text, "refilling", refill::Parameters,
      [&](StringRef Key, StringRef Value) {
        if (Key == "threshold")
          return readBetween(Value, 1, 32, Options.Threshold);
        if (Key == "rounds")
          return readBetween(Value, 1, 64, Options.Rounds);
        if (Key == "slice")
          return readBetween(Value, 1, 1024, Options.Slice.emplace());
        if (Key == "items")
          return readBetween(Value, 1, 1024, Options.Items);
        if (Key == "block")
          return readBetween(Value, 32, 1024, Options.Block) &&
                 Options.Block % 32 == 0;
        if (Key == "source") {
          Options.Source =
              Value == "counter" ? ItemSource::Counter : ItemSource::Slice;
          return Value == "counter" || Value == "slice";
        }
        return readOneBranch(Key, Value, Options);
      });
  if (E)
    return std::move(E);
  return Options;
}

} // namespace reconverge::remedies
