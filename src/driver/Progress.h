//===- driver/Progress.h - What long work is doing --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_PROGRESS_H
#define RECONVERGE_DRIVER_PROGRESS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

#include <chrono>
#include <cstddef>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::driver {

struct BuildRequest;
struct RunRequest;

/// How far work has come that has an end.
struct WorkDone {
  size_t Done = 0, Of = 0;
  std::string Now; ///< what is being done
};

/// Says on a stream what goes on. A terminal has a line for each step and,
/// while work lasts whose end is known, a bar; a log has the stages of long
/// work, and a line more of one that lasts: after 10 s, 20 s, 40 s and so on.
class Progress {
public:
  using Clock = std::chrono::steady_clock;

  /// \p First: when a log has the first line more.
  Progress(llvm::raw_ostream &OS, const RunRequest &Request,
           Clock::duration First = std::chrono::seconds(10));
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// A part of long work begins.
  void stage(const llvm::Twine &What);
  /// A step of work that is mostly short: a log has it with -v alone.
  void step(const llvm::Twine &What);
  /// The last stage or step goes on. Call it often.
  void goesOn();
  /// The same, of work whose end is known; \p Get is called when it is shown.
  void update(llvm::function_ref<WorkDone()> Get);
  /// Has a build by \p Request, if it is of several sources, say which one it
  /// is at. It must not outlive this.
  void follow(BuildRequest &Request);
  /// Takes the bar away: others are about to print.
  void clear();

private:
  void begin(const llvm::Twine &What, bool IsShown);
  bool isDue();
  std::string elapsed() const;

  llvm::raw_ostream &OS;
  const bool IsQuiet, IsLive, IsVerbose;
  const unsigned Width;
  const Clock::duration First;
  std::string Stage, Last;
  std::string Shown; ///< the bar on the terminal; empty: none
  Clock::time_point Began;
  Clock::duration Due;
};

/// The line of a bar of at most \p Width columns, such as
/// "[#####     ] 5/10 kernel k: meld".
std::string barOf(const WorkDone &Work, unsigned Width);

} // namespace reconverge::driver

#endif
