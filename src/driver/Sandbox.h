//===- driver/Sandbox.h - Runs that leave no trace --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_SANDBOX_H
#define RECONVERGE_DRIVER_SANDBOX_H

#include "frontend/PrivateView.h"
#include "frontend/Subprocess.h"
#include "frontend/TempDir.h"

#include <string>

namespace reconverge::driver {

/// How a program that has run once runs again: from the working folder as it
/// was, and with what it writes there lost.
class Sandbox {
public:
  /// To be made before the first run. \p Temp: for copies; what programs write
  /// there arrives. \p Wanted: else all runs are on the folder itself.
  /// \p Read: outputs are to be read after a run, which a view does not let.
  Sandbox(const frontend::TempDir &Temp, bool Wanted, bool Read = false);

  /// Whether a run can leave outputs without changing the folder, if that is
  /// wanted.
  llvm::Error checkRead() const;
  /// Where the file that a run calls \p Name lies after it.
  std::string fileOf(llvm::StringRef Name) const;

  /// Has later runs find \p File, which we have written, as it is there.
  llvm::Error add(llvm::StringRef File) const;

  /// What a user has to know before the program runs again: a sentence.
  std::string words() const;

  /// Has \p C run in it.
  llvm::Error arrange(frontend::Command &C) const;

private:
  enum class Mode {
    InPlace, ///< on the folder itself
    Copied,  ///< in a copy of it
    Viewed   ///< in a view of it (frontend/PrivateView.h)
  };
  Mode Runs = Mode::InPlace;
  bool IsWanted;
  bool IsAsBefore = false; ///< from a copy that was made before the first run
  std::string Why;         ///< if there is no view
  std::string Copy;        ///< where copies go
  frontend::PrivateView View;
};

} // namespace reconverge::driver

#endif
