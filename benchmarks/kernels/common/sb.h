//===- benchmarks/kernels/common/sb.h - Host side of SB1 to SB3 -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs differ in what the two arms of their kernel do. Even threads
// take the upper arm, on arrays a and b, odd ones the lower, on c and d.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_SB_H
#define RECONVERGE_BENCHMARKS_SB_H

#include "bench.h"

struct SbVariant {
  using Arm = void (*)(unsigned *, unsigned *, unsigned, int, int);
  void (*Kernel)(unsigned *, unsigned *, unsigned *, unsigned *, int, int);
  Arm Upper, Lower;

  /// The reference: thread by thread; each touches its own words only.
  void onHost(std::vector<unsigned> (&V)[4], unsigned Block, int Outer,
              int Inner) const {
    for (size_t At = 0; At < V[0].size(); ++At) {
      unsigned W[4] = {V[0][At], V[1][At], V[2][At], V[3][At]};
      const unsigned t = At % Block;
      for (int i = 0; i < Outer; ++i)
        for (int j = 0; j < Inner; ++j) {
          if ((t + j) % 2 == 0)
            Upper(W, W + 1, 0, i, j);
          else
            Lower(W + 2, W + 3, 0, i, j);
        }
      for (int K = 0; K < 4; ++K)
        V[K][At] = W[K];
    }
  }
};

/// main of the program: runs \p Plain, or \p Mixed with random=1.
inline int runSb(int argc, char **argv, const char *Name,
                 const SbVariant &Plain, const SbVariant &Mixed) {
  Bench Run(argc, argv, Name);
  const long Blocks = Run.integer("blocks", 8, 1, 1 << 20);
  const long Block = Run.integer("block", 64, 1, 1024);
  const int Outer = int(Run.integer("outer", 4, 1, 1 << 20));
  const int Inner = int(Run.integer("inner", 8, 1, 1 << 20));
  const SbVariant &Chosen =
      Run.integer("random", 0, 0, 1) ? Mixed : Plain; // the -R variant
  Run.ready();

  std::vector<unsigned> In[4], Out[4];
  Random Draw = Run.random();
  for (auto &V : In) {
    V.resize(Blocks * Block);
    for (unsigned &X : V)
      X = Draw.bits();
  }
  DeviceArray<unsigned> A(In[0]), B(In[1]), C(In[2]), D(In[3]);
  Run.run(
      [&] {
        A.set(In[0]);
        B.set(In[1]);
        C.set(In[2]);
        D.set(In[3]);
      },
      [&] {
        Chosen.Kernel<<<Blocks, Block, 4 * Block * sizeof(unsigned)>>>(
            A, B, C, D, Outer, Inner);
      });
  Out[0] = A.get();
  Out[1] = B.get();
  Out[2] = C.get();
  Out[3] = D.get();
  if (Run.checks())
    Chosen.onHost(In, Block, Outer, Inner);
  uint64_t Sum = ChecksumSeed;
  bool Right = true;
  for (int K = 0; K < 4; ++K) {
    Sum = checksum(Out[K], Sum);
    Right &= In[K] == Out[K];
  }
  return Run.finish(Right, Sum);
}

#endif
