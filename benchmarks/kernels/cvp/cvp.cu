//===- benchmarks/kernels/cvp/cvp.cu - Prediction for vision --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is in each window of an image (paper 3, CVP)? Two layers of conditions
// on contrast and on the direction of the gradient send a window to one of four
// forests, each with features of its own: sums of boxes for flat windows, rows
// for horizontal and columns for vertical structure, local binary patterns for
// the rest. The trees are small and read by all threads. Whole numbers
// throughout, so every build computes the same.
//
// Remapped (common/remap.h): the forest is known after the conditions; threads
// of a block trade places by it and then predict.
//
//===----------------------------------------------------------------------===//
#include "../common/regroup.h"

#include <algorithm>

static constexpr int Block = 256;
static constexpr int Side = 8, Trees = 8, Depth = 6, Nodes = 1 << Depth;

/// Bytes of pixels, rows in a row; sums of the pixels above and left of one,
/// itself included.
struct Image {
  const unsigned char *Pixel;
  const int *Sum;
  int Width;
};

/// A node asks whether a feature of two places of the window is above a
/// threshold. Four forests of full trees; leaves have scores.
struct Node {
  short First, Second; ///< places in the window: y * Side + x
  int Threshold;
};
struct Forests {
  const Node *Nodes; ///< of [forest][tree][node], the root is 1
  const int *Scores; ///< of [forest][tree][leaf]
};

/// Pixels from (X, Y), W by H of them.
HD static int box(const Image &I, int X, int Y, int W, int H) {
  const int *S = I.Sum + Y * I.Width + X;
  const int Down = H * I.Width;
  return S[Down + W] - S[Down] - S[W] + S[0];
}

//===----------------------------------------------------------------------===//
// Which forest a window asks for
//===----------------------------------------------------------------------===//

enum Forest { Flat, Horizontal, Vertical, Texture };

HD static int forestOf(const Image &I, int X, int Y) {
  const int H = Side / 2;
  const int A = box(I, X, Y, H, H), B = box(I, X + H, Y, H, H);
  const int C = box(I, X, Y + H, H, H), D = box(I, X + H, Y + H, H, H);
  int Down = C + D - A - B, Right = B + D - A - C, Cross = A + D - B - C;
  Down = Down < 0 ? -Down : Down;
  Right = Right < 0 ? -Right : Right;
  Cross = Cross < 0 ? -Cross : Cross;
  if (Down + Right + Cross < 450) // contrast
    return Cross > 60 ? Texture : Flat;
  if (Cross * 2 > Down + Right)
    return Texture;
  return Down > Right ? Horizontal : Vertical;
}

//===----------------------------------------------------------------------===//
// The forests: each feature differs, the walk is the same
//===----------------------------------------------------------------------===//

template <typename Feature>
HD static int walk(const Forests &F, int Forest, Feature Of) {
  int Score = 0;
#pragma unroll 1
  for (int T = 0; T < Trees; ++T) {
    const int Tree = Forest * Trees + T;
    int At = 1;
#pragma unroll 1
    for (int D = 0; D < Depth; ++D) {
      const Node N = F.Nodes[Tree * Nodes + At];
      At = 2 * At + (Of(N.First, N.Second) > N.Threshold);
    }
    Score += F.Scores[Tree * Nodes + At - Nodes];
  }
  return Score;
}

HD static int flat(const Image &I, const Forests &F, int X, int Y) {
  return walk(F, Flat, [&](int A, int B) { // boxes of 2 by 2
    return box(I, X + A % 6, Y + A / 8 % 6, 2, 2) -
           box(I, X + B % 6, Y + B / 8 % 6, 2, 2);
  });
}

HD static int horizontal(const Image &I, const Forests &F, int X, int Y) {
  return walk(F, Horizontal, [&](int A, int B) { // two rows, weighed
    const unsigned char *P = I.Pixel + (Y + A / 8) * I.Width + X;
    const unsigned char *Q = I.Pixel + (Y + B / 8) * I.Width + X;
    int Sum = 0;
    for (int K = 0; K < 4; ++K)
      Sum += (K + 1) * (P[2 * K] - Q[2 * K]);
    return Sum;
  });
}

HD static int vertical(const Image &I, const Forests &F, int X, int Y) {
  return walk(F, Vertical, [&](int A, int B) { // two columns, their spread
    const unsigned char *P = I.Pixel + Y * I.Width + X + A % 8;
    int Low = 255, High = 0, Sum = 0;
    for (int K = 0; K < 4; ++K, P += 2 * I.Width) {
      const int V = P[0];
      Low = V < Low ? V : Low;
      High = V > High ? V : High;
      Sum += V - P[B % 8 - A % 8];
    }
    return Sum + High - Low;
  });
}

HD static int texture(const Image &I, const Forests &F, int X, int Y) {
  return walk(F, Texture, [&](int A, int B) { // local binary patterns
    const unsigned char *P =
        I.Pixel + (Y + 1 + A / 8 % 6) * I.Width + X + 1 + A % 6;
    const int Centre = P[0], W = I.Width;
    const int Code = (P[-W - 1] > Centre) | (P[-W] > Centre) << 1 |
                     (P[-W + 1] > Centre) << 2 | (P[1] > Centre) << 3 |
                     (P[W + 1] > Centre) << 4 | (P[W] > Centre) << 5 |
                     (P[W - 1] > Centre) << 6 | (P[-1] > Centre) << 7;
    return (Code >> (B & 3) & 31) * 6;
  });
}

HD static int predict(const Image &I, const Forests &F, int Forest, int X,
                      int Y) {
  if (Forest & 2) {
    if (Forest & 1)
      return texture(I, F, X, Y);
    return vertical(I, F, X, Y);
  }
  if (Forest & 1)
    return horizontal(I, F, X, Y);
  return flat(I, F, X, Y);
}

//===----------------------------------------------------------------------===//

/// A thread is a window; windows lie beside each other, in rows.
struct Place {
  int X, Y;
};
HD static Place placeOf(const Image &I, int Window) {
  const int Each = (I.Width - 2) / Side;
  return {Window % Each * Side, Window / Each * Side};
}

__global__ void plain(Image I, Forests F, int *Out, int Count) {
  const int W = blockIdx.x * Block + threadIdx.x;
  if (W >= Count)
    return;
  const Place P = placeOf(I, W);
  Out[W] = predict(I, F, forestOf(I, P.X, P.Y), P.X, P.Y);
}

template <typename Way>
__global__ void remapped(Image I, Forests F, int *Out, int Count) {
  __shared__ typename Way::temp_storage Storage;
  Way Trade(Storage, threadIdx.x);
  const int First = blockIdx.x * Block, W = First + threadIdx.x;
  const Place Own = placeOf(I, W);
  const auto New = Trade(W < Count ? forestOf(I, Own.X, Own.Y) : Texture + 1);
  if (New.path > Texture)
    return;
  const Place P = placeOf(I, First + New.id);
  Out[First + New.id] = predict(I, F, New.path, P.X, P.Y);
}

template <typename Collect>
__global__ void collected(Image I, Forests F, int *Out, int Count) {
  __shared__ typename Collect::temp_storage Storage;
  const int First = blockIdx.x * Collect::items;
  Collect Items(Storage);
  Items(
      Count - First,
      [&](int W) {
        const Place P = placeOf(I, First + W);
        return forestOf(I, P.X, P.Y);
      },
      [&](int W, int Forest) {
        const Place P = placeOf(I, First + W);
        Out[First + W] = predict(I, F, Forest, P.X, P.Y);
      });
}

__global__ void findKeys(Image I, unsigned char *Keys, int Count) {
  const int W = blockIdx.x * Block + threadIdx.x;
  if (W >= Count)
    return;
  const Place P = placeOf(I, W);
  Keys[W] = forestOf(I, P.X, P.Y);
}
__global__ void regrouped(Image I, Forests F, int *Out, int Count,
                          const unsigned char *Keys, const int *Ids) {
  const int T = blockIdx.x * Block + threadIdx.x;
  if (T >= Count)
    return;
  const int W = Ids[T];
  const Place P = placeOf(I, W);
  Out[W] = predict(I, F, Keys[W], P.X, P.Y);
}

/// Hills of three sizes, houses with edges, and noise of the camera.
static std::vector<unsigned char> paint(Random Draw, int Width, int Height) {
  std::vector<int> Level(size_t(Width) * Height, 90);
  const auto Bump = [&](int Count, int Largest, int Lift, bool House) {
    for (int K = 0; K < Count; ++K) {
      const int X = Draw.below(Width), Y = Draw.below(Height);
      const int W = 4 + Draw.below(Largest), H = 4 + Draw.below(Largest);
      const int Up = int(Draw.below(2 * Lift + 1)) - Lift;
      for (int B = Y; B < std::min(Y + H, Height); ++B)
        for (int A = X; A < std::min(X + W, Width); ++A) {
          const int U = (A - X) * (X + W - A) * 4 / (W * W / 16 + 1);
          const int V = (B - Y) * (Y + H - B) * 4 / (H * H / 16 + 1);
          Level[size_t(B) * Width + A] += House ? Up : Up * U * V / 256;
        }
    }
  };
  const int Area = Width * Height;
  Bump(Area / 16000 + 1, 200, 50, false);
  Bump(Area / 600 + 1, 40, 30, false);
  Bump(Area / 900 + 1, 24, 60, true);
  std::vector<unsigned char> Pixel(Level.size());
  for (size_t I = 0; I < Pixel.size(); ++I)
    Pixel[I] = std::clamp(Level[I] + int(Draw.below(13)) - 6, 0, 255);
  return Pixel;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "cvp");
  const int Width = Run.integer("width", 520, 16, 1 << 14);
  const int Height = Run.integer("height", 390, 16, 1 << 14);
  const long Remap = chosenWay(Run);
  Run.ready();

  const std::vector<unsigned char> Pixels = paint(Run.random(1), Width, Height);
  std::vector<int> Sums(Pixels.size());
  for (int Y = 1; Y < Height; ++Y)
    for (int X = 1, Row = 0; X < Width; ++X) {
      Row += Pixels[(Y - 1) * Width + X - 1];
      Sums[Y * Width + X] = Sums[(Y - 1) * Width + X] + Row;
    }
  std::vector<Node> Tests(4 * Trees * Nodes);
  std::vector<int> Leaves(Tests.size());
  Random Draw = Run.random();
  for (size_t I = 0; I < Tests.size(); ++I) {
    Tests[I] = {short(Draw.below(Side * Side)), short(Draw.below(Side * Side)),
                int(Draw.below(160)) - 60};
    Leaves[I] = int(Draw.below(2001)) - 1000;
  }
  const int Count = (Width - 2) / Side * ((Height - 2) / Side);
  DeviceArray<unsigned char> Pixel(Pixels);
  DeviceArray<int> Sum(Sums), Scores(Leaves), Out(std::vector<int>(Count, 0));
  DeviceArray<Node> NodesThere(Tests);
  const Image There = {Pixel, Sum, Width};
  const Image Here = {Pixels.data(), Sums.data(), Width};
  const Forests ForestsThere = {NodesThere, Scores};
  const Forests ForestsHere = {Tests.data(), Leaves.data()};
  RemapWays<decltype(&plain)> All = {WAYS(plain, remapped<ByLibrary<Block, 5>>,
                                          remapped<ByCub<Block, 5>>,
                                          COLLECTED(4))};
  GridOrder<unsigned char> Order(isRegrouped(Remap) ? Count : 0, 2);
  const int Blocks = (Count + Block - 1) / Block;
  All.regroup(
      reinterpret_cast<const void *>(&regrouped), Block,
      [&] {
        findKeys<<<Blocks, Block>>>(There, Order.keys(), Count);
        Order.make();
      },
      [&] {
        regrouped<<<Blocks, Block>>>(There, ForestsThere, Out, Count,
                                     Order.keys(), Order.ids());
      });
  return All.run(
      Run, Remap, Block, [&] { Out.clear(); },
      [&](auto Kernel, Form F) {
        Kernel<<<F.blocks(Count), F.Threads>>>(There, ForestsThere, Out, Count);
      },
      [&] { return Out.get(); },
      [&](const std::vector<int> &Got) {
        bool Right = true;
        for (int W = 0; W < Count; ++W) {
          const Place P = placeOf(Here, W);
          Right &= Got[W] == predict(Here, ForestsHere,
                                     forestOf(Here, P.X, P.Y), P.X, P.Y);
        }
        return Right;
      });
}
