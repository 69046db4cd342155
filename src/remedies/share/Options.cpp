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
        return readOneBranch(Key, Value, Options);
      });
  if (E)
    return std::move(E);
  return Options;
}

} // namespace reconverge::remedies
