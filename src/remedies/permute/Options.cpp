//===- remedies/permute/Options.cpp - Parameters of permuting -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/permute/Options.h"

#include "remedies/common/Parameters.h"
#include "remedies/common/Remedy.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace reconverge::remedies {

static bool readOrder(StringRef Text, ItemOrder &Order) {
  auto Read = StringSwitch<std::optional<ItemOrder>>(Text)
                  .Case("random", ItemOrder::Random)
                  .Case("reversed", ItemOrder::Reversed)
                  .Case("same", ItemOrder::Same)
                  .Case("given", ItemOrder::Given)
                  .Default(std::nullopt);
  Order = Read.value_or(Order);
  return Read.has_value();
}

Expected<PermuteOptions> parsePermuteOptions(StringRef Text) {
  PermuteOptions Options;
  Error E = readParameters(Text, "permuting", permute::Parameters,
                           [&](StringRef Key, StringRef Value) {
                             if (Key == "order")
                               return readOrder(Value, Options.Order);
                             if (Key == "unit") {
                               Options.WholeBlocks = Value == "block";
                               return Options.WholeBlocks || Value == "thread";
                             }
                             if (Key == "seed")
                               return !Value.getAsInteger(10, Options.Seed);
                             return Key == "block" &&
                                    !Value.getAsInteger(10, Options.Block) &&
                                    1 <= Options.Block && Options.Block <= 1024;
                           });
  if (E)
    return std::move(E);
  return Options;
}

} // namespace reconverge::remedies
