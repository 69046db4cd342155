//===- remedies/collect/Options.cpp - Parameters of collecting ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/collect/Options.h"

#include "remedies/common/Parameters.h"
#include "remedies/common/Remedy.h"

using namespace llvm;

namespace reconverge::remedies {

Expected<CollectOptions> parseCollectOptions(StringRef Text) {
  CollectOptions Options;
  Error E = readParameters(
      Text, "collecting", collect::Parameters,
      [&](StringRef Key, StringRef Value) {
        if (Key == "items")
          return readBetween(Value, 2, 8, Options.Items) &&
                 (Options.Items & (Options.Items - 1)) == 0;
        if (Key == "paths")
          return readBetween(Value, 2, 31, Options.Paths);
        if (Key == "threads")
          return readBetween(Value, 64, 1024, Options.Threads);
        if (Key == "threshold")
          return !Value.getAsInteger(10, Options.Threshold);
        if (Key == "prologue")
          return !Value.getAsInteger(10, Options.Prologue);
        if (Key == "ids")
          return readFlag(Value, Options.Ids);
        return Key == "branch" &&
               !Value.getAsInteger(10, Options.Branches.emplace_back());
      });
  if (E)
    return std::move(E);
  return Options;
}

} // namespace reconverge::remedies
