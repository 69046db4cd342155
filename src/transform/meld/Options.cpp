//===- transform/meld/Options.cpp - Parameters of melding -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "transform/meld/Options.h"

#include "transform/common/Parameters.h"

using namespace llvm;

namespace reconverge::transform {

Expected<MeldOptions> parseMeldOptions(StringRef Text) {
  MeldOptions Options;
  auto Number = [](StringRef Value, std::vector<uint32_t> &To) {
    To.emplace_back();
    return !Value.getAsInteger(10, To.back());
  };
  if (Error E = readParameters(
          Text, "melding",
          "threshold=<part, 0 to 1>, guard=<issue slots>, limit=<number>, "
          "branch=<number>, skip=<number> and polish=<0 or 1>",
          [&](StringRef Key, StringRef Value) {
            if (Key == "threshold")
              return !Value.getAsDouble(Options.Threshold) &&
                     Options.Threshold >= 0 && Options.Threshold <= 1;
            if (Key == "guard")
              return !Value.getAsDouble(Options.Guard) && Options.Guard >= 0;
            if (Key == "limit")
              return !Value.getAsInteger(10, Options.Limit);
            if (Key == "polish")
              return readFlag(Value, Options.Polish);
            if (Key == "branch")
              return Number(Value, Options.Branches);
            return Key == "skip" && Number(Value, Options.Skipped);
          }))
    return std::move(E);
  return Options;
}

} // namespace reconverge::transform
