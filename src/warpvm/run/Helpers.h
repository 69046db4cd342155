//===- warpvm/run/Helpers.h - CPU threads that help launches ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_HELPERS_H
#define RECONVERGE_WARPVM_RUN_HELPERS_H

#include <condition_variable>
#include <functional>

namespace reconverge::warpvm {

/// Work that several of the process's helper threads may do at once.
class Helped {
public:
  explicit Helped(std::function<void()> Work) : Work(std::move(Work)) {}
  Helped(const Helped &) = delete;
  ~Helped() { dismiss(); }

  /// \p Count more helpers are to do it, each once.
  void call(unsigned Count);
  /// Who has not begun does not, and the others have done it.
  void dismiss();

private:
  friend class HelperPool;
  const std::function<void()> Work;
  bool Called = false; ///< else nobody else knows of this
  unsigned Wanted = 0, Inside = 0;
  std::condition_variable Left;
};

} // namespace reconverge::warpvm

#endif
