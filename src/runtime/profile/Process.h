//===- runtime/profile/Process.h - The program that we are in ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_PROFILE_PROCESS_H
#define RECONVERGE_RUNTIME_PROFILE_PROCESS_H

#include "core/Profile.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace reconverge::runtime {

/// Fills in the command line of this process, as it was started.
void nameProgram(Profile &P);

/// \p File of the installation, found from where the library of \p Symbol lies:
/// lib/reconverge. Empty if that cannot be told.
std::string installedFile(const void *Symbol, llvm::StringRef File);
inline constexpr llvm::StringLiteral DefaultMachineFile =
    "share/reconverge/machines/h200.json";

/// Changes with each build of the library of \p Symbol: for caches.
std::string buildStamp(const void *Symbol);

} // namespace reconverge::runtime

#endif
