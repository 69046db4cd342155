//===- benchmarks/kernels/fractal/fractal.cu - Mandelbrot and Julia -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pictures of the Mandelbrot set and of Julia sets (paper 4, Mandelbrot): a
// thread takes z -> z^2 + c for its pixel until |z| > 2, and colours it by the
// number of steps; what never leaves is black. A block is a square of 16 by 16
// pixels, so a warp has two rows of it.
//
// The seed chooses where to look: a point of the main cardioid's border, where
// detail never ends, and for Julia sets a constant c just outside that border.
// Every build takes the same steps: no compiler fuses a product with a sum.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"
#include "../common/exact.h"
#include "../common/output.h"

static constexpr int Edge = 16;

struct View {
  float Left, Top, Step; ///< of the upper left pixel, and from one to the next
  float Re, Im;          ///< the constant of a Julia set
  int Width, Height, Limit;
  int Julia;
};

/// So many steps until (X, Y) is out of the circle of radius 2, or Limit.
HD static int steps(float X, float Y, float Re, float Im, int Limit) {
  int Step = 0;
  float X2 = product(X, X), Y2 = product(Y, Y);
  while (Step < Limit && X2 + Y2 < 4.0f) {
    Y = fmaf(2.0f * X, Y, Im);
    X = X2 - Y2 + Re;
    X2 = product(X, X);
    Y2 = product(Y, Y);
    ++Step;
  }
  return Step;
}

/// Each colour goes up and down as the number rises, at a pace of its own.
HD static uchar4 colour(int Steps, int Limit) {
  if (Steps == Limit)
    return make_uchar4(0, 0, 0, 255);
  const auto Wave = [Steps](int Pace) {
    const int At = Steps * Pace & 511;
    return static_cast<unsigned char>(At < 256 ? At : 511 - At);
  };
  return make_uchar4(Wave(7), Wave(4), Wave(11), 255);
}

HD static uchar4 pixel(const View &V, int X, int Y) {
  const float U = fmaf(float(X), V.Step, V.Left);
  const float W = fmaf(float(Y), V.Step, V.Top);
  const int Steps =
      V.Julia ? steps(U, W, V.Re, V.Im, V.Limit) : steps(0, 0, U, W, V.Limit);
  return colour(Steps, V.Limit);
}

__global__ void fractal(View V, uchar4 *Out) {
  const int X = int(blockIdx.x * Edge + threadIdx.x);
  const int Y = int(blockIdx.y * Edge + threadIdx.y);
  if (X < V.Width && Y < V.Height)
    Out[Y * V.Width + X] = pixel(V, X, Y);
}

/// In the main cardioid or the disc to its left: such points never leave.
static bool staysInside(double X, double Y) {
  const double Off = (X - 0.25) * (X - 0.25) + Y * Y;
  return Off * (Off + X - 0.25) < 0.2499 * Y * Y ||
         (X + 1) * (X + 1) + Y * Y < 0.0624;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "fractal");
  const int Width = Run.integer("width", 160, 1, 1 << 14);
  const int Height = Run.integer("height", 120, 1, 1 << 14);
  const int Limit = Run.integer("limit", 256, 1, 1 << 20);
  const int Julia = Run.integer("julia", 0, 0, 1);
  const int Kind = Run.integer("kind", 0, 0, 2); // how close to look
  const std::string Output = Run.output();
  Run.ready();

  Random Draw = Run.random();
  const double Angle = 6.283185307179586 * Draw.uniform();
  const double Re = std::cos(Angle) / 2 - std::cos(2 * Angle) / 4;
  const double Im = std::sin(Angle) / 2 - std::sin(2 * Angle) / 4;
  const double Across = Kind == 0 ? 3.2 : Kind == 1 ? 0.4 : 0.05;
  double MiddleX = Julia || Kind == 0 ? 0 : Re, MiddleY = MiddleX ? Im : 0;
  if (!Julia && Kind == 0) // the whole set, a little to a side
    MiddleX = -0.8 + 0.4 * Draw.uniform();
  const double Step = Across / Width;
  const View V = {float(MiddleX - Across / 2),
                  float(MiddleY - Step * Height / 2),
                  float(Step),
                  float(1.03 * Re),
                  float(1.03 * Im),
                  Width,
                  Height,
                  Limit,
                  Julia};
  DeviceArray<uchar4> Out(std::vector<uchar4>(size_t(Width) * Height));
  Run.run(
      [&] { Out.clear(); },
      [&] {
        fractal<<<dim3((Width + Edge - 1) / Edge, (Height + Edge - 1) / Edge),
                  dim3(Edge, Edge)>>>(V, Out);
      });
  const std::vector<uchar4> Got = Out.get();
  size_t Wrong = 0; // the same steps, pixel by pixel: none may differ
  for (int I = 0; I < Width * Height && Run.checks(); ++I) {
    const uchar4 Is = Got[I], Should = pixel(V, I % Width, I / Width);
    Wrong += Is.x != Should.x || Is.y != Should.y || Is.z != Should.z;
    if (!Julia && staysInside(V.Left + double(I % Width) * V.Step,
                              V.Top + double(I / Width) * V.Step))
      Wrong += Is.x + Is.y + Is.z != 0;
  }
  writePicture(Output, Got, Width, Height);
  return Run.finish(!Wrong, checksum(Got));
}
