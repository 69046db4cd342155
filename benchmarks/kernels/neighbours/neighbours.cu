//===- benchmarks/kernels/neighbours/neighbours.cu - Near particles -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which force acts on each particle from those that are near? A thread has a
// particle, a block goes over all others by tiles in shared memory. Each is
// looked at; the force is long, and few are near. So in each round of the loop
// over a tile some lane of a warp computes a force, and the others wait.
//
// By hand (form=1) a thread first notes which of 32 particles are near, a bit for
// each, and then computes those forces.
//
//===----------------------------------------------------------------------===//
#include "../common/exact.h"
#include "../common/ways.h"

#include <cmath>

static constexpr int Tile = 128;

struct Particle {
  float X, Y, Z, Mass;
};
struct Force {
  float X, Y, Z, Density;
  bool operator==(const Force &O) const {
    return X == O.X && Y == O.Y && Z == O.Z && Density == O.Density;
  }
};

/// What acts on one particle. Products are fused by hand, so that all builds
/// print one checksum.
struct Pull {
  float Radius;
  Particle Mine;
  Force Sum = {0, 0, 0, 0};

  HD float apart(const Particle &P) const {
    const float X = P.X - Mine.X, Y = P.Y - Mine.Y, Z = P.Z - Mine.Z;
    return fmaf(X, X, fmaf(Y, Y, Z * Z));
  }
  HD bool isNear(const Particle &P) const { return apart(P) < Radius * Radius; }
  HD void add(const Particle &P) {
    const float Square = apart(P), Far = root(Square), Q = Far / Radius;
    const float Left = fmaf(Q, -0.5f, 1.0f), Left2 = Left * Left;
    Sum.Density =
        fmaf(P.Mass * Left2, Left2 * fmaf(2.0f, Q, 1.0f), Sum.Density);
    const float Slope = Q * Left2 * Left * -5.0f / (Far + 1e-6f);
    const float Pressure = P.Mass / (Sum.Density + 1.0f);
    const float Drag = root(fmaf(Pressure, Pressure, Square)) / (Q + 1.0f);
    const float By = Slope * fmaf(Drag, 0.25f, Pressure);
    Sum.X = fmaf(By, P.X - Mine.X, Sum.X);
    Sum.Y = fmaf(By, P.Y - Mine.Y, Sum.Y);
    Sum.Z = fmaf(By, P.Z - Mine.Z, Sum.Z);
  }
};

/// Particles of the tile from \p First on that there are.
__device__ static int fill(Particle *Shared, const Particle *All, int First,
                           int Count) {
  __syncthreads();
  if (First + int(threadIdx.x) < Count)
    Shared[threadIdx.x] = All[First + threadIdx.x];
  __syncthreads();
  return min(Tile, Count - First);
}

__global__ void plain(const Particle *All, Force *Out, int Count,
                      float Radius) {
  __shared__ Particle Shared[Tile];
  const int I = int(blockIdx.x * Tile + threadIdx.x);
  Pull On = {Radius, All[min(I, Count - 1)]};
  for (int First = 0; First < Count; First += Tile) {
    const int Here = fill(Shared, All, First, Count);
#pragma unroll 1
    for (int K = 0; K < Here; ++K)
      if (On.isNear(Shared[K]))
        On.add(Shared[K]);
  }
  if (I < Count)
    Out[I] = On.Sum;
}

#ifndef ONLY_PLAIN
__global__ void noted(const Particle *All, Force *Out, int Count,
                      float Radius) {
  __shared__ Particle Shared[Tile];
  const int I = int(blockIdx.x * Tile + threadIdx.x);
  Pull On = {Radius, All[min(I, Count - 1)]};
  for (int First = 0; First < Count; First += Tile) {
    const int Here = fill(Shared, All, First, Count);
    for (int Group = 0; Group < Here; Group += 32) {
      unsigned Near = 0;
      for (int K = 0, Of = min(32, Here - Group); K < Of; ++K)
        Near |= unsigned(On.isNear(Shared[Group + K])) << K;
      for (; Near; Near &= Near - 1)
        On.add(Shared[Group + __ffs(int(Near)) - 1]);
    }
  }
  if (I < Count)
    Out[I] = On.Sum;
}
#endif

int main(int argc, char **argv) {
  Bench Run(argc, argv, "neighbours");
  const int Count = int(Run.integer("particles", 2000, 1, 1 << 22));
  const int Percent = int(Run.integer("near", 12, 0, 100));
  const long Form = Run.integer("form", 0, 0, 2);
  Run.ready();

  Random Draw = Run.random();
  std::vector<Particle> Host(Count);
  for (Particle &P : Host)
    P = {float(Draw.uniform()), float(Draw.uniform()), float(Draw.uniform()),
         float(Draw.uniform() + 0.5)};
  // Of a ball in a box, but for what lies outside of the box.
  const float Radius = std::cbrt(float(Percent) / 100 * 3 / (4 * 3.14159265f));
  DeviceArray<Particle> All(Host);
  DeviceArray<Force> Out{std::vector<Force>(Count)};
  const int Blocks = (Count + Tile - 1) / Tile;
  std::vector<Way> Ways = {{"plain", (const void *)plain, Tile, [&] {
                              plain<<<Blocks, Tile>>>(All, Out, Count, Radius);
                            }}};
#ifndef ONLY_PLAIN
  Ways.push_back({"noted", (const void *)noted, Tile,
                  [&] { noted<<<Blocks, Tile>>>(All, Out, Count, Radius); }});
#endif
  return runWays(
      Run, Ways, std::min(Form, long(Ways.size())), [&] { Out.clear(); },
      [&] { return Out.get(); },
      [&](const std::vector<Force> &Got) {
        bool Right = true;
        for (int I = 0; I < Count; ++I) {
          Pull On = {Radius, Host[I]};
          for (const Particle &P : Host)
            if (On.isNear(P))
              On.add(P);
          Right &= Got[I] == On.Sum;
        }
        return Right;
      });
}
