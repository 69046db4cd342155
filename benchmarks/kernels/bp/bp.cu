//===- benchmarks/kernels/bp/bp.cu - Back projection ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An image from its projections (paper 3, BP): a thread has one pixel and adds,
// over all angles, the filtered projection at the place of the detector that
// the ray through the pixel hits, between two cells. Only pixels of the body
// are made, as in iterative reconstruction: a mask says which, and air is 0.
// Places are whole numbers (1/4096 of a cell), so every build computes the
// same.
//
// Remapped (common/remap.h): the pixels of a block that are in the body go
// together; the others' warps have nothing to do.
//
//===----------------------------------------------------------------------===//
#include "../common/remap.h"

#include <cmath>

static constexpr int Edge = 16, Block = Edge * Edge; // a block is a square

struct Scan {
  const int *Sinogram;       ///< of [angle][cell], filtered
  const int *Cosine, *Sine;  ///< of [angle], times 4096
  const unsigned char *Mask; ///< of [pixel]
  int Angles, Cells, Side;
};

HD static int pixel(const Scan &S, int X, int Y) {
  const int U = X - S.Side / 2, V = Y - S.Side / 2;
  int Sum = 0;
#pragma unroll 4
  for (int A = 0; A < S.Angles; ++A) {
    const int Place = U * S.Cosine[A] + V * S.Sine[A] + S.Cells / 2 * 4096;
    const int Cell = Place >> 12, Part = Place & 4095;
    const int *Row = S.Sinogram + A * S.Cells + Cell;
    Sum += (Row[0] * (4096 - Part) + Row[1] * Part) >> 12;
  }
  return Sum;
}

HD static int toX(int Thread) { return Thread % Edge; }
HD static int toY(int Thread) { return Thread / Edge; }

__global__ void plain(Scan S, int *Out) {
  const int X = blockIdx.x * Edge + toX(threadIdx.x);
  const int Y = blockIdx.y * Edge + toY(threadIdx.x);
  if (S.Mask[Y * S.Side + X])
    Out[Y * S.Side + X] = pixel(S, X, Y);
  else
    Out[Y * S.Side + X] = 0;
}

template <typename Way> __global__ void remapped(Scan S, int *Out) {
  __shared__ typename Way::temp_storage Storage;
  Way Trade(Storage, threadIdx.x);
  const int FromX = blockIdx.x * Edge, FromY = blockIdx.y * Edge;
  const auto New = Trade(
      S.Mask[(FromY + toY(threadIdx.x)) * S.Side + FromX + toX(threadIdx.x)]);
  const int X = FromX + toX(New.id), Y = FromY + toY(New.id);
  if (New.path)
    Out[Y * S.Side + X] = pixel(S, X, Y);
  else
    Out[Y * S.Side + X] = 0;
}

/// A block has some squares of a row.
template <typename Collect> __global__ void collected(Scan S, int *Out) {
  __shared__ typename Collect::temp_storage Storage;
  const int FromX = blockIdx.x * (Collect::items / Edge);
  const int FromY = blockIdx.y * Edge;
  const auto XOf = [&](int I) {
    return FromX + I / Block * Edge + toX(I % Block);
  };
  const auto YOf = [&](int I) { return FromY + toY(I % Block); };
  Collect Items(Storage);
  Items((S.Side - FromX) * Edge,
        [&](int I) {
          const int At = YOf(I) * S.Side + XOf(I);
          if (S.Mask[At])
            return 0;
          Out[At] = 0;
          return -1;
        },
        [&](int I, int) {
          const int X = XOf(I), Y = YOf(I);
          Out[Y * S.Side + X] = pixel(S, X, Y);
        });
}

/// Ellipses: a trunk, lungs in it (air: not in the mask), vessels and bones.
struct Ellipse {
  double X, Y, A, B, Turn;
  int Value;
  bool Air;
};
static bool inside(const Ellipse &E, double X, double Y) {
  const double U = X - E.X, V = Y - E.Y;
  const double P = (U * std::cos(E.Turn) + V * std::sin(E.Turn)) / E.A;
  const double Q = (V * std::cos(E.Turn) - U * std::sin(E.Turn)) / E.B;
  return P * P + Q * Q <= 1;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "bp");
  const int Side = Run.integer("side", 256, 32, 1 << 13) / Edge * Edge;
  const int Angles = Run.integer("angles", 60, 1, 720);
  const long Remap = chosenWay(Run);
  Run.ready();

  std::vector<Ellipse> Body = {{0, 0, .8, .6, 0, 100, false},
                               {-.35, .05, .25, .38, .2, 0, true},
                               {.35, .05, .25, .38, -.2, 0, true},
                               {0, -.45, .1, .08, 0, 220, false}};
  Random Draw = Run.random();
  const auto Any = [&](double From, double To) {
    return From + (To - From) * Draw.uniform();
  };
  // Some pixels across and so many in an area, whatever the image's size.
  const auto Small = [&](double Most) { return Any(1, Most) * 2 / Side; };
  for (int I = 0; I < Side * Side / 300; ++I) // vessels in the lungs
    Body.push_back({Any(.15, .55) * (I % 2 ? 1 : -1), Any(-.3, .4), Small(4),
                    Small(4), Any(0, 3), 120, false});
  for (int I = 0; I < Side * Side / 500; ++I) // gas in the gut
    Body.push_back(
        {Any(-.6, .6), Any(-.5, .5), Small(4), Small(4), Any(0, 3), 0, true});
  // What is drawn later lies above.
  std::vector<unsigned char> Mask(size_t(Side) * Side);
  for (const Ellipse &E : Body) {
    const double Reach = std::max(E.A, E.B);
    const auto Cell = [&](double At) {
      return std::min(std::max(int((At + 1) / 2 * Side), 0), Side - 1);
    };
    for (int Y = Cell(E.Y - Reach); Y <= Cell(E.Y + Reach); ++Y)
      for (int X = Cell(E.X - Reach); X <= Cell(E.X + Reach); ++X)
        if (inside(E, 2. * X / Side - 1, 2. * Y / Side - 1))
          Mask[size_t(Y) * Side + X] = !E.Air;
  }
  // What a ray through the ellipses sums up, less the mean of its neighbours:
  // a short filter.
  const int Cells = Side * 3 / 2;
  std::vector<int> Cosine, Sine, Sinogram(size_t(Angles) * Cells);
  for (int A = 0; A < Angles; ++A) {
    const double Angle = 3.14159265358979 * A / Angles;
    Cosine.push_back(int(std::lround(std::cos(Angle) * 4096)));
    Sine.push_back(int(std::lround(std::sin(Angle) * 4096)));
    std::vector<double> Line(Cells);
    for (const Ellipse &E : Body) {
      const double C = std::cos(Angle - E.Turn), S = std::sin(Angle - E.Turn);
      const double R2 = E.A * E.A * C * C + E.B * E.B * S * S;
      const double Middle = E.X * std::cos(Angle) + E.Y * std::sin(Angle);
      const auto Cell = [&](double At) {
        return int(At * Side / 2) + Cells / 2;
      };
      const double R = std::sqrt(R2);
      for (int I = Cell(Middle - R); I <= Cell(Middle + R) + 1; ++I) {
        const double At = (I - Cells / 2) * 2. / Side - Middle;
        if (At * At < R2)
          Line[I] += 2 * (E.Air ? -100 : E.Value) * E.A * E.B *
                     std::sqrt(R2 - At * At) / R2;
      }
    }
    for (int I = 1; I + 1 < Cells; ++I)
      Sinogram[size_t(A) * Cells + I] =
          int(std::lround(64 * (Line[I] - .45 * (Line[I - 1] + Line[I + 1]))));
  }
  DeviceArray<unsigned char> MaskThere(Mask);
  DeviceArray<int> Sums(Sinogram), Cos(Cosine), Sin(Sine);
  DeviceArray<int> Out(std::vector<int>(Mask.size(), 0));
  const Scan There = {Sums, Cos, Sin, MaskThere, Angles, Cells, Side};
  const Scan Here = {Sinogram.data(), Cosine.data(), Sine.data(), Mask.data(),
                     Angles,          Cells,         Side};
  const RemapWays<decltype(&plain)> All = {
      WAYS(plain, remapped<ByLibrary<Block, 2>>, remapped<ByCub<Block, 2>>,
           COLLECTED(1))};
  const dim3 Grid(Side / Edge, Side / Edge);
  return All.run(
      Run, Remap, Block, [&] { Out.clear(); },
      [&](auto Kernel, Form F) {
        Kernel<<<dim3(F.blocks(Side * Edge), Grid.y), F.Threads>>>(There, Out);
      },
      [&] { return Out.get(); },
      [&](const std::vector<int> &Got) {
        bool Right = true;
        for (int Y = 0; Y < Side; ++Y)
          for (int X = 0; X < Side; ++X) {
            const size_t I = size_t(Y) * Side + X;
            Right &= Got[I] == (Mask[I] ? pixel(Here, X, Y) : 0);
          }
        return Right;
      });
}
