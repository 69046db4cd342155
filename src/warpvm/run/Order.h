//===- warpvm/run/Order.h - Orders that follow a seed -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA leaves open in which order blocks, warps and lanes act. A seed picks one
// order: 0 the natural one, 1 its reverse (it swaps any two that act, so that
// it alone shows most dependences), any other some permutation. The same seed
// is the same order.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_WARPVM_RUN_ORDER_H
#define RECONVERGE_WARPVM_RUN_ORDER_H

#include <cstdint>
#include <numeric>
#include <utility>

namespace reconverge::warpvm {

inline constexpr uint64_t NaturalOrder = 0, ReverseOrder = 1;

/// Bits that look random, of two numbers (the finaliser of splitmix64).
inline uint64_t mixed(uint64_t A, uint64_t B) {
  uint64_t X = A + (B + 1) * 0x9e3779b97f4a7c15;
  X = (X ^ (X >> 30)) * 0xbf58476d1ce4e5b9;
  X = (X ^ (X >> 27)) * 0x94d049bb133111eb;
  return X ^ (X >> 31);
}

/// A permutation of 0..N-1 in no memory: i -> (A i + B) mod N, A prime to N.
class Order {
public:
  Order(uint64_t N, uint64_t Seed) : N(N) {
    if (Seed == NaturalOrder)
      return;
    if (Seed == ReverseOrder) {
      A = B = N - 1;
      return;
    }
    A = mixed(Seed, 0) % N;
    B = mixed(Seed, 1) % N;
    while (std::gcd(A, N) != 1)
      A = (A + 1) % N;
  }
  uint64_t operator()(uint64_t I) const {
    return uint64_t((static_cast<unsigned __int128>(A) * I + B) % N);
  }

  /// B and A, for code that permutes by itself.
  std::pair<uint64_t, uint64_t> firstAndStep() const { return {B, A}; }

private:
  uint64_t N, A = 1, B = 0;
};

/// A warp's free choices, one after the other; none under seed 0.
class Choices {
public:
  Choices() = default;
  /// \p Whose: tells warps apart.
  Choices(uint64_t Seed, uint64_t Whose)
      : Seed(Seed), State(mixed(Seed, Whose)) {}
  explicit operator bool() const { return Seed != NaturalOrder; }
  bool reversed() const { return Seed == ReverseOrder; }
  uint64_t next() { return State = mixed(State, Seed); }
  bool oneIn(uint64_t N) { return next() % N == 0; }
  /// A row of choices of its own, for a part of the warp.
  Choices another() { return Choices(Seed, next()); }

private:
  uint64_t Seed = NaturalOrder, State = 0;
};

} // namespace reconverge::warpvm

#endif
