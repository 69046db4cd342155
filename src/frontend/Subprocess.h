//===- frontend/Subprocess.h - Run a program and wait -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_SUBPROCESS_H
#define RECONVERGE_FRONTEND_SUBPROCESS_H

#include "frontend/PrivateView.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <string>
#include <vector>

namespace reconverge::frontend {

struct Command {
  std::vector<std::string> Arguments;   ///< the first is the executable's path
  std::vector<std::string> Environment; ///< "NAME=value", over our own
  /// Files in place of our own standard streams; empty: ours.
  std::string Input = {}, Output = {}, Errors = {};
  /// A descriptor of ours in place of standard input, closed afterwards; -1:
  /// none.
  int InputEnd = -1;
  std::string Folder = {};           ///< to run in; empty: ours
  const PrivateView *View = nullptr; ///< of files; null: ours. Over Folder
  double TimeLimit = 0;              ///< seconds until it is killed; 0: none
  /// Seconds of its run so far that are not its own; null: none.
  std::function<double()> Waited = nullptr;
  /// Called now and then while it runs; null: never.
  std::function<void()> Meanwhile = nullptr;
  /// A signal that would end us kills it, whatever it does about signals, and
  /// all that it has started. A time limit that is over kills that as well, if
  /// Output is a file.
  bool IsExpendable = false;
};

struct ProcessResult {
  int Exit = 0;          ///< what it returned
  int WhenWell = 0;      ///< what it returns when all is well
  int Signal = 0;        ///< what killed it; 0 if it returned
  bool TimedOut = false; ///< we did, with SIGKILL
  double Seconds = 0;    ///< from its start to its end, but for what it waited
  bool ok() const { return Exit == WhenWell && !Signal; }
  /// As a shell reports it: the exit code, or 128 + the signal.
  int status() const { return Signal ? 128 + Signal : Exit; }
};

/// Runs \p C and waits. While it runs, SIGINT, SIGQUIT, SIGTERM and SIGHUP only
/// end the child, to which they are passed on unless it has them from the
/// terminal; so that the caller can clean up afterwards. The error is that of a
/// program that cannot be started. Several threads may call it at once; of their
/// children a signal is passed on to the one that was started last.
llvm::Expected<ProcessResult> runProcess(const Command &C);

/// The last of these signals that came while a child ran; 0: none has. Who goes
/// on to do something else after a child looks here.
int interruption();

} // namespace reconverge::frontend

#endif
