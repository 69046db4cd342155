//===- warpvm/run/Textures.h - Fetches, surfaces ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_TEXTURES_H
#define RECONVERGE_WARPVM_RUN_TEXTURES_H

#include "llvm/ADT/ArrayRef.h"

#include <utility>

namespace reconverge::warpvm {

/// Name and address of what compiled code calls for images, an ImageOperation
/// at a time.
llvm::ArrayRef<std::pair<const char *, void *>> imageSymbols();

} // namespace reconverge::warpvm

#endif
