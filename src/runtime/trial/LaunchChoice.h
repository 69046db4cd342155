//===- runtime/trial/LaunchChoice.h - Which launches are tried --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_TRIAL_LAUNCHCHOICE_H
#define RECONVERGE_RUNTIME_TRIAL_LAUNCHCHOICE_H

#include "core/LaunchShape.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Function.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reconverge::runtime {

/// The launches of one kernel, and which of them are tried.
class LaunchChoice {
public:
  /// \p Expected launches in all, as far as is known; 0: it is not.
  explicit LaunchChoice(uint64_t Expected = 0) : Expected(Expected) {}

  /// Notes a launch; whether it is to be tried, one of at most \p Most: from
  /// the first to the last of those expected, evenly, and new shapes early.
  bool wants(const LaunchShape &Shape, uint64_t Most);

  uint64_t launches() const { return Launches; } ///< noted

private:
  uint64_t Expected, Launches = 0, Tried = 0;
  std::vector<LaunchShape> Shapes; ///< tried
};

/// Why launches of \p Kernel cannot be run again, for what it or what it can
/// call does; empty if they can.
std::string hindrance(const llvm::Function &Kernel);

/// Whether the code of \p Kernel, or of what it can call, prints anywhere. Most
/// launches of such kernels print nothing: it is there to tell of an error.
bool mayPrint(const llvm::Function &Kernel);

/// Why launches whose blocks may wait for one another are not tried.
inline constexpr llvm::StringLiteral CooperativeHindrance =
    "the launch is a cooperative one";

} // namespace reconverge::runtime

#endif
