//===- warpvm/Library.h - What compiled code calls --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_LIBRARY_H
#define RECONVERGE_WARPVM_LIBRARY_H

#include "warpvm/Layout.h"
#include "warpvm/Machine.h"

#include <csetjmp>
#include <string>

namespace reconverge::warpvm {

/// A CPU thread's guard around compiled code: a fault, the kernel's own or a
/// signal, records itself here and jumps to Landing. Compiled frames hold
/// nothing that needs destruction.
struct FaultGuard {
  sigjmp_buf Landing;
  FaultKind Kind = FaultKind::Trap;
  std::string Text;     ///< what happened, without the place
  uint64_t Address = 0; ///< of an illegal access
  bool HasAddress = false;
  WarpContext *Context = nullptr; ///< warp that a library call named
};

/// Operations of redux.sync.
enum class Reduction : uint32_t { Add, And, Or, Xor, UMin, UMax, Min, Max };

/// The guard of the calling thread while it runs compiled code, or null.
FaultGuard *&currentGuard();

/// Records the fault and leaves compiled code.
[[noreturn]] void raiseFault(FaultKind Kind, std::string Text,
                             WarpContext *Context = nullptr);

/// Formats as CUDA's device printf does: \p Args points to the packed
/// arguments, each at its natural alignment.
std::string formatDevice(const char *Format, const uint8_t *Args);

/// Takes what \p Context's block prints.
void printFromBlock(WarpContext *Context, const std::string &Text);

} // namespace reconverge::warpvm

#endif
