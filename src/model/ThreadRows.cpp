//===- model/ThreadRows.cpp - Threads, a row each -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a thread took is the sum of its block vector, weighted by latencies (Lat of
// Liang et al.). Classes of time are steps of one ratio, as a warp takes what its
// longest thread takes: a tenth more is as bad for short threads as for long ones.

#include "model/ThreadRows.h"

#include "model/BlockVectorTime.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace llvm;

namespace reconverge::model {

/// Lat of each class.
static std::vector<double> timesOf(const KernelProfile &K) {
  std::vector<double> Times;
  for (const std::vector<uint32_t> &Counts : K.Vectors.Classes) {
    double Sum = 0;
    for (auto [Block, Count] : zip_equal(K.Info.Blocks, Counts))
      Sum += Block.Latency * Count;
    Times.push_back(Sum);
  }
  return Times;
}

ThreadRows threadRows(const KernelProfile &K, const ThreadVectors &V) {
  const std::vector<double> Times = timesOf(K);
  ThreadRows R;
  R.Loads = V.Loads.size();
  for (const ThreadVectors::ThreadBlock &B : V.Blocks) {
    append_range(R.Read, B.Features);
    for (auto [T, Class] : enumerate(B.ClassOf)) {
      R.Number.push_back(B.Number * B.ClassOf.size() + T);
      R.Took.push_back(Times[Class]);
    }
  }
  return R;
}

KernelRows kernelRows(const KernelProfile &K, const ThreadVectors &V) {
  KernelRows All;
  All.Kernel = K.Info.Name;
  All.Module = K.Info.Module;
  All.Loads = V.Loads;
  for (uint32_t Load : All.Loads)
    All.Places.push_back(placeOfFeature(K.Info, Load));
  All.OfBlock = std::max<uint64_t>(V.Shape.blockThreads(), 1);
  All.Rows = threadRows(K, V);
  return All;
}

ThreadVectors everyOtherBlock(const ThreadVectors &V, size_t First) {
  ThreadVectors Half = V;
  Half.Blocks.clear();
  for (size_t B = First; B < V.Blocks.size(); B += 2)
    Half.Blocks.push_back(V.Blocks[B]);
  return Half;
}

std::vector<uint32_t> timeClasses(ArrayRef<double> Took, unsigned Most) {
  std::vector<double> Values(Took.begin(), Took.end());
  llvm::sort(Values, std::greater<>());
  Values.erase(llvm::unique(Values), Values.end());
  // Of each value the step from the most that it is in.
  const auto StepOf = [&](double Value) {
    if (Values.size() <= Most)
      return double(llvm::lower_bound(Values, Value, std::greater<>()) -
                    Values.begin());
    // What takes nothing is told from what takes a cycle, no closer.
    const double Range =
        std::log(std::max(Values.front(), 1.0) / std::max(Values.back(), 1.0));
    const double Below =
        std::log(std::max(Values.front(), 1.0) / std::max(Value, 1.0));
    return std::min(std::floor(Range > 0 ? Below / Range * Most : 0),
                    double(Most - 1));
  };
  std::vector<uint32_t> NumberOf(std::max<size_t>(Most, Values.size()), ~0u);
  uint32_t Classes = 0;
  for (double Value : Values)
    if (uint32_t &Number = NumberOf[size_t(StepOf(Value))]; Number == ~0u)
      Number = Classes++;
  std::vector<uint32_t> ClassOf;
  for (double Value : Took)
    ClassOf.push_back(NumberOf[size_t(StepOf(Value))]);
  return ClassOf;
}

/// Threads in falling order of \p Of; of equals the first first.
static std::vector<uint32_t> longestFirst(ArrayRef<double> Of) {
  std::vector<uint32_t> Order(Of.size());
  std::iota(Order.begin(), Order.end(), 0);
  llvm::sort(Order, [&](uint32_t A, uint32_t B) {
    return std::pair(-Of[A], A) < std::pair(-Of[B], B);
  });
  return Order;
}

/// Threads in warps' most frequent class, of all: warps of places one after the
/// other.
static double purityOf(ArrayRef<uint32_t> ClassOf, ArrayRef<uint32_t> Order,
                       unsigned WarpSize) {
  size_t Alike = 0;
  for (size_t First = 0; First < Order.size(); First += WarpSize) {
    SmallVector<unsigned, MostTimeClasses> Of(MostTimeClasses, 0);
    for (uint32_t Thread :
         Order.slice(First, std::min<size_t>(WarpSize, Order.size() - First)))
      ++Of[ClassOf[Thread]];
    Alike += *llvm::max_element(Of);
  }
  return Order.empty() ? 0 : double(Alike) / double(Order.size());
}

static double meanOf(ArrayRef<double> X) {
  return std::accumulate(X.begin(), X.end(), 0.0) / double(X.size());
}

/// Part of the variance of \p Took that \p Estimated explains.
static double explained(ArrayRef<double> Took, ArrayRef<double> Estimated) {
  const double Mean = meanOf(Took);
  double Varies = 0, Left = 0;
  for (auto [Value, By] : zip_equal(Took, Estimated)) {
    Varies += (Value - Mean) * (Value - Mean);
    Left += (Value - By) * (Value - By);
  }
  return Varies > 0 ? 1 - Left / Varies : 0;
}

OrderQuality qualityOf(const KernelProfile &K, const ThreadVectors &V,
                       const ThreadRows &R, ArrayRef<double> Estimated) {
  OrderQuality Q;
  if (R.size() == 0)
    return Q;
  if (!Estimated.empty())
    Q.R2 = explained(R.Took, Estimated);
  // As they are, all are equal.
  const std::vector<double> Same(Estimated.empty() ? R.size() : 0);
  const std::vector<uint32_t> Order =
      longestFirst(Estimated.empty() ? ArrayRef(Same) : Estimated);
  Q.Purity = purityOf(timeClasses(R.Took, MostTimeClasses), Order, K.WarpSize);
  std::vector<double> Latency;
  for (const BlockInfo &B : K.Info.Blocks)
    Latency.push_back(B.Latency);
  const auto TimeIn = [&](ThreadOrder Order) {
    const auto Times = threadBlockTimes(V, Latency, K.WarpSize, Order);
    return std::accumulate(Times.begin(), Times.end(), 0.0);
  };
  if (const double Before = TimeIn({}); Before > 0)
    Q.Gain = 1 - TimeIn(Order) / Before;
  return Q;
}

} // namespace reconverge::model
