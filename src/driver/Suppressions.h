//===- driver/Suppressions.h - Findings that are known ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_SUPPRESSIONS_H
#define RECONVERGE_DRIVER_SUPPRESSIONS_H

#include "report/Tests.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace reconverge::driver {

/// A file of them: docs/testing.md has the format.
class Suppressions {
public:
  /// The UserError names the line.
  static llvm::Expected<Suppressions> read(llvm::StringRef Path);
  static llvm::Expected<Suppressions> parse(llvm::StringRef Text,
                                            llvm::StringRef Name);

  /// Marks what is suppressed, and names those that nothing matched.
  void apply(report::TestOutcome &T) const;

private:
  struct Entry {
    std::optional<FindingKind> Kind; ///< none: any
    llvm::GlobPattern Kernel;
    std::optional<llvm::GlobPattern> Place; ///< none: any
    std::string Line;                       ///< as it was written
    bool matches(const Finding &F) const;
  };
  std::vector<Entry> Entries;
  std::vector<std::unique_ptr<std::string>> Words; ///< patterns point into them
};

} // namespace reconverge::driver

#endif
