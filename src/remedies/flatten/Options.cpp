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
                       if (Key == "occupancy")
                         return readFlag(Value, Options.Occupancy);
                       if (Key == "registers")
                         return readBetween(Value, 24, 255, Options.Registers);
                       if (Key == "marked")
                         return readFlag(Value, Options.Marked);
                       return Key == "branch" && !Options.Branch &&
                              !Value.getAsInteger(10, Options.Branch.emplace());
                     });
  if (E)
    return std::move(E);
  return Options;
}

} // namespace reconverge::remedies
