//===- benchmarks/kernels/volume/volume.cu - Volume rendering -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A picture of a body of smoke, seen from a direction that the seed chooses
// (paper 4, volumeRender). A thread has a pixel and goes along its ray through
// the box, from front to back: at each step it reads the density between eight
// voxels, looks up its colour, and adds what shines through what was before. It
// stops behind the box, or where nearly nothing shines through any more.
//
// Every build takes the same steps. The reference works in double, and may take
// one more or less: one byte in a hundred may be off by more than two.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"
#include "../common/exact.h"
#include "../common/output.h"

#include <algorithm>

static constexpr int Edge = 16, MaxSteps = 500, Colours = 9;
static constexpr float Opaque = 0.95f;

struct Body {
  const unsigned char *Voxels; ///< of [z][y][x], in a box from -1 to 1
  const float4 *Colour;        ///< of densities, evenly apart
  int Side;
};
struct Camera {
  float3 Eye, Right, Up, Ahead; ///< at right angles
  int Width, Height;
  float Step, Shade; ///< of a ray; what full smoke holds back in a step
};

__device__ static float3 along(float3 From, float T, float3 To) {
  return make_float3(fmaf(T, To.x, From.x), fmaf(T, To.y, From.y),
                     fmaf(T, To.z, From.z));
}
__device__ static float between(float A, float B, float T) {
  return fmaf(T, B - A, A);
}

/// The voxel's place below a coordinate, and how far that is above it.
__device__ static int place(float At, int Side, float &Above) {
  float Cell = fmaf(fmaf(0.5f, At, 0.5f), float(Side), -0.5f);
  Cell = fminf(fmaxf(Cell, 0), float(Side - 1));
  const int Low = int(Cell) < Side - 1 ? int(Cell) : Side - 2;
  Above = Cell - float(Low);
  return Low;
}

/// Between the eight voxels around a point, from 0 to 1.
__device__ static float density(const Body &B, float3 At) {
  float U, V, W;
  const int X = place(At.x, B.Side, U), Y = place(At.y, B.Side, V),
            Z = place(At.z, B.Side, W);
  const unsigned char *P = B.Voxels + (Z * B.Side + Y) * B.Side + X;
  const auto Row = [&](const unsigned char *Q) {
    return between(float(Q[0]), float(Q[1]), U);
  };
  const int Down = B.Side * B.Side;
  const float Front = between(Row(P), Row(P + B.Side), V);
  const float Back = between(Row(P + Down), Row(P + Down + B.Side), V);
  return between(Front, Back, W) / 255;
}

__device__ static float4 colour(const Body &B, float Density) {
  const float At = Density * (Colours - 1);
  const int Low = int(At) < Colours - 1 ? int(At) : Colours - 2;
  const float4 C = B.Colour[Low], D = B.Colour[Low + 1];
  const float T = At - float(Low);
  return make_float4(between(C.x, D.x, T), between(C.y, D.y, T),
                     between(C.z, D.z, T), between(C.w, D.w, T));
}

/// Where a ray is in the box, as far as it goes in one direction.
__device__ static void cut(float From, float To, float &Near, float &Far) {
  const float A = (-1 - From) / To, B = (1 - From) / To;
  Near = fmaxf(Near, fminf(A, B));
  Far = fminf(Far, fmaxf(A, B));
}

__device__ static unsigned char byteOf(float Value) {
  return static_cast<unsigned char>(fmaf(255, fminf(Value, 1), 0.5f));
}

__device__ static uchar4 pixel(const Body &B, const Camera &C, int X, int Y) {
  const float U = (2 * float(X) + 1 - float(C.Width)) / float(C.Height);
  const float V = (float(C.Height) - 2 * float(Y) - 1) / float(C.Height);
  float3 Ray = along(along(C.Ahead, 0.45f * U, C.Right), 0.45f * V, C.Up);
  const float Length =
      root(fmaf(Ray.x, Ray.x, fmaf(Ray.y, Ray.y, Ray.z * Ray.z)));
  Ray = make_float3(Ray.x / Length, Ray.y / Length, Ray.z / Length);
  float Near = 0, Far = 1e30f;
  cut(C.Eye.x, Ray.x, Near, Far);
  cut(C.Eye.y, Ray.y, Near, Far);
  cut(C.Eye.z, Ray.z, Near, Far);
  float4 Sum = make_float4(0, 0, 0, 0);
  if (Near < Far) {
    float T = Near;
    for (int Step = 0; Step < MaxSteps; ++Step) {
      const float4 New = colour(B, density(B, along(C.Eye, T, Ray)));
      const float Share = product(1 - Sum.w, fminf(New.w * C.Shade, 1));
      Sum.x = fmaf(Share, New.x, Sum.x);
      Sum.y = fmaf(Share, New.y, Sum.y);
      Sum.z = fmaf(Share, New.z, Sum.z);
      Sum.w += Share;
      if (Sum.w > Opaque)
        break;
      T += C.Step;
      if (T > Far)
        break;
    }
  }
  return make_uchar4(byteOf(Sum.x), byteOf(Sum.y), byteOf(Sum.z), 255);
}

__global__ void render(Body B, Camera C, uchar4 *Out) {
  const int X = int(blockIdx.x * Edge + threadIdx.x);
  const int Y = int(blockIdx.y * Edge + threadIdx.y);
  if (X >= C.Width || Y >= C.Height)
    return;
  Out[Y * C.Width + X] = pixel(B, C, X, Y);
}

/// Kinds: 0 blobs that fade, 1 a cloud, 2 skins around one another.
static std::vector<unsigned char> voxels(Random Draw, int Kind, int Side) {
  struct Blob {
    double X, Y, Z, R, Part;
  };
  const auto Any = [&](double From, double To) {
    return From + (To - From) * Draw.uniform();
  };
  std::vector<Blob> Blobs;
  for (int I = 0; I < (Kind == 0 ? 9 : 40); ++I)
    Blobs.push_back({Any(-.7, .7), Any(-.7, .7), Any(-.7, .7),
                     Kind == 0 ? Any(.1, .4) : Any(.08, .25),
                     Kind == 0 ? Any(.4, 1) : Any(-.3, .4)});
  const double Skins = Any(4, 7);
  std::vector<unsigned char> Voxels;
  for (int I = 0; I < Side * Side * Side; ++I) {
    const auto At = [&](int Place) { return (2. * Place + 1) / Side - 1; };
    const double X = At(I % Side), Y = At(I / Side % Side),
                 Z = At(I / Side / Side);
    const double R = std::sqrt(X * X + Y * Y + Z * Z);
    double Sum = Kind == 0 ? 0 : Kind == 1 ? 0.6 - R : 0;
    for (const Blob &B : Blobs) {
      const double D = ((X - B.X) * (X - B.X) + (Y - B.Y) * (Y - B.Y) +
                        (Z - B.Z) * (Z - B.Z)) /
                       (B.R * B.R);
      Sum += D < 9 ? B.Part * std::exp(-D) : 0;
    }
    if (Kind == 2)
      Sum =
          std::pow(std::fabs(std::sin(Skins * (R + Sum / 3))), 12) * (R < .95);
    Voxels.push_back(static_cast<unsigned char>(std::clamp(Sum, 0., 1.) * 255));
  }
  return Voxels;
}

/// The colours of the rainbow, thin smoke clear.
static std::vector<float4> rainbow() {
  std::vector<float4> Table;
  for (int I = 0; I < Colours; ++I) {
    const auto Hue = [I](double Middle) {
      return float(std::clamp(1.5 - std::fabs(I - Middle) / 2, 0., 1.));
    };
    Table.push_back(make_float4(Hue(7), Hue(4.5), Hue(2), float(I * I) / 64));
  }
  return Table;
}

static Camera camera(Random Draw, int Width, int Height, int Steps) {
  const double A = 6.283185307 * Draw.uniform(), B = Draw.uniform() - 0.5;
  const double CA = std::cos(A), SA = std::sin(A), CB = std::cos(B),
               SB = std::sin(B);
  const auto Vector = [](double X, double Y, double Z) {
    return make_float3(float(X), float(Y), float(Z));
  };
  return {Vector(-3 * CA * CB, -3 * SB, -3 * SA * CB),
          Vector(-SA, 0, CA),
          Vector(-CA * SB, CB, -SA * SB),
          Vector(CA * CB, SB, SA * CB),
          Width,
          Height,
          2.f / float(Steps),
          48.f / float(Steps)};
}

/// A body and a camera as they are, in double.
struct Reference {
  const std::vector<unsigned char> &Voxels;
  const std::vector<float4> &Table;
  const Camera &C;
  int Side;

  double voxel(int X, int Y, int Z) const {
    const auto In = [&](int At) { return std::clamp(At, 0, Side - 1); };
    return Voxels[(In(Z) * Side + In(Y)) * Side + In(X)] / 255.;
  }
  double density(const double (&At)[3]) const {
    int Low[3];
    double Above[3], Sum = 0;
    for (int A = 0; A < 3; ++A) {
      const double Cell = (At[A] + 1) / 2 * Side - 0.5;
      Low[A] = int(std::floor(Cell));
      Above[A] = Cell - Low[A];
    }
    for (int I = 0; I < 8; ++I) {
      const int Next[3] = {I & 1, I >> 1 & 1, I >> 2};
      double Part = voxel(Low[0] + Next[0], Low[1] + Next[1], Low[2] + Next[2]);
      for (int A = 0; A < 3; ++A)
        Part *= Next[A] ? Above[A] : 1 - Above[A];
      Sum += Part;
    }
    return Sum;
  }
  void pixel(int X, int Y, double (&Sum)[4]) const {
    const double U = (2. * X + 1 - C.Width) / C.Height * 0.45;
    const double V = (C.Height - 2. * Y - 1) / C.Height * 0.45;
    const double Eye[3] = {C.Eye.x, C.Eye.y, C.Eye.z};
    double Ray[3] = {C.Ahead.x + U * C.Right.x + V * C.Up.x,
                     C.Ahead.y + U * C.Right.y + V * C.Up.y,
                     C.Ahead.z + U * C.Right.z + V * C.Up.z};
    const double Length = std::hypot(Ray[0], Ray[1], Ray[2]);
    double Near = 0, Far = 1e30;
    for (int A = 0; A < 3; ++A) {
      Ray[A] /= Length;
      const double From = (-1 - Eye[A]) / Ray[A], To = (1 - Eye[A]) / Ray[A];
      Near = std::max(Near, std::min(From, To));
      Far = std::min(Far, std::max(From, To));
    }
    for (double T = Near; T <= Far && Sum[3] <= 0.95; T += C.Step) {
      const double At[3] = {Eye[0] + T * Ray[0], Eye[1] + T * Ray[1],
                            Eye[2] + T * Ray[2]};
      const double Place = density(At) * (Colours - 1);
      const int Low = std::min(int(Place), Colours - 2);
      const float4 D = Table[Low], E = Table[Low + 1];
      const double New[4] = {
          D.x + (Place - Low) * (E.x - D.x), D.y + (Place - Low) * (E.y - D.y),
          D.z + (Place - Low) * (E.z - D.z), D.w + (Place - Low) * (E.w - D.w)};
      const double Share = (1 - Sum[3]) * std::min(New[3] * C.Shade, 1.);
      for (int A = 0; A < 3; ++A)
        Sum[A] += Share * New[A];
      Sum[3] += Share;
    }
  }
  bool isClose(const std::vector<uchar4> &Got) const {
    size_t Off = 0;
    for (size_t I = 0; I < Got.size(); ++I) {
      double Sum[4] = {};
      pixel(int(I) % C.Width, int(I) / C.Width, Sum);
      const int Is[3] = {Got[I].x, Got[I].y, Got[I].z};
      for (int A = 0; A < 3; ++A)
        Off += std::fabs(std::min(Sum[A], 1.) * 255 - Is[A]) > 2;
    }
    return Off * 100 <= Got.size() * 3;
  }
};

int main(int argc, char **argv) {
  Bench Run(argc, argv, "volume");
  const int Width = Run.integer("width", 80, 1, 1 << 14);
  const int Height = Run.integer("height", 60, 1, 1 << 14);
  const int Side = Run.integer("side", 32, 2, 512);
  const int Steps = Run.integer("steps", 60, 1, 400); // through the box
  const int Kind = Run.integer("kind", 0, 0, 2);
  const std::string Output = Run.output();
  Run.ready();

  const std::vector<unsigned char> Voxels = voxels(Run.random(), Kind, Side);
  const std::vector<float4> Table = rainbow();
  const Camera C = camera(Run.random(1), Width, Height, Steps);
  DeviceArray<unsigned char> There(Voxels);
  DeviceArray<float4> Colour(Table);
  DeviceArray<uchar4> Out(std::vector<uchar4>(size_t(Width) * Height));
  Run.run(
      [&] { Out.clear(); },
      [&] {
        render<<<dim3((Width + Edge - 1) / Edge, (Height + Edge - 1) / Edge),
                 dim3(Edge, Edge)>>>({There, Colour, Side}, C, Out);
      });
  const std::vector<uchar4> Got = Out.get();
  const bool Right =
      !Run.checks() || Reference{Voxels, Table, C, Side}.isClose(Got);
  writePicture(Output, Got, Width, Height);
  return Run.finish(Right, checksum(Got));
}
