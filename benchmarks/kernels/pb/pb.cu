//===- benchmarks/kernels/pb/pb.cu - Pooling, backward --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient of max pooling (paper 3, PB), with that of the ReLU before it: a
// thread has one value of the layer below. If ReLU had let it pass, the thread
// goes through all windows that contain it and adds the gradients of those
// whose maximum it was, as the forward pass has noted; otherwise it is 0.
// Windows are 5 by 5 and one apart, as in spatial pyramid pooling. Gradients
// are whole numbers (quantised), so every build computes the same.
//
// Remapped (common/remap.h): the values of a block that passed go together.
//
//===----------------------------------------------------------------------===//
#include "../common/regroup.h"

#include <algorithm>

static constexpr int Block = 256, Reach = 2; // a window is 2 * Reach + 1 wide

struct Layer {
  const short *Value;  ///< of [channel][y][x], after ReLU: 0 or above
  const int *Mask;     ///< of each window: which value of its channel it took
  const int *Gradient; ///< of each window, from above
  int Side;
};

/// The sum over the windows that took value At, at (X, Y) of the channel that
/// begins at First.
HD static int gather(const Layer &L, int First, int At, int X, int Y) {
  int Sum = 0;
#pragma unroll 1
  for (int V = Y - Reach; V <= Y + Reach; ++V)
#pragma unroll
    for (int U = X - Reach; U <= X + Reach; ++U) {
      if (V < 0 || V >= L.Side || U < 0 || U >= L.Side)
        continue;
      const int W = V * L.Side + U;
      if (L.Mask[First + W] == At)
        Sum += L.Gradient[First + W];
    }
  return Sum;
}

HD static int gradient(const Layer &L, int I) {
  const int Area = L.Side * L.Side, At = I % Area;
  return gather(L, I - At, At, At % L.Side, At / L.Side);
}

__global__ void plain(Layer L, int *Out, int Count) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I >= Count)
    return;
  if (L.Value[I] > 0)
    Out[I] = gradient(L, I);
  else
    Out[I] = 0;
}

template <typename Way> __global__ void remapped(Layer L, int *Out, int Count) {
  __shared__ typename Way::temp_storage Storage;
  Way Trade(Storage, threadIdx.x);
  const int First = blockIdx.x * Block, I = First + threadIdx.x;
  const bool Passed = I < Count && L.Value[I] > 0;
  if (I < Count && !Passed) // needs no place of its own
    Out[I] = 0;
  const auto New = Trade(Passed);
  if (New.path)
    Out[First + New.id] = gradient(L, First + New.id);
}

template <typename Collect>
__global__ void collected(Layer L, int *Out, int Count) {
  __shared__ typename Collect::temp_storage Storage;
  const int First = blockIdx.x * Collect::items;
  Collect Items(Storage);
  Items(
      Count - First,
      [&](int I) {
        if (L.Value[First + I] > 0)
          return 0;
        Out[First + I] = 0;
        return -1;
      },
      [&](int I, int) { Out[First + I] = gradient(L, First + I); });
}

// Regrouped: what has a gradient first.
__global__ void findKeys(Layer L, unsigned char *Keys, int Count) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < Count)
    Keys[I] = L.Value[I] <= 0;
}
__global__ void regrouped(Layer L, int *Out, int Count, const int *Offsets,
                          const int *Ids) {
  const int T = blockIdx.x * Block + threadIdx.x;
  if (T >= Count)
    return;
  const int I = Ids[T];
  Out[I] = T < Offsets[1] ? gradient(L, I) : 0;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "pb");
  const int Side = Run.integer("side", 52, 8, 1024);
  const int Channels = Run.integer("channels", 8, 1, 1 << 16);
  const long Remap = chosenWay(Run);
  Run.ready();

  // Features: what a convolution finds is some pixels wide, and noisy.
  const int Area = Side * Side, Count = Area * Channels;
  std::vector<short> Values(Count);
  Random Draw = Run.random();
  constexpr int Step = 4;
  const int Across = Side / Step + 2;
  for (int C = 0; C < Channels; ++C) {
    std::vector<int> Coarse(Across * Across);
    for (int &V : Coarse)
      V = int(Draw.below(2000)) - 1150;
    for (int I = 0; I < Area; ++I) {
      const int X = I % Side, Y = I / Side, U = X % Step, V = Y % Step;
      const int *At = &Coarse[Y / Step * Across + X / Step];
      const int Smooth = (At[0] * (Step - U) + At[1] * U) * (Step - V) +
                         (At[Across] * (Step - U) + At[Across + 1] * U) * V;
      const int Value = Smooth / (Step * Step) + int(Draw.below(600)) - 300;
      Values[C * Area + I] = short(std::max(Value, 0));
    }
  }
  // Forward: the first of the largest.
  std::vector<int> Masks(Count), Gradients(Count);
  for (int C = 0; C < Channels; ++C)
    for (int I = 0; I < Area; ++I) {
      const int X = I % Side, Y = I / Side;
      int Best = I;
      for (int V = std::max(Y - Reach, 0); V <= std::min(Y + Reach, Side - 1);
           ++V)
        for (int U = std::max(X - Reach, 0); U <= std::min(X + Reach, Side - 1);
             ++U) {
          const int W = V * Side + U;
          if (Values[C * Area + W] > Values[C * Area + Best])
            Best = W;
        }
      Masks[C * Area + I] = Best;
      Gradients[C * Area + I] = int(Draw.below(2001)) - 1000;
    }
  DeviceArray<short> Value(Values);
  DeviceArray<int> Mask(Masks), Gradient(Gradients);
  DeviceArray<int> Out(std::vector<int>(Count, 0));
  const Layer There = {Value, Mask, Gradient, Side};
  const Layer Here = {Values.data(), Masks.data(), Gradients.data(), Side};
  RemapWays<decltype(&plain)> All = {WAYS(plain, remapped<ByLibrary<Block, 2>>,
                                          remapped<ByCub<Block, 2>>,
                                          COLLECTED(1))};
  GridOrder<unsigned char> Order(isRegrouped(Remap) ? Count : 0, 1, true);
  const int Blocks = (Count + Block - 1) / Block;
  All.regroup(
      reinterpret_cast<const void *>(&regrouped), Block,
      [&] {
        findKeys<<<Blocks, Block>>>(There, Order.keys(), Count);
        Order.make();
      },
      [&] {
        regrouped<<<Blocks, Block>>>(There, Out, Count, Order.offsets(),
                                     Order.ids());
      });
  return All.run(
      Run, Remap, Block, [&] { Out.clear(); },
      [&](auto Kernel, Form F) {
        Kernel<<<F.blocks(Count), F.Threads>>>(There, Out, Count);
      },
      [&] { return Out.get(); },
      [&](const std::vector<int> &Got) {
        bool Right = true;
        for (int I = 0; I < Count; ++I)
          Right &= Got[I] == (Values[I] > 0 ? gradient(Here, I) : 0);
        return Right;
      });
}
