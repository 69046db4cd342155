//===- runtime/trial/Stopwatch.h - Seconds that have passed -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_TRIAL_STOPWATCH_H
#define RECONVERGE_RUNTIME_TRIAL_STOPWATCH_H

#include <chrono>

namespace reconverge::runtime {

/// Runs from its construction.
class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - Begin).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point Begin = Clock::now();
};

} // namespace reconverge::runtime

#endif
