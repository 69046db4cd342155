//===- model/ThreadRows.h - Threads, a row each -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of core/ThreadRows.h, made of block vectors, and how good an order by
// them is.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_MODEL_THREADROWS_H
#define RECONVERGE_MODEL_THREADROWS_H

#include "core/Forecast.h"
#include "core/Profile.h"
#include "core/ThreadRows.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace reconverge::model {

/// Of the threads of \p V, which has the classes of K.Vectors.
ThreadRows threadRows(const KernelProfile &K, const ThreadVectors &V);

/// The same, with what tells which kernel it is.
KernelRows kernelRows(const KernelProfile &K, const ThreadVectors &V);

/// \p V with every other thread block, from number \p First on.
ThreadVectors everyOtherBlock(const ThreadVectors &V, size_t First);

/// Classes of threads that take about as long, by Took: the range from the least
/// to the most in at most \p Most steps of one ratio, those that have no thread
/// left out; where no more than \p Most values occur, each is one. The longest
/// are 0.
std::vector<uint32_t> timeClasses(llvm::ArrayRef<double> Took, unsigned Most);
inline constexpr unsigned MostTimeClasses = 32;

/// How good it is to estimate \p Estimated cycles for the threads \p R of \p V,
/// and to have them come in falling order of that, of equals the first first.
/// Nothing estimated: they come as they are.
OrderQuality qualityOf(const KernelProfile &K, const ThreadVectors &V,
                       const ThreadRows &R, llvm::ArrayRef<double> Estimated);

} // namespace reconverge::model

#endif
