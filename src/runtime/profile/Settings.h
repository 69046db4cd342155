//===- runtime/profile/Settings.h - What the environment says ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_PROFILE_SETTINGS_H
#define RECONVERGE_RUNTIME_PROFILE_SETTINGS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace reconverge::runtime {

/// The variable's value; empty if there is none.
llvm::StringRef environment(const char *Name);

/// Calls \p Apply(key, value) for each item of \p Text, "key=value,key=value",
/// to the first error. An item without a value is one: the UserError names \p
/// Variable, whose value \p Text is, and shows \p Example.
llvm::Error forEachSetting(
    llvm::StringRef Variable, llvm::StringRef Text, llvm::StringRef Example,
    llvm::function_ref<llvm::Error(llvm::StringRef Key, llvm::StringRef Value)>
        Apply);

} // namespace reconverge::runtime

#endif
