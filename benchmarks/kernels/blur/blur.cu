//===- benchmarks/kernels/blur/blur.cu - Recursive Gaussian ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blurs a picture by a Gaussian in as much time whatever its width (paper 4,
// recursiveGaussian): by R. Deriche's recursive filters (Recursively
// implementing the Gaussian and its derivatives, 1993), one that comes from the
// first pixel of a column and one that comes from the last.
//
//   down:  y[i] = a0 x[i] + a1 x[i-1]   - b1 y[i-1] - b2 y[i-2]
//   up:    y[i] = a2 x[i+1] + a3 x[i+2] - b1 y[i+1] - b2 y[i+2]
//
// A thread has a column; the picture is then transposed by tiles in shared
// memory, its rows are filtered as columns, and it is transposed back.
//
// The device works in float, the reference in double: a byte may differ by one.
//
//===----------------------------------------------------------------------===//
#include "../common/exact.h"
#include "../common/output.h"
#include "../common/picture.h"

static constexpr int Block = 64, Tile = 16;

template <typename Real> struct Filter {
  Real A0, A1, A2, A3, B1, B2;
  Real Down, Up; ///< what a run of ones before the first and last pixel gives
};

/// Deriche's coefficients for a Gaussian of so many pixels.
static Filter<double> gaussian(double Pixels) {
  const double Alpha = 1.695 / Pixels, E = std::exp(-Alpha), E2 = E * E;
  const double K = (1 - E) * (1 - E) / (1 + 2 * Alpha * E - E2);
  const double A0 = K, A1 = K * (Alpha - 1) * E, A2 = K * (Alpha + 1) * E,
               A3 = -K * E2, B1 = -2 * E, B2 = E2;
  return {A0,
          A1,
          A2,
          A3,
          B1,
          B2,
          (A0 + A1) / (1 + B1 + B2),
          (A2 + A3) / (1 + B1 + B2)};
}

__device__ static float4 ofBytes(uchar4 P) {
  return make_float4(float(P.x), float(P.y), float(P.z), float(P.w));
}
__device__ static unsigned char byteOf(float Value) {
  if (Value < 0)
    return 0;
  return Value > 254.5f ? 255 : static_cast<unsigned char>(Value + 0.5f);
}
__device__ static float mix(float A, float X, float B, float Y, float C,
                            float Z, float D, float W) {
  return fmaf(A, X, fmaf(B, Y, -fmaf(C, Z, product(D, W))));
}
__device__ static float4 mix(float A, float4 X, float B, float4 Y, float C,
                             float4 Z, float D, float4 W) {
  return make_float4(
      mix(A, X.x, B, Y.x, C, Z.x, D, W.x), mix(A, X.y, B, Y.y, C, Z.y, D, W.y),
      mix(A, X.z, B, Y.z, C, Z.z, D, W.z), mix(A, X.w, B, Y.w, C, Z.w, D, W.w));
}
__device__ static float4 times(float A, float4 X) {
  return make_float4(product(A, X.x), product(A, X.y), product(A, X.z),
                     product(A, X.w));
}

__global__ void filterColumns(const uchar4 *In, float4 *Part, uchar4 *Out,
                              int Width, int Height, Filter<float> F) {
  const int Column = int(blockIdx.x * Block + threadIdx.x);
  if (Column >= Width)
    return;
  float4 X1 = ofBytes(In[Column]); // beyond the border all is as at it
  float4 Y1 = times(F.Down, X1), Y2 = Y1;
  for (int Row = 0; Row < Height; ++Row) {
    const float4 X = ofBytes(In[Row * Width + Column]);
    const float4 Y = mix(F.A0, X, F.A1, X1, F.B1, Y1, F.B2, Y2);
    Part[Row * Width + Column] = Y;
    X1 = X;
    Y2 = Y1;
    Y1 = Y;
  }
  X1 = ofBytes(In[(Height - 1) * Width + Column]);
  float4 X2 = X1;
  Y1 = Y2 = times(F.Up, X1);
  for (int Row = Height - 1; Row >= 0; --Row) {
    const float4 Y = mix(F.A2, X1, F.A3, X2, F.B1, Y1, F.B2, Y2);
    const float4 P = Part[Row * Width + Column];
    X2 = X1;
    X1 = ofBytes(In[Row * Width + Column]);
    Y2 = Y1;
    Y1 = Y;
    Out[Row * Width + Column] =
        make_uchar4(byteOf(P.x + Y.x), byteOf(P.y + Y.y), byteOf(P.z + Y.z),
                    byteOf(P.w + Y.w));
  }
}

__global__ void transpose(const uchar4 *In, uchar4 *Out, int Width,
                          int Height) {
  __shared__ uchar4 Pixels[Tile][Tile + 1]; // unlike banks
  const int U = int(threadIdx.x), V = int(threadIdx.y);
  const int FromX = int(blockIdx.x) * Tile, FromY = int(blockIdx.y) * Tile;
  if (FromX + U < Width && FromY + V < Height)
    Pixels[V][U] = In[(FromY + V) * Width + FromX + U];
  __syncthreads();
  if (FromY + U < Height && FromX + V < Width)
    Out[(FromX + V) * Height + FromY + U] = Pixels[U][V];
}

/// One channel of a line, in double.
static void filterLine(std::vector<double> &Line, const Filter<double> &F) {
  const int Count = int(Line.size());
  const auto At = [&](int I) { return Line[std::clamp(I, 0, Count - 1)]; };
  std::vector<double> Sum(Count);
  double Y1 = F.Down * Line.front(), Y2 = Y1;
  for (int I = 0; I < Count; ++I) {
    const double Y = F.A0 * At(I) + F.A1 * At(I - 1) - F.B1 * Y1 - F.B2 * Y2;
    Sum[I] = Y;
    Y2 = Y1;
    Y1 = Y;
  }
  Y1 = Y2 = F.Up * Line.back();
  for (int I = Count - 1; I >= 0; --I) {
    const double Y =
        F.A2 * At(I + 1) + F.A3 * At(I + 2) - F.B1 * Y1 - F.B2 * Y2;
    Sum[I] += Y;
    Y2 = Y1;
    Y1 = Y;
  }
  for (int I = 0; I < Count; ++I) // kept in bytes between the two directions
    Line[I] = std::floor(std::clamp(Sum[I], 0., 254.9) + 0.5);
}

static bool isRight(const std::vector<uchar4> &In, int Width, int Height,
                    const Filter<double> &F, const std::vector<uchar4> &Got) {
  const auto *From = reinterpret_cast<const unsigned char *>(In.data());
  const auto *Is = reinterpret_cast<const unsigned char *>(Got.data());
  for (int Channel = 0; Channel < 4; ++Channel) {
    std::vector<std::vector<double>> Rows(Height, std::vector<double>(Width));
    for (int X = 0; X < Width; ++X) {
      std::vector<double> Column;
      for (int Y = 0; Y < Height; ++Y)
        Column.push_back(From[(Y * Width + X) * 4 + Channel]);
      filterLine(Column, F);
      for (int Y = 0; Y < Height; ++Y)
        Rows[Y][X] = Column[Y];
    }
    for (int Y = 0; Y < Height; ++Y) {
      filterLine(Rows[Y], F);
      for (int X = 0; X < Width; ++X)
        if (std::fabs(Rows[Y][X] - Is[(Y * Width + X) * 4 + Channel]) > 1)
          return false;
    }
  }
  return true;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "blur");
  const int Width = Run.integer("width", 128, 1, 1 << 14);
  const int Height = Run.integer("height", 96, 1, 1 << 14);
  const int Pixels = Run.integer("pixels", 5, 1, 100); // of the Gaussian
  const int Kind = Run.integer("kind", 0, 0, PictureKinds - 1);
  const std::string Output = Run.output();
  Run.ready();

  const std::vector<uchar4> In =
      colouredPicture(Run.random(), Kind, Width, Height);
  const Filter<double> D = gaussian(Pixels);
  const Filter<float> F = {float(D.A0),   float(D.A1), float(D.A2),
                           float(D.A3),   float(D.B1), float(D.B2),
                           float(D.Down), float(D.Up)};
  DeviceArray<uchar4> There(In), A(In), B(In);
  DeviceArray<float4> Part(std::vector<float4>(In.size()));
  const auto Tiles = [](int W, int H) {
    return dim3((W + Tile - 1) / Tile, (H + Tile - 1) / Tile);
  };
  const dim3 Square(Tile, Tile);
  Run.run([&] { A.clear(); },
          [&] {
            filterColumns<<<(Width + Block - 1) / Block, Block>>>(
                There, Part, A, Width, Height, F);
            transpose<<<Tiles(Width, Height), Square>>>(A, B, Width, Height);
            filterColumns<<<(Height + Block - 1) / Block, Block>>>(
                B, Part, A, Height, Width, F);
            transpose<<<Tiles(Height, Width), Square>>>(A, B, Height, Width);
          });
  const std::vector<uchar4> Got = B.get();
  writePicture(Output, Got, Width, Height);
  return Run.finish(!Run.checks() || isRight(In, Width, Height, D, Got),
                    checksum(Got));
}
