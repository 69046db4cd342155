//===- model/ClassRanks.h - A grouping as a table of ranks ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_CLASSRANKS_H
#define RECONVERGE_MODEL_CLASSRANKS_H

#include "model/BlockVectorTime.h"

namespace reconverge::model {

/// The rank of each class of a sample, parallel to ThreadVectors::Classes: 0 and
/// on, each once. A launch that sorts its threads by the ranks of their classes
/// has them grouped nearly as the sample was.
using ClassRanks = std::vector<uint32_t>;

/// From the threads of \p Sample in the order of an algorithm of Groupings.h,
/// every \p GroupSize in a row a group. Takes O(threads log threads).
ClassRanks classRanks(const ThreadVectors &Sample, ThreadOrder Grouped,
                      unsigned GroupSize);

/// The class of \p Sample, which has some, that gains most with \p Vector
/// (Groupings.cpp; Latency is lat(b)): that of equal threads if there are any. Of
/// equals the first.
uint32_t nearestClass(const ThreadVectors &Sample,
                      llvm::ArrayRef<uint32_t> Vector,
                      llvm::ArrayRef<double> Latency);

/// The threads of \p V by the rank of their class, of which \p RankOf has one
/// below \p Ranks for each of V's; of equals the first comes first (ThreadOrder).
std::vector<uint32_t> orderByRank(const ThreadVectors &V,
                                  llvm::ArrayRef<uint32_t> RankOf,
                                  size_t Ranks);

} // namespace reconverge::model

#endif
