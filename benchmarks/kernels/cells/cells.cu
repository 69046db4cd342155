//===- benchmarks/kernels/cells/cells.cu - Neighbours within cells --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Points of the plane lie in cells, and of each point the others of its cell
// within a distance are counted. A thread block has a cell: it brings the points
// into shared memory, a tile at a time, and each thread looks at all of a tile.
// So a block's work is the square of its points.
//
// Cells have as many points as things have that cluster: by a power law, P(n) ~
// n^-2.2, from `least` up to `spread` times that, in no order. With rising=1
// cells stand by rising number of points, so that the last thread blocks take
// longest, as those do that work on the rows of a triangle. With even=1 all have
// as many.
//
// By hand: the kernel takes its cell from an index, that has those with the most
// points first. The host makes it, outside of what is timed.
//
//===----------------------------------------------------------------------===//
#include "../common/ways.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

constexpr int Threads = 128;

struct Cells {
  const int *Starts; ///< of cell c: points Starts[c] to Starts[c + 1]
  const float2 *Points;
  unsigned *Near; ///< of each point
  float Reach;    ///< square of the distance
};

__host__ __device__ inline bool isNear(float2 A, float2 B, float Reach) {
  const float X = A.x - B.x, Y = A.y - B.y;
  return fmaf(X, X, Y * Y) < Reach;
}

__device__ void countCell(const Cells &In, int Cell) {
  __shared__ float2 Tile[Threads];
  const int Begin = In.Starts[Cell], End = In.Starts[Cell + 1];
  for (int Mine = Begin; Mine < End; Mine += Threads) {
    const int I = Mine + int(threadIdx.x);
    const float2 Point = In.Points[min(I, End - 1)];
    unsigned Count = 0;
    for (int First = Begin; First < End; First += Threads) {
      const int Here = min(End - First, Threads);
      __syncthreads();
      if (int(threadIdx.x) < Here)
        Tile[threadIdx.x] = In.Points[First + threadIdx.x];
      __syncthreads();
      for (int K = 0; K < Here; ++K)
        Count += isNear(Point, Tile[K], In.Reach);
    }
    if (I < End)
      In.Near[I] = Count;
  }
}

__global__ void __launch_bounds__(Threads) plain(Cells In) {
  countCell(In, int(blockIdx.x));
}

__global__ void __launch_bounds__(Threads) indexed(Cells In, const int *Order) {
  countCell(In, Order[blockIdx.x]);
}

/// Where cells begin, and the end.
static std::vector<int> cells(Random &Draw, long Count, long Least, long Spread,
                              bool Rising, bool Even) {
  std::vector<int> Sizes;
  for (long C = 0; C < Count; ++C) {
    // P(size > n) = (least / n)^1.2.
    const double U = 1 - double(Draw.uniform());
    const double Drawn = double(Least) * std::pow(U, -1 / 1.2);
    Sizes.push_back(Even ? int(2 * Least)
                         : int(std::min(Drawn, double(Least * Spread))));
  }
  if (Rising)
    std::sort(Sizes.begin(), Sizes.end());
  std::vector<int> Starts{0};
  for (int Size : Sizes)
    Starts.push_back(Starts.back() + Size);
  return Starts;
}

static std::vector<unsigned> onHost(const std::vector<int> &Starts,
                                    const std::vector<float2> &Points,
                                    float Reach) {
  std::vector<unsigned> Near;
  for (size_t C = 0; C + 1 < Starts.size(); ++C)
    for (int I = Starts[C]; I < Starts[C + 1]; ++I) {
      unsigned Count = 0;
      for (int K = Starts[C]; K < Starts[C + 1]; ++K)
        Count += isNear(Points[I], Points[K], Reach);
      Near.push_back(Count);
    }
  return Near;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "cells");
  const long Count = Run.integer("cells", 300, 1, 1 << 22);
  const long Least = Run.integer("least", 16, 1, 4096);
  const long Spread = Run.integer("spread", 8, 1, 64);
  const bool Rising = Run.integer("rising", 0, 0, 1);
  const bool Even = Run.integer("even", 0, 0, 1);
  const long Form = Run.integer("form", 0, 0, 2);
  Run.ready();

  Random Draw = Run.random();
  const std::vector<int> Starts =
      cells(Draw, Count, Least, Spread, Rising, Even);
  std::vector<float2> Points;
  for (int I = 0; I < Starts.back(); ++I) {
    const float X = Draw.uniform();
    Points.push_back({X, Draw.uniform()});
  }
  std::vector<int> Order(Count);
  std::iota(Order.begin(), Order.end(), 0);
  std::sort(Order.begin(), Order.end(), [&](int A, int B) {
    return std::pair(Starts[A] - Starts[A + 1], A) <
           std::pair(Starts[B] - Starts[B + 1], B);
  });

  DeviceArray<int> OnDevice(Starts), Index(Order);
  DeviceArray<float2> Places(Points);
  DeviceArray<unsigned> Near{std::vector<unsigned>(Points.size())};
  const Cells In{OnDevice, Places, Near, /*Reach=*/0.04f};
  const unsigned Blocks = unsigned(Count);
  const std::vector<Way> Ways = {
      {"plain", (const void *)plain, Threads,
       [&] { plain<<<Blocks, Threads>>>(In); }},
      {"sorted", (const void *)indexed, Threads,
       [&] { indexed<<<Blocks, Threads>>>(In, Index); }}};
  return runWays(
      Run, Ways, Form, [&] { Near.clear(); }, [&] { return Near.get(); },
      [&](const std::vector<unsigned> &Got) {
        return Got == onHost(Starts, Points, In.Reach);
      });
}
