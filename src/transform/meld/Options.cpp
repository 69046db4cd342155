//===- transform/meld/Options.cpp - Parameters of melding -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "transform/meld/Options.h"

#include "core/Error.h"

using namespace llvm;

namespace reconverge::transform {

Expected<MeldOptions> parseMeldOptions(StringRef Text) {
  MeldOptions Options;
  SmallVector<StringRef, 8> Words;
  Text.split(Words, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Word : Words) {
    auto [Key, Value] = Word.split('=');
    uint32_t Branch = 0;
    bool Bad = true;
    if (Key == "threshold")
      Bad = Value.getAsDouble(Options.Threshold) || Options.Threshold < 0 ||
            Options.Threshold > 1;
    else if (Key == "guard")
      Bad = Value.getAsDouble(Options.Guard) || !(Options.Guard >= 0);
    else if (Key == "limit")
      Bad = Value.getAsInteger(10, Options.Limit);
    else if (Key == "polish" && (Value == "0" || Value == "1")) {
      Options.Polish = Value == "1";
      Bad = false;
    } else if (Key == "branch" && !Value.getAsInteger(10, Branch)) {
      Options.Branches.push_back(Branch);
      Bad = false;
    }
    if (Bad)
      return userError("melding has no parameter '" + Word + "'",
                       "The parameters are threshold=<part, 0 to 1>, "
                       "guard=<issue slots>, limit=<number>, "
                       "branch=<number> and polish=<0 or 1>, with ; between "
                       "them.");
  }
  return Options;
}

} // namespace reconverge::transform
