//===- benchmarks/kernels/surfaces/surfaces.cu - Virtual functions --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A ray tracer as textbooks have it, with classes: what can be hit is a Thing,
// what scatters light is a Surface, and both are called by virtual functions. A
// Group is a Thing made of Things, so that its function may call itself. A thread
// has a pixel, and follows some paths, one after the other, until each leaves the
// scene, is absorbed or has had `bounces` rays.
//
// What diverges: paths have unlike numbers of rays, and surfaces scatter in three
// ways, each a function behind a pointer. In the innermost loop all lanes of a
// warp look at the same Thing.
//
// Objects are made on the device, by a kernel, from a list; on the host from the
// same list. Host and device compute the same bits (common/exact.h).
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"
#include "../common/vec.h"

struct Ray {
  Vec From, Along; ///< Along has length 1
};

class Surface;

/// What a ray meets.
struct Hit {
  float Far;
  Vec Normal; ///< against the ray
  bool Enters;
  const Surface *Of;
};

//===----------------------------------------------------------------------===//
// Surfaces
//===----------------------------------------------------------------------===//

class Surface {
public:
  /// Makes \p R the next ray and takes from \p Through what is lost; false: all.
  HD virtual bool scatter(Ray &R, const Hit &At, Vec &Through,
                          Random &Draw) const = 0;
};

class Dull : public Surface {
public:
  HD explicit Dull(Vec Colour) : Colour(Colour) {}
  HD bool scatter(Ray &R, const Hit &At, Vec &Through,
                  Random &Draw) const override {
    float Sine, Cosine;
    sineCosine(Draw.uniform(), Sine, Cosine);
    const float Z = fmaf(2.0f, Draw.uniform(), -1.0f);
    const float Wide = root(fmaxf(0.0f, fmaf(-Z, Z, 1.0f))) * 0.999f;
    R.Along = unit(At.Normal + Vec{product(Wide, Cosine), product(Wide, Sine),
                                   product(0.999f, Z)});
    Through = Through * Colour;
    return true;
  }

private:
  Vec Colour;
};

class Mirror : public Surface {
public:
  HD Mirror(Vec Colour, float Rough) : Colour(Colour), Rough(Rough) {}
  HD bool scatter(Ray &R, const Hit &At, Vec &Through,
                  Random &Draw) const override {
    const Vec Back = along(R.Along, -2.0f * dot(R.Along, At.Normal), At.Normal);
    const Vec Any{Draw.uniform() - 0.5f, Draw.uniform() - 0.5f,
                  Draw.uniform() - 0.5f};
    R.Along = unit(along(Back, Rough, Any));
    Through = Through * Colour;
    return dot(R.Along, At.Normal) > 0.0f;
  }

private:
  Vec Colour;
  float Rough;
};

class Glass : public Surface {
public:
  HD explicit Glass(float Index) : Index(Index) {}
  /// Through the surface, or back: by Schlick's approximation (1994).
  HD bool scatter(Ray &R, const Hit &At, Vec &Through,
                  Random &Draw) const override {
    const float Ratio = At.Enters ? 1.0f / Index : Index;
    const float Facing = -dot(R.Along, At.Normal);
    const float Sine2 = product(Ratio * Ratio, fmaf(-Facing, Facing, 1.0f));
    const float Side = 1.0f - Facing, Side2 = Side * Side;
    const float Share = fmaf(0.96f * Side, Side2 * Side2, 0.04f);
    if (Sine2 >= 1.0f || Draw.uniform() < Share) {
      R.Along = along(R.Along, 2.0f * Facing, At.Normal);
      return true;
    }
    const float K = fmaf(Ratio, Facing, -root(1.0f - Sine2));
    R.Along = unit({fmaf(Ratio, R.Along.X, product(K, At.Normal.X)),
                    fmaf(Ratio, R.Along.Y, product(K, At.Normal.Y)),
                    fmaf(Ratio, R.Along.Z, product(K, At.Normal.Z))});
    return true;
  }

private:
  float Index;
};

//===----------------------------------------------------------------------===//
// Things
//===----------------------------------------------------------------------===//

class Thing {
public:
  /// Whether \p R meets it between \p Least and \p Most; \p H says where.
  HD virtual bool meets(const Ray &R, float Least, float Most,
                        Hit &H) const = 0;
};

class Ball : public Thing {
public:
  HD Ball(Vec At, float Radius, const Surface *Of)
      : At(At), Radius(Radius), Of(Of) {}
  HD bool meets(const Ray &R, float Least, float Most, Hit &H) const override {
    const Vec From = R.From - At;
    const float B = dot(From, R.Along);
    const float C = fmaf(-Radius, Radius, dot(From, From));
    const float D = fmaf(B, B, -C);
    if (D <= 0.0f)
      return false;
    const float Root = root(D);
    float Far = -B - Root;
    if (Far < Least)
      Far = Root - B;
    if (Far < Least || Far > Most)
      return false;
    H.Far = Far;
    H.Normal = (along(R.From, Far, R.Along) - At) / Radius;
    H.Enters = dot(H.Normal, R.Along) < 0.0f;
    if (!H.Enters)
      H.Normal = Vec{-H.Normal.X, -H.Normal.Y, -H.Normal.Z};
    H.Of = Of;
    return true;
  }

private:
  Vec At;
  float Radius;
  const Surface *Of;
};

/// All below Y = 0.
class Ground : public Thing {
public:
  HD explicit Ground(const Surface *Of) : Of(Of) {}
  HD bool meets(const Ray &R, float Least, float Most, Hit &H) const override {
    if (R.Along.Y >= -1e-4f)
      return false;
    const float Far = -R.From.Y / R.Along.Y;
    if (Far < Least || Far > Most)
      return false;
    H = {Far, {0.0f, 1.0f, 0.0f}, true, Of};
    return true;
  }

private:
  const Surface *Of;
};

class Group : public Thing {
public:
  HD Group(const Thing *const *Members, int Count)
      : Members(Members), Count(Count) {}
  HD bool meets(const Ray &R, float Least, float Most, Hit &H) const override {
    bool Any = false;
    for (int I = 0; I < Count; ++I) {
      Hit Now;
      if (Members[I]->meets(R, Least, Most, Now)) {
        Any = true;
        Most = Now.Far;
        H = Now;
      }
    }
    return Any;
  }

private:
  const Thing *const *Members;
  int Count;
};

/// What a Ball is to be made of.
struct Order {
  enum Kind { IsDull, IsMirror, IsGlass } Is;
  Vec At, Colour;
  float Radius, More;
};

/// \p Things: room for one more than there are orders.
HD inline const Thing *build(const Order *Orders, int Count,
                             const Thing **Things) {
  for (int I = 0; I < Count; ++I) {
    const Order &O = Orders[I];
    const Surface *Of = nullptr;
    if (O.Is == Order::IsDull)
      Of = new Dull(O.Colour);
    else if (O.Is == Order::IsMirror)
      Of = new Mirror(O.Colour, O.More);
    else
      Of = new Glass(O.More);
    Things[I] = new Ball(O.At, O.Radius, Of);
  }
  Things[Count] = new Ground(new Dull({0.5f, 0.55f, 0.45f}));
  return new Group(Things, Count + 1);
}

//===----------------------------------------------------------------------===//
// Pictures
//===----------------------------------------------------------------------===//

struct Picture {
  int Width, Height, Samples, Bounces;
  unsigned long long Seed;
};

struct Pixel {
  Vec Light;
  int Rays;
};

HD inline Pixel follow(const Thing &World, const Picture &P, int I) {
  Random Draw(P.Seed, uint64_t(I));
  Pixel Out = {{0.0f, 0.0f, 0.0f}, 0};
  const float Size = 2.0f / float(P.Width);
  const float X = float(I % P.Width) - 0.5f * float(P.Width);
  const float Y = 0.5f * float(P.Height) - float(I / P.Width);
  for (int S = 0; S < P.Samples; ++S) {
    Ray R = {{0.0f, 1.6f, -7.0f},
             unit({product(X + Draw.uniform(), Size),
                   fmaf(Y - Draw.uniform(), Size, -0.1f), 1.5f})};
    Vec Through = {1.0f, 1.0f, 1.0f};
    for (int B = 0; B < P.Bounces; ++B) {
      ++Out.Rays;
      Hit At;
      if (!World.meets(R, 1e-3f, 1e30f, At)) {
        const float Up = fmaf(0.5f, R.Along.Y, 0.5f);
        Out.Light =
            Out.Light + Through * Vec{fmaf(-0.5f, Up, 1.0f), 0.9f, 1.0f};
        break;
      }
      R.From = along(R.From, At.Far, R.Along);
      if (!At.Of->scatter(R, At, Through, Draw))
        break;
    }
  }
  return Out;
}

__global__ void make(const Order *Orders, int Count, const Thing **Things,
                     const Thing **World) {
  *World = build(Orders, Count, Things);
}

__global__ void render(const Thing *const *World, Picture P, Pixel *Out) {
  const int I = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (I < P.Width * P.Height)
    Out[I] = follow(**World, P, I);
}

static std::vector<Order> drawOrders(Random Draw, int Count) {
  const auto Any = [&](float From, float To) {
    return fmaf(To - From, Draw.uniform(), From);
  };
  std::vector<Order> All;
  for (int I = 0; I < Count; ++I) {
    const unsigned Kind = Draw.below(10);
    Order O;
    O.Is = Kind < 6   ? Order::IsDull
           : Kind < 8 ? Order::IsMirror
                      : Order::IsGlass;
    O.Radius = I < 3 ? 1.2f : Any(0.15f, 0.35f);
    O.At = {Any(-6, 6), O.Radius, Any(-4, 9)};
    O.Colour = {Any(0.3f, 0.95f), Any(0.3f, 0.95f), Any(0.3f, 0.95f)};
    O.More = O.Is == Order::IsGlass ? 1.5f : Any(0.0f, 0.5f);
    All.push_back(O);
  }
  return All;
}

static bool operator==(const Pixel &A, const Pixel &B) {
  return A.Light.X == B.Light.X && A.Light.Y == B.Light.Y &&
         A.Light.Z == B.Light.Z && A.Rays == B.Rays;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "surfaces");
  const int Width = int(Run.integer("width", 48, 1, 16384));
  const int Height = int(Run.integer("height", 32, 1, 16384));
  const int Samples = int(Run.integer("samples", 4, 1, 1024));
  const int Balls = int(Run.integer("balls", 60, 0, 100000));
  const int Bounces = int(Run.integer("bounces", 50, 1, 1000));
  const int Block = int(Run.integer("block", 128, 1, 1024));
  Run.ready();

  const std::vector<Order> Orders = drawOrders(Run.random(), Balls);
  const int Count = Width * Height;
  DeviceArray<Order> There(Orders);
  DeviceArray<const Thing *> Things(
      std::vector<const Thing *>(size_t(Balls) + 1));
  DeviceArray<const Thing *> World(std::vector<const Thing *>(1));
  DeviceArray<Pixel> Out(std::vector<Pixel>(size_t(Count), Pixel{}));
  make<<<1, 1>>>(There, Balls, Things, World);
  const Picture P = {Width, Height, Samples, Bounces, Run.random(1).bits()};
  Run.run(
      [&] { Out.clear(); },
      [&] { render<<<(Count + Block - 1) / Block, Block>>>(World, P, Out); });
  const std::vector<Pixel> Got = Out.get();
  bool Right = true;
  if (Run.checks()) {
    std::vector<const Thing *> Here(size_t(Balls) + 1);
    const Thing *Own = build(Orders.data(), Balls, Here.data());
    for (int I = 0; I < Count; ++I)
      Right &= Got[I] == follow(*Own, P, I);
  }
  return Run.finish(Right, checksum(Got));
}
