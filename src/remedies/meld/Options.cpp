//===- remedies/meld/Options.cpp - Parameters of melding -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/meld/Options.h"

#include "remedies/common/Parameters.h"
#include "remedies/common/Remedy.h"

using namespace llvm;

namespace reconverge::remedies {

Expected<MeldOptions> parseMeldOptions(StringRef Text) {
  MeldOptions Options;
  auto Number = [](StringRef Value, std::vector<uint32_t> &To) {
    To.emplace_back();
    return !Value.getAsInteger(10, To.back());
  };
  if (Error E = readParameters(
          Text, "melding", meld::Parameters,
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

} // namespace reconverge::remedies
