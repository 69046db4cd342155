//===- core/PathNet.h - Classes of threads, by a net ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small fully connected net over what loads of a thread read before its work,
// which tells before its kernel runs how long the thread takes, as a class:
//
//   x[i] = input[i] * Scale[i] + Shift[i]
//   h[j] = leaky(Bias[j] + sum_i Weight[j][i] x[i])     leaky(v) = v > 0 ? v : v / 100
//   o[c] = Bias[c] + sum_j Weight[c][j] h[j]            class: the first greatest
//
// All of it in f32, each step fused, sums from their bias on by rising index: what
// a launch computes is what a host computes, to the bit. A net is of one kernel in
// one module's code.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_PATHNET_H
#define RECONVERGE_CORE_PATHNET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reconverge {

struct PathNet {
  struct Input {
    uint32_t Load = 0;          ///< its number (AccessInfo::Id)
    std::string Place;          ///< "app.cu:12"
    float Scale = 1, Shift = 0; ///< normalise it
    float Least = 0, Most = 0;  ///< of what it was trained on
  };
  /// Fully connected, Weights row by row: one for each output.
  struct Layer {
    std::vector<float> Weights, Biases;
  };
  std::string Kernel; ///< mangled
  std::string Module; ///< hash of its module's code (analysis/CodeHash.h)
  std::vector<Input> Inputs;
  /// What the threads of a class took on average, cycles; the longest first.
  std::vector<double> Classes;
  Layer Hidden, Output;

  /// How it was trained and what came of it.
  struct Training {
    std::string Library; ///< with its version
    uint64_t Seed = 0, Epochs = 0;
    uint64_t Fitted = 0, HeldOut = 0; ///< rows
    /// Of held-out rows, how many of class [r] were taken for [c], row by row.
    std::vector<uint64_t> Confusion;
    double Accuracy = 0; ///< of held-out rows, those whose class is right
    /// Held-out rows with an input beyond what it was trained on.
    uint64_t OutOfRange = 0;
  } Trained;

  static constexpr size_t MostInputs = 16, MostHidden = 64, MostClasses = 32;
  static constexpr float Leak = 0.01f;

  std::vector<uint32_t> loads() const;
  /// The class of a thread with such inputs, below Classes.size().
  uint32_t classOf(llvm::ArrayRef<float> Values) const;
  /// Whether one of them lies beyond what it was trained on, or is no number.
  bool isOutOfRange(llvm::ArrayRef<float> Values) const;
};

/// Same net, same bytes.
void printPathNet(const PathNet &N, llvm::raw_ostream &OS);
llvm::Error writePathNet(const PathNet &N, llvm::StringRef Path);
/// Every value checked; the UserError names \p File and the place.
llvm::Expected<PathNet> parsePathNet(llvm::StringRef Text,
                                     llvm::StringRef File);
llvm::Expected<PathNet> readPathNet(llvm::StringRef Path);

} // namespace reconverge

#endif
