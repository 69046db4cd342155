//===- remedies/flatten/Options.cpp - Parameters of flattening ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/flatten/Options.h"

#include "remedies/common/Parameters.h"

using namespace llvm;

namespace reconverge::remedies {

Expected<FlattenOptions> parseFlattenOptions(StringRef Text,
                                             FlattenOptions Options) {
  Error E =
      readParameters(Text, "flattening", flatten::Parameters,
                     [&](StringRef Key, StringRef Value) {
                       if (Key == "threshold")
                         return readBetween(Value, 0, 32, Options.Threshold);
                       if (Key == "rounds")
                         return readBetween(Value, 1, 64, Options.Rounds);
                       if (Key == "ahead")
                         return readFlag(Value, Options.Ahead);
                       return readOneBranch(Key, Value, Options);
                     });
  if (E)
    return std::move(E);
  return Options;
}

} // namespace reconverge::remedies
