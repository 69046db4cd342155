// REQUIRES: reconverge
// RUN: %reconverge cc -O2 -std=c++17 -I%source/include -DRECONVERGE_CHECK \
// RUN:   %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=check=on,seed=5 %t \
// RUN:   | FileCheck %s
// CHECK: 0 wrong of 5267

//===- test/remap/net.cu - Nets and trees against their contract ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights and inputs are small whole numbers of which all sums are exact, so that a
// thread, a warp on tensor cores and the host have to agree, also on which of equal
// outputs comes first. Where words of net_tiles lie is written down anew here.
//
//===----------------------------------------------------------------------===//
#include "../vm/Inputs/check.h"
#include <cmath>
#include <cstdint>
#include <cstring>
#include <reconverge/reconverge.cuh>
#include <vector>

static constexpr int Items = 7 * 32 + 5;

static __device__ const reconverge::tree_node Tree[] = {
    {0, 1.5f, 4}, {1, 0, 3}, {-1, 0, 7}, {-1, 0, 5}, {-1, 0, 3}};

template <int I, int H, int C>
__global__ void classify(const reconverge::net_weights<I, H, C> *Net,
                         const reconverge::net_tiles<I, H, C> *Tiles,
                         const float *In, int *Fma, int *Mma, int *ByTree) {
  const reconverge::warp_net<I, H, C> OfWarp(*Tiles);
  for (int First = blockIdx.x * blockDim.x; First < Items;
       First += gridDim.x * blockDim.x) {
    const int At = First + threadIdx.x, From = At < Items ? At : 0;
    float X[I];
    for (int K = 0; K < I; ++K)
      X[K] = In[From * I + K];
    const int Class = OfWarp(X);
    if (At >= Items)
      continue;
    Mma[At] = Class;
    Fma[At] = reconverge::net_class(*Net, X);
    if constexpr (I > 1)
      ByTree[At] = reconverge::tree_class(Tree, X);
  }
}

/// A small whole number as f16.
static uint32_t half(int X) {
  if (X == 0)
    return 0;
  int Exponent = 0;
  const int Size = X < 0 ? -X : X;
  while (Size >> (Exponent + 1))
    ++Exponent;
  return uint32_t(X < 0) << 15 | uint32_t(15 + Exponent) << 10 |
         (uint32_t(Size) << (10 - Exponent) & 0x3ff);
}

template <int I, int H, int C> static void check() {
  using Tiles = reconverge::net_tiles<I, H, C>;
  static_assert(H % 8 == 0, "or the host's table is too small");
  static int Hidden[64][16], Output[32][64];
  auto *Net = managed<reconverge::net_weights<I, H, C>>(1);
  auto *OfWarp = managed<Tiles>(1);
  float *In = managed<float>(Items * I);
  int *Fma = managed<int>(Items), *Mma = managed<int>(Items),
      *ByTree = managed<int>(Items);
  std::memset(Hidden, 0, sizeof Hidden);
  std::memset(Output, 0, sizeof Output);
  const float Bias = 50; // above any sum of a hidden unit
  for (int K = 0; K < I; ++K) {
    Net->scale[K] = OfWarp->scale[K] = 1;
    Net->shift[K] = OfWarp->shift[K] = -1;
  }
  for (int J = 0; J < H; ++J) {
    Net->hidden_bias[J] = Bias;
    for (int K = 0; K < I; ++K)
      Net->hidden[J * I + K] = Hidden[J][K] = int(next() % 3) - 1;
  }
  for (int K = 0; K < C; ++K) {
    Net->output_bias[K] = float(K % 3);
    for (int J = 0; J < H; ++J)
      Net->output[K * H + J] = Output[K][J] = int(next() % 5) - 2;
  }
  for (int Row = 0, At = 0; Row < I; ++Row)
    for (int K = Row; K < I; ++K)
      OfWarp->mix[At++] = K == Row;
  const int Steps = (H + 15) / 16, Classes = (C + 7) / 8;
  for (int Lane = 0; Lane < 32; ++Lane) {
    const int G = Lane / 4, T = Lane % 4;
    int Word = 0;
    auto Put = [&](uint32_t X) {
      OfWarp->words[Word / 4 * 128 + 4 * Lane + Word % 4] = X;
      ++Word;
    };
    auto PutFloat = [&](float X) {
      uint32_t Bits;
      std::memcpy(&Bits, &X, 4);
      Put(Bits);
    };
    for (int Tile = 0; Tile < 2 * Steps; ++Tile)
      for (int K : {4 * T, 4 * T + 2})
        Put(half(Hidden[8 * Tile + G][K]) | half(Hidden[8 * Tile + G][K + 1])
                                                << 16);
    for (int Tile = 0; Tile < 2 * Steps; ++Tile)
      for (int E = 0; E < 2; ++E)
        PutFloat(8 * Tile + 2 * T + E < H ? Bias : 0);
    for (int Step = 0; Step < Steps; ++Step)
      for (int Tile = 0; Tile < Classes; ++Tile)
        for (int J : {16 * Step + 2 * T, 16 * Step + 8 + 2 * T})
          Put(half(Output[8 * Tile + G][J]) | half(Output[8 * Tile + G][J + 1])
                                                  << 16);
    for (int Tile = 0; Tile < Classes; ++Tile)
      for (int E = 0; E < 2; ++E) {
        const int K = 8 * Tile + 2 * T + E;
        PutFloat(K < C ? float(K % 3) : -3e38f);
      }
  }
  for (int At = 0; At < Items * I; ++At)
    In[At] = float(next() % 4);

  classify<I, H, C><<<2, 96>>>(Net, OfWarp, In, Fma, Mma, ByTree);
  finish();
  for (int At = 0; At < Items; ++At) {
    int Best = 0, Most = 0;
    for (int K = 0; K < C; ++K) {
      int Sum = K % 3;
      for (int J = 0; J < H; ++J) {
        int Unit = int(Bias);
        for (int X = 0; X < I; ++X)
          Unit += Hidden[J][X] * (int(In[At * I + X]) - 1);
        Sum += Output[K][J] * Unit;
      }
      if (K == 0 || Sum > Most) {
        Best = K;
        Most = Sum;
      }
    }
    expect("net_class", At, Fma[At], Best);
    expect("warp_net", At, Mma[At], Best);
    if (I > 1)
      expect("tree_class", At, ByTree[At],
             !(In[At * I] <= 1.5f) ? 3
             : In[At * I + 1] <= 0 ? 7
                                   : 5);
  }

  // What is no number gives some class, and takes none of the others along.
  const std::vector<int> Before(Mma, Mma + Items);
  In[3 * I] = std::nanf("");
  In[40 * I] = INFINITY;
  classify<I, H, C><<<1, 64>>>(Net, OfWarp, In, Fma, Mma, ByTree);
  finish();
  for (int At = 0; At < Items; ++At)
    if (At == 3 || At == 40)
      expect("a class", At,
             Mma[At] >= 0 && Mma[At] < C && Fma[At] >= 0 && Fma[At] < C, true);
    else
      expect("again", At, Mma[At], Before[At]);
}

int main() {
  check<1, 8, 2>();
  check<2, 16, 8>();
  check<5, 24, 17>();
  check<9, 32, 9>();
  check<16, 32, 32>();
  check<16, 64, 10>();
  return summary();
}
