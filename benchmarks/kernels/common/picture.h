//===- benchmarks/kernels/common/picture.h - Pictures to work on -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input of the programs that filter or compress pictures, by a kind and a seed:
//
//   0 scene   discs and boxes before one another, each with a slope of light,
//             and a camera's noise
//   1 clouds  noise of ever finer grain added up: no edge anywhere
//   2 print   dark strokes in lines on paper: edges everywhere
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_PICTURE_H
#define RECONVERGE_BENCHMARKS_PICTURE_H

#include "bench.h"

#include <algorithm>
#include <cmath>

/// Smooth noise in [0, 1): a lattice of random values, cells of \p Grain
/// pixels, between them by a cubic.
inline std::vector<double> smoothNoise(Random &Draw, int Width, int Height,
                                       int Grain) {
  const int Across = Width / Grain + 2, Down = Height / Grain + 2;
  std::vector<double> Lattice, Noise;
  for (int I = 0; I < Across * Down; ++I)
    Lattice.push_back(Draw.uniform());
  for (int Y = 0; Y < Height; ++Y)
    for (int X = 0; X < Width; ++X) {
      const double *At = &Lattice[Y / Grain * Across + X / Grain];
      double U = double(X % Grain) / Grain, V = double(Y % Grain) / Grain;
      U = U * U * (3 - 2 * U);
      V = V * V * (3 - 2 * V);
      Noise.push_back((At[0] * (1 - U) + At[1] * U) * (1 - V) +
                      (At[Across] * (1 - U) + At[Across + 1] * U) * V);
    }
  return Noise;
}

inline unsigned char toByte(double Value) {
  return static_cast<unsigned char>(std::clamp(Value + 0.5, 0., 255.));
}

inline std::vector<double> scene(Random &Draw, int Width, int Height) {
  std::vector<double> Light(size_t(Width) * Height);
  for (size_t I = 0; I < Light.size(); ++I)
    Light[I] = 60 + 90. * double(I / Width) / Height;
  const int Things = 12 + Width * Height / 1500;
  for (int T = 0; T < Things; ++T) {
    const int X = Draw.below(Width), Y = Draw.below(Height);
    const int Most = T < 12 ? Width + Height : 300; // a few are large
    const int A = 3 + Draw.below(1 + std::min(Width, Most) / 6);
    const int B = 3 + Draw.below(1 + std::min(Height, Most) / 6);
    const bool Disc = Draw.below(2);
    const double Value = 20 + 215 * Draw.uniform();
    const double Slope = 80 * (Draw.uniform() - 0.5);
    for (int V = std::max(Y - B, 0); V < std::min(Y + B, Height); ++V)
      for (int U = std::max(X - A, 0); U < std::min(X + A, Width); ++U) {
        const double P = double(U - X) / A, Q = double(V - Y) / B;
        if (!Disc || P * P + Q * Q <= 1)
          Light[size_t(V) * Width + U] = Value + Slope * P;
      }
  }
  for (double &L : Light)
    L += 4 * (Draw.uniform() + Draw.uniform() - 1);
  return Light;
}

inline std::vector<double> clouds(Random &Draw, int Width, int Height) {
  std::vector<double> Light(size_t(Width) * Height);
  double Part = 140;
  for (int Grain = 64; Grain >= 2; Grain /= 2, Part /= 2) {
    const std::vector<double> Noise = smoothNoise(Draw, Width, Height, Grain);
    for (size_t I = 0; I < Light.size(); ++I)
      Light[I] += Part * Noise[I];
  }
  return Light;
}

inline std::vector<double> print(Random &Draw, int Width, int Height) {
  std::vector<double> Light;
  for (int I = 0; I < Width * Height; ++I)
    Light.push_back(225 + 8 * Draw.uniform());
  for (int Line = 3; Line + 9 < Height; Line += 14)
    for (int Letter = 3; Letter + 6 < Width; Letter += 8) {
      if (Draw.below(6) == 0)
        continue; // between words
      for (int Stroke = 0; Stroke < 3; ++Stroke) {
        const int Kind = Draw.below(3), At = Draw.below(5);
        for (int I = 0; I < 9; ++I) {
          const int X = Kind == 0 ? At : Kind == 1 ? I * 5 / 9 : 5 - I * 5 / 9;
          Light[size_t(Line + I) * Width + Letter + X] = 30;
        }
      }
    }
  return Light;
}

constexpr int PictureKinds = 3;

inline std::vector<double> light(Random &Draw, int Kind, int Width,
                                 int Height) {
  return Kind == 0   ? scene(Draw, Width, Height)
         : Kind == 1 ? clouds(Draw, Width, Height)
                     : print(Draw, Width, Height);
}

inline std::vector<unsigned char> greyPicture(Random Draw, int Kind, int Width,
                                              int Height) {
  std::vector<unsigned char> Pixels;
  for (double L : light(Draw, Kind, Width, Height))
    Pixels.push_back(toByte(L));
  return Pixels;
}

/// The same, with tints that change slowly from place to place.
inline std::vector<uchar4> colouredPicture(Random Draw, int Kind, int Width,
                                           int Height) {
  const std::vector<double> Light = light(Draw, Kind, Width, Height);
  const std::vector<double> Red = smoothNoise(Draw, Width, Height, 32);
  const std::vector<double> Blue = smoothNoise(Draw, Width, Height, 24);
  std::vector<uchar4> Pixels;
  for (size_t I = 0; I < Light.size(); ++I)
    Pixels.push_back(
        make_uchar4(toByte(Light[I] * (0.6 + 0.6 * Red[I])), toByte(Light[I]),
                    toByte(Light[I] * (0.6 + 0.6 * Blue[I])), 255));
  return Pixels;
}

#endif
