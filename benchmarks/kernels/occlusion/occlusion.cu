//===- benchmarks/kernels/occlusion/occlusion.cu - Rays from a surface ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much of the sky does each point of a floor see? Over the floor are
// pebbles: one ball in each cell of a grid, whose place and size follow from a
// hash of the cell. A thread has a point and sends several rays up, in directions
// of their own (cosine-weighted), one after the other. A ray goes on by the
// distance to the next ball (sphere tracing), but not beyond the cell that it is
// in by more than a little, until it meets a ball, is above all, or has taken 96
// steps.
//
// Rays of neighbours go different ways and take from one step to all 96: each
// ray of a warp waits for the longest. With `even=1` there are no balls and rays
// go straight up, so that all take as many steps.
//
// Flattened by hand (common/nest.h). Host and device compute the same bits
// (common/exact.h), so the check is exact.
//
//===----------------------------------------------------------------------===//
#include "../common/nest.h"

/// Lengths are in cells.
struct Floor {
  uint32_t Seed;
  int Width, Rays;
  bool Even;
  float Top;  ///< above which there is no ball
  float *Sky; ///< of each point: part that is seen
};

struct PointOfThread : Unshared {
  using Input = Floor;
  static constexpr int MostSteps = 96;
  static constexpr float Near = 1e-3f;

  struct Vector {
    float X, Y, Z;
  };
  Random Draw{0, 0};
  Vector From, At, Way;
  int Ray, Steps;
  float Seen;
  bool Goes;

  HD static uint32_t mix(uint32_t X) {
    X ^= X >> 16;
    X *= 0x7feb352du;
    X ^= X >> 15;
    X *= 0x846ca68bu;
    return X ^ X >> 16;
  }
  HD static float whole(float X) { // floor(), for small numbers
    const int I = int(X);
    return float(I - (X < float(I)));
  }

  HD void start(const Input &In, int Thread, const void *) {
    Draw = Random(In.Seed, uint64_t(Thread));
    const int X = Thread % In.Width, Y = Thread / In.Width;
    From = {fmaf(float(X), 0.03125f, 0.015625f),
            fmaf(float(Y), 0.03125f, 0.015625f), 0.0f};
    Ray = -1;
    Seen = 0;
  }
  HD bool next(const Input &In) {
    if (++Ray == In.Rays)
      return false;
    float Sine, Cosine;
    sineCosine(Draw.uniform(), Sine, Cosine);
    const float Part = In.Even ? 0.0f : product(0.998f, Draw.uniform());
    const float Flat = root(Part);
    Way = {product(Flat, Cosine), product(Flat, Sine), root(1.0f - Part)};
    At = From;
    Steps = 0;
    Goes = true;
    return true;
  }
  HD bool more(const Input &) const { return Goes; }
  /// How far it is from \p X to the end of its cell, in direction \p D.
  HD static float toEnd(float X, float D) {
    const float In = X - whole(X);
    return (D > 0.0f ? 1.0f - In : In) / fmaxf(fabsf(D), 1e-6f);
  }
  HD void step(const Input &In) {
    const Vector Cell{whole(At.X), whole(At.Y), whole(At.Z)};
    const uint32_t Bits =
        mix(mix(mix(uint32_t(int(Cell.X)) ^ In.Seed) + uint32_t(int(Cell.Y))) +
            uint32_t(int(Cell.Z)));
    // Of radius 0.05 to 0.3, wholly in its cell; half of the cells have one.
    const float Radius = fmaf(float(Bits & 255), 0.25f / 256, 0.05f);
    const float Room = fmaf(-2.0f, Radius, 1.0f);
    const auto Off = [&](float X, int Shift) {
      return X - fmaf(float(Bits >> Shift & 127) * 0x1p-7f, Room, Radius);
    };
    const float X = Off(At.X - Cell.X, 8), Y = Off(At.Y - Cell.Y, 15),
                Z = Off(At.Z - Cell.Z, 22);
    const bool None = In.Even || Bits >> 31;
    const float Ball =
        None ? 4.0f : root(fmaf(X, X, fmaf(Y, Y, product(Z, Z)))) - Radius;
    const float End = fminf(toEnd(At.X, Way.X),
                            fminf(toEnd(At.Y, Way.Y), toEnd(At.Z, Way.Z)));
    const float By = fmaxf(fminf(Ball, End + Near), Near);
    At = {fmaf(Way.X, By, At.X), fmaf(Way.Y, By, At.Y), fmaf(Way.Z, By, At.Z)};
    ++Steps;
    Goes = Ball > Near && At.Z < In.Top && Steps < MostSteps;
  }
  HD void behind(const Input &In) { Seen += At.Z >= In.Top ? 1.0f : 0.0f; }
  HD void finish(const Input &In, int Thread) const {
    In.Sky[Thread] = Seen / float(In.Rays);
  }
};

int main(int argc, char **argv) {
  Bench Run(argc, argv, "occlusion");
  const int Width = int(Run.integer("width", 48, 1, 1 << 14));
  const int Rays = int(Run.integer("rays", 16, 1, 1 << 16));
  const int Top = int(Run.integer("top", 4, 1, 64));
  const bool Even = Run.integer("even", 0, 0, 1);
  NestForms Forms(Run, 128);
  Run.ready();

  const int Points = Width * Width;
  DeviceArray<float> Sky{std::vector<float>(Points)};
  Floor In{Run.random().bits(), Width, Rays, Even, float(Top), Sky};
  return Forms.run<PointOfThread>(
      In, Points, [&] { Sky.clear(); }, [&] { return Sky.get(); },
      [&](const std::vector<float> &Got) {
        std::vector<float> Here(Points);
        Floor OnHost = In;
        OnHost.Sky = Here.data();
        onHost<PointOfThread>(OnHost, Points);
        return Got == Here;
      });
}
