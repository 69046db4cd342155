//===- driver/ProgramModules.h - Device code in a program -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_PROGRAMMODULES_H
#define RECONVERGE_DRIVER_PROGRAMMODULES_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace reconverge::driver {

/// The bitcode of the modules in the file \p Program, by hash, as far as it is
/// ours. What shared libraries bring is in other files.
llvm::Expected<llvm::StringMap<std::string>> modulesOf(llvm::StringRef Program);

} // namespace reconverge::driver

#endif
