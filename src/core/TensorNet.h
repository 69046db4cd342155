//===- core/TensorNet.h - A net as tensor cores compute it ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A PathNet made ready for mma.m16n8k16, which multiplies numbers of 16 bits and
// sums in 32. W of the hidden layer is taken apart, W = Q R, R upper triangular and
// the columns of Q orthonormal:
//
//   x[i] = input[i] * Scale[i] + Shift[i]                   as in core/PathNet.h
//   z[i] = Mix[i][i] x[i] + ... + Mix[i][n-1] x[n-1]        R; f32, fused, by rising index
//   h[j] = leaky(product of Q[j] and half(z), plus Bias[j])      leaky(v) = max(v, v / 100)
//   o[c] = product of Weight[c] and half(h), plus Bias[c]        class: the first greatest
//
// What nearly equal loads differ by is a small difference of large numbers, which 11
// bits would lose: R makes it before anything is rounded.
//
// Rounding: half() is to nearest even, z clamped to +-MostZ before it, what is no
// number to -MostZ. Products are those of a tensor core of sm_80 to sm_90, 16
// factors at a time: exact, cut two bits below a float's last of the largest, summed,
// and cut to a float. Padding adds zeros and so changes nothing.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_TENSORNET_H
#define RECONVERGE_CORE_TENSORNET_H

#include "core/PathNet.h"

namespace reconverge {

class TensorNet {
public:
  explicit TensorNet(const PathNet &N);

  /// |z| at most, so that h fits into 16 bits.
  static constexpr float MostZ = 8192;
  /// Of a padding class: below what a net says.
  static constexpr float Never = -3e38f;
  static constexpr unsigned K = 16, N = 8;

  unsigned inputs() const { return unsigned(Mix.size()); }
  /// Tiles of 8 hidden units, an even number; of 8 classes; products of 16 units.
  unsigned hiddenTiles() const { return unsigned(Hidden.size() / N); }
  unsigned classTiles() const { return unsigned(Output.size() / N); }
  unsigned hiddenSteps() const { return unsigned(Hidden.size() / K); }

  /// Parts of words(), by where they begin: of each lane two words a tile. Biases
  /// of a hidden tile, weights and biases of the output layer come behind.
  unsigned hiddenBiases() const { return 2 * hiddenTiles(); }
  unsigned outputWeights() const { return 4 * hiddenTiles(); }
  unsigned outputBiases() const {
    return outputWeights() + 2 * hiddenSteps() * classTiles();
  }
  /// A multiple of 4.
  unsigned wordsOfLane() const {
    return (outputBiases() + 2 * classTiles() + 3) / 4 * 4;
  }
  /// What lanes hold of the weights, in quads: word 4 q + i of lane l is at
  /// 128 q + 4 l + i. Of a matrix they are the fragment B of mma.m16n8k16, of
  /// biases the fragment C. Feature 4 t + e, t in 0..3, is row 2 t + e of the first
  /// product, e < 2, or else 2 t + e + 6, so that a lane holds neighbours.
  std::vector<uint32_t> words() const;

  /// Upper triangular: Mix[i] has the factors of x[i] to the last.
  std::vector<std::vector<float>> Mix;
  std::vector<float> Scale, Shift;

  /// What a warp executes for 32 threads, as ptxas compiles it for sm_90; and for a
  /// net by multiply-adds, each thread its own. Weights and what is to be loaded are
  /// not in it.
  unsigned instructions() const;
  static unsigned instructionsByFma(const PathNet &N);

  /// The class that a launch takes such a thread for.
  uint32_t classOf(llvm::ArrayRef<float> Values) const;

private:
  /// A number of 16 bits.
  struct Half {
    uint16_t Bits = 0;
    double Value = 0;
    int Exponent = 0; ///< by which a tensor core aligns it
  };
  struct Unit {
    std::vector<Half> Weights;
    float Bias = 0;
  };
  static Half half(float Value);
  static float product(llvm::ArrayRef<Half> A, llvm::ArrayRef<Half> B,
                       float Plus);
  static std::vector<float> outputsOf(llvm::ArrayRef<Unit> Layer,
                                      llvm::ArrayRef<Half> Values);

  std::vector<Unit> Hidden, Output; ///< padded
};

} // namespace reconverge

#endif
