//===- warpvm/run/TileProduct.h - Tensor cores' work ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_TILEPRODUCT_H
#define RECONVERGE_WARPVM_RUN_TILEPRODUCT_H

#include "llvm/ADT/ArrayRef.h"

#include <utility>

namespace reconverge::warpvm {

/// Name and address of what compiled code calls for products:
///   void rcvm_tile_product(u64 form, u32 width, void *d, const void *abc)
/// D = A B + C for each 32 lanes of a warp of `width`. Registers lie one behind
/// the other, each an array over the lanes.
llvm::ArrayRef<std::pair<const char *, void *>> tileSymbols();

} // namespace reconverge::warpvm

#endif
