//===- runtime/trial/Log.h - The log of trials ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_TRIAL_LOG_H
#define RECONVERGE_RUNTIME_TRIAL_LOG_H

#include "core/Trials.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>

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

/// A candidate of one kernel. A backend adds the code.
struct TriedCandidate {
  Candidate What;
  bool StruckOff = false; ///< it has ended, and how was logged
  /// A launch so long that one was enough to tell that it loses those like it.
  std::optional<LaunchShape> LostIn = std::nullopt;
};

/// What is logged of one launch.
class LaunchLog {
public:
  LaunchLog(TrialLog &To, TrialEvent Common)
      : Common(std::move(Common)), To(To) {}

  TrialEvent Common; ///< what all events of the launch have in common

  /// An event of the launch, not logged yet.
  TrialEvent event(TrialEvent::Kind What, const Candidate &Tried,
                   const llvm::Twine &Why = "") const;
  void add(const TrialEvent &E) { To.add(E); }
  void add(TrialEvent::Kind What, const Candidate &Tried,
           const llvm::Twine &Why = "") {
    To.add(event(What, Tried, Why));
  }
  /// Logs the last event of \p C.
  void strikeOff(TrialEvent::Kind What, TriedCandidate &C,
                 const llvm::Twine &Why);

private:
  TrialLog &To;
};

} // namespace reconverge::runtime

#endif
