//===- benchmarks/kernels/gravity/gravity.cu - Softened bodies ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gravity between all pairs of bodies (paper 4, nbody), softened so that no
// pair needs to be asked for: a thread has a body, and its block goes through
// all bodies a tile at a time in shared memory. After each step a kernel has
// written all new positions.
//
// The device works in float, the reference in double: positions may differ by
// 0.0001 of the cluster's radius.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"
#include "../common/exact.h"
#include "../common/output.h"

static constexpr int Block = 256;
static constexpr float TimeStep = 1.0f / 64, Softening = 0.05f;

__global__ void step(const float4 *From, float4 *To, float4 *Speeds,
                     int Count) {
  __shared__ float4 Tile[Block];
  const int I = int(blockIdx.x * Block + threadIdx.x);
  const float4 Here = From[I < Count ? I : 0];
  float X = 0, Y = 0, Z = 0;
  for (int First = 0; First < Count; First += Block) {
    if (First + int(threadIdx.x) < Count)
      Tile[threadIdx.x] = From[First + int(threadIdx.x)];
    __syncthreads();
    const int Size = Count - First < Block ? Count - First : Block;
    for (int T = 0; T < Size; ++T) {
      const float4 There = Tile[T];
      const float U = There.x - Here.x, V = There.y - Here.y,
                  W = There.z - Here.z;
      const float Square =
          fmaf(U, U, fmaf(V, V, fmaf(W, W, Softening * Softening)));
      const float Pull = There.w / (Square * root(Square));
      X = fmaf(Pull, U, X);
      Y = fmaf(Pull, V, Y);
      Z = fmaf(Pull, W, Z);
    }
    __syncthreads();
  }
  if (I >= Count)
    return;
  float4 Speed = Speeds[I];
  Speed.x = fmaf(X, TimeStep, Speed.x);
  Speed.y = fmaf(Y, TimeStep, Speed.y);
  Speed.z = fmaf(Z, TimeStep, Speed.z);
  Speeds[I] = Speed;
  To[I] = make_float4(fmaf(Speed.x, TimeStep, Here.x),
                      fmaf(Speed.y, TimeStep, Here.y),
                      fmaf(Speed.z, TimeStep, Here.z), Here.w);
}

/// Kinds: 0 a ball, 1 two balls that approach each other, 2 a disc that turns.
struct Bodies {
  std::vector<float4> Places, Speeds;

  Bodies(Random Draw, int Kind, int Count) {
    const auto Any = [&] { return 2 * Draw.uniform() - 1; };
    while (int(Places.size()) < Count) {
      float X = Any(), Y = Any(), Z = Any();
      if (X * X + Y * Y + Z * Z > 1)
        continue;
      float U = 0, V = 0;
      if (Kind == 1) {
        const float Side = Places.size() % 2 ? 1.f : -1.f;
        X = 0.4f * X + 0.6f * Side;
        Y = 0.4f * Y + 0.1f * Side;
        U = -0.3f * Side;
      } else if (Kind == 2) {
        Z *= 0.05f;
        U = -0.8f * Y;
        V = 0.8f * X;
      }
      Places.push_back(
          make_float4(X, Y, Z, (0.5f + Draw.uniform()) / float(Count)));
      Speeds.push_back(make_float4(U, V, 0, 0));
    }
  }
};

/// The farthest that a body is from where it should be.
static double error(const Bodies &B, int Steps,
                    const std::vector<float4> &Got) {
  struct Vector {
    double X, Y, Z;
  };
  const size_t Count = Got.size();
  std::vector<Vector> At, Speed;
  for (size_t I = 0; I < Count; ++I) {
    At.push_back({B.Places[I].x, B.Places[I].y, B.Places[I].z});
    Speed.push_back({B.Speeds[I].x, B.Speeds[I].y, B.Speeds[I].z});
  }
  const double Time = TimeStep, Least = Softening;
  for (int S = 0; S < Steps; ++S) {
    std::vector<Vector> Next = At;
    for (size_t I = 0; I < Count; ++I) {
      for (size_t J = 0; J < Count; ++J) {
        const double U = At[J].X - At[I].X, V = At[J].Y - At[I].Y,
                     W = At[J].Z - At[I].Z;
        const double Square = U * U + V * V + W * W + Least * Least;
        const double Pull = B.Places[J].w / (Square * std::sqrt(Square)) * Time;
        Speed[I] = {Speed[I].X + Pull * U, Speed[I].Y + Pull * V,
                    Speed[I].Z + Pull * W};
      }
      Next[I] = {At[I].X + Speed[I].X * Time, At[I].Y + Speed[I].Y * Time,
                 At[I].Z + Speed[I].Z * Time};
    }
    At = Next;
  }
  double Most = 0;
  for (size_t I = 0; I < Count; ++I)
    Most = std::fmax(
        Most, std::hypot(std::hypot(Got[I].x - At[I].X, Got[I].y - At[I].Y),
                         Got[I].z - At[I].Z));
  return Most;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "gravity");
  const int Count = Run.integer("bodies", 500, 1, 1 << 22);
  const int Steps = Run.integer("steps", 3, 1, 10000);
  const int Kind = Run.integer("kind", 0, 0, 2);
  const std::string Output = Run.output();
  Run.ready();

  const Bodies Start(Run.random(), Kind, Count);
  DeviceArray<float4> A(Start.Places), B(Start.Places), Speeds(Start.Speeds);
  Run.run(
      [&] {
        A.set(Start.Places);
        Speeds.set(Start.Speeds);
      },
      [&] {
        for (int S = 0; S < Steps; ++S)
          step<<<(Count + Block - 1) / Block, Block>>>(
              S % 2 ? B : A, S % 2 ? A : B, Speeds, Count);
      });
  const std::vector<float4> Got = Steps % 2 ? B.get() : A.get();
  std::vector<float> Places;
  for (const float4 &P : Got)
    Places.insert(Places.end(), {P.x, P.y, P.z});
  writeFloats(Output, Places);
  return Run.finish(!Run.checks() || error(Start, Steps, Got) < 0.0001,
                    checksum(Places));
}
