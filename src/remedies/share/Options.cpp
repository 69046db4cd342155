//===- remedies/share/Options.cpp - Parameters of sharing -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/share/Options.h"

#include "remedies/common/Parameters.h"

using namespace llvm;

namespace reconverge::remedies {

Expected<ShareOptions> parseShareOptions(StringRef Text, ShareOptions Options) {
  Error E = readParameters(
      Text, "sharing", share::Parameters, [&](StringRef Key, StringRef Value) {
        if (Key == "threshold")
          return readBetween(Value, 0, 1000, Options.Threshold);
        if (Key == "atomics")
          return readFlag(Value, Options.Atomics);
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
