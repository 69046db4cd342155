//===- benchmarks/kernels/particles/particles.cu - Colliding balls --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Balls of one size that fall, bounce off the walls of a box and collide (paper
// 4, particles). A ball touches only those in its cell of a grid and in the 26
// around it, as a cell is as wide as a ball. A step:
//
//   1. move     a thread a ball; at a wall it turns round and is slower
//   2. count, scan, place: balls in the order of their cells (a counting sort);
//      order   puts each cell's balls in order of their numbers, so that sums
//              do not depend on which thread came first
//   3. collide  a thread a ball: a spring and a damper for each ball that it
//               touches (P. Cundall and O. Strack's discrete elements, 1979)
//
// The device works in float, the reference in double and on all pairs. What a
// pair feels jumps as it begins to touch, so some balls differ sooner than
// others: after ten steps one in a hundred may be off by more than a
// thousandth of its radius, and none by more than a tenth.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"
#include "../common/exact.h"
#include "../common/output.h"

static constexpr int Block = 64, ScanBlock = 1024;
static constexpr float Time = 0.5f, Gravity = -0.0003f, Bounce = -0.5f;
static constexpr float Spring = 0.5f, Damping = 0.02f, Shear = 0.1f;

struct Box {
  int Count, Side; ///< balls; cells along an edge of the box, from -1 to 1
  float Radius;
};

__device__ static int cellAlong(const Box &B, float At) {
  const int Cell = int(floorf((At + 1) * (0.5f * float(B.Side))));
  return Cell < 0 ? 0 : Cell < B.Side ? Cell : B.Side - 1;
}
__device__ static int cellOf(const Box &B, float4 At) {
  return (cellAlong(B, At.z) * B.Side + cellAlong(B, At.y)) * B.Side +
         cellAlong(B, At.x);
}

/// Back into the box, along one axis.
__device__ static void bounce(float Most, float &At, float &Speed) {
  if (At > Most) {
    At = Most;
    Speed *= Bounce;
  }
  if (At < -Most) {
    At = -Most;
    Speed *= Bounce;
  }
}

__global__ void move(Box B, float4 *Places, float4 *Speeds) {
  const int I = int(blockIdx.x * Block + threadIdx.x);
  if (I >= B.Count)
    return;
  float4 At = Places[I], Speed = Speeds[I];
  Speed.y += Gravity * Time;
  At.x = fmaf(Speed.x, Time, At.x);
  At.y = fmaf(Speed.y, Time, At.y);
  At.z = fmaf(Speed.z, Time, At.z);
  bounce(1 - B.Radius, At.x, Speed.x);
  bounce(1 - B.Radius, At.y, Speed.y);
  bounce(1 - B.Radius, At.z, Speed.z);
  Places[I] = At;
  Speeds[I] = Speed;
}

/// So many balls are in each cell.
__global__ void count(Box B, const float4 *Places, int *Counts) {
  const int I = int(blockIdx.x * Block + threadIdx.x);
  if (I < B.Count)
    atomicAdd(&Counts[cellOf(B, Places[I])], 1);
}

/// Where each cell's balls begin, and that of the cell after the last. One
/// block, a tile of cells at a time.
__global__ void scan(const int *Counts, int *Begins, int *Ends, int Cells) {
  __shared__ int Sums[ScanBlock];
  const int Thread = int(threadIdx.x);
  int Before = 0;
  for (int First = 0; First < Cells; First += ScanBlock) {
    const int I = First + Thread, Mine = I < Cells ? Counts[I] : 0;
    Sums[Thread] = Mine;
    for (int Far = 1; Far < ScanBlock; Far *= 2) {
      __syncthreads();
      const int Other = Thread >= Far ? Sums[Thread - Far] : 0;
      __syncthreads();
      Sums[Thread] += Other;
    }
    __syncthreads();
    if (I < Cells)
      Begins[I] = Ends[I] = Before + Sums[Thread] - Mine;
    Before += Sums[ScanBlock - 1];
    __syncthreads();
  }
}

/// Ends grow as balls are put there.
__global__ void place(Box B, const float4 *Places, int *Ends, int *Balls) {
  const int I = int(blockIdx.x * Block + threadIdx.x);
  if (I < B.Count)
    Balls[atomicAdd(&Ends[cellOf(B, Places[I])], 1)] = I;
}

__global__ void order(const int *Begins, const int *Ends, int *Balls,
                      int Cells) {
  const int Cell = int(blockIdx.x * Block + threadIdx.x);
  if (Cell >= Cells)
    return;
  const int Begin = Begins[Cell], End = Ends[Cell];
  // Herded, it would leave the order in which threads came, and results with it.
#ifdef __clang__ // nvcc warns of what it does not know
#pragma reconverge herd off
#endif
  for (int I = Begin + 1; I < End; ++I) {
    const int Ball = Balls[I];
    int J = I;
#ifdef __clang__
#pragma reconverge herd off
#endif
    for (; J > Begin && Balls[J - 1] > Ball; --J)
      Balls[J] = Balls[J - 1];
    Balls[J] = Ball;
  }
}

__global__ void gather(Box B, const int *Balls, const float4 *Places,
                       const float4 *Speeds, float4 *NearPlaces,
                       float4 *NearSpeeds) {
  const int I = int(blockIdx.x * Block + threadIdx.x);
  if (I >= B.Count)
    return;
  NearPlaces[I] = Places[Balls[I]];
  NearSpeeds[I] = Speeds[Balls[I]];
}

/// Adds the push of the other ball, if they touch.
__device__ static void push(const Box &B, float4 At, float4 Speed,
                            float4 OtherAt, float4 OtherSpeed, float4 &Sum) {
  const float X = OtherAt.x - At.x, Y = OtherAt.y - At.y, Z = OtherAt.z - At.z;
  const float Apart = root(fmaf(X, X, fmaf(Y, Y, Z * Z)));
  if (Apart < 2 * B.Radius) {
    const float U = X / Apart, V = Y / Apart, W = Z / Apart;
    const float SX = OtherSpeed.x - Speed.x, SY = OtherSpeed.y - Speed.y,
                SZ = OtherSpeed.z - Speed.z;
    const float Towards = fmaf(SX, U, fmaf(SY, V, SZ * W));
    // Along the line between them, then across it.
    const float Along =
        fmaf(-Spring, fmaf(2, B.Radius, -Apart), -product(Shear, Towards));
    Sum.x = fmaf(Along, U, fmaf(Damping + Shear, SX, Sum.x));
    Sum.y = fmaf(Along, V, fmaf(Damping + Shear, SY, Sum.y));
    Sum.z = fmaf(Along, W, fmaf(Damping + Shear, SZ, Sum.z));
  }
}

__global__ void collide(Box B, const int *Begins, const int *Ends,
                        const int *Balls, const float4 *NearPlaces,
                        const float4 *NearSpeeds, float4 *Speeds) {
  const int I = int(blockIdx.x * Block + threadIdx.x);
  if (I >= B.Count)
    return;
  const float4 At = NearPlaces[I], Speed = NearSpeeds[I];
  const int CX = cellAlong(B, At.x), CY = cellAlong(B, At.y),
            CZ = cellAlong(B, At.z);
  float4 Sum = make_float4(0, 0, 0, 0);
  for (int Z = max(CZ - 1, 0); Z <= min(CZ + 1, B.Side - 1); ++Z)
    for (int Y = max(CY - 1, 0); Y <= min(CY + 1, B.Side - 1); ++Y)
      for (int X = max(CX - 1, 0); X <= min(CX + 1, B.Side - 1); ++X) {
        const int Cell = (Z * B.Side + Y) * B.Side + X;
        for (int J = Begins[Cell]; J < Ends[Cell]; ++J)
          if (J != I)
            push(B, At, Speed, NearPlaces[J], NearSpeeds[J], Sum);
      }
  Speeds[Balls[I]] =
      make_float4(Speed.x + Sum.x, Speed.y + Sum.y, Speed.z + Sum.z, 0);
}

/// Kinds: 0 a block of balls that nearly touch, 1 a gas, 2 a pile on the ground
/// that a ball of balls falls on.
struct Balls {
  std::vector<float4> Places, Speeds;

  Balls(Random Draw, int Kind, const Box &B) {
    const float Wide = 2 * B.Radius;
    const auto Any = [&](float Most) {
      return (2 * Draw.uniform() - 1) * Most;
    };
    // Layers of a square below, the rest in a cube above.
    const int Pile = Kind == 2 ? B.Count * 3 / 4 : 0;
    const int Edge = int(std::ceil(std::cbrt(double(B.Count - Pile))));
    const int Above = Kind == 2 ? Pile / (B.Side * B.Side) + 2 : 0;
    for (int I = 0; I < B.Count; ++I) {
      const bool Lies = I < Pile;
      const int J = Lies ? I : I - Pile, E = Lies ? B.Side : Edge;
      const int Layer = Lies ? J / E / E : J / E / E + Above;
      float X = (float(J % E) - float(E - 1) / 2) * Wide;
      float Y = -1 + B.Radius + float(Layer) * Wide;
      float Z = (float(J / E % E) - float(E - 1) / 2) * Wide;
      float Fall = Kind == 2 && !Lies ? -0.02f : 0.f;
      if (Kind == 1) {
        X = Any(1 - B.Radius);
        Y = Any(1 - B.Radius);
        Z = Any(1 - B.Radius);
      }
      const float Loose = 0.05f * B.Radius, Quick = Kind == 1 ? .01f : .0005f;
      Places.push_back(
          make_float4(X + Any(Loose), Y + Any(Loose), Z + Any(Loose), 0));
      Speeds.push_back(
          make_float4(Any(Quick), Fall + Any(Quick), Any(Quick), 0));
    }
  }
};

struct Vector {
  double X, Y, Z;
  Vector(double X, double Y, double Z) : X(X), Y(Y), Z(Z) {}
  explicit Vector(float4 V) : X(V.x), Y(V.y), Z(V.z) {}
  Vector operator+(Vector V) const { return {X + V.X, Y + V.Y, Z + V.Z}; }
  Vector operator-(Vector V) const { return *this + V * -1; }
  Vector operator*(double A) const { return {A * X, A * Y, A * Z}; }
  double operator*(Vector V) const { return X * V.X + Y * V.Y + Z * V.Z; }
};

/// Whether balls are where they should be.
static bool isClose(const Balls &Start, const Box &B, int Steps,
                    const std::vector<float4> &Got) {
  std::vector<Vector> At(Start.Places.begin(), Start.Places.end());
  std::vector<Vector> Speed(Start.Speeds.begin(), Start.Speeds.end());
  const double Most = 1 - B.Radius;
  for (int S = 0; S < Steps; ++S) {
    for (int I = 0; I < B.Count; ++I) {
      Speed[I].Y += double(Gravity) * Time;
      At[I] = At[I] + Speed[I] * Time;
      for (auto Axis : {&Vector::X, &Vector::Y, &Vector::Z})
        if (std::fabs(At[I].*Axis) > Most) {
          At[I].*Axis = std::copysign(Most, At[I].*Axis);
          Speed[I].*Axis *= Bounce;
        }
    }
    std::vector<Vector> New = Speed;
    for (int I = 0; I < B.Count; ++I)
      for (int J = 0; J < B.Count; ++J) {
        const Vector Way = At[J] - At[I];
        const double Apart = std::sqrt(Way * Way);
        if (I == J || Apart >= 2. * B.Radius)
          continue;
        const Vector Line = Way * (1 / Apart), Slip = Speed[J] - Speed[I];
        const Vector Across = Slip - Line * (Slip * Line);
        New[I] = New[I] + Line * (-Spring * (2. * B.Radius - Apart)) +
                 Slip * Damping + Across * Shear;
      }
    Speed = New;
  }
  double Farthest = 0;
  int Off = 0;
  for (int I = 0; I < B.Count; ++I) {
    const Vector Way = Vector(Got[I]) - At[I];
    const double Radii = std::sqrt(Way * Way) / B.Radius;
    Farthest = std::fmax(Farthest, Radii);
    Off += Radii > 0.001;
  }
  return Farthest < 0.1 && Off <= B.Count / 100;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "particles");
  const int Count = Run.integer("balls", 1000, 1, 1 << 24);
  const int Side = Run.integer("side", 16, 2, 256);
  const int Steps = Run.integer("steps", 4, 1, 100000);
  const int Kind = Run.integer("kind", 0, 0, 2);
  const std::string Output = Run.output();
  Run.ready();
  const int Cells = Side * Side * Side;
  if (Count > Cells / 4 + 1) { // so that all have room
    std::fprintf(stderr,
                 "particles: balls=%d: give at most a quarter of side^3\n",
                 Count);
    return 2;
  }

  const Box B = {Count, Side, 1.f / float(Side)};
  const Balls Start(Run.random(), Kind, B);
  DeviceArray<float4> Places(Start.Places), Speeds(Start.Speeds);
  DeviceArray<float4> NearPlaces(Start.Places), NearSpeeds(Start.Speeds);
  const std::vector<int> Empty(Cells, 0);
  DeviceArray<int> Counts(Empty), Begins(Empty), Ends(Empty);
  DeviceArray<int> Sorted(std::vector<int>(Count, 0));
  const int Blocks = (Count + Block - 1) / Block;
  Run.run(
      [&] {
        Places.set(Start.Places);
        Speeds.set(Start.Speeds);
      },
      [&] {
        for (int S = 0; S < Steps; ++S) {
          move<<<Blocks, Block>>>(B, Places, Speeds);
          CHECK_CUDA(cudaMemsetAsync(Counts, 0, Cells * sizeof(int)));
          count<<<Blocks, Block>>>(B, Places, Counts);
          scan<<<1, ScanBlock>>>(Counts, Begins, Ends, Cells);
          place<<<Blocks, Block>>>(B, Places, Ends, Sorted);
          order<<<(Cells + Block - 1) / Block, Block>>>(Begins, Ends, Sorted,
                                                        Cells);
          gather<<<Blocks, Block>>>(B, Sorted, Places, Speeds, NearPlaces,
                                    NearSpeeds);
          collide<<<Blocks, Block>>>(B, Begins, Ends, Sorted, NearPlaces,
                                     NearSpeeds, Speeds);
        }
      });
  const std::vector<float4> Got = Places.get(), Fast = Speeds.get();
  std::vector<float> All;
  for (const auto *Part : {&Got, &Fast})
    for (const float4 &V : *Part)
      All.insert(All.end(), {V.x, V.y, V.z});
  writeFloats(Output, All);
  return Run.finish(!Run.checks() || isClose(Start, B, Steps, Got),
                    checksum(All));
}
