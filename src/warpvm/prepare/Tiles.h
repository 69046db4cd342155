//===- warpvm/prepare/Tiles.h - Matrices over lanes -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_PREPARE_TILES_H
#define RECONVERGE_WARPVM_PREPARE_TILES_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace llvm {
class Function;
}

namespace reconverge::warpvm {

/// Rewrites instructions on fragments of matrices (wmma, ldmatrix, stmatrix,
/// movmatrix) as loads, stores and shuffles of lanes that have met, and their
/// products as calls that tileProduct() knows.
void lowerTiles(llvm::Function &F);

/// The form, as rcvm_tile_product wants it, of a call that lowerTiles made.
std::optional<uint64_t> tileProduct(llvm::StringRef Name);

} // namespace reconverge::warpvm

#endif
