//===- benchmarks/kernels/sad/sad.cu - Sums of absolute differences -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where did a part of a video frame come from (paper 3, SAD)? Full search: a
// thread compares one macroblock of 16 by 16 pixels with one of the 33 by 33
// places around it in the frame before. Vectors may point out of the frame:
// then the nearest pixel of its edge is taken, pixel by pixel, which takes
// longer than where all of the place lies in the frame.
//
// Remapped (common/remap.h): places in the frame go together.
//
//===----------------------------------------------------------------------===//
#include "../common/output.h"
#include "../common/remap.h"

#include <algorithm>

static constexpr int Block = 256;
static constexpr int Width = 176, Height = 144, Pixels = Width * Height; // QCIF
static constexpr int Side = 16, Reach = 16, Across = 2 * Reach + 1;
static constexpr int Places = Across * Across;
static constexpr int Parts = Width / Side * (Height / Side);

/// What a thread compares: the macroblock at (X, Y) with the place at (U, V).
struct Search {
  const unsigned char *Now, *Before;
  int X, Y, U, V;

  HD Search(const unsigned char *Frames, int I) {
    const int Place = I % Places, Part = I / Places % Parts;
    Before = Frames + I / (Places * Parts) * Pixels;
    Now = Before + Pixels;
    X = Part % (Width / Side) * Side;
    Y = Part / (Width / Side) * Side;
    U = X + Place % Across - Reach;
    V = Y + Place / Across - Reach;
  }
  HD bool leaves() const {
    return U < 0 || V < 0 || U > Width - Side || V > Height - Side;
  }
};

HD static int within(const Search &S) {
  int Sum = 0;
#pragma unroll 1
  for (int B = 0; B < Side; ++B) {
    const unsigned char *P = S.Now + (S.Y + B) * Width + S.X;
    const unsigned char *Q = S.Before + (S.V + B) * Width + S.U;
#pragma unroll
    for (int A = 0; A < Side; ++A)
      Sum += P[A] > Q[A] ? P[A] - Q[A] : Q[A] - P[A];
  }
  return Sum;
}

HD static int limit(int At, int Size) {
  return At < 0 ? 0 : At >= Size ? Size - 1 : At;
}
HD static int atEdge(const Search &S) {
  int Sum = 0;
#pragma unroll 1
  for (int B = 0; B < Side; ++B) {
    const unsigned char *P = S.Now + (S.Y + B) * Width + S.X;
    const unsigned char *Q = S.Before + limit(S.V + B, Height) * Width;
#pragma unroll
    for (int A = 0; A < Side; ++A) {
      const int There = Q[limit(S.U + A, Width)];
      Sum += P[A] > There ? P[A] - There : There - P[A];
    }
  }
  return Sum;
}

__global__ void plain(const unsigned char *Frames, int *Out, int Count) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I >= Count)
    return;
  const Search S(Frames, I);
  if (S.leaves())
    Out[I] = atEdge(S);
  else
    Out[I] = within(S);
}

template <typename Way>
__global__ void remapped(const unsigned char *Frames, int *Out, int Count) {
  __shared__ typename Way::temp_storage Storage;
  Way Trade(Storage, threadIdx.x);
  const int First = blockIdx.x * Block, I = First + threadIdx.x;
  const auto New = Trade(I < Count ? Search(Frames, I).leaves() : 2);
  const Search S(Frames, First + New.id);
  if (New.path == 1)
    Out[First + New.id] = atEdge(S);
  else if (New.path == 0)
    Out[First + New.id] = within(S);
}

template <typename Collect>
__global__ void collected(const unsigned char *Frames, int *Out, int Count) {
  __shared__ typename Collect::temp_storage Storage;
  const int First = blockIdx.x * Collect::items;
  Collect Items(Storage);
  Items(
      Count - First, // the longest first
      [&](int I) { return !Search(Frames, First + I).leaves(); },
      [&](int I, int Within) {
        const Search S(Frames, First + I);
        if (Within)
          Out[First + I] = within(S);
        else
          Out[First + I] = atEdge(S);
      });
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "sad");
  const int Frames = Run.integer("frames", 1, 1, 1000);
  const long Remap = chosenWay(Run);
  const std::string Output = Run.output();
  Run.ready();

  // A scene that a camera pans over, twice as wide as a frame, and noise.
  std::vector<int> Scene(4 * Pixels, 110);
  Random Draw = Run.random();
  for (int K = 0; K < 600; ++K) {
    const int X = Draw.below(2 * Width), Y = Draw.below(2 * Height);
    const int W = 3 + Draw.below(50), H = 3 + Draw.below(50);
    const int Up = int(Draw.below(101)) - 50, Slope = Draw.below(4);
    for (int B = Y; B < std::min(Y + H, 2 * Height); ++B)
      for (int A = X; A < std::min(X + W, 2 * Width); ++A)
        Scene[B * 2 * Width + A] += Up + (A - X) * Slope / 4;
  }
  std::vector<unsigned char> Video;
  int X = Width / 2, Y = Height / 2;
  for (int F = 0; F <= Frames; ++F) {
    for (int I = 0; I < Pixels; ++I) {
      const int At = (Y + I / Width) * 2 * Width + X + I % Width;
      Video.push_back(std::clamp(Scene[At] + int(Draw.below(9)) - 4, 0, 255));
    }
    X = std::clamp(X + int(Draw.below(15)) - 7, 0, Width);
    Y = std::clamp(Y + int(Draw.below(15)) - 7, 0, Height);
  }
  const int Count = Frames * Parts * Places;
  DeviceArray<unsigned char> There(Video);
  DeviceArray<int> Out(std::vector<int>(Count, 0));
  const RemapWays<decltype(&plain)> All = {
      WAYS(plain, remapped<ByLibrary<Block, 3>>, remapped<ByCub<Block, 3>>,
           COLLECTED(2))};
  const auto Sums = [&] {
    const std::vector<int> Now = Out.get();
    writeFloats(Output, {Now.begin(), Now.end()});
    return Now;
  };
  return All.run(
      Run, Remap, Block, [&] { Out.clear(); },
      [&](auto Kernel, Form F) {
        Kernel<<<F.blocks(Count), F.Threads>>>(There, Out, Count);
      },
      Sums,
      [&](const std::vector<int> &Got) {
        bool Right = true;
        for (int I = 0; I < Count; ++I) {
          const Search S(Video.data(), I);
          Right &= Got[I] == (S.leaves() ? atEdge(S) : within(S));
        }
        return Right;
      });
}
