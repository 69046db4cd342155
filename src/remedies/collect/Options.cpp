//===- remedies/collect/Options.cpp - Parameters of collecting ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/collect/Options.h"

#include "remedies/common/Parameters.h"

using namespace llvm;

namespace reconverge::remedies {

Expected<CollectOptions> parseCollectOptions(StringRef Text,
                                             CollectOptions Options) {
  Error E = readParameters(
      Text, "collecting", collect::Parameters,
      [&](StringRef Key, StringRef Value) {
        if (Key == "items")
          return readBetween(Value, 2, 8, Options.Items) &&
                 (Options.Items & (Options.Items - 1)) == 0;
        if (Key == "paths")
          return readBetween(Value, 2, 31, Options.Paths);
        if (Key == "chunk")
          return readBetween(Value, 0, 256, Options.Chunk.emplace()) &&
                 *Options.Chunk % 32 == 0;
        if (Key == "threads")
          return readBetween(Value, 64, 1024, Options.Threads);
        if (Key == "threshold")
          return !Value.getAsInteger(10, Options.Threshold);
        if (Key == "prologue")
          return !Value.getAsInteger(10, Options.Prologue);
        if (Key == "short")
          return !Value.getAsInteger(10, Options.Short);
        if (Key == "ids")
          return readFlag(Value, Options.Ids);
        if (Key == "branch")
          return !Value.getAsInteger(10, Options.Branches.emplace_back());
        return readCommon(Key, Value, Options);
      });
  if (E)
    return std::move(E);
  return Options;
}

} // namespace reconverge::remedies
