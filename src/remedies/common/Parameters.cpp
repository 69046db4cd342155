//===- remedies/common/Parameters.cpp - key=value;key=value --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Parameters.h"

#include "core/Error.h"

#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace reconverge::remedies {

Error readParameters(StringRef Text, StringRef What, StringRef All,
                     function_ref<bool(StringRef, StringRef)> Set) {
  SmallVector<StringRef, 8> Words;
  Text.split(Words, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Word : Words) {
    auto [Key, Value] = Word.split('=');
    if (!Set(Key, Value))
      return userError(What + " has no parameter '" + Word + "'",
                       "The parameters are " + All + ", with ; between them.");
  }
  return Error::success();
}

bool readBetween(StringRef Text, uint32_t Least, uint32_t Most,
                 uint32_t &Number) {
  return !Text.getAsInteger(10, Number) && Least <= Number && Number <= Most;
}

bool readFlag(StringRef Text, bool &Flag) {
  Flag = Text == "1";
  return Flag || Text == "0";
}

} // namespace reconverge::remedies
