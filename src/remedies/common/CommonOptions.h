//===- remedies/common/CommonOptions.h - What many remedies take *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_COMMONOPTIONS_H
#define RECONVERGE_REMEDIES_COMMON_COMMONOPTIONS_H

#include "remedies/common/Remedy.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace reconverge::remedies {

/// Parameters of remedies that change a kernel's code.
struct CommonOptions {
  /// Only if registers, and shared memory that a remedy takes, leave as many warps
  /// on a multiprocessor as before.
  bool Occupancy = true;
  /// That a thread may use; what is over goes to local memory. 0: ptxas' choice.
  uint32_t Registers = 0;
  /// Only what the source asks for.
  bool Marked = false;

  RegisterCounter CountRegisters = nullptr; ///< null: nobody can say
};

/// Of remedies that may be told where.
struct OneBranchOptions : CommonOptions {
  /// Number (!rc.branch) of the one branch that is meant, which for a loop is
  /// one that leaves it; none: the remedy chooses.
  std::optional<uint32_t> Branch;
};

/// Reads occupancy=, registers= and marked=; false if \p Key is none of them, or
/// \p Value is wrong.
bool readCommon(llvm::StringRef Key, llvm::StringRef Value,
                CommonOptions &Options);
/// The same and branch=, which may be given once.
bool readOneBranch(llvm::StringRef Key, llvm::StringRef Value,
                   OneBranchOptions &Options);

/// For Remedy::Join: \p A and \p B are the same but for the numbers of their
/// branches, which both name; none if they are not.
std::optional<std::string> joinBranches(llvm::StringRef A, llvm::StringRef B);

} // namespace reconverge::remedies

#endif
