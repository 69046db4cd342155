//===- runtime/gpu/StackLimit.h - Room for longer frames --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_STACKLIMIT_H
#define RECONVERGE_RUNTIME_GPU_STACKLIMIT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Function.h"

#include <cstddef>
#include <cstdint>

namespace reconverge::gpu {

/// Bytes, at most, by which probes lengthen the frame of a function among \p
/// Functions, a kernel and what it calls. 0 if the compiler knows how deep the
/// calls go: then a launch gets what they need without a limit's help.
uint64_t addedToFrames(llvm::ArrayRef<const llvm::Function *> Functions);

/// The limit, in bytes a thread, under which as many frames fit that are \p
/// Added bytes longer as fit under \p Limit.
uint64_t limitFor(uint64_t Limit, uint64_t Added);

/// While one lives, the calling thread's device has a stack for frames that are
/// \p Added bytes longer, or as near to that as its memory allows. The launches
/// that are to have it must have ended before this does.
class RaisedStack {
public:
  explicit RaisedStack(uint64_t Added);
  ~RaisedStack();
  RaisedStack(const RaisedStack &) = delete;
  RaisedStack &operator=(const RaisedStack &) = delete;

  /// The highest limit that any has set, in bytes a thread.
  static uint64_t highest();

private:
  size_t Before = 0; ///< what to go back to; 0: nothing was changed
};

} // namespace reconverge::gpu

#endif
