//===- transform/remap/Options.cpp - Parameters of remapping --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "transform/remap/Options.h"

#include "core/Error.h"

using namespace llvm;

namespace reconverge::transform {

Expected<RemapOptions> parseRemapOptions(StringRef Text) {
  RemapOptions Options;
  SmallVector<StringRef, 8> Words;
  Text.split(Words, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Word : Words) {
    auto [Key, Value] = Word.split('=');
    uint32_t Branch = 0;
    bool Bad = true;
    if (Key == "threshold")
      Bad = Value.getAsInteger(10, Options.Threshold);
    else if (Key == "threads")
      Bad = Value.getAsInteger(10, Options.Threads) || Options.Threads < 64 ||
            Options.Threads > 1024;
    else if (Key == "ids" && (Value == "0" || Value == "1")) {
      Options.Ids = Value == "1";
      Bad = false;
    } else if (Key == "branch" && !Value.getAsInteger(10, Branch)) {
      Options.Branches.push_back(Branch);
      Bad = false;
    }
    if (Bad)
      return userError("remapping has no parameter '" + Word + "'",
                       "The parameters are threshold=<instructions>, "
                       "threads=<64 to 1024>, ids=<0 or 1> and "
                       "branch=<number>, with ; between them.");
  }
  return Options;
}

} // namespace reconverge::transform
