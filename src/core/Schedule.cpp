//===- core/Schedule.cpp - How thread blocks fill a GPU -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/Schedule.h"

#include <cstddef>

namespace reconverge {

const char *wordOf(OccupancyLimit Limit) {
  static constexpr const char *Words[] = {"threads", "thread blocks",
                                          "registers", "shared memory"};
  return Words[size_t(Limit)];
}

} // namespace reconverge
