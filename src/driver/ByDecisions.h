//===- driver/ByDecisions.h - Building by decisions -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_BYDECISIONS_H
#define RECONVERGE_DRIVER_BYDECISIONS_H

#include "core/Decision.h"
#include "driver/CommandLine.h"

#include <memory>

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::driver {

/// The decisions that a build goes by, and which of them it has met.
class Decisions {
public:
  Decisions(DecisionFile Read, std::string Path)
      : File(std::move(Read)), Path(std::move(Path)),
        States(File.Kernels.size(), State::Unseen) {}

  /// Applies to the kernels of \p M what is kept for them. Notes go to \p OS,
  /// if it is not null.
  llvm::Error apply(llvm::Module &M, llvm::raw_ostream *OS);

  /// From here on the host's code is compiled: that of relocatable device code
  /// is, when that is linked. It cannot choose between two kernels at a launch,
  /// so remedies are not applied.
  void hostIsCompiled() { IsHostCompiled = true; }

  /// Names on \p OS what was decided and not used: where the code has changed,
  /// where that is relocatable, and, if all of a program was built from
  /// sources, where there is no such kernel.
  void report(bool IsWhole, llvm::raw_ostream &OS) const;

private:
  enum class State { Unseen, Changed, TooLate, Used };
  DecisionFile File;
  std::string Path;
  std::vector<State> States; ///< parallel to File.Kernels
  bool IsHostCompiled = false;
};

/// Makes \p Request build what the decisions in its file say. Kernels without a
/// decision stay as they are. Null if it names no file.
llvm::Expected<std::shared_ptr<Decisions>>
requestDecisions(BuildRequest &Request);

} // namespace reconverge::driver

#endif
