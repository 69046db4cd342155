//===- benchmarks/kernels/sobel/sobel.cu - Edges of a picture -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sobel's filter (paper 4, SobelFilter): how fast a picture changes from left
// to right and from top to bottom, by two sums over the 3 by 3 pixels around
// each; their magnitudes, scaled and cut to a byte, are the picture of its
// edges. Pixels beyond the border are those at the border. A block has a row,
// and reads its pixels where they lie; with tiled=1 a block has a square and
// reads it, with the pixels around, into shared memory first.
//
//===----------------------------------------------------------------------===//
#include "../common/output.h"
#include "../common/picture.h"

static constexpr int RowThreads = 128, Edge = 16, Wide = Edge + 2;

struct Picture {
  const unsigned char *Pixels;
  int Width, Height;
  int Scale; ///< of the edges, in sixteenths
};

/// The pixels around one: upper left, upper middle, and so on.
__device__ static unsigned char edge(int UL, int UM, int UR, int ML, int MR,
                                     int LL, int LM, int LR, int Scale) {
  const int Across = UR + 2 * MR + LR - UL - 2 * ML - LL;
  const int Down = UL + 2 * UM + UR - LL - 2 * LM - LR;
  const int Sum = (abs(Across) + abs(Down)) * Scale / 16;
  if (Sum > 255)
    return 255;
  return static_cast<unsigned char>(Sum);
}

/// The nearest pixel there is.
__device__ static int pixel(const Picture &P, int X, int Y) {
  if (X < 0)
    X = 0;
  else if (X >= P.Width)
    X = P.Width - 1;
  if (Y < 0)
    Y = 0;
  else if (Y >= P.Height)
    Y = P.Height - 1;
  return P.Pixels[Y * P.Width + X];
}

__global__ void sobel(Picture P, unsigned char *Out) {
  const int Y = int(blockIdx.x);
  for (int X = int(threadIdx.x); X < P.Width; X += RowThreads)
    Out[Y * P.Width + X] =
        edge(pixel(P, X - 1, Y - 1), pixel(P, X, Y - 1), pixel(P, X + 1, Y - 1),
             pixel(P, X - 1, Y), pixel(P, X + 1, Y), pixel(P, X - 1, Y + 1),
             pixel(P, X, Y + 1), pixel(P, X + 1, Y + 1), P.Scale);
}

__global__ void sobelTiled(Picture P, unsigned char *Out) {
  __shared__ unsigned char Tile[Wide][Wide];
  const int FromX = int(blockIdx.x) * Edge, FromY = int(blockIdx.y) * Edge;
  for (int I = int(threadIdx.y * Edge + threadIdx.x); I < Wide * Wide;
       I += Edge * Edge)
    Tile[I / Wide][I % Wide] = static_cast<unsigned char>(
        pixel(P, FromX + I % Wide - 1, FromY + I / Wide - 1));
  __syncthreads();
  const int U = int(threadIdx.x), V = int(threadIdx.y);
  if (FromX + U < P.Width && FromY + V < P.Height)
    Out[(FromY + V) * P.Width + FromX + U] =
        edge(Tile[V][U], Tile[V][U + 1], Tile[V][U + 2], Tile[V + 1][U],
             Tile[V + 1][U + 2], Tile[V + 2][U], Tile[V + 2][U + 1],
             Tile[V + 2][U + 2], P.Scale);
}

/// The two sums as products with their matrices.
static std::vector<unsigned char>
reference(const std::vector<unsigned char> &In, int Width, int Height,
          int Scale) {
  static const int Weights[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
  std::vector<unsigned char> Out;
  for (int Y = 0; Y < Height; ++Y)
    for (int X = 0; X < Width; ++X) {
      int Across = 0, Down = 0;
      for (int B = -1; B <= 1; ++B)
        for (int A = -1; A <= 1; ++A) {
          const int U = std::clamp(X + A, 0, Width - 1);
          const int V = std::clamp(Y + B, 0, Height - 1);
          Across += Weights[B + 1][A + 1] * In[V * Width + U];
          Down += Weights[A + 1][B + 1] * In[V * Width + U];
        }
      const int Sum = (std::abs(Across) + std::abs(Down)) * Scale / 16;
      Out.push_back(static_cast<unsigned char>(std::min(Sum, 255)));
    }
  return Out;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "sobel");
  const int Width = Run.integer("width", 160, 1, 1 << 14);
  const int Height = Run.integer("height", 120, 1, 1 << 14);
  const int Scale = Run.integer("scale", 8, 1, 1000);
  const int Tiled = Run.integer("tiled", 0, 0, 1);
  const int Kind = Run.integer("kind", 0, 0, PictureKinds - 1);
  const std::string Output = Run.output();
  Run.ready();

  const std::vector<unsigned char> In =
      greyPicture(Run.random(), Kind, Width, Height);
  DeviceArray<unsigned char> There(In), Out(In);
  const Picture P = {There, Width, Height, Scale};
  Run.run([&] { Out.clear(); },
          [&] {
            if (Tiled)
              sobelTiled<<<dim3((Width + Edge - 1) / Edge,
                                (Height + Edge - 1) / Edge),
                           dim3(Edge, Edge)>>>(P, Out);
            else
              sobel<<<Height, RowThreads>>>(P, Out);
          });
  const std::vector<unsigned char> Got = Out.get();
  const bool Right = // whole numbers: no byte may differ
      !Run.checks() || Got == reference(In, Width, Height, Scale);
  writePicture(Output, Got, Width, Height);
  return Run.finish(Right, checksum(Got));
}
