//===- warpvm/memory/Images.h - Textures and surfaces -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_MEMORY_IMAGES_H
#define RECONVERGE_WARPVM_MEMORY_IMAGES_H

#include <cstdint>
#include <memory>
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

} // namespace reconverge::warpvm

#endif
