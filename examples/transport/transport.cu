//===- examples/transport/transport.cu - Lesson 6: Monte Carlo transport --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Photons in three layers of a turbid medium, one history a thread:
//
//   z = 0   ~~~|~~~~~~~~~~~   repeat
//   layer 0    \_ .             draw a free path
//   --------------\--------     longer than the way to the boundary:
//   layer 1      . \/\            cross it (or leave the slab)
//   ------------------\----     else move there and, by the albedo,
//   layer 2            *          scatter (Henyey and Greenstein, 1941)
//   ~~~~~~~~~~~~~~~~~~~~~~~       or be absorbed
//
// This is the typical program that diverges because its data does: lanes meet
// different events at every step, and histories differ in length by a factor
// of hundreds, so that most lanes of a warp are idle most of the time.
//
// Host and device draw the same random bits, but their logf, cosf and fused
// products differ in last bits, and a walk amplifies that. So the check is: at
// most 0.2 % of the histories end differently than on the host.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/options.h"
#include "../common/random.h"

#include <cmath>
#include <vector>

static constexpr int Layers = 3;

struct Layer {
  float Top, Bottom; ///< mm
  float Attenuation; ///< 1/mm: scattering and absorption
  float Albedo;      ///< share of the collisions that scatter
  float Anisotropy;  ///< mean cosine of the scattering angle
};

struct Slab {
  Layer At[Layers];
};

/// How histories end; absorption in layer i is Absorbed + i.
enum Fate { Reflected, Transmitted, Absorbed, Fates = Absorbed + Layers };

struct History {
  int Fate;
  int Collisions;
};

/// The cosine to the slab's normal after a scattering.
__host__ __device__ inline float scatter(float Cosine, float Anisotropy,
                                         Random &Draw) {
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

__host__ __device__ inline History followPhoton(const Slab &S, uint64_t Seed,
                                                uint64_t Number) {
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

__global__ void transport(Slab S, uint64_t Seed, int Count, History *Out) {
  const int Number = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (Number < Count)
    Out[Number] = followPhoton(S, Seed, uint64_t(Number));
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Count = Args.integer("photons", 30000, 1, 1 << 28);
  const long Threads = Args.integer("block", 128, 1, 1024);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();

  const Slab S = {{{0.0f, 0.3f, 12.0f, 0.96f, 0.80f},
                   {0.3f, 1.5f, 20.0f, 0.99f, 0.90f},
                   {1.5f, 4.0f, 8.0f, 0.97f, 0.0f}}};
  History *Device = nullptr;
  CHECK_CUDA(cudaMalloc(&Device, Count * sizeof(History)));
  transport<<<unsigned((Count + Threads - 1) / Threads), unsigned(Threads)>>>(
      S, uint64_t(Seed), int(Count), Device);
  CHECK_LAUNCH();
  CHECK_CUDA(cudaDeviceSynchronize());
  std::vector<History> Histories(Count);
  CHECK_CUDA(cudaMemcpy(Histories.data(), Device, Count * sizeof(History),
                        cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(Device));

  long Ended[Fates] = {}, Odd = 0;
  long long Collisions = 0;
  for (long I = 0; I < Count; ++I) {
    const History &H = Histories[I];
    if (H.Fate < 0 || H.Fate >= Fates) {
      std::printf("transport: history %ld has no end: WRONG\n", I);
      return 1;
    }
    ++Ended[H.Fate];
    Collisions += H.Collisions;
    if (Check) {
      const History R = followPhoton(S, uint64_t(Seed), uint64_t(I));
      Odd += R.Fate != H.Fate || R.Collisions != H.Collisions;
    }
  }
  const bool Right = Odd * 500 <= Count;
  std::printf("transport: %ld photons, %.1f collisions each: %.2f %% "
              "reflected, %.2f %% transmitted, rest absorbed: %s\n",
              Count, double(Collisions) / double(Count),
              100.0 * double(Ended[Reflected]) / double(Count),
              100.0 * double(Ended[Transmitted]) / double(Count),
              Check ? Right ? "right" : "WRONG" : "not checked");
  std::printf("counts:");
  for (long N : Ended)
    std::printf(" %ld", N);
  std::printf(" %lld\n", Collisions);
  return Right ? 0 : 1;
}
