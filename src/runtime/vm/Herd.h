//===- runtime/vm/Herd.h - Policies that herd -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_HERD_H
#define RECONVERGE_RUNTIME_VM_HERD_H

#include "warpvm/Machine.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace reconverge::runtime {

/// What the policies herd-branch, herd-data and herd-both herd.
struct HerdSettings {
  bool Branches = false, Loads = false;
  unsigned Threshold = 16, BlockBytes = 128; ///< as in warpvm::Herding
  /// By number, in place of what the analysis calls safe.
  std::optional<std::vector<uint32_t>> NamedBranches, NamedLoads;

  bool any() const { return Branches || Loads; }
};

/// For warpvm::MachineOptions; null if nothing is herded.
std::function<warpvm::Herding(const llvm::Function &)>
herdingOf(const HerdSettings &Settings);

} // namespace reconverge::runtime

#endif
