//===- frontend/InputTee.h - Standard input, for a child and for later -*- C++
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_INPUTTEE_H
#define RECONVERGE_FRONTEND_INPUTTEE_H

#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace reconverge::frontend {

/// Hands our standard input to a child as the child reads it, and keeps a copy
/// of what was handed over.
class InputTee {
public:
  /// \p Copy: the file for it.
  static llvm::Expected<std::unique_ptr<InputTee>>
  start(const std::string &Copy);
  /// Stops reading.
  ~InputTee();

  /// What the child gets for its standard input; the caller's to close when
  /// there is a child.
  int takeChildEnd() { return std::exchange(Child, -1); }

private:
  InputTee() = default;
  void relay();

  int Child = -1;         ///< the child's end
  int Own = -1;           ///< ours
  int Stop[2] = {-1, -1}; ///< a pipe: what is written ends the thread
  int Copy = -1;
  bool IsTerminal = false; ///< both ends are one, as our input is
  std::thread Relay;
};

} // namespace reconverge::frontend

#endif
