//===- examples/raytracer/raytracer.cu - Lesson 18: rays and spheres ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small path tracer. A thread follows the paths of one pixel: find the
// nearest sphere, let its material decide, go on from there:
//
//        \      sky: the path ends with its light
//         \   /
//     -----o-----   matt     anywhere above the surface, by rejection
//     -----o-----   metal    mirrored, a little blurred
//     -----o-----   glass    refracted or mirrored, by chance (Schlick, 1994)
//
// Neighbouring pixels begin alike. After one bounce they see different spheres
// and different materials; after three, half of them see the sky. Each of
// these is a branch: the hit, the material, the end; and drawing a direction by
// rejection is a loop of its own.
//
// Scene and materials are plain classes with members for host and device.
// Products that feed sums are fmaf, and nothing but IEEE arithmetic and roots
// is used: host and device agree to the last bit.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"
#include "../common/random.h"

#include <cmath>
#include <vector>

/// Three numbers: a point, a direction, a colour.
struct Vec {
  float X, Y, Z;

  EXAMPLE_HD Vec operator+(const Vec &O) const {
    return {X + O.X, Y + O.Y, Z + O.Z};
  }
  EXAMPLE_HD Vec operator-(const Vec &O) const {
    return {X - O.X, Y - O.Y, Z - O.Z};
  }
  EXAMPLE_HD Vec operator*(const Vec &O) const {
    return {X * O.X, Y * O.Y, Z * O.Z};
  }
  EXAMPLE_HD Vec operator*(float F) const { return {X * F, Y * F, Z * F}; }
  /// this + Direction * Length
  EXAMPLE_HD Vec along(const Vec &Direction, float Length) const {
    return {fmaf(Direction.X, Length, X), fmaf(Direction.Y, Length, Y),
            fmaf(Direction.Z, Length, Z)};
  }
  EXAMPLE_HD float dot(const Vec &O) const {
    return fmaf(X, O.X, fmaf(Y, O.Y, Z * O.Z));
  }
  EXAMPLE_HD Vec unit() const { return *this * (1.0f / sqrtf(dot(*this))); }
};

struct Ray {
  Vec From, Direction; ///< of length 1
};

class Material {
public:
  enum Sort { Matt, Metal, Glass };

  EXAMPLE_HD Material(Sort S, Vec Colour, float Extra)
      : Kind(S), Colour(Colour), Extra(Extra) {}

  /// Where \p In goes on from \p At; false if it is swallowed.
  EXAMPLE_HD bool scatter(const Ray &In, const Vec &At, const Vec &Normal,
                          Random &Draw, Ray &Out, Vec &Light) const {
    Light = Light * Colour;
    Out.From = At;
    switch (Kind) {
    case Matt:
      Out.Direction = Normal.along(anywhere(Draw), 0.999f).unit();
      return true;
    case Metal: {
      const Vec Mirrored = mirror(In.Direction, Normal);
      Out.Direction = Mirrored.along(anywhere(Draw), Extra).unit();
      return Out.Direction.dot(Normal) > 0;
    }
    case Glass:
      break;
    }
    // Extra is the refractive index; from inside, normal and index turn round.
    float Cosine = -In.Direction.dot(Normal);
    const bool Inside = Cosine < 0;
    const Vec Facing = Inside ? Normal * -1.0f : Normal;
    const float Ratio = Inside ? Extra : 1.0f / Extra;
    Cosine = fabsf(Cosine);
    const float Rest = fmaf(-Ratio * Ratio, fmaf(-Cosine, Cosine, 1.0f), 1.0f);
    if (Rest < 0 || Draw.uniform() < reflectance(Cosine)) {
      Out.Direction = mirror(In.Direction, Facing);
    } else {
      const float Turn = fmaf(Ratio, Cosine, -sqrtf(Rest));
      Out.Direction = (In.Direction * Ratio).along(Facing, Turn).unit();
    }
    return true;
  }

private:
  /// In the unit ball, by rejection: about half of the tries fail.
  EXAMPLE_HD static Vec anywhere(Random &Draw) {
    Vec V;
    do {
      V.X = fmaf(2.0f, Draw.uniform(), -1.0f);
      V.Y = fmaf(2.0f, Draw.uniform(), -1.0f);
      V.Z = fmaf(2.0f, Draw.uniform(), -1.0f);
    } while (V.dot(V) >= 1.0f);
    return V;
  }
  EXAMPLE_HD static Vec mirror(const Vec &V, const Vec &Normal) {
    return V.along(Normal, -2.0f * V.dot(Normal));
  }
  EXAMPLE_HD float reflectance(float Cosine) const {
    const float Root = (1.0f - Extra) / (1.0f + Extra), R0 = Root * Root;
    const float C = 1.0f - Cosine, C2 = C * C;
    return fmaf(1.0f - R0, C2 * C2 * C, R0);
  }

  Sort Kind;
  Vec Colour;
  float Extra; ///< metal: blur; glass: refractive index
};

class Sphere {
public:
  EXAMPLE_HD Sphere(Vec Centre, float Radius, Material M)
      : Centre(Centre), Radius(Radius), Surface(M) {}

  /// Distance along \p R, or \p Farthest if it is missed, behind or farther.
  EXAMPLE_HD float hit(const Ray &R, float Farthest) const {
    const Vec Way = Centre - R.From;
    const float Middle = Way.dot(R.Direction);
    const Vec Off = Way.along(R.Direction, -Middle);
    const float Rest = fmaf(Radius, Radius, -Off.dot(Off));
    if (Rest <= 0)
      return Farthest;
    const float Half = sqrtf(Rest);
    for (const float Distance : {Middle - Half, Middle + Half})
      if (Distance > 1e-3f && Distance < Farthest)
        return Distance;
    return Farthest;
  }
  EXAMPLE_HD Vec normal(const Vec &At) const {
    return (At - Centre) * (1.0f / Radius);
  }
  EXAMPLE_HD const Material &material() const { return Surface; }

private:
  Vec Centre;
  float Radius;
  Material Surface;
};

struct Scene {
  const Sphere *Spheres;
  int Count;
  int Width, Height, Samples, MaxBounces;
  uint64_t Seed;
};

/// The light of one path and the number of its bounces.
EXAMPLE_HD inline Vec trace(const Scene &S, Ray R, Random &Draw, int &Bounces) {
  constexpr float Infinity = 1e30f;
  Vec Light = {1, 1, 1};
  for (int Bounce = 0; Bounce < S.MaxBounces; ++Bounce) {
    float Nearest = Infinity;
    int Hit = -1;
    for (int I = 0; I < S.Count; ++I) {
      const float Distance = S.Spheres[I].hit(R, Nearest);
      if (Distance < Nearest) {
        Nearest = Distance;
        Hit = I;
      }
    }
    if (Hit < 0) { // the sky, brighter towards the horizon
      const float Up = fmaf(0.5f, R.Direction.Y, 0.5f);
      return Light * Vec{fmaf(-0.5f, Up, 1.0f), fmaf(-0.3f, Up, 1.0f), 1.0f};
    }
    ++Bounces;
    const Sphere &Met = S.Spheres[Hit];
    const Vec At = R.From.along(R.Direction, Nearest);
    Ray Next;
    if (!Met.material().scatter(R, At, Met.normal(At), Draw, Next, Light))
      break;
    R = Next;
  }
  return {0, 0, 0};
}

EXAMPLE_HD inline Vec renderPixel(const Scene &S, int X, int Y, int &Bounces) {
  Random Draw(S.Seed, uint64_t(Y) * S.Width + X);
  const Vec Eye = {0, 1.5f, 6.0f};
  const float Step = 2.0f / float(S.Height);
  Vec Sum = {0, 0, 0};
  for (int Sample = 0; Sample < S.Samples; ++Sample) {
    const float U = float(X) + Draw.uniform() - 0.5f * float(S.Width);
    const float V = 0.5f * float(S.Height) - float(Y) - Draw.uniform();
    const Vec Direction = {U * Step, fmaf(V, Step, -0.3f), -2.0f};
    Sum = Sum + trace(S, {Eye, Direction.unit()}, Draw, Bounces);
  }
  return Sum * (1.0f / float(S.Samples));
}

__global__ void render(Scene S, Vec *Image, unsigned long long *TotalBounces) {
  const int X = int(blockIdx.x * blockDim.x + threadIdx.x);
  const int Y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (X >= S.Width || Y >= S.Height)
    return;
  int Bounces = 0;
  Image[Y * S.Width + X] = renderPixel(S, X, Y, Bounces);
  atomicAdd(TotalBounces, (unsigned long long)Bounces);
}

/// A floor, three big spheres and small ones between them.
static std::vector<Sphere> makeScene(long Small, long Seed) {
  using M = Material;
  std::vector<Sphere> Spheres = {
      {{0, -1000, 0}, 1000, {M::Matt, {0.5f, 0.5f, 0.5f}, 0}},
      {{0, 1, 0}, 1, {M::Glass, {1, 1, 1}, 1.5f}},
      {{-2.2f, 1, -0.5f}, 1, {M::Matt, {0.7f, 0.3f, 0.2f}, 0}},
      {{2.2f, 1, -0.5f}, 1, {M::Metal, {0.8f, 0.8f, 0.7f}, 0.02f}}};
  Random Draw(uint64_t(Seed), ~0ull >> 1);
  for (long I = 0; I < Small; ++I) {
    const float X = 8 * Draw.uniform() - 4, Z = 6 * Draw.uniform() - 3;
    const Vec Colour = {Draw.uniform(), Draw.uniform(), Draw.uniform()};
    const M::Sort Sort = M::Sort(Draw.below(3));
    Spheres.push_back({{X, 0.2f, Z},
                       0.2f,
                       {Sort, Sort == M::Glass ? Vec{1, 1, 1} : Colour,
                        Sort == M::Glass ? 1.5f : 0.3f * Draw.uniform()}});
  }
  return Spheres;
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const int Width = int(Args.integer("width", 192, 1, 8192));
  const int Height = int(Args.integer("height", 108, 1, 8192));
  const int Samples = int(Args.integer("samples", 4, 1, 4096));
  const int MaxBounces = int(Args.integer("bounces", 12, 1, 1000));
  const long Small = Args.integer("spheres", 30, 0, 1000);
  const long Tile = Args.integer("tile", 8, 1, 32); // threads of a warp in x
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();
  if (32 % Tile) {
    std::fprintf(stderr, "raytracer: tile=%ld: give a divisor of 32\n", Tile);
    return 2;
  }

  const std::vector<Sphere> Spheres = makeScene(Small, Seed);
  const size_t Pixels = size_t(Width) * Height;
  Sphere *DeviceSpheres = nullptr;
  Vec *DeviceImage = nullptr;
  unsigned long long *DeviceBounces = nullptr, Bounces = 0;
  CHECK_CUDA(cudaMalloc(&DeviceSpheres, Spheres.size() * sizeof(Sphere)));
  CHECK_CUDA(cudaMalloc(&DeviceImage, Pixels * sizeof(Vec)));
  CHECK_CUDA(cudaMalloc(&DeviceBounces, sizeof(Bounces)));
  CHECK_CUDA(cudaMemcpy(DeviceSpheres, Spheres.data(),
                        Spheres.size() * sizeof(Sphere),
                        cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(DeviceBounces, 0, sizeof(Bounces)));
  Scene S = {DeviceSpheres, int(Spheres.size()), Width,         Height,
             Samples,       MaxBounces,          uint64_t(Seed)};
  const dim3 Block(unsigned(Tile), unsigned(128 / Tile));
  const dim3 Grid((Width + Block.x - 1) / Block.x,
                  (Height + Block.y - 1) / Block.y);
  render<<<Grid, Block>>>(S, DeviceImage, DeviceBounces);
  CHECK_LAUNCH();
  CHECK_CUDA(cudaDeviceSynchronize());
  std::vector<Vec> Image(Pixels);
  CHECK_CUDA(cudaMemcpy(Image.data(), DeviceImage, Pixels * sizeof(Vec),
                        cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(&Bounces, DeviceBounces, sizeof(Bounces),
                        cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(DeviceSpheres));
  CHECK_CUDA(cudaFree(DeviceImage));
  CHECK_CUDA(cudaFree(DeviceBounces));

  long Wrong = 0;
  double Mean = 0;
  S.Spheres = Spheres.data();
  unsigned long long Expected = 0;
  for (int Y = 0; Y < Height; ++Y)
    for (int X = 0; X < Width; ++X) {
      const Vec &Pixel = Image[size_t(Y) * Width + X];
      Mean += (double(Pixel.X) + Pixel.Y + Pixel.Z) / (3.0 * double(Pixels));
      if (!Check)
        continue;
      int OfPixel = 0;
      const Vec R = renderPixel(S, X, Y, OfPixel);
      Expected += OfPixel;
      Wrong += R.X != Pixel.X || R.Y != Pixel.Y || R.Z != Pixel.Z;
    }
  Wrong += Check && Bounces != Expected;
  std::printf(
      "raytracer: %d x %d pixels, %zu spheres, %llu bounces, mean light "
      "%.4f: ",
      Width, Height, Spheres.size(), Bounces, Mean);
  if (Wrong)
    std::printf("%ld WRONG\n", Wrong);
  else
    std::printf(Check ? "bit-identical\n" : "not checked\n");
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(Image)));
  return Wrong ? 1 : 0;
}
