//===- core/TensorNet.cpp - A net as tensor cores compute it --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// W = Q R by Gram and Schmidt, modified, in double. A column that is a combination
// of earlier ones has zeros in Q and on R's diagonal.
//
//===----------------------------------------------------------------------===//

#include "core/TensorNet.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;

namespace reconverge {

static constexpr int NoExponent = -10000; ///< of zero
static constexpr float MostHalf = 65504, MostHiddenBias = 16384;

TensorNet::Half TensorNet::half(float Value) {
  APFloat F(std::clamp(Value, -MostHalf, MostHalf));
  bool Lost = false;
  F.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &Lost);
  Half H;
  H.Bits = uint16_t(F.bitcastToAPInt().getZExtValue());
  F.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &Lost);
  H.Value = F.convertToDouble();
  H.Exponent = H.Value == 0 ? NoExponent : std::max(std::ilogb(H.Value), -14);
  return H;
}

/// \p X, an exact product, in units of 2^\p Unit, cut.
static int64_t cut(double X, int Unit) { return int64_t(std::ldexp(X, -Unit)); }

float TensorNet::product(ArrayRef<Half> A, ArrayRef<Half> B, float Plus) {
  int Largest = Plus == 0 ? NoExponent : std::max(std::ilogb(Plus), -126);
  for (const auto &[X, Y] : zip_equal(A, B))
    Largest = std::max(Largest, X.Exponent + Y.Exponent);
  if (Largest <= NoExponent / 2)
    return 0;
  const int Unit = Largest - 23 - 2;
  int64_t Sum = cut(Plus, Unit);
  for (const auto &[X, Y] : zip_equal(A, B))
    Sum += cut(X.Value * Y.Value, Unit);
  const double Exact = std::ldexp(double(Sum), Unit);
  const float Near = float(Exact);
  return std::fabs(double(Near)) > std::fabs(Exact) ? std::nextafter(Near, 0.0f)
                                                    : Near;
}

std::vector<float> TensorNet::outputsOf(ArrayRef<Unit> Layer,
                                        ArrayRef<Half> Values) {
  std::vector<float> All;
  for (const Unit &U : Layer) {
    float Sum = U.Bias;
    for (size_t From = 0; From != Values.size(); From += K)
      Sum = product(ArrayRef(U.Weights).slice(From, K), Values.slice(From, K),
                    Sum);
    All.push_back(Sum);
  }
  return All;
}

TensorNet::TensorNet(const PathNet &Net) {
  const size_t Inputs = Net.Inputs.size(), Units = Net.Hidden.Biases.size(),
               Classes = Net.Classes.size();
  std::vector<std::vector<double>> Q(Inputs, std::vector<double>(Units)),
      R(Inputs, std::vector<double>(Inputs));
  const auto Dot = [](ArrayRef<double> A, ArrayRef<double> B) {
    double Sum = 0;
    for (auto [X, Y] : zip_equal(A, B))
      Sum += X * Y;
    return Sum;
  };
  for (size_t I = 0; I != Inputs; ++I) {
    for (size_t U = 0; U != Units; ++U)
      Q[I][U] = Net.Hidden.Weights[U * Inputs + I];
    const double Whole = std::sqrt(Dot(Q[I], Q[I]));
    for (size_t J = 0; J != I; ++J) {
      R[J][I] = Dot(Q[J], Q[I]);
      for (size_t U = 0; U != Units; ++U)
        Q[I][U] -= R[J][I] * Q[J][U];
    }
    R[I][I] = std::sqrt(Dot(Q[I], Q[I]));
    if (R[I][I] <= 1e-9 * Whole)
      R[I][I] = 0;
    for (double &X : Q[I])
      X = R[I][I] == 0 ? 0 : X / R[I][I];
  }
  for (auto [I, Input] : enumerate(Net.Inputs)) {
    Scale.push_back(Input.Scale);
    Shift.push_back(Input.Shift);
    std::vector<float> &Row = Mix.emplace_back();
    for (size_t J = I; J != Inputs; ++J)
      Row.push_back(float(R[I][J]));
  }

  Hidden.resize(alignTo(Units, K), {std::vector<Half>(K, half(0)), 0});
  for (size_t U = 0; U != Units; ++U) {
    Hidden[U].Bias =
        std::clamp(Net.Hidden.Biases[U], -MostHiddenBias, MostHiddenBias);
    for (size_t I = 0; I != Inputs; ++I)
      Hidden[U].Weights[I] = half(float(Q[I][U]));
  }
  Output.resize(alignTo(Classes, size_t(TensorNet::N)),
                {std::vector<Half>(Hidden.size(), half(0)), Never});
  for (size_t C = 0; C != Classes; ++C) {
    Output[C].Bias = std::max(Net.Output.Biases[C], Never);
    for (size_t U = 0; U != Units; ++U)
      Output[C].Weights[U] = half(Net.Output.Weights[C * Units + U]);
  }
}

// Fitted to nvcc's code of warp_net for nets of 2-32-5 to 16-32-32: within 3 %.
unsigned TensorNet::instructions() const {
  return 150 + 30 * hiddenTiles() + 38 * classTiles() +
         inputs() * (inputs() + 11) / 2;
}

unsigned TensorNet::instructionsByFma(const PathNet &N) {
  const size_t Inputs = N.Inputs.size(), Units = N.Hidden.Biases.size(),
               Classes = N.Classes.size();
  return unsigned(Inputs + Units * (Inputs + Classes + 3) + 3 * Classes);
}

uint32_t TensorNet::classOf(ArrayRef<float> Values) const {
  std::vector<float> X;
  for (auto [Value, By, Plus] : zip_equal(Values, Scale, Shift))
    X.push_back(std::fma(Value, By, Plus));
  std::vector<Half> Z(K, half(0));
  for (size_t I = 0; I != X.size(); ++I) {
    float Sum = Mix[I][0] * X[I];
    for (size_t J = 1; J != Mix[I].size(); ++J)
      Sum = std::fma(Mix[I][J], X[I + J], Sum);
    Z[I] = half(std::fmin(std::fmax(Sum, -MostZ), MostZ));
  }
  std::vector<Half> H;
  for (float V : outputsOf(Hidden, Z))
    H.push_back(half(std::max(V, V * PathNet::Leak)));
  const std::vector<float> O = outputsOf(Output, H);
  return uint32_t(llvm::max_element(O) - O.begin());
}

std::vector<uint32_t> TensorNet::words() const {
  std::vector<uint32_t> All(32 * wordsOfLane());
  const auto Pair = [](const Half &Low, const Half &High) {
    return uint32_t(Low.Bits) | uint32_t(High.Bits) << 16;
  };
  for (unsigned Lane = 0; Lane != 32; ++Lane) {
    const unsigned G = Lane / 4, T = Lane % 4;
    unsigned Word = 0;
    const auto Add = [&](uint32_t Value) {
      All[Word / 4 * 128 + Lane * 4 + Word % 4] = Value;
      ++Word;
    };
    const auto AddBiases = [&](ArrayRef<Unit> Layer) {
      for (size_t First = 0; First != Layer.size(); First += N)
        for (unsigned E = 0; E != 2; ++E)
          Add(bit_cast<uint32_t>(Layer[First + 2 * T + E].Bias));
    };
    for (unsigned Tile = 0; Tile != hiddenTiles(); ++Tile) {
      const std::vector<Half> &Row = Hidden[N * Tile + G].Weights;
      Add(Pair(Row[4 * T], Row[4 * T + 1]));
      Add(Pair(Row[4 * T + 2], Row[4 * T + 3]));
    }
    AddBiases(Hidden);
    for (unsigned Step = 0; Step != hiddenSteps(); ++Step)
      for (unsigned Tile = 0; Tile != classTiles(); ++Tile) {
        const Half *Row = &Output[N * Tile + G].Weights[K * Step];
        Add(Pair(Row[2 * T], Row[2 * T + 1]));
        Add(Pair(Row[8 + 2 * T], Row[8 + 2 * T + 1]));
      }
    AddBiases(Output);
  }
  return All;
}

} // namespace reconverge
