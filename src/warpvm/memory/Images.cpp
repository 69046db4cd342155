//===- warpvm/memory/Images.cpp - Textures and surfaces -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "warpvm/memory/Images.h"

namespace reconverge::warpvm {

Images &Images::instance() {
  static Images &I = *new Images;
  return I;
}

uint64_t Images::add(const ImageObject &New) {
  Objects.push_back(std::make_unique<ImageObject>(New));
  return Objects.size();
}

bool Images::remove(uint64_t Handle) {
  if (!find(Handle))
    return false;
  Objects[Handle - 1].reset();
  return true;
}

} // namespace reconverge::warpvm
