//===- runtime/profile/Settings.cpp - What the environment says -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/profile/Settings.h"

#include "core/Error.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdlib>

using namespace llvm;

namespace reconverge::runtime {

StringRef environment(const char *Name) {
  const char *Value = std::getenv(Name);
  return Value ? StringRef(Value) : StringRef();
}

Error forEachSetting(
    StringRef Variable, StringRef Text, StringRef Example,
    function_ref<Error(StringRef Key, StringRef Value)> Apply) {
  SmallVector<StringRef, 8> Items;
  Text.split(Items, ',', -1, /*KeepEmpty=*/false);
  for (StringRef Item : Items) {
    auto [Key, Value] = Item.trim().split('=');
    if (Value.empty())
      return userError(Variable + ": '" + Item + "' is no key=value",
                       "For example " + Variable + "=" + Example + ".");
    if (Error E = Apply(Key, Value))
      return E;
  }
  return Error::success();
}

} // namespace reconverge::runtime
