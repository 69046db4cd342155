//===- rewrite/Rounds.h - Which rounds to write -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_ROUNDS_H
#define RECONVERGE_REWRITE_ROUNDS_H

#include "remedies/common/Refusal.h"
#include "remedies/remap/Options.h"
#include "rewrite/Order.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace reconverge::rewrite {

/// What is asked of kernels beside what their source says.
struct Wishes {
  /// Of all kernels: every branch that may have a round. None: only what the
  /// source asks for.
  std::optional<remedies::RemapOptions> All;
  /// Of kernels by their mangled names; goes before All.
  std::map<std::string, remedies::RemapOptions> Of;
  std::string Only; ///< the kernel that is looked at; empty: all
};

/// A branch that gets no round.
struct Missed {
  std::string File;
  unsigned Line = 0, Column = 0;
  const remedies::RefusalKind *Why;
  std::string Detail;
};

struct Ordered {
  std::vector<Order> Orders; ///< one a kernel at most
  std::vector<Missed> Left;  ///< in program order
};

/// \p F is the kernel \p Name, mangled or as it is called in the source, without
/// what it is in and without template arguments.
bool isKernelNamed(const llvm::Function &F, llvm::StringRef Name);

/// Plans a round for each kernel of \p M, at the first branch that the pass would
/// give one. \p M is the device code of a source with all of its debug
/// information, through the device pipeline, and its requests are settled.
Ordered orderRounds(llvm::Module &M, const Wishes &Asked);

} // namespace reconverge::rewrite

#endif
