//===- benchmarks/kernels/mc/mc.cu - Marching cubes -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The surface of a terrain with caves, as triangles (W. E. Lorensen, H. E. Cline,
// "Marching Cubes", 1987). A thread has a cube of the grid. Which of its eight
// corners lie in rock says how the surface cuts it: one of 256 cases, of 0 to 5
// triangles. Each of their corners is interpolated on an edge of the cube.
//
// The table of cases is made, not listed. On each face of the cube, seen from
// outside and walked round counter-clockwise, a run of corners in rock is cut
// off by a segment
//
//      + - - +      from the edge where the walk enters the run
//      | \   |      to the edge where it leaves it
//      #  \  +
//
// The neighbouring face walks the same edge the other way, so the segments form
// loops, which are cut into fans of triangles. Two opposite corners in rock are
// cut off one by one, on both sides of the face alike; so the surface has no
// holes, and main checks that: each side of a triangle is another's, reversed.
//
// As is usual, `classify` counts the corners first, and their sums say where each
// cube writes; what is measured is `triangulate`.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"
#include "../common/exact.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

/// A corner's number has a bit for each axis; so has that of an edge's lower
/// end. Edge 4 A + K lies along axis A, at place K of the other two.
HD static int lowerEnd(int Edge) {
  const int Axis = Edge >> 2, K = Edge & 3;
  return (K & 1) << (Axis + 1) % 3 | (K >> 1) << (Axis + 2) % 3;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr int MostCorners = 15; // of 5 triangles

struct Case {
  int8_t Corners = 0;          ///< of all triangles
  int8_t Edges[MostCorners]{}; ///< on which they lie
};

/// The corners of a face, counter-clockwise from outside.
static std::array<int, 4> faceOf(int Axis, int Side) {
  const int U = 1 << (Axis + 1) % 3, V = 1 << (Axis + 2) % 3;
  const int At = Side << Axis;
  if (Side)
    return {At, At | U, At | U | V, At | V};
  return {At, At | V, At | U | V, At | U};
}

static int edgeBetween(int A, int B) {
  for (int Edge = 0; Edge < 12; ++Edge)
    if (lowerEnd(Edge) == std::min(A, B) &&
        (lowerEnd(Edge) | 1 << (Edge >> 2)) == std::max(A, B))
      return Edge;
  return -1;
}

/// How the surface goes on from each edge that it cuts; -1: it does not cut it.
static std::array<int, 12> segmentsOf(unsigned Rock) {
  std::array<int, 12> Next;
  Next.fill(-1);
  for (int Face = 0; Face < 6; ++Face) {
    const std::array<int, 4> Round = faceOf(Face / 2, Face % 2);
    const auto In = [&](int I) { return Rock >> Round[I % 4] & 1; };
    for (int I = 0; I < 4; ++I) {
      if (In(I) || !In(I + 1))
        continue; // no run begins behind corner I
      int Last = I + 1;
      while (In(Last + 1))
        ++Last;
      Next[edgeBetween(Round[I], Round[(I + 1) % 4])] =
          edgeBetween(Round[Last % 4], Round[(Last + 1) % 4]);
    }
  }
  return Next;
}

static std::vector<Case> makeTable() {
  std::vector<Case> Table(256);
  for (unsigned Rock = 0; Rock < 256; ++Rock) {
    std::array<int, 12> Next = segmentsOf(Rock);
    Case &C = Table[Rock];
    for (int First = 0; First < 12; ++First) {
      if (Next[First] < 0)
        continue;
      std::vector<int> Loop;
      for (int Edge = First; Next[Edge] >= 0;) {
        Loop.push_back(Edge);
        Edge = std::exchange(Next[Edge], -1);
      }
      for (size_t I = 1; I + 1 < Loop.size(); ++I)
        for (int Edge : {Loop[0], Loop[I], Loop[I + 1]})
          C.Edges[C.Corners++] = int8_t(Edge);
    }
  }
  return Table;
}

//===----------------------------------------------------------------------===//
// A cube
//===----------------------------------------------------------------------===//

/// Side + 1 samples along each axis; rock is where they are above 0.
struct Grid {
  const float *Density;
  const Case *Cases;
  int Side;
};

struct Vertex {
  float At[3], Normal[3];
};

HD static int sampleOf(const Grid &G, int X, int Y, int Z) {
  return (Z * (G.Side + 1) + Y) * (G.Side + 1) + X;
}

HD static int caseOf(const Grid &G, int X, int Y, int Z) {
  int Rock = 0;
  for (int C = 0; C < 8; ++C)
    Rock |=
        (G.Density[sampleOf(G, X + (C & 1), Y + (C >> 1 & 1), Z + (C >> 2))] >
         0.0f)
        << C;
  return Rock;
}

/// Where the surface cuts an edge of the cube: the same bits for all cubes that
/// have it.
HD static void cut(const Grid &G, int X, int Y, int Z, int Edge, float *At) {
  const int Axis = Edge >> 2, Low = lowerEnd(Edge);
  const int Place[3] = {X + (Low & 1), Y + (Low >> 1 & 1), Z + (Low >> 2)};
  const int Sample = sampleOf(G, Place[0], Place[1], Place[2]);
  const int Step = Axis == 0   ? 1
                   : Axis == 1 ? G.Side + 1
                               : (G.Side + 1) * (G.Side + 1);
  const float A = G.Density[Sample], B = G.Density[Sample + Step];
  const float Share = A / (A - B);
  for (int K = 0; K < 3; ++K)
    At[K] = float(Place[K]) + (K == Axis ? Share : 0.0f);
}

HD static void polygonize(const Grid &G, int Voxel, Vertex *Out) {
  const int X = Voxel % G.Side, Y = Voxel / G.Side % G.Side,
            Z = Voxel / (G.Side * G.Side);
  const Case &C = G.Cases[caseOf(G, X, Y, Z)];
  for (int V = 0; V < C.Corners; V += 3) {
    float At[3][3], Normal[3];
    for (int K = 0; K < 3; ++K)
      cut(G, X, Y, Z, C.Edges[V + K], At[K]);
    float Square = 1e-30f;
    for (int K = 0; K < 3; ++K) {
      const int L = (K + 1) % 3, M = (K + 2) % 3;
      Normal[K] = fmaf(At[1][L] - At[0][L], At[2][M] - At[0][M],
                       -product(At[1][M] - At[0][M], At[2][L] - At[0][L]));
      Square = fmaf(Normal[K], Normal[K], Square);
    }
    const float Scale = 1.0f / root(Square);
    for (int K = 0; K < 3; ++K)
      for (int L = 0; L < 3; ++L) {
        Out[V + K].At[L] = At[K][L];
        Out[V + K].Normal[L] = product(Normal[L], Scale);
      }
  }
}

__global__ void classify(Grid G, int *Corners, int Count) {
  const int I = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (I < Count)
    Corners[I] = G.Cases[caseOf(G, I % G.Side, I / G.Side % G.Side,
                                I / (G.Side * G.Side))]
                     .Corners;
}

/// First: where the cube's corners go.
__global__ void triangulate(Grid G, const int *First, Vertex *Out, int Count) {
  const int I = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (I < Count)
    polygonize(G, I, Out + First[I]);
}

//===----------------------------------------------------------------------===//
// Terrain
//===----------------------------------------------------------------------===//

/// Noise from -1 to 1 that changes over a length of 1.
class Noise {
public:
  explicit Noise(Random Draw) {
    for (float &V : Value)
      V = 2.0f * Draw.uniform() - 1.0f;
    for (int &P : Next)
      P = int(Draw.below(Size));
  }
  float at(float X, float Y, float Z) const {
    const int I = int(X), J = int(Y), K = int(Z);
    const float U = ease(X - float(I)), V = ease(Y - float(J)),
                W = ease(Z - float(K));
    float Sum = 0;
    for (int C = 0; C < 8; ++C)
      Sum += (C & 1 ? U : 1 - U) * (C & 2 ? V : 1 - V) * (C & 4 ? W : 1 - W) *
             lattice(I + (C & 1), J + (C >> 1 & 1), K + (C >> 2));
    return Sum;
  }

private:
  static constexpr int Size = 4096;
  static float ease(float T) { return T * T * (3.0f - 2.0f * T); }
  float lattice(int I, int J, int K) const {
    return Value[(Next[(Next[I % Size] + J) % Size] + K) % Size];
  }
  float Value[Size];
  int Next[Size];
};

/// Hills of several sizes with caves in them, in a box of air.
static std::vector<float> terrain(const Noise &Of, int Side) {
  std::vector<float> Density;
  Density.reserve(size_t(Side + 1) * (Side + 1) * (Side + 1));
  const float Unit = 1.0f / float(Side);
  std::vector<float> Ground;
  for (int Y = 0; Y <= Side; ++Y)
    for (int X = 0; X <= Side; ++X) {
      float Height = 0.55f, Size = 0.22f, Often = 3.0f;
      for (int Octave = 0; Octave < 5; ++Octave) {
        Height += Size * Of.at(Often * Unit * float(X), Often * Unit * float(Y),
                               float(Octave));
        Size *= 0.5f;
        Often *= 2.0f;
      }
      Ground.push_back(Height);
    }
  for (int Z = 0; Z <= Side; ++Z)
    for (int Y = 0; Y <= Side; ++Y)
      for (int X = 0; X <= Side; ++X) {
        const bool Border = X % Side == 0 || Y % Side == 0 || Z % Side == 0;
        const float H = Unit * float(Z);
        const float Above = Ground[size_t(Y) * (Side + 1) + X] - H;
        float Cave = 0, Size = 0.7f, Often = 8.0f;
        for (int Octave = 0; Octave < 2 && !Border; ++Octave) {
          Cave += Size * Of.at(Often * Unit * float(X), Often * Unit * float(Y),
                               8.0f + Often * H);
          Size *= 0.5f;
          Often *= 2.0f;
        }
        Density.push_back(Border ? -1.0f : std::min(Above, 0.25f - Cave));
      }
  return Density;
}

/// Whether the triangles enclose rock: every side is there both ways, as often.
static bool closed(const std::vector<Vertex> &Mesh) {
  const auto Hash = [](const Vertex &A, const Vertex &B) {
    uint32_t Words[6];
    std::memcpy(Words, A.At, 12);
    std::memcpy(Words + 3, B.At, 12);
    uint64_t H = ChecksumSeed;
    for (uint32_t W : Words) {
      H = (H ^ W) * 0x9e3779b97f4a7c15ull;
      H ^= H >> 29;
    }
    return H;
  };
  uint64_t Sum = 0; // of both ways: they cancel
  for (size_t V = 0; V < Mesh.size(); V += 3)
    for (int K = 0; K < 3; ++K) {
      const Vertex &A = Mesh[V + K], &B = Mesh[V + (K + 1) % 3];
      Sum += Hash(A, B) - Hash(B, A);
    }
  return Sum == 0;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "mc");
  const int Side = int(Run.integer("side", 24, 2, 512));
  const int Block = int(Run.integer("block", 128, 1, 1024));
  Run.ready();

  const int Count = Side * Side * Side, Blocks = (Count + Block - 1) / Block;
  const std::vector<float> Samples = terrain(Noise(Run.random()), Side);
  const std::vector<Case> Table = makeTable();
  DeviceArray<float> Density(Samples);
  DeviceArray<Case> Cases(Table);
  DeviceArray<int> First(std::vector<int>(Count, 0));
  const Grid There = {Density, Cases, Side};
  classify<<<Blocks, Block>>>(There, First, Count);
  CHECK_LAUNCH();
  std::vector<int> At = First.get();
  int Corners = 0;
  for (int &A : At)
    A = std::exchange(Corners, Corners + A);
  First.set(At);
  DeviceArray<Vertex> Out{std::vector<Vertex>(std::max(Corners, 1))};
  Run.run([&] { Out.clear(); },
          [&] { triangulate<<<Blocks, Block>>>(There, First, Out, Count); });
  std::vector<Vertex> Got = Out.get();
  Got.resize(Corners);
  bool Right = true;
  if (Run.checks()) {
    const Grid Here = {Samples.data(), Table.data(), Side};
    std::vector<Vertex> Want(Corners);
    for (int I = 0; I < Count; ++I)
      polygonize(Here, I, Want.data() + At[I]);
    Right = closed(Got) && checksum(Got) == checksum(Want);
  }
  return Run.finish(Right, checksum(Got));
}
