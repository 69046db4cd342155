//===- remedies/herd/Loads.h - What herding loads may come to ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_HERD_LOADS_H
#define RECONVERGE_REMEDIES_HERD_LOADS_H

#include "analysis/Costs.h"
#include "core/Profile.h"

#include <optional>
#include <string>

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies {

/// Loads of a kernel by warp_herd_load, by the model of time.
struct HerdedLoads {
  unsigned Loads = 0;       ///< that gain most together, or lose least
  double Now = 0, Then = 0; ///< sectors of a request of theirs
  double Speedup = 1;       ///< of the kernel, x
  bool MayGain() const { return Speedup > 1; }
};

/// Of loads of \p Kernel, which \p Seen is of, that may be herded and ask for
/// more memory than their warps' blocks have. Nothing: there are none, or it is
/// not known.
std::optional<HerdedLoads> herdedLoads(const llvm::Function &Kernel,
                                       const KernelProfile &Seen,
                                       const analysis::MachineLimits &Limits);

/// The same as a sentence of \p Kernel.
std::string textOf(const HerdedLoads &Loads, const std::string &Kernel);

} // namespace reconverge::remedies

#endif
