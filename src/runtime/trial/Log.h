//===- runtime/trial/Log.h - The log of trials ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_TRIAL_LOG_H
#define RECONVERGE_RUNTIME_TRIAL_LOG_H

#include "core/Trials.h"

#include "llvm/Support/raw_ostream.h"

#include <memory>

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

} // namespace reconverge::runtime

#endif
