//===- warpvm/emit/Stride.h - How an address steps along a row --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_STRIDE_H
#define RECONVERGE_WARPVM_EMIT_STRIDE_H

#include "analysis/Uniformity.h"

#include <optional>

namespace reconverge::warpvm {

/// By how much \p V (an integer, or a pointer in bytes) grows from a thread to
/// its neighbour along threadIdx.x, the other indices held; nothing if that is
/// not a known constant. A hint: what relies on it tests at run time.
std::optional<int64_t> strideAlongRow(const llvm::Value &V,
                                      const analysis::UniformityResult &Uniform,
                                      unsigned Depth = 0);

} // namespace reconverge::warpvm

#endif
