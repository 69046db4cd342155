//===- remedies/herd/Options.cpp - Parameters of herding ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/herd/Options.h"

#include "remedies/common/Parameters.h"

#include <cmath>

using namespace llvm;

namespace reconverge::remedies {

/// A part of 1, as "0.125".
static bool readShare(StringRef Value, std::optional<uint32_t> &Millionths) {
  double Share = 0;
  if (Value.getAsDouble(Share) || !(Share >= 0 && Share <= 1))
    return false;
  Millionths = uint32_t(std::lround(Share * 1e6));
  return true;
}

Expected<HerdOptions> parseHerdOptions(StringRef Text, HerdOptions Options) {
  Error E = readParameters(
      Text, "herding", herd::Parameters, [&](StringRef Key, StringRef Value) {
        if (Key == "every")
          return readBetween(Value, 1, 64, Options.Every);
        if (Key == "threshold")
          return readBetween(Value, 0, 31, Options.Threshold);
        if (Key == "ways") {
          Options.TwoWays = Value == "two";
          return Value == "one" || Value == "two";
        }
        if (Key == "least")
          return !Value.getAsInteger(10, Options.Least);
        if (Key == "ids")
          return readFlag(Value, Options.Ids);
        if (Key == "stop")
          return readShare(Value, Options.Stop);
        if (Key == "recheck")
          return readBetween(Value, 1, 1000000, Options.Recheck);
        if (Key == "branch")
          return !Value.getAsInteger(10, Options.Branches.emplace_back());
        return readCommon(Key, Value, Options);
      });
  if (E)
    return std::move(E);
  return Options;
}

} // namespace reconverge::remedies
