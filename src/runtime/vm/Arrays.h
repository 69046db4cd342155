//===- runtime/vm/Arrays.h - CUDA arrays ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_ARRAYS_H
#define RECONVERGE_RUNTIME_VM_ARRAYS_H

#include "warpvm/memory/Images.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace reconverge::runtime {

/// What cudaArray_t points to: elements, row by row and plane by plane, with
/// nothing between them.
struct Array {
  cudaChannelFormatDesc Format;
  cudaExtent Extent; ///< as asked for: 0 where it has no such dimension
  unsigned Flags;
  uint8_t *Data;
  size_t ElementBytes;

  size_t rows() const { return std::max<size_t>(Extent.height, 1); }
  size_t planes() const {
    return std::max<size_t>(Extent.depth, 1);
  } ///< layers
  size_t pitch() const { return Extent.width * ElementBytes; } ///< bytes
  size_t planePitch() const { return pitch() * rows(); }
};

/// Null if \p Handle is no array that there is. Under deviceLock().
Array *arrayOf(cudaArray_const_t Handle);

/// Sets what \p Out has of the elements; false if there are no such.
bool readFormat(const cudaChannelFormatDesc &Format, warpvm::ImageObject &Out);

} // namespace reconverge::runtime

#endif
