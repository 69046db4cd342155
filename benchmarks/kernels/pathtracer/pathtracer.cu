//===- benchmarks/kernels/pathtracer/pathtracer.cu - Light in a yard ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Paths of light, one a thread, from the camera backwards: in a walled yard
// under the sky stand a ring of triangles and many balls, of matter that is
// dull, a mirror or glass. A trip of the loop over bounces finds what a ray
// meets, by a hierarchy of boxes, and scatters it there; a path ends in the sky,
// or by Russian roulette.
//
// The hierarchy is a binary tree in depth-first order with one shape a leaf; a
// node also says which one follows where its box is missed, so that the loop
// over nodes needs no stack:
//
//   0 --- 1 --- 2 (leaf)        0's box is missed: the ray is done
//    \     \--- 3 (leaf)        1's: go on with 4
//     \-- 4 (leaf)              otherwise with the next number
//
// What diverges: paths have from one ray to dozens; of a warp's rays each visits
// nodes of its own, and as many as it needs; and shapes scatter in three ways.
//
// Refilled by hand (common/refill.h), in two ways: nodes=0 gives idle lanes new
// paths between bounces, so that lanes still wait for the warp's longest ray;
// nodes=4 makes one loop of both, with a vote after every four nodes: lanes whose
// ray is done wait until `threshold` of them are, and scatter or begin a new path
// together.
// Host and device compute the same bits (common/exact.h).
//
//===----------------------------------------------------------------------===//
#include "../common/refill.h"
#include "../common/vec.h"

enum Matter { Dull, Mirror, Glass };

/// A ball, or a triangle (its radius is 0) with a corner and two edges.
struct alignas(16) Shape {
  Vec At;
  float Radius;
  Vec Edge, OtherEdge;
  Vec Colour;
  int Is;
};

struct alignas(16) Node {
  Vec Least, Most;
  int Miss; ///< the node that follows where the box is missed
  int Leaf; ///< its shape, or -1
};

struct Sample {
  Vec Light;
  int Rays;
};

struct Picture {
  const Node *Nodes;
  const Shape *Shapes;
  Sample *Samples; ///< of [y][x][sample]
  int NodeCount, Width, Height, PerPixel;
  int NodesPerVote; ///< of ByNode
  unsigned long long Seed;
};

/// A path; what is in the way of its ray is found node by node.
struct Path {
  using Input = Picture;

  Random Draw{0, 0};
  Vec At, Along, Through, Light; // Along has length 1
  int Rays;
  // Of the ray:
  Vec Inverse;
  float Nearest;
  int Next, Met;

  HD void aim() {
    Inverse = {1.0f / Along.X, 1.0f / Along.Y, 1.0f / Along.Z};
    Nearest = 1e30f;
    Next = 0;
    Met = -1;
  }

  HD void begin(const Input &In, int I) {
    Draw = Random(In.Seed, uint64_t(I));
    const int Pixel = I / In.PerPixel;
    const float Size = 2.0f / float(In.Width);
    const float X = float(Pixel % In.Width) - 0.5f * float(In.Width);
    const float Y = 0.5f * float(In.Height) - float(Pixel / In.Width);
    At = {0.0f, 2.2f, -7.5f};
    Along = unit({product(X + Draw.uniform(), Size),
                  fmaf(Y - Draw.uniform(), Size, -0.25f), 1.6f});
    Through = {1.0f, 1.0f, 1.0f};
    Light = {0.0f, 0.0f, 0.0f};
    Rays = 0;
    aim();
  }

  HD bool missesBox(const Node &N) const {
    const Vec A = (N.Least - At) * Inverse, B = (N.Most - At) * Inverse;
    const float From = fmaxf(fmaxf(fminf(A.X, B.X), fminf(A.Y, B.Y)),
                             fmaxf(fminf(A.Z, B.Z), 0.0f));
    const float To = fminf(fminf(fmaxf(A.X, B.X), fmaxf(A.Y, B.Y)),
                           fminf(fmaxf(A.Z, B.Z), Nearest));
    return From > To;
  }

  /// How far \p S is; nothing that is met is nearer than a thousandth.
  HD float distance(const Shape &S) const {
    const Vec From = At - S.At;
    if (S.Radius > 0.0f) {
      const float B = dot(From, Along);
      const float C = fmaf(-S.Radius, S.Radius, dot(From, From));
      const float D = fmaf(B, B, -C);
      if (D <= 0.0f)
        return 1e30f;
      const float Root = root(D);
      return -B - Root > 1e-3f ? -B - Root : Root - B;
    }
    const Vec P = cross(Along, S.OtherEdge);
    const float Det = dot(S.Edge, P);
    if (fabsf(Det) < 1e-9f)
      return 1e30f;
    const float U = dot(From, P) / Det;
    const Vec Q = cross(From, S.Edge);
    const float V = dot(Along, Q) / Det;
    if (U < 0.0f || V < 0.0f || U + V > 1.0f)
      return 1e30f;
    return dot(S.OtherEdge, Q) / Det;
  }

  HD void visit(const Input &In) {
    const Node N = In.Nodes[Next];
    if (missesBox(N)) {
      Next = N.Miss;
      return;
    }
    ++Next;
    if (N.Leaf < 0)
      return;
    const float Far = distance(In.Shapes[N.Leaf]);
    if (Far > 1e-3f && Far < Nearest) {
      Nearest = Far;
      Met = N.Leaf;
    }
  }

  /// The ray is done: makes the next one, or returns false if there is none.
  HD bool scatter(const Input &In) {
    ++Rays;
    if (Met < 0) {
      const float Up = fmaf(0.5f, Along.Y, 0.5f);
      Light = Light + Through * Vec{fmaf(-0.5f, Up, 1.2f), 1.0f, 1.1f};
      return false;
    }
    const Shape S = In.Shapes[Met];
    At = along(At, Nearest, Along);
    Vec Normal = S.Radius > 0.0f ? (At - S.At) / S.Radius
                                 : unit(cross(S.Edge, S.OtherEdge));
    const bool Enters = dot(Along, Normal) < 0.0f;
    if (!Enters)
      Normal = Vec{-Normal.X, -Normal.Y, -Normal.Z};
    const float Facing = -dot(Along, Normal);
    Through = Through * S.Colour;
    if (S.Is == Dull) {
      float Sine, Cosine;
      sineCosine(Draw.uniform(), Sine, Cosine);
      const float Z = fmaf(2.0f, Draw.uniform(), -1.0f);
      const float R = root(fmaxf(0.0f, fmaf(-Z, Z, 1.0f))) * 0.999f;
      const Vec Any{product(R, Cosine), product(R, Sine), product(0.999f, Z)};
      Along = unit(Normal + Any);
    } else {
      const Vec Back = along(Along, 2.0f * Facing, Normal);
      if (S.Is == Glass)
        refract(Normal, Facing, Enters ? 1.0f / 1.5f : 1.5f, Back);
      else
        Along = Back;
    }
    if (Rays > 3) { // Russian roulette
      const float Stay =
          fminf(0.95f, fmaxf(Through.X, fmaxf(Through.Y, Through.Z)));
      if (Draw.uniform() >= Stay || Rays >= 100)
        return false;
      Through = Through / Stay;
    }
    aim();
    return true;
  }

  /// Through the surface, or back: by Schlick's approximation (1994).
  HD void refract(Vec Normal, float Facing, float Ratio, Vec Back) {
    const float Sine2 = product(Ratio * Ratio, fmaf(-Facing, Facing, 1.0f));
    const float Side = 1.0f - Facing, Side2 = Side * Side;
    const float Share = fmaf(0.96f * Side, Side2 * Side2, 0.04f);
    if (Sine2 >= 1.0f || Draw.uniform() < Share) {
      Along = Back;
      return;
    }
    const float K = fmaf(Ratio, Facing, -root(1.0f - Sine2));
    Along = unit({fmaf(Ratio, Along.X, product(K, Normal.X)),
                  fmaf(Ratio, Along.Y, product(K, Normal.Y)),
                  fmaf(Ratio, Along.Z, product(K, Normal.Z))});
  }

  HD void finish(const Input &In, int I) const {
    In.Samples[I] = {Light, Rays};
  }
};

/// Step by step: a bounce.
struct ByBounce : Path {
  bool Goes;

  HD void start(const Input &In, int I) {
    begin(In, I);
    Goes = true;
  }
  HD bool more(const Input &) const { return Goes; }
  HD void step(const Input &In) {
    while (Next < In.NodeCount)
      visit(In);
    Goes = scatter(In);
  }
};

/// Step by step: some nodes; in rounds of a ray each.
struct ByNode : Path {
  HD void start(const Input &In, int I) { begin(In, I); }
  HD bool more(const Input &In) const { return Next < In.NodeCount; }
  HD void step(const Input &In) {
    for (int K = 0; K < In.NodesPerVote && Next < In.NodeCount; ++K)
      visit(In);
  }
  HD bool again(const Input &In) { return scatter(In); }
};

__global__ void trace(Picture In, int Count) {
  const int I = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (I >= Count)
    return;
  Path Mine;
  Mine.begin(In, I);
  do {
    while (Mine.Next < In.NodeCount)
      Mine.visit(In);
  } while (Mine.scatter(In));
  Mine.finish(In, I);
}

/// The yard: shapes, and the tree over them.
struct Yard {
  std::vector<Shape> Shapes;
  std::vector<Node> Nodes;

  Yard(int Balls, Random Draw) {
    walls();
    ring(48, 24);
    for (int I = 0; I < Balls; ++I)
      ball(Draw);
    std::vector<int> All(Shapes.size());
    for (size_t I = 0; I < All.size(); ++I)
      All[I] = int(I);
    build(All.data(), All.data() + All.size());
  }

private:
  void triangle(Vec A, Vec B, Vec C, Vec Colour, Matter Is) {
    Shapes.push_back({A, 0.0f, B - A, C - A, Colour, Is});
  }
  /// With the corners A, A + U, A + V and A + U + V.
  void face(Vec A, Vec U, Vec V, Vec Colour, Matter Is) {
    triangle(A, A + U, A + V, Colour, Is);
    triangle(A + U + V, A + V, A + U, Colour, Is);
  }

  void walls() {
    const Vec Stone{0.75f, 0.7f, 0.65f}, Up{0, 6, 0}, X{16, 0, 0}, Z{0, 0, 16};
    face({-8, 0, -8}, X, Z, Stone, Dull);
    face({-8, 0, -8}, X, Up, Stone, Dull);
    face({-8, 0, 8}, X, Up, {0.9f, 0.9f, 0.9f}, Mirror);
    face({-8, 0, -8}, Z, Up, {0.8f, 0.3f, 0.25f}, Dull);
    face({8, 0, -8}, Z, Up, {0.3f, 0.5f, 0.8f}, Dull);
  }

  /// A standing ring of glass.
  void ring(int Around, int Across) {
    const auto Corner = [&](int I, int J) {
      float S, C, T, D;
      sineCosine(float(I % Around) / float(Around), S, C);
      sineCosine(float(J % Across) / float(Across), T, D);
      const float R = fmaf(0.6f, D, 1.8f);
      return Vec{R * C, fmaf(R, S, 2.6f), fmaf(0.6f, T, 2.0f)};
    };
    for (int I = 0; I < Around; ++I)
      for (int J = 0; J < Across; ++J) {
        const Vec A = Corner(I, J), B = Corner(I + 1, J);
        const Vec C = Corner(I, J + 1), D = Corner(I + 1, J + 1);
        const Vec Tint{0.9f, 1.0f, 0.95f};
        triangle(A, B, D, Tint, Glass);
        triangle(A, D, C, Tint, Glass);
      }
  }

  void ball(Random &Draw) {
    const auto Any = [&](float From, float To) {
      return fmaf(To - From, Draw.uniform(), From);
    };
    const float R = Any(0.1f, 0.45f);
    const unsigned Kind = Draw.below(10);
    const Matter Is = Kind < 6 ? Dull : Kind < 8 ? Mirror : Glass;
    const float Least = Is == Dull ? 0.3f : 0.85f;
    const Vec Centre{Any(-7, 7), R, Any(-6, 7)};
    const Vec Colour{Any(Least, 0.98f), Any(Least, 0.98f), Any(Least, 0.98f)};
    Shapes.push_back({Centre, R, {}, {}, Colour, Is});
  }

  static void hold(Node &N, Vec P) {
    N.Least = {fminf(N.Least.X, P.X), fminf(N.Least.Y, P.Y),
               fminf(N.Least.Z, P.Z)};
    N.Most = {fmaxf(N.Most.X, P.X), fmaxf(N.Most.Y, P.Y), fmaxf(N.Most.Z, P.Z)};
  }
  static void hold(Node &N, const Shape &S) {
    if (S.Radius > 0.0f) {
      const Vec R{S.Radius, S.Radius, S.Radius};
      hold(N, S.At - R);
      hold(N, S.At + R);
    } else {
      hold(N, S.At);
      hold(N, S.At + S.Edge);
      hold(N, S.At + S.OtherEdge);
    }
  }
  static Node nothing() {
    return {{1e30f, 1e30f, 1e30f}, {-1e30f, -1e30f, -1e30f}, 0, -1};
  }
  static Vec middle(const Shape &S) {
    Node N = nothing();
    hold(N, S);
    return N.Least + N.Most;
  }

  /// The tree over these shapes, halved across the longest side of what their
  /// middles fill.
  void build(int *From, int *To) {
    const size_t Mine = Nodes.size();
    Nodes.push_back(nothing());
    Node Middles = nothing();
    for (int *I = From; I < To; ++I) {
      hold(Nodes[Mine], Shapes[*I]);
      hold(Middles, middle(Shapes[*I]));
    }
    if (To - From == 1) {
      Nodes[Mine].Leaf = *From;
    } else {
      const Vec Wide = Middles.Most - Middles.Least;
      const auto Key = [&](int I) {
        const Vec M = middle(Shapes[I]);
        return Wide.X >= Wide.Y && Wide.X >= Wide.Z ? M.X
               : Wide.Y >= Wide.Z                   ? M.Y
                                                    : M.Z;
      };
      int *Half = From + (To - From) / 2;
      std::sort(From, To, [&](int A, int B) {
        return std::make_pair(Key(A), A) < std::make_pair(Key(B), B);
      });
      build(From, Half);
      build(Half, To);
    }
    Nodes[Mine].Miss = int(Nodes.size());
  }
};

static bool operator==(const Sample &A, const Sample &B) {
  return A.Light.X == B.Light.X && A.Light.Y == B.Light.Y &&
         A.Light.Z == B.Light.Z && A.Rays == B.Rays;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "pathtracer");
  const int Width = int(Run.integer("width", 40, 1, 16384));
  const int Height = int(Run.integer("height", 24, 1, 16384));
  const int PerPixel = int(Run.integer("samples", 4, 1, 1024));
  const int Balls = int(Run.integer("balls", 200, 0, 100000));
  const int PerVote = int(Run.integer("nodes", 4, 0, 1000));
  RefillForms Forms(Run, 128);
  Run.ready();
  if (long(Width) * Height * PerPixel > 1 << 28) {
    std::fprintf(stderr, "pathtracer: give at most 2^28 samples in all\n");
    return 2;
  }

  const int Count = Width * Height * PerPixel;
  const Yard All(Balls, Run.random());
  DeviceArray<Node> Nodes(All.Nodes);
  DeviceArray<Shape> Shapes(All.Shapes);
  DeviceArray<Sample> Out(std::vector<Sample>(Count, Sample{}));
  const Picture There{Nodes,  Shapes,   Out,     int(All.Nodes.size()), Width,
                      Height, PerPixel, PerVote, Run.random(1).bits()};
  const auto Fresh = [&] { Out.clear(); };
  const auto Get = [&] { return Out.get(); };
  const auto Check = [&](const std::vector<Sample> &Got) {
    std::vector<Sample> Samples(Count);
    Picture Here = There;
    Here.Nodes = All.Nodes.data();
    Here.Shapes = All.Shapes.data();
    Here.Samples = Samples.data();
    for (int I = 0; I < Count; ++I) {
      ByBounce Mine;
      Mine.start(Here, I);
      while (Mine.more(Here))
        Mine.step(Here);
      Mine.finish(Here, I);
    }
    return Got == Samples;
  };
  return PerVote ? Forms.run<ByNode>(trace, There, Count, Fresh, Get, Check)
                 : Forms.run<ByBounce>(trace, There, Count, Fresh, Get, Check);
}
