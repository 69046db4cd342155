//===- remedies/common/CommonOptions.cpp - What many remedies take --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/CommonOptions.h"

#include "remedies/common/Parameters.h"

using namespace llvm;

namespace reconverge::remedies {

bool readCommon(StringRef Key, StringRef Value, CommonOptions &Options) {
  if (Key == "occupancy")
    return readFlag(Value, Options.Occupancy);
  if (Key == "registers")
    return readBetween(Value, 24, 255, Options.Registers);
  return Key == "marked" && readFlag(Value, Options.Marked);
}

bool readOneBranch(StringRef Key, StringRef Value, OneBranchOptions &Options) {
  if (Key == "branch")
    return !Options.Branch && !Value.getAsInteger(10, Options.Branch.emplace());
  return readCommon(Key, Value, Options);
}

} // namespace reconverge::remedies
