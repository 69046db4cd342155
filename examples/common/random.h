//===- examples/common/random.h - The same numbers everywhere ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A permuted congruential generator (PCG-XSH-RR 64/32: M. O'Neill, "PCG: A
// Family of Simple Fast Space-Efficient Statistically Good Algorithms for
// Random Number Generation", 2014): 64 bits of state, 32 bits out, one stream
// for each odd increment. Integer arithmetic only, so host and device draw the
// same bits. Compiles as CUDA and as plain C++.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_EXAMPLES_RANDOM_H
#define RECONVERGE_EXAMPLES_RANDOM_H

#include <cstdint>

#ifdef __CUDACC__
#define EXAMPLE_HD __host__ __device__
#else
#define EXAMPLE_HD
#endif

class Random {
public:
  EXAMPLE_HD Random(uint64_t Seed, uint64_t Stream)
      : State(0), Increment(2 * Stream + 1) {
    bits();
    State += Seed;
    bits();
  }

  EXAMPLE_HD uint32_t bits() {
    uint64_t Old = State;
    State = Old * 6364136223846793005ull + Increment;
    uint32_t Word = uint32_t(((Old >> 18) ^ Old) >> 27);
    uint32_t Turn = uint32_t(Old >> 59);
    return (Word >> Turn) | (Word << ((32 - Turn) & 31));
  }

  /// In [0, 1): 24 bits, so the conversion and the product are exact.
  EXAMPLE_HD float uniform() { return float(bits() >> 8) * 0x1p-24f; }

  /// In [0, Count), biased by less than Count / 2^32.
  EXAMPLE_HD uint32_t below(uint32_t Count) {
    return uint32_t((uint64_t(bits()) * Count) >> 32);
  }

private:
  uint64_t State, Increment;
};

#endif
