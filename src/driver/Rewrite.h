//===- driver/Rewrite.h - Rounds, as a patch to the source -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_REWRITE_H
#define RECONVERGE_DRIVER_REWRITE_H

#include "driver/CommandLine.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::driver {

/// Writes rounds of remap into sources.
struct RewriteRequest {
  enum class Form { Diff, InPlace, File };
  BuildRequest Build; ///< inputs, and how they are compiled
  Form As = Form::Diff;
  std::string Kernel; ///< mangled or not; empty: all
};

/// The words after the subcommand. The UserError names the word.
llvm::Expected<RewriteRequest>
parseRewriteWords(llvm::ArrayRef<const char *> Words);

/// `reconverge rewrite`: diffs go to \p OS; what is written, what is not and
/// why, to \p Notes.
llvm::Error rewrite(const RewriteRequest &Request, llvm::raw_ostream &OS,
                    llvm::raw_ostream &Notes);

} // namespace reconverge::driver

#endif
