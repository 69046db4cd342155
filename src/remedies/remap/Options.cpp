//===- remedies/remap/Options.cpp - Parameters of remapping --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/remap/Options.h"

#include "core/Error.h"
#include "remedies/common/Parameters.h"

#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace reconverge::remedies {

Expected<RemapOptions> parseRemapOptions(StringRef Text) {
  RemapOptions Options;
  Error E = readParameters(
      Text, "remapping", remap::Parameters,
      [&](StringRef Key, StringRef Value) {
        if (Key == "threshold")
          return !Value.getAsInteger(10, Options.Threshold);
        if (Key == "threads")
          return readBetween(Value, 64, 1024, Options.Threads);
        if (Key == "exact")
          return readFlag(Value, Options.Exact);
        if (Key == "paths")
          return readBetween(Value, 2, 32, Options.Paths);
        if (Key == "neighbours")
          return readBetween(Value, MinNeighbours, MaxNeighbours,
                             Options.Neighbours) &&
                 isPowerOf2_32(Options.Neighbours);
        if (Key == "ids")
          return readFlag(Value, Options.Ids);
        if (Key == "occupancy")
          return readFlag(Value, Options.Occupancy);
        if (Key == "shared")
          return !Value.getAsInteger(10, Options.Shared);
        if (Key == "marked")
          return readFlag(Value, Options.Marked);
        if (Key == "algorithm") {
          auto Algorithm = remapAlgorithm(Value);
          Options.Algorithm = Algorithm.value_or(Options.Algorithm);
          return Algorithm.has_value();
        }
        return Key == "branch" &&
               !Value.getAsInteger(10, Options.Branches.emplace_back());
      });
  if (E)
    return std::move(E);
  if (Options.Exact && Options.Threads % 32)
    return userError("exact=1 is for whole warps, not for threads=" +
                         Twine(Options.Threads),
                     "Say a multiple of 32, or leave exact=1 out.");
  return Options;
}

} // namespace reconverge::remedies
