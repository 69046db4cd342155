//===- model/ThreadTree.cpp - What threads take, by a tree ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A regression tree as Breiman et al. grow it (CART). Of a node's threads:
//
//   1. For each feature, by rising values, each place between two values parts
//      them in two. Left are those at most as large as what lies halfway.
//   2. The place is taken that leaves the least squares about the means of both
//      parts; of equals the first, of the first feature.
//   3. It has to leave LeastThreads on either side and take LeastPart of the
//      squares of all threads away. Else, or MostDepth below the root, the node
//      is a leaf, which takes their mean.
//
// The thread's number is the last feature. All comparisons are of floats, as a
// launch makes them; what is no number goes right there and here.
//
// Why of our own: dlib grows forests, whose trees have no bound on depth, and a
// key is a comparison a node; mlpack's single trees bring Armadillo with them.
//
// Paper: L. Breiman, J. Friedman, R. Olshen, C. Stone, "Classification and
// Regression Trees" (1984), chapter 8.
//
//===----------------------------------------------------------------------===//

#include "model/ThreadTree.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>

using namespace llvm;

namespace reconverge::model {

static constexpr size_t LeastThreads = 8;
static constexpr double LeastPart = 1e-4;

static float valueOf(const ThreadRows &R, size_t Row, size_t Feature) {
  return Feature == R.Loads ? float(R.Number[Row]) : R.read(Row)[Feature];
}

/// Sums of what some threads take.
namespace {
struct Squares {
  size_t Count = 0;
  double Sum = 0;
  /// The part of the squares that hangs on the mean: what parting threads in
  /// two adds to it, it takes from those about the means.
  double ofMean() const { return Count ? Sum * Sum / double(Count) : 0; }
};

struct Split {
  size_t Feature = 0;
  float AtMost = 0;
  double Gain = 0; ///< squares
};

class Grower {
public:
  Grower(const ThreadRows &R, ArrayRef<uint32_t> Loads) : R(R), Loads(Loads) {}
  PathTree grow();

private:
  void growAt(MutableArrayRef<uint32_t> Rows, unsigned Depth);
  std::optional<Split> bestSplit(ArrayRef<uint32_t> Rows) const;
  void trySplits(ArrayRef<uint32_t> Rows, size_t Feature, Split &Best) const;

  const ThreadRows &R;
  const ArrayRef<uint32_t> Loads;
  double LeastGain = 0;
  PathTree T;
};
} // namespace

/// \p X with so many digits.
static float rounded(double X, int Digits) {
  SmallString<32> Text;
  raw_svector_ostream(Text) << format("%.*g", Digits, X);
  return std::strtof(Text.c_str(), nullptr);
}

/// A float that is at least \p A and less than \p B: halfway, with as few digits
/// as that allows.
static float between(float A, float B) {
  for (int Digits = 1; Digits <= 9; ++Digits)
    if (const float Half = rounded((double(A) + double(B)) / 2, Digits);
        Half >= A && Half < B)
      return Half;
  return A;
}

void Grower::trySplits(ArrayRef<uint32_t> Rows, size_t Feature,
                       Split &Best) const {
  std::vector<std::pair<float, double>> Sorted; // feature, took
  for (uint32_t Row : Rows)
    Sorted.push_back({valueOf(R, Row, Feature), R.Took[Row]});
  llvm::sort(Sorted, [](const auto &A, const auto &B) {
    const bool ANone = std::isnan(A.first), BNone = std::isnan(B.first);
    return ANone != BNone || ANone
               ? std::pair(ANone, A.second) < std::pair(BNone, B.second)
               : A < B;
  });
  Squares All, Left;
  for (const auto &[Value, Took] : Sorted) {
    ++All.Count;
    All.Sum += Took;
  }
  for (size_t I = 0; I + 1 < Sorted.size(); ++I) {
    const float Here = Sorted[I].first, Next = Sorted[I + 1].first;
    ++Left.Count;
    Left.Sum += Sorted[I].second;
    const Squares Right = {All.Count - Left.Count, All.Sum - Left.Sum};
    if (!std::isfinite(Here) || Here == Next || Left.Count < LeastThreads ||
        Right.Count < LeastThreads)
      continue;
    const double Gain = Left.ofMean() + Right.ofMean() - All.ofMean();
    if (Gain > Best.Gain)
      Best = {Feature, std::isfinite(Next) ? between(Here, Next) : Here, Gain};
  }
}

std::optional<Split> Grower::bestSplit(ArrayRef<uint32_t> Rows) const {
  Split Best;
  Best.Gain = LeastGain;
  const double AtLeast = Best.Gain;
  for (size_t Feature = 0; Feature <= R.Loads; ++Feature)
    trySplits(Rows, Feature, Best);
  return Best.Gain > AtLeast ? std::optional(Best) : std::nullopt;
}

void Grower::growAt(MutableArrayRef<uint32_t> Rows, unsigned Depth) {
  const size_t Here = T.Nodes.size();
  PathTree::Node &N = T.Nodes.emplace_back();
  const auto Split =
      Depth == PathTree::MostDepth ? std::nullopt : bestSplit(Rows);
  if (!Split) {
    double Sum = 0;
    for (uint32_t Row : Rows)
      Sum += R.Took[Row];
    N.Value = rounded(Sum / double(Rows.size()), /*Digits=*/5);
    return;
  }
  N.Of =
      Split->Feature == R.Loads ? PathTree::Node::Thread : PathTree::Node::Load;
  N.Access = Split->Feature == R.Loads ? 0 : Loads[Split->Feature];
  N.Value = Split->AtMost;
  const auto *Middle =
      std::partition(Rows.begin(), Rows.end(), [&](uint32_t Row) {
        return valueOf(R, Row, Split->Feature) <= Split->AtMost;
      });
  const size_t Left = size_t(Middle - Rows.begin());
  growAt(Rows.take_front(Left), Depth + 1);
  T.Nodes[Here].Right = uint32_t(T.Nodes.size());
  growAt(Rows.drop_front(Left), Depth + 1);
}

PathTree Grower::grow() {
  std::vector<uint32_t> Rows(R.size());
  std::iota(Rows.begin(), Rows.end(), 0);
  if (Rows.empty())
    return {};
  const double Mean =
      std::accumulate(R.Took.begin(), R.Took.end(), 0.0) / double(R.size());
  for (double Took : R.Took)
    LeastGain += LeastPart * (Took - Mean) * (Took - Mean);
  growAt(Rows, 0);
  return std::move(T);
}

PathTree growTree(const ThreadRows &R, ArrayRef<uint32_t> Loads) {
  return Grower(R, Loads).grow();
}

std::vector<double> estimated(const PathTree &T, ArrayRef<uint32_t> Loads,
                              const ThreadRows &R) {
  std::vector<double> All;
  for (size_t Row = 0; Row != R.size(); ++Row) {
    const auto Value = [&](const PathTree::Node &N) {
      return N.Of == PathTree::Node::Thread
                 ? float(R.Number[Row])
                 : R.read(Row)[size_t(find(Loads, N.Access) - Loads.begin())];
    };
    All.push_back(T.Nodes[T.leafOf(Value)].Value);
  }
  return All;
}

} // namespace reconverge::model
