//===- remedies/common/Parameters.h - key=value;key=value ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_PARAMETERS_H
#define RECONVERGE_REMEDIES_COMMON_PARAMETERS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace reconverge::remedies {

/// Gives each "key=value" of \p Text, with ; between them, to \p Set, which
/// says whether there is such a parameter. The UserError names the word that is
/// wrong: "<What> has no parameter '<word>'", and \p All, a list of those that
/// there are.
llvm::Error readParameters(
    llvm::StringRef Text, llvm::StringRef What, llvm::StringRef All,
    llvm::function_ref<bool(llvm::StringRef Key, llvm::StringRef Value)> Set);

/// Reads a decimal number; false if \p Text is none from \p Least to \p Most.
bool readBetween(llvm::StringRef Text, uint32_t Least, uint32_t Most,
                 uint32_t &Number);

/// Reads "0" or "1"; false if \p Text is neither.
bool readFlag(llvm::StringRef Text, bool &Flag);

} // namespace reconverge::remedies

#endif
