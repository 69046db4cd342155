//===- benchmarks/kernels/ocean/ocean.cu - Waves of the sea ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A patch of the sea's surface (paper 4, oceanFFT), as J. Tessendorf makes it
// (Simulating ocean water, 2001):
//
//   1. spectrum  each wave's amplitude at this time, from what it was at the
//                start: wind makes them, and long ones are faster
//   2. transform back to heights, in two dimensions: rows, then columns, a
//                block each, in shared memory, by Stockham's radix-2 steps
//   3. heights   the real part, with signs, as frequencies begin in the middle
//   4. slopes    from the neighbours' heights; flat at the patch's border
//
// The device works in float, the reference in double: heights and slopes may
// differ by 0.001 of the largest.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"
#include "../common/exact.h"
#include "../common/output.h"

#include <complex>

static constexpr int Edge = 16;
static constexpr float Gravity = 9.81f, TwoPi = 6.283185307f, Meters = 100;

__device__ static float2 times(float2 A, float2 B) {
  return make_float2(fmaf(A.x, B.x, -product(A.y, B.y)),
                     fmaf(A.x, B.y, product(A.y, B.x)));
}

/// Start has a row and a column more than there are waves, so that each finds
/// the one that runs against it.
__global__ void spectrum(const float2 *Start, float2 *Waves, int Side,
                         float Seconds) {
  const int X = int(blockIdx.x * Edge + threadIdx.x);
  const int Y = int(blockIdx.y * Edge + threadIdx.y);
  if (X >= Side || Y >= Side)
    return;
  const float U = float(X - Side / 2) * (TwoPi / Meters);
  const float V = float(Y - Side / 2) * (TwoPi / Meters);
  const float Speed = root(Gravity * root(fmaf(U, U, V * V)));
  float Turns = product(Speed, Seconds / TwoPi);
  Turns -= floorf(Turns);
  float Sine, Cosine;
  sineCosine(Turns, Sine, Cosine);
  const float2 With = Start[Y * (Side + 1) + X];
  const float2 Against = Start[(Side - Y) * (Side + 1) + Side - X];
  const float2 A = times(With, make_float2(Cosine, Sine));
  const float2 B =
      times(make_float2(Against.x, -Against.y), make_float2(Cosine, -Sine));
  Waves[Y * Side + X] = make_float2(A.x + B.x, A.y + B.y);
}

/// A line a block, a butterfly a thread: Step from one value to the next, Line
/// from one line to the next.
__global__ void transform(float2 *Data, const float2 *Roots, int Side, int Step,
                          int Line) {
  extern __shared__ float2 Values[];
  float2 *From = Values, *To = Values + Side;
  const int Thread = int(threadIdx.x), Half = Side / 2;
  float2 *Mine = Data + int(blockIdx.x) * Line;
  From[Thread] = Mine[Thread * Step];
  From[Thread + Half] = Mine[(Thread + Half) * Step];
  for (int Width = 1; Width < Side; Width *= 2) {
    __syncthreads();
    const int In = Thread % Width, At = 2 * Thread - In;
    const float2 A = From[Thread];
    const float2 B = times(From[Thread + Half], Roots[In * (Half / Width)]);
    To[At] = make_float2(A.x + B.x, A.y + B.y);
    To[At + Width] = make_float2(A.x - B.x, A.y - B.y);
    float2 *Done = To;
    To = From;
    From = Done;
  }
  __syncthreads();
  Mine[Thread * Step] = From[Thread];
  Mine[(Thread + Half) * Step] = From[Thread + Half];
}

__global__ void heights(const float2 *Waves, float *Heights, int Side) {
  const int X = int(blockIdx.x * Edge + threadIdx.x);
  const int Y = int(blockIdx.y * Edge + threadIdx.y);
  if (X >= Side || Y >= Side)
    return;
  const float Height = Waves[Y * Side + X].x;
  Heights[Y * Side + X] = (X + Y) % 2 ? -Height : Height;
}

__global__ void slopes(const float *Heights, float2 *Slopes, int Side) {
  const int X = int(blockIdx.x * Edge + threadIdx.x);
  const int Y = int(blockIdx.y * Edge + threadIdx.y);
  if (X >= Side || Y >= Side)
    return;
  const int I = Y * Side + X;
  float2 Slope = make_float2(0, 0);
  if (X > 0 && Y > 0 && X < Side - 1 && Y < Side - 1)
    Slope = make_float2(Heights[I + 1] - Heights[I - 1],
                        Heights[I + Side] - Heights[I - Side]);
  Slopes[I] = Slope;
}

/// Waves at the start, by O. Phillips' spectrum. Kinds: 0 a storm, 1 a breeze,
/// 2 a swell, all from one side.
static std::vector<float2> start(Random Draw, int Kind, int Side) {
  const double Wind = Kind == 0 ? 30 : Kind == 1 ? 8 : 15;
  const double Angle = 6.283185307 * Draw.uniform();
  const double Longest = Wind * Wind / Gravity;
  const auto Normal = [&] { // Box and Muller
    const double U = Draw.uniform() + 1e-8, V = Draw.uniform();
    return std::sqrt(-2 * std::log(U)) * std::cos(6.283185307 * V);
  };
  std::vector<float2> Start;
  for (int Y = 0; Y <= Side; ++Y)
    for (int X = 0; X <= Side; ++X) {
      const double U = (X - Side / 2) * double(TwoPi / Meters);
      const double V = (Y - Side / 2) * double(TwoPi / Meters);
      const double K2 = U * U + V * V + 1e-12;
      const double With =
          (U * std::cos(Angle) + V * std::sin(Angle)) / std::sqrt(K2);
      double Power = std::exp(-1 / (K2 * Longest * Longest)) / (K2 * K2) *
                     std::pow(With, Kind == 2 ? 8 : 2);
      if (With < 0)
        Power *= 0.07; // few run against the wind
      const double Size = std::sqrt(Power / 2) * 1e-3;
      const double Re = Normal(), Im = Normal();
      Start.push_back(make_float2(float(Size * Re), float(Size * Im)));
    }
  return Start;
}

/// Sums of waves, by halves; Values has a power of two.
static void backwards(std::vector<std::complex<double>> &Values) {
  const size_t Count = Values.size();
  if (Count == 1)
    return;
  std::vector<std::complex<double>> Even, Odd;
  for (size_t I = 0; I < Count; I += 2) {
    Even.push_back(Values[I]);
    Odd.push_back(Values[I + 1]);
  }
  backwards(Even);
  backwards(Odd);
  for (size_t I = 0; I < Count / 2; ++I) {
    const auto Turned =
        std::polar(1., 2 * 3.14159265358979324 * double(I) / double(Count)) *
        Odd[I];
    Values[I] = Even[I] + Turned;
    Values[I + Count / 2] = Even[I] - Turned;
  }
}

/// Heights, then slopes in x and y.
static std::vector<double> reference(const std::vector<float2> &Start, int Side,
                                     double Seconds) {
  using Complex = std::complex<double>;
  std::vector<std::vector<Complex>> Rows(Side, std::vector<Complex>(Side));
  const auto At = [&](int X, int Y) {
    const float2 S = Start[Y * (Side + 1) + X];
    return Complex(S.x, S.y);
  };
  for (int Y = 0; Y < Side; ++Y) {
    for (int X = 0; X < Side; ++X) {
      const double K =
          std::hypot(X - Side / 2, Y - Side / 2) * double(TwoPi / Meters);
      const Complex Turn = std::polar(1., std::sqrt(Gravity * K) * Seconds);
      Rows[Y][X] =
          At(X, Y) * Turn + std::conj(At(Side - X, Side - Y)) * std::conj(Turn);
    }
    backwards(Rows[Y]);
  }
  std::vector<double> All(size_t(Side) * Side * 3);
  for (int X = 0; X < Side; ++X) {
    std::vector<Complex> Column;
    for (int Y = 0; Y < Side; ++Y)
      Column.push_back(Rows[Y][X]);
    backwards(Column);
    for (int Y = 0; Y < Side; ++Y)
      All[Y * Side + X] = Column[Y].real() * ((X + Y) % 2 ? -1 : 1);
  }
  for (int Y = 1; Y < Side - 1; ++Y)
    for (int X = 1; X < Side - 1; ++X) {
      const int I = Y * Side + X;
      All[Side * Side + 2 * I] = All[I + 1] - All[I - 1];
      All[Side * Side + 2 * I + 1] = All[I + Side] - All[I - Side];
    }
  return All;
}

static bool isClose(const std::vector<float> &Got,
                    const std::vector<double> &Should) {
  double Most = 0, Error = 0;
  for (size_t I = 0; I < Got.size(); ++I) {
    Most = std::fmax(Most, std::fabs(Should[I]));
    Error = std::fmax(Error, std::fabs(Got[I] - Should[I]));
  }
  return Error < 0.001 * Most;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "ocean");
  const int Log = Run.integer("log", 6, 1, 11); // of waves along a side
  const int Kind = Run.integer("kind", 0, 0, 2);
  const std::string Output = Run.output();
  Run.ready();

  const int Side = 1 << Log;
  const std::vector<float2> Start = start(Run.random(), Kind, Side);
  const float Seconds = 60 * Run.random(1).uniform();
  std::vector<float2> Roots;
  for (int I = 0; I < Side / 2; ++I) {
    const double Angle = 2 * 3.14159265358979324 * I / Side;
    Roots.push_back(
        make_float2(float(std::cos(Angle)), float(std::sin(Angle))));
  }
  const size_t Area = size_t(Side) * Side;
  DeviceArray<float2> There(Start), Turns(Roots);
  DeviceArray<float2> Waves(std::vector<float2>(Area, make_float2(0, 0)));
  DeviceArray<float> Heights(std::vector<float>(Area, 0.f));
  DeviceArray<float2> Slopes(std::vector<float2>(Area, make_float2(0, 0)));
  const dim3 Square(Edge, Edge),
      Blocks((Side + Edge - 1) / Edge, (Side + Edge - 1) / Edge);
  const size_t Shared = 2 * Side * sizeof(float2);
  Run.run([&] { Slopes.clear(); },
          [&] {
            spectrum<<<Blocks, Square>>>(There, Waves, Side, Seconds);
            transform<<<Side, Side / 2, Shared>>>(Waves, Turns, Side, 1, Side);
            transform<<<Side, Side / 2, Shared>>>(Waves, Turns, Side, Side, 1);
            heights<<<Blocks, Square>>>(Waves, Heights, Side);
            slopes<<<Blocks, Square>>>(Heights, Slopes, Side);
          });
  std::vector<float> Got = Heights.get();
  for (const float2 &S : Slopes.get())
    Got.insert(Got.end(), {S.x, S.y});
  writeFloats(Output, Got);
  return Run.finish(!Run.checks() ||
                        isClose(Got, reference(Start, Side, Seconds)),
                    checksum(Got));
}
