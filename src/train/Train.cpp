//===- train/Train.cpp - Nets of rows of threads --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   1. Rows are parted by thread block: what is held out is not beside what is
//      fitted.
//   2. Inputs are normalised to a mean of 0 and a deviation of 1 over the rows
//      that are fitted; one that never varies there counts nothing.
//   3. Neighbours in memory are nearly equal, and what decides are their
//      differences: rows are shown with what is common taken out. x = L z, with
//      the covariance L L^T (Cholesky, a little added to its diagonal, as two
//      loads may read the same).
//   4. A library (Learn.h) makes weights of these z, in an order drawn by the
//      seed; the first layer's become weights of x: W L^-1.
//   5. Rows that were held out judge what came of it.
//
//===----------------------------------------------------------------------===//

#include "train/Train.h"

#include "core/Error.h"
#include "core/TensorNet.h"
#include "train/Learn.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Demangle/Demangle.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace llvm;

namespace reconverge::train {

/// 0 to \p Count - 1 in an order that \p Seed draws: the same everywhere.
static std::vector<size_t> drawOrder(size_t Count, uint64_t Seed) {
  std::vector<size_t> Order(Count);
  std::iota(Order.begin(), Order.end(), 0);
  std::mt19937_64 Random(Seed);
  for (size_t I = Count; I > 1; --I)
    std::swap(Order[I - 1], Order[Random() % I]);
  return Order;
}

std::vector<bool> drawHeldOut(const KernelRows &All, uint64_t Seed) {
  std::vector<uint64_t> Blocks;
  for (uint64_t Number : All.Rows.Number)
    Blocks.push_back(Number / All.OfBlock);
  llvm::sort(Blocks);
  Blocks.erase(llvm::unique(Blocks), Blocks.end());
  const bool ByBlock = Blocks.size() >= 4;
  const size_t Units = ByBlock ? Blocks.size() : All.Rows.size();
  std::vector<bool> IsDrawn(Units), HeldOut;
  const std::vector<size_t> Order = drawOrder(Units, Seed);
  for (size_t Unit : ArrayRef(Order).take_front(Units / 4))
    IsDrawn[Unit] = true;
  for (auto [Row, Number] : enumerate(All.Rows.Number))
    HeldOut.push_back(
        IsDrawn[ByBlock
                    ? size_t(llvm::lower_bound(Blocks, Number / All.OfBlock) -
                             Blocks.begin())
                    : Row]);
  return HeldOut;
}

/// What is wrong with \p All, if anything is.
static Error checkRows(const KernelRows &All, ArrayRef<uint32_t> ClassOf) {
  const std::string Kernel = demangle(All.Kernel);
  const ThreadRows &R = All.Rows;
  if (R.size() < LeastRows)
    return userError(
        Kernel + ": " + Twine(R.size()) + " rows are too few to train a net",
        "It takes " + Twine(LeastRows) + "; run the program on more data.");
  for (size_t L = 0; L != R.Loads; ++L) {
    size_t None = 0;
    for (size_t Row = 0; Row != R.size(); ++Row)
      None += !std::isfinite(R.read(Row)[L]);
    if (None)
      return userError(Kernel + ": load " + Twine(All.Loads[L]) + " (" +
                           All.Places[L] + ") reads no number in " +
                           Twine(None) + " of " + Twine(R.size()) + " rows",
                       "A net cannot be trained on NaN or infinity; a tree "
                       "takes them (reconverge predict --estimate).");
  }
  if (all_of(ClassOf, [&](uint32_t C) { return C == ClassOf.front(); }))
    return userError(Kernel + ": all threads take about as long: there is a "
                              "single class",
                     "There is nothing to tell apart; run the program on "
                     "data on which its threads differ.");
  return Error::success();
}

static std::vector<PathNet::Input> inputsOf(const KernelRows &All,
                                            ArrayRef<size_t> Fitted) {
  std::vector<PathNet::Input> Inputs;
  for (size_t L = 0; L != All.Loads.size(); ++L) {
    PathNet::Input &I = Inputs.emplace_back();
    I.Load = All.Loads[L];
    I.Place = All.Places[L];
    double Sum = 0, Squares = 0;
    I.Least = I.Most = All.Rows.read(Fitted.front())[L];
    for (size_t Row : Fitted) {
      const float Value = All.Rows.read(Row)[L];
      Sum += Value;
      I.Least = std::min(I.Least, Value);
      I.Most = std::max(I.Most, Value);
    }
    const double Mean = Sum / double(Fitted.size());
    for (size_t Row : Fitted)
      Squares += std::pow(All.Rows.read(Row)[L] - Mean, 2);
    const double Deviation = std::sqrt(Squares / double(Fitted.size()));
    I.Scale = float(1 / Deviation);
    I.Shift = float(-Mean / Deviation);
    if (I.Least == I.Most || !std::isfinite(I.Scale) || !std::isfinite(I.Shift))
      I.Scale = I.Shift = 0;
  }
  return Inputs;
}

/// Normalised rows.
static Eigen::MatrixXd normalised(const PathNet &N, const ThreadRows &R,
                                  ArrayRef<size_t> Rows) {
  Eigen::MatrixXd X(Rows.size(), N.Inputs.size());
  for (auto [To, Row] : enumerate(Rows))
    for (auto [I, Value] : enumerate(R.read(Row)))
      X(To, I) = std::fma(Value, N.Inputs[I].Scale, N.Inputs[I].Shift);
  return X;
}

/// L of the covariance of \p X, whose columns have a mean of 0.
static Eigen::MatrixXd commonOf(const Eigen::MatrixXd &X) {
  constexpr double Added = 1e-6;
  Eigen::MatrixXd Covariance = X.transpose() * X / double(X.rows());
  Covariance.diagonal().array() += Added;
  return Covariance.llt().matrixL();
}

/// Has \p First, which takes z, take L z.
static void takeWhole(PathNet::Layer &First, const Eigen::MatrixXd &L) {
  const Eigen::Index Inputs = L.rows(), Units = First.Biases.size();
  using ByRow =
      Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<ByRow> Weights(First.Weights.data(), Units, Inputs);
  const Eigen::MatrixXd OfZ = Weights.cast<double>().transpose();
  // (W L^-1)^T solves L^T Y = W^T.
  const Eigen::MatrixXd OfX =
      L.triangularView<Eigen::Lower>().transpose().solve(OfZ);
  Weights = OfX.transpose().cast<float>();
}

/// What the threads of each class take on average.
static std::vector<double> timesOf(const ThreadRows &R,
                                   ArrayRef<uint32_t> ClassOf) {
  const size_t Classes = *llvm::max_element(ClassOf) + 1;
  std::vector<double> Sum(Classes), Count(Classes);
  for (auto [Took, Class] : zip_equal(R.Took, ClassOf)) {
    Sum[Class] += Took;
    Count[Class] += 1;
  }
  for (auto [S, C] : zip_equal(Sum, Count))
    S /= std::max(C, 1.0);
  return Sum;
}

static void noteHeldOut(PathNet &N, const KernelRows &All,
                        ArrayRef<uint32_t> ClassOf,
                        const std::vector<bool> &HeldOut) {
  PathNet::Training &T = N.Trained;
  const size_t Classes = N.Classes.size();
  T.Confusion.assign(Classes * Classes, 0);
  uint64_t Right = 0;
  for (size_t Row = 0; Row != HeldOut.size(); ++Row) {
    if (!HeldOut[Row])
      continue;
    const ArrayRef<float> Values = All.Rows.read(Row);
    const uint32_t Taken = N.classOf(Values);
    ++T.Confusion[ClassOf[Row] * Classes + Taken];
    ++T.HeldOut;
    Right += Taken == ClassOf[Row];
    T.OutOfRange += N.isOutOfRange(Values);
  }
  T.Accuracy = T.HeldOut ? double(Right) / double(T.HeldOut) : 0;
}

Expected<PathNet> trainNet(const KernelRows &All, ArrayRef<uint32_t> ClassOf,
                           const std::vector<bool> &HeldOut,
                           const NetShape &Shape) {
  if (Error E = checkRows(All, ClassOf))
    return std::move(E);
  std::vector<size_t> Fitted;
  for (size_t Row : drawOrder(All.Rows.size(), Shape.Seed))
    if (!HeldOut[Row])
      Fitted.push_back(Row);
  assert(!Fitted.empty() && "at most a half is held out");
  PathNet N;
  N.Kernel = All.Kernel;
  N.Module = All.Module;
  N.Inputs = inputsOf(All, Fitted);
  N.Classes = timesOf(All.Rows, ClassOf);
  Lesson What;
  What.Inputs = N.Inputs.size();
  What.Classes = N.Classes.size();
  const Eigen::MatrixXd X = normalised(N, All.Rows, Fitted), L = commonOf(X);
  const Eigen::MatrixXd Z =
      L.triangularView<Eigen::Lower>().solve(X.transpose());
  for (double Value : Z.reshaped()) // a row after the other
    What.Values.push_back(float(Value));
  for (size_t Row : Fitted)
    What.ClassOf.push_back(ClassOf[Row]);
  auto Made = learn(What, Shape);
  if (!Made)
    return Made.takeError();
  N.Hidden = std::move(Made->Hidden);
  takeWhole(N.Hidden, L);
  N.Output = std::move(Made->Output);
  N.Trained.Library = std::move(Made->Library);
  N.Trained.Seed = Shape.Seed;
  N.Trained.Epochs = Shape.Epochs;
  N.Trained.Fitted = Fitted.size();
  noteHeldOut(N, All, ClassOf, HeldOut);
  return N;
}

/// The class of \p N whose time is nearest to \p Took, by ratio.
static uint32_t nearestClass(const PathNet &N, double Took) {
  const auto Off = [&](double Time) {
    return std::abs(std::log(std::max(Time, 1.0) / std::max(Took, 1.0)));
  };
  const auto Best = llvm::min_element(
      N.Classes, [&](double A, double B) { return Off(A) < Off(B); });
  return uint32_t(Best - N.Classes.begin());
}

/// A row with \p Values, of class \p Class.
static void add(Judgement &J, const PathNet &N, const TensorNet &Tiles,
                ArrayRef<float> Values, uint32_t Class) {
  ++J.Rows;
  J.Right += N.classOf(Values) == Class;
  J.RightByTiles += Tiles.classOf(Values) == Class;
  J.OutOfRange += N.isOutOfRange(Values);
}

Expected<Judgement> judge(const PathNet &N, const KernelRows &Rows) {
  if (Rows.Kernel != N.Kernel || Rows.Module != N.Module ||
      Rows.Loads != N.loads())
    return userError("the net is of another kernel: " + demangle(N.Kernel) +
                         " of module " + N.Module + ", and the rows of " +
                         demangle(Rows.Kernel) + " of module " + Rows.Module,
                     "Write rows of the same program, built alike.");
  Judgement J;
  const TensorNet Tiles(N);
  for (size_t Row = 0; Row != Rows.Rows.size(); ++Row)
    add(J, N, Tiles, Rows.Rows.read(Row), nearestClass(N, Rows.Rows.Took[Row]));
  return J;
}

Judgement judgeHeldOut(const PathNet &N, const KernelRows &All,
                       ArrayRef<uint32_t> ClassOf,
                       const std::vector<bool> &HeldOut) {
  Judgement J;
  const TensorNet Tiles(N);
  for (size_t Row = 0; Row != HeldOut.size(); ++Row)
    if (HeldOut[Row])
      add(J, N, Tiles, All.Rows.read(Row), ClassOf[Row]);
  return J;
}

} // namespace reconverge::train
