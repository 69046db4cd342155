// REQUIRES: reconverge
// RUN: %reconverge cc -O2 -std=c++17 -I%source/include -DRECONVERGE_CHECK \
// RUN:   %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=check=on,seed=5 %t \
// RUN:   | FileCheck %s
// CHECK: 0 wrong of 77760

//===- test/remap/warp.cu - warp_remap against its contract ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole and partial warps, each kind of distribution in a block of its own.
//
//===----------------------------------------------------------------------===//
#include "../vm/Inputs/check.h"
#include <reconverge/reconverge.cuh>
#include <vector>

static constexpr int Threads = 81, Blocks = 40; // the last warp has 17

struct Note {
  double Value;
  int Id, Path, Taker, Identity, Home;
};

template <int Paths> __global__ void warps(const int *Path, Note *Notes) {
  const int At = blockIdx.x * Threads + threadIdx.x, Lane = threadIdx.x % 32;
  reconverge::warp_remap<Paths> Remap(threadIdx.x < 64 ? ~0u : (1u << 17) - 1);
  const auto R = Remap(Path[At]);
  double Value = Lane * 1.5;
  char Byte = Lane;
  Remap.exchange(R, Value, Byte);
  int Home = R.id;
  Remap.exchange_back(R, Home);
  Notes[At] = {
      Byte == R.id ? Value : -1, R.id, R.path, R.taker, R.is_identity, Home};
}

template <int Paths> static void check(int *Path, Note *Notes) {
  for (int B = 0; B < Blocks; ++B)
    for (int T = 0; T < Threads; ++T)
      Path[B * Threads + T] = B == 0   ? 0
                              : B == 1 ? Paths - 1
                              : B == 2 ? T % Paths
                              : B == 3 ? (T == 40 || T == 70) * (Paths - 1)
                                       : next() % Paths;
  warps<Paths><<<Blocks, Threads>>>(Path, Notes);
  finish();
  for (int From = 0; From < Blocks * Threads;
       From += From % Threads == 64 ? 17 : 32) {
    const int Lanes = From % Threads == 64 ? 17 : 32;
    std::vector<int> Order;
    for (int P = 0; P < Paths; ++P)
      for (int L = 0; L < Lanes; ++L)
        if (Path[From + L] == P)
          Order.push_back(L);
    bool One = true;
    for (int L = 0; L < Lanes; ++L)
      One &= Path[From + L] == Path[From];
    for (int L = 0; L < Lanes; ++L) {
      const Note &N = Notes[From + L];
      expect("id", L, N.Id, Order[L]);
      expect("path", L, N.Path, Path[From + Order[L]]);
      expect("taker", L, Notes[From + Order[L]].Taker, L);
      expect("identity", L, N.Identity, int(One));
      expect("value", L, N.Value, Order[L] * 1.5);
      expect("home", L, N.Home, L);
    }
  }
}

int main() {
  int *Path = managed<int>(Blocks * Threads);
  Note *Notes = managed<Note>(Blocks * Threads);
  check<1>(Path, Notes);
  check<2>(Path, Notes);
  check<4>(Path, Notes);
  check<32>(Path, Notes);
  return summary();
}
