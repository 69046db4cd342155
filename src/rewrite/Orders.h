//===- rewrite/Orders.h - What to write into a source -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_ORDERS_H
#define RECONVERGE_REWRITE_ORDERS_H

#include "remedies/collect/Options.h"
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

/// Remedies that are written, each with its parameters.
struct Wish {
  std::optional<remedies::RemapOptions> Remap;
  std::optional<remedies::CollectOptions> Collect;
  /// False: remedy \p Name is no patch to the source.
  llvm::Expected<bool> add(llvm::StringRef Name, llvm::StringRef Parameters);
  /// Blocks have \p Threads at most.
  void limit(uint64_t Threads);
};

/// What to do about remedy \p Name, which is no patch to the source but is built
/// by the command \p Build.
std::string insteadOf(llvm::StringRef Name, llvm::StringRef Build);

/// What is asked of kernels beside what their source says.
struct Wishes {
  Wish All;                       ///< of all kernels
  std::map<std::string, Wish> Of; ///< by mangled names; go before All
  std::string Only;               ///< the kernel that is looked at; empty: all
};

/// A branch that gets nothing.
struct Missed {
  std::string File;
  unsigned Line = 0, Column = 0;
  const remedies::RefusalKind *Why;
  std::string Detail;
};

struct Ordered {
  /// Several of a kernel, together: the first that can be written.
  std::vector<Order> Orders;
  std::vector<Missed> Left; ///< in program order
};

/// \p F is the kernel \p Name, mangled or as it is called in the source, without
/// what it is in and without template arguments.
bool isKernelNamed(const llvm::Function &F, llvm::StringRef Name);

/// What to write into the kernels of \p M, the device code of a source with all
/// of its debug information, through the device pipeline; its requests are
/// settled.
Ordered orderPatches(llvm::Module &M, const Wishes &Asked);

/// What to write into kernel \p F besides, whose text has the rounds \p Done.
std::vector<Order> furtherRounds(const llvm::Function &F, const Wishes &Asked,
                                 llvm::ArrayRef<Order> Done);

} // namespace reconverge::rewrite

#endif
