//===- analysis/Tiles.h - Matrices over the lanes of a warp -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_TILES_H
#define RECONVERGE_ANALYSIS_TILES_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace reconverge::analysis {

/// What a matrix's elements are.
enum class TileElement : uint8_t {
  F16,
  BF16,
  TF32, ///< in 32 bits, of which the lowest 13 are not looked at
  F32,
  F64,
  S8,
  U8,
  S4,
  U4,
  E4M3,
  E5M2,
  S32
};

enum class TileMatrix : uint8_t { A, B, C, D };

/// D = A * B + C of mma and wmma: A has M rows and K columns, B has K rows and
/// N columns, C and D have M rows and N columns.
struct TileForm {
  uint8_t M = 0, N = 0, K = 0;
  TileElement A = TileElement::F16, B = A, C = TileElement::F32, D = C;
  bool Saturate = false; ///< of integers: clamps where others wrap
  bool Wmma = false;

  TileElement element(TileMatrix X) const {
    return X == TileMatrix::A   ? A
           : X == TileMatrix::B ? B
           : X == TileMatrix::C ? C
                                : D;
  }
};

/// Where an element of a register is in its matrix, over the lanes: they come
/// in eight groups of four, and lane 4g + t has row Row + g and column
/// Column + Step t, or, if not RowByGroup, row Row + Step t and column
/// Column + g.
struct TilePlace {
  unsigned Row, Column, Step;
  bool RowByGroup;
};

unsigned bitsOf(TileElement E);

/// Reads the form from the name of an intrinsic (llvm.nvvm.mma.*,
/// llvm.nvvm.wmma.*.mma.*) or of a function of ours (analysis/PtxFunctions.h);
/// nothing if it is none that we take.
std::optional<TileForm> parseTileForm(llvm::StringRef Name);

/// \p Name is an intrinsic on fragments, which all lanes of a warp must reach
/// together, though LLVM 19 does not call it convergent.
bool isTileIntrinsic(llvm::StringRef Name);

/// Reads "m16n16k16" and "f16" and their like.
bool parseTileShape(llvm::StringRef Text, TileForm &Form);
std::optional<TileElement> parseTileElement(llvm::StringRef Text);

/// Registers that a lane has for the matrix: of 32 bits, of 64 for F64.
unsigned registersOf(const TileForm &Form, TileMatrix Which);
/// Elements in one of them.
unsigned elementsOf(const TileForm &Form, TileMatrix Which);
TilePlace placeOf(const TileForm &Form, TileMatrix Which, unsigned Register,
                  unsigned Element);

} // namespace reconverge::analysis

#endif
