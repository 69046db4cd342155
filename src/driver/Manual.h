//===- driver/Manual.h - Manual pages and completions -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_MANUAL_H
#define RECONVERGE_DRIVER_MANUAL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::driver {

/// Writes the manual page of \p Command (empty: of reconverge itself) for man,
/// made of the table of options; of "--list" the commands that have one.
llvm::Error printManual(llvm::StringRef Command, llvm::StringRef Version,
                        llvm::raw_ostream &OS);

/// Writes what makes \p Shell (bash, zsh or fish) complete commands and options.
llvm::Error printCompletion(llvm::StringRef Shell, llvm::raw_ostream &OS);

} // namespace reconverge::driver

#endif
