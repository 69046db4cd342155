//===- remedies/common/WarpCost.h - Of a kernel changed ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_WARPCOST_H
#define RECONVERGE_REMEDIES_COMMON_WARPCOST_H

#include "remedies/common/Remedy.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace reconverge::remedies {

/// What a changed kernel comes to on a multiprocessor.
struct WarpCost {
  std::string Text;    ///< before and after; empty: nobody could count
  bool Lowers = false; ///< fewer warps run at a time
  /// Registers that a thread may have for as many warps to run: a limit that
  /// ptxas meets without local memory, as it says, or mostly, where it is a few
  /// less than ptxas would take. 0: there is no need, or it is too low.
  unsigned Limit = 0;

  /// Whether the remedy may cost that, if \p Occupancy says whether as many warps
  /// must run as before. \p Registers, 0 or what the user limits them to, becomes
  /// Limit where that is needed.
  bool allows(bool Occupancy, uint32_t &Registers) const;
  /// What a remark adds of a kernel limited to \p Registers, if not 0:
  /// "; <Text>; limited to 40".
  std::string note(uint32_t Registers) const;
};

/// Threads of a block, of which warps are whole: \p Kernel's launch bounds, or
/// 256.
unsigned usualBlock(const llvm::Function &Kernel);

/// Counts \p Kernel in blocks of \p Before threads, and a copy that \p Change
/// has changed, in blocks of \p After: registers by \p Count, and static shared
/// memory. \p Change may replace the copy by a kernel of the same name.
WarpCost warpCost(const llvm::Function &Kernel, const RegisterCounter &Count,
                  unsigned Before, unsigned After,
                  llvm::function_ref<void(llvm::Function &Copy)> Change);

/// The same of \p Kernel and of \p Changed, the same kernel of another source, both
/// in blocks as large as those of \p Changed.
WarpCost warpCost(const llvm::Function &Kernel, const llvm::Function &Changed,
                  const RegisterCounter &Count);

/// "registers=<n>": the most that a thread may use for as many warps of blocks
/// of \p After threads on a multiprocessor as the kernel \p K has, whose blocks
/// have \p Before; empty if its registers are not known. A remedy that keeps
/// more alive is worth a trial with that limit: values that wait in local memory
/// may cost less than warps.
std::string registersAsBefore(const KernelProfile &K, uint64_t Before,
                              uint64_t After);

/// Adds to \p Ways, what is worth a trial, the first with that limit, if there is
/// a first and a limit.
void addLimited(std::vector<std::string> &Ways, const std::string &Limit);

} // namespace reconverge::remedies

#endif
