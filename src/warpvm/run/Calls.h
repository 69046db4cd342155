//===- warpvm/run/Calls.h - Addresses and stack of functions ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_CALLS_H
#define RECONVERGE_WARPVM_RUN_CALLS_H

#include "warpvm/Layout.h"

#include <cstddef>
#include <cstdint>

namespace reconverge::warpvm {

/// Bytes between the addresses of two functions of a program. Even, because a
/// member pointer keeps a bit in the lowest.
inline constexpr uint64_t FunctionStep = 16;

/// Addresses for the functions of a program, where nothing else can be and
/// nothing can be read.
class FunctionAddresses {
public:
  explicit FunctionAddresses(size_t Count); ///< throws std::bad_alloc
  ~FunctionAddresses();
  FunctionAddresses(const FunctionAddresses &) = delete;
  FunctionAddresses &operator=(const FunctionAddresses &) = delete;

  void *operator[](size_t Index) const { return Base + FunctionStep * Index; }

private:
  uint8_t *Base = nullptr;
  size_t Bytes;
};

/// The fault of \p Lanes at \p Site, whose \p Pointers lead to none of the
/// functions that a call may lead to (analysis::NoFunction).
[[noreturn]] void noFunction(WarpContext *Context, Mask Lanes,
                             const uint64_t *Pointers, const FaultSite *Site);

} // namespace reconverge::warpvm

#endif
