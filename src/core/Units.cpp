//===- core/Units.cpp - What a kernel's time can be bound by --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/Units.h"

namespace reconverge {

const char *wordOf(Unit U) {
  static constexpr const char *Words[NumUnits] = {
      "issue",   "alu", "fma", "fp64", "xu",      "lsu",  "tex",
      "control", "l1",  "l2",  "dram", "atomics", "start"};
  return Words[size_t(U)];
}

} // namespace reconverge
