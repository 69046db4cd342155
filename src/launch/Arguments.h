//===- launch/Arguments.h - What a launch was given -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_LAUNCH_ARGUMENTS_H
#define RECONVERGE_LAUNCH_ARGUMENTS_H

#include "core/Recipe.h"

#include <cstring>

namespace reconverge::launch {

inline uint64_t pointerAt(const RecipePointer &P, void *const *Args) {
  uint64_t Address = 0;
  std::memcpy(&Address, static_cast<const char *>(Args[P.Number]) + P.At,
              sizeof Address);
  return Address;
}

} // namespace reconverge::launch

#endif
