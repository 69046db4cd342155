//===- remedies/regroup/Options.cpp - Parameters of regrouping ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/regroup/Options.h"

#include "remedies/common/Parameters.h"
#include "remedies/common/Remedy.h"

using namespace llvm;

namespace reconverge::remedies {

Expected<RegroupOptions> parseRegroupOptions(StringRef Text,
                                             RegroupOptions Options) {
  Error E = readParameters(
      Text, "regrouping", regroup::Parameters,
      [&](StringRef Key, StringRef Value) {
        uint32_t Number = 0;
        if (Key == "branch") {
          if (Value.getAsInteger(10, Number))
            return false;
          Options.Branches.push_back(Number);
          return true;
        }
        if (Key == "locality")
          return readBetween(Value, 0, 16, Options.Locality);
        if (Key == "reuse") {
          Options.Reuse = Value == "on";
          return Value == "on" || Value == "off";
        }
        if (Key == "layout") {
          Options.Layout = Value == "all"     ? RecordLayout::All
                           : Value == "loads" ? RecordLayout::Loads
                                              : RecordLayout::Off;
          return Options.Layout != RecordLayout::Off || Value == "off";
        }
        if (Key == "gather")
          return !Value.getAsInteger(10, Options.Gather.emplace());
        if (Key == "marked")
          return readFlag(Value, Options.Marked);
        return Key == "least" && readBetween(Value, 1, 1u << 31, Options.Least);
      });
  if (E)
    return std::move(E);
  return Options;
}

} // namespace reconverge::remedies
