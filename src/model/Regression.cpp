//===- model/Regression.cpp - What threads take, by their inputs ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Liang et al. fit each element of a thread's block vector to its inputs and its
// number,
//
//   BBV[b] = beta_0 + sum_i beta_i I[i] + beta tid
//
// and order threads by what comes out. What a thread takes is a weighted sum of
// its vector's elements, Lat = sum_b lat[b] BBV[b], and least squares are linear
// in what is fitted: to fit Lat itself gives the same sum of the same fits. So
// one fit is made, and a launch computes one number a thread.
//
// Inputs that explain less than a hundredth of what one standard deviation of
// Lat is, over their own, are left out, and the rest is fitted again.
//
//===----------------------------------------------------------------------===//

#include "model/Regression.h"

#include "model/BlockVectorTime.h"

#include "llvm/ADT/STLExtras.h"

#include <Eigen/Dense>

#include <cmath>
#include <numeric>

using namespace llvm;

namespace reconverge::model {

namespace {
/// Threads, a row each.
struct Rows {
  Eigen::MatrixXd Inputs; ///< what loads read, then the thread's number
  Eigen::VectorXd Took;   ///< cycles
};
} // namespace

/// Inputs that tell less, in standard deviations of what is fitted, are no use.
static constexpr double LeastPart = 0.01;

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

static Rows rowsOf(const KernelProfile &K, const ThreadVectors &V) {
  const std::vector<double> Times = timesOf(K);
  const size_t Loads = V.Loads.size();
  size_t Threads = 0;
  for (const ThreadVectors::ThreadBlock &B : V.Blocks)
    Threads += B.ClassOf.size();
  Rows R{Eigen::MatrixXd(Threads, Loads + 1), Eigen::VectorXd(Threads)};
  Eigen::Index Row = 0;
  for (const ThreadVectors::ThreadBlock &B : V.Blocks)
    for (size_t T = 0; T != B.ClassOf.size(); ++T, ++Row) {
      for (size_t L = 0; L != Loads; ++L) {
        const float Read = B.Features[T * Loads + L];
        R.Inputs(Row, L) = std::isfinite(Read) ? Read : 0;
      }
      R.Inputs(Row, Loads) =
          double(B.Number) * double(B.ClassOf.size()) + double(T);
      R.Took(Row) = Times[B.ClassOf[T]];
    }
  return R;
}

static double deviationOf(const Eigen::VectorXd &X) {
  return std::sqrt((X.array() - X.mean()).square().mean());
}

/// Least squares over the columns \p Used of \p R; the others get 0.
static Eigen::VectorXd solve(const Rows &R, ArrayRef<Eigen::Index> Used,
                             double &Base) {
  // About means and over deviations, so that large numbers do no harm.
  Eigen::MatrixXd X(R.Took.size(), Used.size());
  for (auto [To, From] : enumerate(Used)) {
    const Eigen::VectorXd Column = R.Inputs.col(From);
    X.col(To) = (Column.array() - Column.mean()) / deviationOf(Column);
  }
  const double Mean = R.Took.mean();
  const Eigen::VectorXd Beta =
      X.colPivHouseholderQr().solve((R.Took.array() - Mean).matrix());
  Eigen::VectorXd Weights = Eigen::VectorXd::Zero(R.Inputs.cols());
  Base = Mean;
  for (auto [From, To] : enumerate(Used)) {
    const Eigen::VectorXd Column = R.Inputs.col(To);
    Weights(To) = Beta(From) / deviationOf(Column);
    Base -= Weights(To) * Column.mean();
  }
  return Weights;
}

static Estimate fit(const Rows &R) {
  const double Varies = deviationOf(R.Took);
  SmallVector<Eigen::Index> Used;
  for (Eigen::Index I = 0; I != R.Inputs.cols(); ++I)
    if (deviationOf(R.Inputs.col(I)) > 0)
      Used.push_back(I);
  Estimate E;
  Eigen::VectorXd Weights = solve(R, Used, E.Base);
  erase_if(Used, [&](Eigen::Index I) {
    return std::abs(Weights(I)) * deviationOf(R.Inputs.col(I)) <
           LeastPart * Varies;
  });
  Weights = solve(R, Used, E.Base);
  E.PerUnit.assign(Weights.begin(), Weights.end() - 1);
  E.PerThread = Weights(Weights.size() - 1);
  return E;
}

/// \p V with every other thread block, from number \p First on.
static ThreadVectors half(const ThreadVectors &V, size_t First) {
  ThreadVectors Half = V;
  Half.Blocks.clear();
  for (size_t B = First; B < V.Blocks.size(); B += 2)
    Half.Blocks.push_back(V.Blocks[B]);
  return Half;
}

/// Threads in falling order of \p Of; of equals the first first.
static std::vector<uint32_t> longestFirst(const Eigen::VectorXd &Of) {
  std::vector<uint32_t> Order(Of.size());
  std::iota(Order.begin(), Order.end(), 0);
  llvm::sort(Order, [&](uint32_t A, uint32_t B) {
    return std::pair(Of(B), A) < std::pair(Of(A), B);
  });
  return Order;
}

static void tryOn(const KernelProfile &K, const ThreadVectors &V,
                  EstimateForecast &F) {
  const Rows R = rowsOf(K, V);
  Eigen::VectorXd Weights(R.Inputs.cols());
  std::copy(F.By.PerUnit.begin(), F.By.PerUnit.end(), Weights.begin());
  Weights(Weights.size() - 1) = F.By.PerThread;
  const Eigen::VectorXd Estimated = (R.Inputs * Weights).array() + F.By.Base;
  F.Tested = uint64_t(R.Took.size());
  const double Varies = deviationOf(R.Took);
  if (Varies > 0)
    F.R2 = 1 - (R.Took - Estimated).array().square().mean() / (Varies * Varies);
  std::vector<double> Latency;
  for (const BlockInfo &B : K.Info.Blocks)
    Latency.push_back(B.Latency);
  const auto TimeIn = [&](ThreadOrder Order) {
    const auto Times = threadBlockTimes(V, Latency, K.WarpSize, Order);
    return std::accumulate(Times.begin(), Times.end(), 0.0);
  };
  const double Before = TimeIn({});
  if (Before == 0)
    return;
  F.ByEstimate = 1 - TimeIn(longestFirst(Estimated)) / Before;
  F.ByTime = 1 - TimeIn(longestFirst(R.Took)) / Before;
}

std::optional<EstimateForecast> estimateFor(const KernelProfile &K,
                                            const KernelProfile *Test) {
  const ThreadVectors &V = K.Vectors;
  const ThreadVectors &Other = Test ? Test->Vectors : V;
  if (V.Loads.empty() || Other.Loads != V.Loads || Other.Blocks.empty() ||
      V.Blocks.size() < (Test ? 1 : 2))
    return std::nullopt;
  const Rows R = rowsOf(K, Test ? V : half(V, 0));
  if (R.Took.size() < 2 * R.Inputs.cols())
    return std::nullopt;
  EstimateForecast F;
  F.Loads = V.Loads;
  F.Fitted = uint64_t(R.Took.size());
  F.By = fit(R);
  tryOn(Test ? *Test : K, Test ? Test->Vectors : half(V, 1), F);
  return F;
}

} // namespace reconverge::model
