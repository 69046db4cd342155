//===- benchmarks/vm/scalar/transport.cpp - Monte Carlo transport, scalar -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of examples/transport/transport.cu; stopwatch.h says how and why.
//
//===----------------------------------------------------------------------===//
#include "common/options.h"
#include "common/random.h"
#include "stopwatch.h"

#include <cmath>
#include <vector>

static constexpr int Layers = 3;

struct Layer {
  float Top, Bottom, Attenuation, Albedo, Anisotropy;
};

struct Slab {
  Layer At[Layers];
};

enum Fate { Reflected, Transmitted, Absorbed, Fates = Absorbed + Layers };

struct History {
  int Fate;
  int Collisions;
};

static float scatter(float Cosine, float Anisotropy, Random &Draw) {
  float Deflection;
  if (Anisotropy == 0.0f) {
    Deflection = 2.0f * Draw.uniform() - 1.0f;
  } else {
    const float G = Anisotropy;
    const float Ratio = (1.0f - G * G) / (1.0f - G + 2.0f * G * Draw.uniform());
    Deflection = (1.0f + G * G - Ratio * Ratio) / (2.0f * G);
  }
  const float Azimuth = 6.2831853f * Draw.uniform();
  const float Sines = sqrtf(fmaxf(0.0f, 1.0f - Cosine * Cosine)) *
                      sqrtf(fmaxf(0.0f, 1.0f - Deflection * Deflection));
  const float Next = Cosine * Deflection + Sines * cosf(Azimuth);
  return fminf(1.0f, fmaxf(-1.0f, Next));
}

static History followPhoton(const Slab &S, uint64_t Seed, uint64_t Number) {
  Random Draw(Seed, Number);
  float Depth = 0.0f, Cosine = 1.0f;
  int In = 0, Collisions = 0;
  for (;;) {
    const Layer &L = S.At[In];
    const float Path = -logf(1.0f - Draw.uniform()) / L.Attenuation;
    const float Boundary = Cosine > 0.0f ? L.Bottom : L.Top;
    if (Path * fabsf(Cosine) >= fabsf(Boundary - Depth)) {
      Depth = Boundary;
      In += Cosine > 0.0f ? 1 : -1;
      if (In < 0)
        return {Reflected, Collisions};
      if (In == Layers)
        return {Transmitted, Collisions};
    } else {
      Depth += Path * Cosine;
      ++Collisions;
      if (Draw.uniform() >= L.Albedo)
        return {Absorbed + In, Collisions};
      Cosine = scatter(Cosine, L.Anisotropy, Draw);
    }
  }
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Count = Args.integer("photons", 30000, 1, 1 << 28);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  Args.integer("block", 128, 1, 1024); // blocks do not meet: any will do
  Args.done();

  const Slab S = {{{0.0f, 0.3f, 12.0f, 0.96f, 0.80f},
                   {0.3f, 1.5f, 20.0f, 0.99f, 0.90f},
                   {1.5f, 4.0f, 8.0f, 0.97f, 0.0f}}};
  std::vector<History> Histories(Count);
  Stopwatch Watch;
  Watch.start();
  for (long Number = 0; Number < Count; ++Number)
    Histories[Number] = followPhoton(S, uint64_t(Seed), uint64_t(Number));
  Watch.stop();

  long Ended[Fates] = {};
  long long Collisions = 0;
  for (const History &H : Histories) {
    ++Ended[H.Fate];
    Collisions += H.Collisions;
  }
  std::printf("counts:");
  for (long N : Ended)
    std::printf(" %ld", N);
  std::printf(" %lld\n", Collisions);
  Watch.print();
}
