//===- model/Groupings.h - Threads put together by what they do -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_GROUPINGS_H
#define RECONVERGE_MODEL_GROUPINGS_H

#include "core/Vectors.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace reconverge::model {

// The three regrouping algorithms of Liang et al., each as an order of the
// threads of \p V (ThreadOrder, BlockVectorTime.h) of which every \p GroupSize in
// a row are a group; the last one may be smaller. \p Latency is lat(b). Of
// equals the first comes first: the same input gives the same order.

/// What threads with vectors \p A and \p B gain by sharing a warp (equation 10).
double gainTogether(llvm::ArrayRef<uint32_t> A, llvm::ArrayRef<uint32_t> B,
                    llvm::ArrayRef<double> Latency);

/// Vectors in lexicographic order, equal ones as they were.
std::vector<uint32_t> sorted(const ThreadVectors &V);

/// Groups that gain most are merged first; they come in the order of their first
/// threads. Takes time in the square of the classes, and more if groups are much
/// alike: half a minute for as many as a profile can hold.
std::vector<uint32_t> greedy(const ThreadVectors &V,
                             llvm::ArrayRef<double> Latency,
                             unsigned GroupSize);

/// Each group begins with the thread that takes longest of those left, and takes
/// in those that gain most.
std::vector<uint32_t> greedyMax(const ThreadVectors &V,
                                llvm::ArrayRef<double> Latency,
                                unsigned GroupSize);

} // namespace reconverge::model

#endif
