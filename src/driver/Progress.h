//===- driver/Progress.h - What long work is doing --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_PROGRESS_H
#define RECONVERGE_DRIVER_PROGRESS_H

#include "llvm/ADT/Twine.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::driver {

/// Says on a stream what goes on: a line for each stage, and on a terminal one
/// more that changes while a stage lasts.
class Progress {
public:
  Progress(llvm::raw_ostream &OS, bool IsQuiet);
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  void stage(const llvm::Twine &What);
  /// Whether anybody would see update().
  bool isLive() const { return IsLive; }
  void update(const llvm::Twine &What);
  /// Takes the line that changes away: others are about to print.
  void clear();

private:
  llvm::raw_ostream &OS;
  bool IsQuiet, IsLive;
  unsigned Width;
  bool IsShown = false;
};

} // namespace reconverge::driver

#endif
