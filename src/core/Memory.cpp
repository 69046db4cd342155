//===- core/Memory.cpp - Accesses to memory, and what they came to --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/Memory.h"

namespace reconverge {

const char *wordOf(MemorySpace Space) {
  static constexpr const char *Words[] = {"global", "shared", "local",
                                          "generic"};
  return Words[size_t(Space)];
}

const char *wordOf(MemoryUse Use) {
  static constexpr const char *Words[] = {"load", "store", "atomic"};
  return Words[size_t(Use)];
}

} // namespace reconverge
