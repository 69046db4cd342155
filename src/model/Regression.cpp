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

#include "model/ThreadRows.h"
#include "model/ThreadTree.h"

#include "llvm/ADT/STLExtras.h"

#include <Eigen/Dense>

#include <cmath>

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

/// What is no number is 0 here: no sum makes sense of it.
static Rows rowsOf(const ThreadRows &Threads) {
  const size_t Loads = Threads.Loads;
  Rows R{Eigen::MatrixXd(Threads.size(), Loads + 1),
         Eigen::VectorXd(Threads.size())};
  for (size_t Row = 0; Row != Threads.size(); ++Row) {
    for (auto [L, Read] : enumerate(Threads.read(Row)))
      R.Inputs(Row, L) = std::isfinite(Read) ? Read : 0;
    R.Inputs(Row, Loads) = double(Threads.Number[Row]);
    R.Took(Row) = Threads.Took[Row];
  }
  return R;
}

static double deviationOf(const Eigen::VectorXd &X) {
  return std::sqrt((X.array() - X.mean()).square().mean());
}

/// Least squares over the columns \p Used of \p R; the others get 0.
static Eigen::VectorXd solve(const Rows &R, ArrayRef<Eigen::Index> Used,
                             double &Base) {
  Base = R.Took.mean();
  Eigen::VectorXd Weights = Eigen::VectorXd::Zero(R.Inputs.cols());
  if (Used.empty()) // Eigen's decomposition asks for a column
    return Weights;
  // About means and over deviations, so that large numbers do no harm.
  Eigen::MatrixXd X(R.Took.size(), Used.size());
  for (auto [To, From] : enumerate(Used)) {
    const Eigen::VectorXd Column = R.Inputs.col(From);
    X.col(To) = (Column.array() - Column.mean()) / deviationOf(Column);
  }
  const Eigen::VectorXd Beta =
      X.colPivHouseholderQr().solve((R.Took.array() - Base).matrix());
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

static std::vector<double> estimated(const Estimate &By, const ThreadRows &Of) {
  const Rows R = rowsOf(Of);
  Eigen::VectorXd Weights(R.Inputs.cols());
  std::copy(By.PerUnit.begin(), By.PerUnit.end(), Weights.begin());
  Weights(Weights.size() - 1) = By.PerThread;
  const Eigen::VectorXd All = (R.Inputs * Weights).array() + By.Base;
  return {All.begin(), All.end()};
}

/// Tries \p F on the threads of \p V.
static void tryOn(const KernelProfile &K, const ThreadVectors &V,
                  EstimateForecast &F) {
  const ThreadRows R = threadRows(K, V);
  F.Tested = R.size();
  F.BySum = qualityOf(K, V, R, estimated(F.Sum, R));
  F.ByTree = qualityOf(K, V, R, estimated(F.Tree, F.Loads, R));
  F.AsItIs = qualityOf(K, V, R, {});
  F.ByTime = qualityOf(K, V, R, R.Took);
}

std::optional<EstimateForecast> estimateFor(const KernelProfile &K,
                                            const KernelProfile *Test) {
  const ThreadVectors &V = K.Vectors;
  const ThreadVectors &Other = Test ? Test->Vectors : V;
  if (V.Loads.empty() || Other.Loads != V.Loads || Other.Blocks.empty() ||
      V.Blocks.size() < (Test ? 1 : 2))
    return std::nullopt;
  const ThreadRows R = threadRows(K, Test ? V : everyOtherBlock(V, 0));
  if (R.size() < 2 * (R.Loads + 1))
    return std::nullopt;
  EstimateForecast F;
  F.Loads = V.Loads;
  F.Fitted = R.size();
  F.Sum = fit(rowsOf(R));
  F.Tree = growTree(R, F.Loads);
  tryOn(Test ? *Test : K, Test ? Test->Vectors : everyOtherBlock(V, 1), F);
  return F;
}

} // namespace reconverge::model
