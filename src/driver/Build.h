//===- driver/Build.h - Compile and link ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_BUILD_H
#define RECONVERGE_DRIVER_BUILD_H

#include "driver/CommandLine.h"
#include "frontend/TempDir.h"
#include "frontend/Toolchain.h"

namespace reconverge::driver {

/// How many of the inputs are sources to compile.
size_t sourcesOf(const BuildRequest &Request);

/// Does what \p Request says. Intermediate files live in \p Temp.
llvm::Error build(const BuildRequest &Request, const frontend::Toolchain &Tools,
                  const frontend::TempDir &Temp);

/// The same, with the tools and a temporary folder of its own.
llvm::Error build(const BuildRequest &Request);

/// \p Status; or, if a signal came while a tool or program of ours ran, what a
/// shell makes of that, said on \p OS in place of an error.
llvm::Expected<int> orInterrupted(llvm::Expected<int> Status,
                                  llvm::raw_ostream &OS);

/// `reconverge cc`: what its words say, @files expanded. Returns the exit code
/// of clang where they only ask it something. \p Version is our own; remarks
/// that the words ask for go to \p Diagnostics.
llvm::Expected<int> cc(llvm::ArrayRef<const char *> Words,
                       llvm::StringRef Version, llvm::raw_ostream &OS,
                       llvm::raw_ostream &Diagnostics);

} // namespace reconverge::driver

#endif
