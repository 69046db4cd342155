//===- runtime/vm/Herd.h - Policies that herd -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_HERD_H
#define RECONVERGE_RUNTIME_VM_HERD_H

#include "warpvm/Machine.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace reconverge::runtime {

/// What the policies herd-branch, herd-data and herd-both herd.
struct HerdSettings {
  bool Branches = false, Loads = false;
  unsigned Threshold = 16, BlockBytes = 128; ///< as in warpvm::Herding
  /// By number: these alone.
  std::optional<std::vector<uint32_t>> NamedBranches, NamedLoads;
  /// What is named is safe, and branches both ways, whatever the analysis says.
  bool Trust = false;
  /// A line for each kernel that was launched: what is herded in it.
  std::shared_ptr<std::vector<std::string>> Done =
      std::make_shared<std::vector<std::string>>();

  bool any() const { return Branches || Loads; }
};

/// For warpvm::MachineOptions; null if nothing is herded.
std::function<warpvm::Herding(const llvm::Function &)>
herdingOf(const HerdSettings &Settings);

} // namespace reconverge::runtime

#endif
