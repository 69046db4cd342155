//===- core/File.h - Read whole files, write them in one step ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_FILE_H
#define RECONVERGE_CORE_FILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge {

/// The bytes of \p Path; a UserError that names it if it cannot be read.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readFile(llvm::StringRef Path);

/// Lets \p Write fill \p Path so that a reader sees the old file or the whole
/// new one: the bytes go to a file beside it, which is renamed at the end and
/// removed on any error. A path that exists and is no regular file (a pipe,
/// /dev/stdout) is written directly.
llvm::Error
writeFileAtomically(llvm::StringRef Path,
                    llvm::function_ref<void(llvm::raw_ostream &)> Write);

/// The same, and "-" is standard output.
llvm::Error writeOutput(llvm::StringRef Path,
                        llvm::function_ref<void(llvm::raw_ostream &)> Write);

/// Flushes standard output; an error if not all that was written to it arrived.
llvm::Error finishOutput();

/// Where what is compiled for programs is kept between runs: reconverge in the
/// user's cache. Empty if there is no such place, or its name has a comma, which
/// parts settings from one another.
std::string defaultCacheFolder();

} // namespace reconverge

#endif
