//===- benchmarks/kernels/contact/contact.cu - Narrow phase ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Do two bodies touch, and how deep? The narrow phase of a physics engine: a
// thread has one pair from the broad phase, of spheres, capsules and boxes in a
// heap. Each of the six kinds of pair has its own test, from a distance of two
// points to fifteen separating axes. Lengths are whole numbers (1/256) and
// directions have 14 bits after the point, so every build computes the same.
//
// Remapped (common/remap.h): the path is the kind of the pair.
//
//===----------------------------------------------------------------------===//
#include "../common/regroup.h"

#include <algorithm>
#include <cmath>

static constexpr int Block = 256;

struct Vector {
  int X, Y, Z;
};
HD static Vector operator-(Vector A, Vector B) {
  return {A.X - B.X, A.Y - B.Y, A.Z - B.Z};
}
HD static int dot(Vector A, Vector B) {
  return A.X * B.X + A.Y * B.Y + A.Z * B.Z;
}
HD static Vector along(Vector A, int T, int Bits) { // A * T / 2^Bits
  return {A.X * T >> Bits, A.Y * T >> Bits, A.Z * T >> Bits};
}
HD static int iabs(int X) { return X < 0 ? -X : X; }
HD static int clamp(int X, int Most) {
  return X < -Most ? -Most : X > Most ? Most : X;
}
/// Rounded down; compilers differ in the last bit of sqrtf.
HD static int root(int X) {
  const unsigned Square = X > 0 ? X : 0;
  unsigned Root = unsigned(sqrtf(float(Square)));
  Root -= Root * Root > Square;
  Root += (Root + 1) * (Root + 1) <= Square;
  return int(Root);
}

enum Shape { Sphere, Capsule, Box };

/// Axes are the columns of a rotation. Of a sphere, Size.X is the radius; of a
/// capsule too, and Size.Z the half length along axis 2; of a box, half sizes.
struct Body {
  Vector At, Axis[3], Size;
  int Kind;
};
struct Pair {
  int A, B; ///< of kinds in rising order
};

enum Test { Balls, BallCapsule, BallBox, Capsules, CapsuleBox, Boxes };
HD static int testOf(int A, int B) { return A * (5 - A) / 2 + B; }

//===----------------------------------------------------------------------===//
// The tests: how deep A is in B; negative, how far apart
//===----------------------------------------------------------------------===//

/// How far along the capsule's axis, from its middle, is nearest to D.
HD static int nearest(const Body &C, Vector D) {
  return clamp(dot(D, C.Axis[2]) >> 14, C.Size.Z);
}
HD static int balls(const Body &A, const Body &B) {
  const Vector D = B.At - A.At;
  return A.Size.X + B.Size.X - root(dot(D, D));
}
HD static int ballCapsule(const Body &A, const Body &B) {
  const Vector D = A.At - B.At;
  const Vector Off = D - along(B.Axis[2], nearest(B, D), 14);
  return A.Size.X + B.Size.X - root(dot(Off, Off));
}
HD static int capsules(const Body &A, const Body &B) {
  int T = 0; // along B; each in turn goes to the point nearest to the other's
  Vector Off = {};
#pragma unroll 1
  for (int I = 0; I < 6; ++I) {
    const Vector OnB = B.At - A.At;
    const Vector Arm = along(B.Axis[2], T, 14);
    const Vector D = {OnB.X + Arm.X, OnB.Y + Arm.Y, OnB.Z + Arm.Z};
    Off = D - along(A.Axis[2], nearest(A, D), 14);
    const Vector Back = Arm - Off;
    T = nearest(B, Back);
  }
  return A.Size.X + B.Size.X - root(dot(Off, Off));
}
/// The square of a point's distance from the box; D is seen from its middle.
HD static int outside(const Body &Box, Vector D) {
  const int X = iabs(dot(D, Box.Axis[0]) >> 14) - Box.Size.X;
  const int Y = iabs(dot(D, Box.Axis[1]) >> 14) - Box.Size.Y;
  const int Z = iabs(dot(D, Box.Axis[2]) >> 14) - Box.Size.Z;
  return (X > 0 ? X * X : 0) + (Y > 0 ? Y * Y : 0) + (Z > 0 ? Z * Z : 0);
}
HD static int ballBox(const Body &A, const Body &B) {
  return A.Size.X - root(outside(B, A.At - B.At));
}
HD static int capsuleBox(const Body &A, const Body &B) {
  const Vector D = A.At - B.At;
  const auto Off = [&](int T) {
    const Vector Arm = along(A.Axis[2], T, 14);
    return outside(B, {D.X + Arm.X, D.Y + Arm.Y, D.Z + Arm.Z});
  };
  int Low = -A.Size.Z, High = A.Size.Z; // convex along the axis
#pragma unroll 1
  for (int I = 0; I < 10; ++I) {
    const int Third = (High - Low) / 3;
    if (Off(Low + Third) < Off(High - Third))
      High -= Third;
    else
      Low += Third;
  }
  return A.Size.X - root(Off((Low + High) / 2));
}
HD static int part(Vector V, int I) {
  return I == 0 ? V.X : I == 1 ? V.Y : V.Z;
}

/// Separating axes: the faces of both and the products of their edges.
HD static int boxes(const Body &A, const Body &B) {
  const Vector D = B.At - A.At;
  int R[3][3], T[3], Best = -(1 << 30); // least deep: largest gap
  for (int I = 0; I < 3; ++I) {
    T[I] = dot(D, A.Axis[I]) >> 14;
    for (int J = 0; J < 3; ++J)
      R[I][J] = dot(A.Axis[I], B.Axis[J]) >> 14;
  }
  for (int I = 0; I < 3; ++I) {
    int Gap = (iabs(T[I]) - part(A.Size, I)) << 14;
    int Other = iabs(dot(D, B.Axis[I])) - (part(B.Size, I) << 14);
    for (int J = 0; J < 3; ++J) {
      Gap -= part(B.Size, J) * iabs(R[I][J]);
      Other -= part(A.Size, J) * iabs(R[J][I]);
    }
    const int More = (Gap > Other ? Gap : Other) >> 14;
    Best = More > Best ? More : Best;
  }
  for (int I = 0; I < 3; ++I)
    for (int J = 0; J < 3; ++J) {
      const int I1 = (I + 1) % 3, I2 = (I + 2) % 3;
      const int J1 = (J + 1) % 3, J2 = (J + 2) % 3;
      const int Gap = iabs(T[I2] * R[I1][J] - T[I1] * R[I2][J]) -
                      part(A.Size, I1) * iabs(R[I2][J]) -
                      part(A.Size, I2) * iabs(R[I1][J]) -
                      part(B.Size, J1) * iabs(R[I][J2]) -
                      part(B.Size, J2) * iabs(R[I][J1]);
      const int Length = root((1 << 28) - R[I][J] * R[I][J]);
      const int Here = Length > 512 ? Gap / Length : Best; // else parallel
      Best = Here > Best ? Here : Best;
    }
  return -Best;
}

HD static int depth(const Body &A, const Body &B, int Test) {
  switch (Test) {
  case Balls:
    return balls(A, B);
  case BallCapsule:
    return ballCapsule(A, B);
  case BallBox:
    return ballBox(A, B);
  case Capsules:
    return capsules(A, B);
  case CapsuleBox:
    return capsuleBox(A, B);
  default:
    return boxes(A, B);
  }
}

__global__ void plain(const Body *Bodies, const Pair *Pairs, int *Out,
                      int Count) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I >= Count)
    return;
  const Body &A = Bodies[Pairs[I].A], &B = Bodies[Pairs[I].B];
  Out[I] = depth(A, B, testOf(A.Kind, B.Kind));
}

template <typename Way>
__global__ void remapped(const Body *Bodies, const Pair *Pairs, int *Out,
                         int Count) {
  __shared__ typename Way::temp_storage Storage;
  Way Trade(Storage, threadIdx.x);
  const int First = blockIdx.x * Block, I = First + threadIdx.x;
  const auto New =
      Trade(I < Count ? testOf(Bodies[Pairs[I].A].Kind, Bodies[Pairs[I].B].Kind)
                      : Boxes + 1);
  if (New.path > Boxes)
    return;
  const int J = First + New.id;
  Out[J] = depth(Bodies[Pairs[J].A], Bodies[Pairs[J].B], New.path);
}

template <typename Collect>
__global__ void collected(const Body *Bodies, const Pair *Pairs, int *Out,
                          int Count) {
  __shared__ typename Collect::temp_storage Storage;
  const int First = blockIdx.x * Collect::items;
  Collect Items(Storage);
  Items(
      Count - First, // the longest first
      [&](int I) {
        const Pair P = Pairs[First + I];
        return Boxes - testOf(Bodies[P.A].Kind, Bodies[P.B].Kind);
      },
      [&](int I, int Path) {
        const Pair P = Pairs[First + I];
        Out[First + I] = depth(Bodies[P.A], Bodies[P.B], Boxes - Path);
      });
}

// Regrouped: the longest first.
__global__ void findKeys(const Body *Bodies, const Pair *Pairs,
                         unsigned char *Keys, int Count) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < Count)
    Keys[I] = Boxes - testOf(Bodies[Pairs[I].A].Kind, Bodies[Pairs[I].B].Kind);
}
__global__ void regrouped(const Body *Bodies, const Pair *Pairs, int *Out,
                          int Count, const unsigned char *Keys,
                          const int *Ids) {
  const int T = blockIdx.x * Block + threadIdx.x;
  if (T >= Count)
    return;
  const int I = Ids[T];
  Out[I] = depth(Bodies[Pairs[I].A], Bodies[Pairs[I].B], Boxes - Keys[I]);
}

/// A heap: bodies near the points of a lattice, pairs of neighbours there.
static void heap(Random Draw, int Side, std::vector<Body> &Bodies,
                 std::vector<Pair> &Pairs) {
  constexpr int Step = 900;
  for (int I = 0; I < Side * Side * Side; ++I) {
    Body B;
    const auto Place = [&](int Cell) {
      return Cell * Step + int(Draw.below(Step / 2));
    };
    B.At = {Place(I % Side), Place(I / Side % Side), Place(I / Side / Side)};
    B.Kind = Draw.below(100) < 40 ? Sphere : Draw.below(2) ? Capsule : Box;
    const auto Size = [&] { return 150 + int(Draw.below(300)); };
    B.Size = {Size(), Size(), Size()};
    double Q[4], Norm = 0; // a rotation from a quaternion
    for (double &X : Q) {
      X = Draw.uniform() - 0.5;
      Norm += X * X;
    }
    for (double &X : Q)
      X /= std::sqrt(Norm);
    const auto Fixed = [](double X) { return int(std::floor(X * 16384)); };
    const double W = Q[0], X = Q[1], Y = Q[2], Z = Q[3];
    B.Axis[0] = {Fixed(1 - 2 * (Y * Y + Z * Z)), Fixed(2 * (X * Y + W * Z)),
                 Fixed(2 * (X * Z - W * Y))};
    B.Axis[1] = {Fixed(2 * (X * Y - W * Z)), Fixed(1 - 2 * (X * X + Z * Z)),
                 Fixed(2 * (Y * Z + W * X))};
    B.Axis[2] = {Fixed(2 * (X * Z + W * Y)), Fixed(2 * (Y * Z - W * X)),
                 Fixed(1 - 2 * (X * X + Y * Y))};
    Bodies.push_back(B);
  }
  for (int I = 0; I < int(Bodies.size()); ++I)
    for (int N = 14; N < 27; ++N) { // half of the 26 around
      const int X = I % Side + N % 3 - 1, Y = I / Side % Side + N / 3 % 3 - 1;
      const int Z = I / Side / Side + N / 9 - 1;
      if (X < 0 || X >= Side || Y < 0 || Y >= Side || Z >= Side)
        continue;
      const int J = (Z * Side + Y) * Side + X;
      const Vector D = Bodies[J].At - Bodies[I].At;
      if (root(dot(D, D)) > 1200) // no bounding spheres touch
        continue;
      const bool Swap = Bodies[J].Kind < Bodies[I].Kind;
      Pairs.push_back({Swap ? J : I, Swap ? I : J});
    }
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "contact");
  const int Side = Run.integer("side", 10, 2, 400);
  const long Remap = chosenWay(Run);
  Run.ready();

  std::vector<Body> Bodies;
  std::vector<Pair> Pairs;
  heap(Run.random(), Side, Bodies, Pairs);
  const int Count = int(Pairs.size());
  DeviceArray<Body> BodiesThere(Bodies);
  DeviceArray<Pair> PairsThere(Pairs);
  DeviceArray<int> Out(std::vector<int>(Count, 0));
  RemapWays<decltype(&plain)> All = {WAYS(plain, remapped<ByLibrary<Block, 7>>,
                                          remapped<ByCub<Block, 7>>,
                                          COLLECTED(6))};
  GridOrder<unsigned char> Order(isRegrouped(Remap) ? Count : 0, 3);
  const int Blocks = (Count + Block - 1) / Block;
  All.regroup(
      reinterpret_cast<const void *>(&regrouped), Block,
      [&] {
        findKeys<<<Blocks, Block>>>(BodiesThere, PairsThere, Order.keys(),
                                    Count);
        Order.make();
      },
      [&] {
        regrouped<<<Blocks, Block>>>(BodiesThere, PairsThere, Out, Count,
                                     Order.keys(), Order.ids());
      });
  return All.run(
      Run, Remap, Block, [&] { Out.clear(); },
      [&](auto Kernel, Form F) {
        Kernel<<<F.blocks(Count), F.Threads>>>(BodiesThere, PairsThere, Out,
                                               Count);
      },
      [&] { return Out.get(); },
      [&](const std::vector<int> &Got) {
        bool Right = true;
        for (int I = 0; I < Count; ++I) {
          const Body &A = Bodies[Pairs[I].A], &B = Bodies[Pairs[I].B];
          Right &= Got[I] == depth(A, B, testOf(A.Kind, B.Kind));
        }
        return Right;
      });
}
