//===- runtime/trial/Session.h - What is tried, and the log -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of trials that does not hang on where kernels run. How a launch is
// run again and memory compared is the backend's: runtime/vm, runtime/gpu.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_RUNTIME_TRIAL_SESSION_H
#define RECONVERGE_RUNTIME_TRIAL_SESSION_H

#include "core/Profile.h"
#include "core/Trials.h"
#include "remedies/Table.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace reconverge::runtime {

/// The log of a plan. A line at a time, out of our hands at once: the process
/// may end in the next moment.
class TrialLog {
public:
  static llvm::Expected<std::unique_ptr<TrialLog>> open(llvm::StringRef Path);
  void add(const TrialEvent &E);

private:
  std::unique_ptr<llvm::raw_fd_ostream> OS;
};

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

/// Why launches whose blocks may wait for one another are not tried.
inline constexpr llvm::StringLiteral CooperativeHindrance =
    "the launch is a cooperative one";

/// Makes a candidate of a kernel; tests bring remedies of their own.
using Remedies = std::function<llvm::Expected<remedies::Applied>(
    const Candidate &, llvm::Function &)>;

/// A kernel's module with one candidate applied.
struct Variant {
  llvm::SmallVector<char, 0> Bitcode;
  std::string Hash; ///< of Bitcode: equal for equal code
};

/// \p What applied to the kernel \p Name of a copy of \p M, in a context of its
/// own: \p M stays as it is. An error says why the kernel was left alone.
llvm::Expected<Variant> makeVariant(const llvm::Module &M, llvm::StringRef Name,
                                    const Candidate &What,
                                    const Remedies &Apply);

} // namespace reconverge::runtime

#endif
