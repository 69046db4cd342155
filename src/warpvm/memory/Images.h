//===- warpvm/memory/Images.h - Textures and surfaces -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_MEMORY_IMAGES_H
#define RECONVERGE_WARPVM_MEMORY_IMAGES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace reconverge::warpvm {

/// What a texture or surface object stands for.
struct ImageObject {
  enum ElementKind : uint8_t { Unsigned, Signed, Float };
  enum AddressMode : uint8_t { Wrap, Clamp, Mirror, Border }; ///< CUDA's order

  uint8_t *Base = nullptr;
  uint64_t Pitch = 0, PlanePitch = 0; ///< bytes; a layer is a plane
  uint64_t Extent[3] = {1, 1, 1};     ///< elements, rows, planes
  uint64_t Layers = 1;
  ElementKind Kind = Unsigned;
  uint8_t Bits = 8, Count = 1; ///< of a component; components of an element
  bool Surface = false;        ///< for loads and stores, not for fetches

  // Of textures.
  AddressMode Mode[3] = {Clamp, Clamp, Clamp};
  bool Linear = false;     ///< elements around a place are blended
  bool Normalized = false; ///< coordinates go from 0 to 1
  bool AsFloat = false;    ///< integers are read as numbers up to 1
  float BorderColor[4] = {};
};

/// The objects of the process. Not to be changed while a kernel runs.
class Images {
public:
  static Images &instance();

  /// The object's handle: small, not 0, and never given again.
  uint64_t add(const ImageObject &New);
  bool remove(uint64_t Handle); ///< false if there is none
  /// Null if there is none.
  const ImageObject *find(uint64_t Handle) const {
    return Handle - 1 < Objects.size() ? Objects[Handle - 1].get() : nullptr;
  }

private:
  std::vector<std::unique_ptr<ImageObject>> Objects; ///< null: removed
};

/// What an intrinsic does with an object, in 64 bits: compiled code passes it.
struct ImageOperation {
  enum OperationKind : uint8_t { Fetch, Gather, Load, Store };
  enum BoundaryMode : uint8_t { Trap, ToEdge, Zero };

  OperationKind Kind;
  uint8_t Coordinates; ///< 1 to 3, a layer aside
  uint8_t Layered;     ///< a layer comes before them
  uint8_t Integers;    ///< fetches: coordinates are integers
  uint8_t Which;       ///< Gather: the component; Load, Store: BoundaryMode
  uint8_t Bytes;       ///< of a value
  uint8_t Count;       ///< values
  uint8_t WarpSize;
};

/// What \p Intrinsic ("llvm.nvvm.tex.unified.2d.v4f32.f32") does; none if it is
/// no such intrinsic, or one that is not supported.
std::optional<ImageOperation> imageOperation(llvm::StringRef Intrinsic);

/// The functions that compiled code calls.
llvm::ArrayRef<std::pair<const char *, void *>> imageSymbols();

} // namespace reconverge::warpvm

#endif
