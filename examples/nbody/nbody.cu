//===- examples/nbody/nbody.cu - Lesson 9: n bodies -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gravity between all pairs of n bodies, a body a thread. The block walks over
// all bodies in tiles of its own size that it shares:
//
//      bodies   | tile 0 | tile 1 | tile 2 | ...
//               +--------+--------+--------+
//      thread 0 | ------>|        |        |    load a body each, barrier,
//      thread 1 | ------>|        |        |    meet the whole tile, barrier,
//      thread 2 | ------>|        |        |    next tile
//
// Far away the force is Newton's. Two bodies that come closer than Near feel a
// softened one, which stays finite: a polynomial in distance / Near that meets
// Newton's law with equal value and slope. Few pairs are that close, but a
// warp has 32 bodies, and one of them is enough for all to wait.
//
// Products that feed sums are fmaf, roots and quotients are IEEE's: host and
// device agree to the last bit. The energy, in double, shows that the steps are
// good ones: it should hardly change.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"
#include "../common/random.h"

#include <cmath>
#include <numeric>
#include <vector>

static constexpr float Near = 0.05f;
static constexpr float TimeStep = 1.0f / 256;

struct Vector {
  float X, Y, Z;
};

/// Adds what a body of mass Other.w at \p Other does to one at \p Here.
__host__ __device__ inline void attract(const float4 &Here, const float4 &Other,
                                        Vector &Sum) {
  const float X = Other.x - Here.x, Y = Other.y - Here.y, Z = Other.z - Here.z;
  const float Square = fmaf(X, X, fmaf(Y, Y, Z * Z));
  float Pull;
  if (Square < Near * Near) {
    // (5 - 3 u^2) / 2 in units of mass / Near^3, with u = distance / Near.
    const float U2 = Square * (1.0f / (Near * Near));
    Pull = fmaf(-1.5f, U2, 2.5f) * (Other.w * (1.0f / (Near * Near * Near)));
  } else {
    const float Distance = sqrtf(Square);
    Pull = Other.w / (Square * Distance);
  }
  Sum.X = fmaf(Pull, X, Sum.X);
  Sum.Y = fmaf(Pull, Y, Sum.Y);
  Sum.Z = fmaf(Pull, Z, Sum.Z);
}

/// Kick, then drift: the semi-implicit Euler step.
__host__ __device__ inline void move(float4 &Body, Vector &Speed,
                                     const Vector &Pull) {
  Speed.X = fmaf(Pull.X, TimeStep, Speed.X);
  Speed.Y = fmaf(Pull.Y, TimeStep, Speed.Y);
  Speed.Z = fmaf(Pull.Z, TimeStep, Speed.Z);
  Body.x = fmaf(Speed.X, TimeStep, Body.x);
  Body.y = fmaf(Speed.Y, TimeStep, Body.y);
  Body.z = fmaf(Speed.Z, TimeStep, Body.z);
}

__global__ void step(const float4 *In, float4 *Out, Vector *Speeds, int Count) {
  extern __shared__ float4 Tile[];
  const int At = int(blockIdx.x * blockDim.x + threadIdx.x);
  float4 Here = At < Count ? In[At] : make_float4(0, 0, 0, 0);
  Vector Pull = {0, 0, 0};
  for (int First = 0; First < Count; First += int(blockDim.x)) {
    const int Mine = First + int(threadIdx.x);
    if (Mine < Count)
      Tile[threadIdx.x] = In[Mine];
    __syncthreads();
    const int Size = min(int(blockDim.x), Count - First);
#pragma unroll 4
    for (int I = 0; I < Size; ++I)
      attract(Here, Tile[I], Pull);
    __syncthreads();
  }
  if (At >= Count)
    return;
  Vector Speed = Speeds[At];
  move(Here, Speed, Pull);
  Speeds[At] = Speed;
  Out[At] = Here;
}

/// Kinetic energy of a body and half of its potential with all others, which
/// sum to the whole's. Inside Near, the potential whose slope is the force.
__host__ __device__ inline double energyOf(const float4 *Bodies, int Count,
                                           int At, const Vector &Speed) {
  const float4 Here = Bodies[At];
  double Potential = 0;
  for (int I = 0; I < Count; ++I) {
    if (I == At)
      continue;
    const double X = double(Bodies[I].x) - Here.x;
    const double Y = double(Bodies[I].y) - Here.y;
    const double Z = double(Bodies[I].z) - Here.z;
    const double Square = fma(X, X, fma(Y, Y, Z * Z));
    const double U2 = Square * (1.0 / (double(Near) * Near));
    // -(15 - 10 u^2 + 3 u^4) / 8 meets -1/u at u = 1.
    Potential -=
        U2 < 1 ? Bodies[I].w * (fma(U2, fma(U2, 3.0, -10.0), 15.0) / (8 * Near))
               : Bodies[I].w / sqrt(Square);
  }
  const double Motion =
      fma(double(Speed.X), double(Speed.X),
          fma(double(Speed.Y), double(Speed.Y), double(Speed.Z) * Speed.Z));
  return Here.w * (0.5 * (Motion + Potential));
}

__global__ void energies(const float4 *Bodies, const Vector *Speeds, int Count,
                         double *Out) {
  const int At = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (At < Count)
    Out[At] = energyOf(Bodies, Count, At, Speeds[At]);
}

static void stepOnHost(const std::vector<float4> &In, std::vector<float4> &Out,
                       std::vector<Vector> &Speeds) {
  for (size_t I = 0; I < In.size(); ++I) {
    Vector Pull = {0, 0, 0};
    for (const float4 &Other : In)
      attract(In[I], Other, Pull);
    Out[I] = In[I];
    move(Out[I], Speeds[I], Pull);
  }
}

/// Clumps of bodies in a ball of radius 1, total mass 1, at rest.
static std::vector<float4> makeBodies(long Count, long Seed) {
  Random Draw(uint64_t(Seed), 9);
  auto InBall = [&](float Radius) {
    Vector V;
    do {
      V = {2 * Draw.uniform() - 1, 2 * Draw.uniform() - 1,
           2 * Draw.uniform() - 1};
    } while (fmaf(V.X, V.X, fmaf(V.Y, V.Y, V.Z * V.Z)) > 1.0f);
    return Vector{V.X * Radius, V.Y * Radius, V.Z * Radius};
  };
  std::vector<float4> Bodies(Count);
  Vector Centre = {0, 0, 0};
  for (long I = 0; I < Count; ++I) {
    if (I % 64 == 0)
      Centre = InBall(1.0f);
    const Vector Off = InBall(0.2f);
    Bodies[I] = make_float4(Centre.X + Off.X, Centre.Y + Off.Y,
                            Centre.Z + Off.Z, 1.0f / float(Count));
  }
  return Bodies;
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Count = Args.integer("bodies", 2000, 1, 1 << 20);
  const long Steps = Args.integer("steps", 4, 1, 1 << 20);
  const long Threads = Args.integer("block", 128, 1, 1024);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();

  std::vector<float4> Bodies = makeBodies(Count, Seed);
  std::vector<Vector> Speeds(Count, {0, 0, 0});
  const size_t Bytes = Count * sizeof(float4);
  float4 *From = nullptr, *To = nullptr;
  Vector *DeviceSpeeds = nullptr;
  CHECK_CUDA(cudaMalloc(&From, Bytes));
  CHECK_CUDA(cudaMalloc(&To, Bytes));
  CHECK_CUDA(cudaMalloc(&DeviceSpeeds, Count * sizeof(Vector)));
  CHECK_CUDA(cudaMemset(DeviceSpeeds, 0, Count * sizeof(Vector)));
  CHECK_CUDA(cudaMemcpy(From, Bodies.data(), Bytes, cudaMemcpyHostToDevice));

  const unsigned Blocks = unsigned((Count + Threads - 1) / Threads);
  const size_t Shared = Threads * sizeof(float4);
  double Energy[2] = {}, *DeviceEnergies = nullptr;
  CHECK_CUDA(cudaMalloc(&DeviceEnergies, Count * sizeof(double)));
  auto Measure = [&] {
    energies<<<Blocks, unsigned(Threads)>>>(From, DeviceSpeeds, int(Count),
                                            DeviceEnergies);
    CHECK_LAUNCH();
    std::vector<double> OfBody(Count);
    CHECK_CUDA(cudaMemcpy(OfBody.data(), DeviceEnergies, Count * sizeof(double),
                          cudaMemcpyDeviceToHost));
    return std::accumulate(OfBody.begin(), OfBody.end(), 0.0);
  };
  Energy[0] = Measure();
  for (long Step = 0; Step < Steps; ++Step) {
    step<<<Blocks, unsigned(Threads), Shared>>>(From, To, DeviceSpeeds,
                                                int(Count));
    CHECK_LAUNCH();
    std::swap(From, To);
  }
  Energy[1] = Measure();
  std::vector<float4> Result(Count);
  CHECK_CUDA(cudaMemcpy(Result.data(), From, Bytes, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(From));
  CHECK_CUDA(cudaFree(To));
  CHECK_CUDA(cudaFree(DeviceSpeeds));
  CHECK_CUDA(cudaFree(DeviceEnergies));

  long Wrong = 0;
  if (Check) {
    std::vector<float4> Next(Count);
    for (long Step = 0; Step < Steps; ++Step) {
      stepOnHost(Bodies, Next, Speeds);
      std::swap(Bodies, Next);
    }
    for (long I = 0; I < Count; ++I)
      Wrong += Bodies[I].x != Result[I].x || Bodies[I].y != Result[I].y ||
               Bodies[I].z != Result[I].z;
    double Expected = 0;
    for (long I = 0; I < Count; ++I)
      Expected += energyOf(Bodies.data(), int(Count), int(I), Speeds[I]);
    Wrong += std::fabs(Energy[1] - Expected) > 1e-12 * std::fabs(Expected);
  }
  std::printf("nbody: %ld bodies, %ld steps, energy from %.6f to %.6f: ", Count,
              Steps, Energy[0], Energy[1]);
  if (Wrong)
    std::printf("%ld WRONG\n", Wrong);
  else
    std::printf(Check ? "bit-identical\n" : "not checked\n");
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(Result)));
  return Wrong ? 1 : 0;
}
