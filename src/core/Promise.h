//===- core/Promise.h - What a remedy promises ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_PROMISE_H
#define RECONVERGE_CORE_PROMISE_H

namespace reconverge {

/// What is promised of the result of a kernel with a remedy.
enum class Promise {
  Bytes, ///< the original's bytes
  Order, ///< the same, up to the order of atomics
  Bound, ///< that the program's outputs stay within bounds, if those are tested
};

} // namespace reconverge

#endif
