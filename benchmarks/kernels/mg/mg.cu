//===- benchmarks/kernels/mg/mg.cu - Multigrid ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A potential in space by multigrid (paper 3, MG), in a domain with a curved
// boundary: pores between grains. Each V-cycle smooths, takes what is left to a
// coarser grid, solves there, and brings the correction back. A cell all of
// whose neighbours are in the domain has a plain average; beside the boundary
// the distances to it, along six directions, weigh the neighbours; outside
// there is nothing to do. Whole numbers, so every build computes the same.
//
// Remapped (common/remap.h): in the smoother, which is nearly all of the time,
// the path is which of the three a cell is.
//
//===----------------------------------------------------------------------===//
#include "../common/regroup.h"

#include <cmath>
#include <memory>

static constexpr int Block = 256, Unit = 16; // distances in 1/16 of a cell

enum Place : unsigned char { Inside, Beside, Outside };

/// One level: a cube of Side cells an edge, of which the outermost are Outside.
struct Level {
  int *Now, *Next, *Right;     ///< the potential, twice, and the right side
  const unsigned char *Places; ///< which each cell is
  const unsigned char *Gaps; ///< of [direction][cell]: how far to the boundary
                             ///< or, Unit, to the neighbour
  int Side;

  HD int cells() const { return Side * Side * Side; }
  HD int step(int K) const { // the neighbours, in opposite pairs
    const int By = K < 2 ? 1 : K < 4 ? Side : Side * Side;
    return K % 2 ? By : -By;
  }
};

/// What cell I would have, were its neighbours right.
HD static int average(const Level &L, int I) {
  int Sum = L.Right[I];
#pragma unroll
  for (int K = 0; K < 6; ++K)
    Sum += L.Now[I + L.step(K)];
  return Sum / 6;
}

/// The same beside the boundary, where the potential is 0: a neighbour's weight
/// is 1 / (its distance * (its distance + that of the opposite one)).
HD static int weighed(const Level &L, int I) {
  const int Cells = L.cells();
  int Sum = 0, Weights = 0;
#pragma unroll
  for (int K = 0; K < 6; ++K) {
    const int Gap = L.Gaps[K * Cells + I], Back = L.Gaps[(K ^ 1) * Cells + I];
    const int Weight = Unit * Unit * 512 / (Gap * (Gap + Back));
    Weights += Weight;
    if (Gap == Unit)
      Sum += L.Now[I + L.step(K)] / 64 * Weight;
  }
  return (Sum + L.Right[I] / 64 * 256) / (Weights / 64 + 1);
}

/// A third of the way stays.
HD static void smooth(const Level &L, int I, int Place) {
  const int New = Place == Inside ? average(L, I) : weighed(L, I);
  L.Next[I] = L.Now[I] + (New - L.Now[I]) * 2 / 3;
}

HD static void restrictTo(const Level &Fine, const Level &L, int I) {
  const int X = I % L.Side, Y = I / L.Side % L.Side, Z = I / L.Side / L.Side;
  int Sum = 0;
  for (int K = 0; K < 8; ++K) {
    const int J =
        ((2 * Z + K / 4) * Fine.Side + 2 * Y + K / 2 % 2) * Fine.Side + 2 * X +
        K % 2;
    if (Fine.Places[J] == Inside)
      Sum += (average(Fine, J) - Fine.Now[J]) * 6;
  }
  L.Right[I] = L.Places[I] == Outside ? 0 : Sum / 2;
  L.Now[I] = L.Next[I] = 0;
}

HD static void prolong(const Level &L, const Level &Fine, int I) {
  const int X = I % Fine.Side, Y = I / Fine.Side % Fine.Side,
            Z = I / Fine.Side / Fine.Side;
  if (Fine.Places[I] != Outside)
    Fine.Now[I] += L.Now[(Z / 2 * L.Side + Y / 2) * L.Side + X / 2] / 4;
}

__global__ void plain(Level L) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < L.cells() && L.Places[I] != Outside)
    smooth(L, I, L.Places[I]);
}
template <typename Way> __global__ void remapped(Level L) {
  __shared__ typename Way::temp_storage Storage;
  Way Trade(Storage, threadIdx.x);
  const int First = blockIdx.x * Block, I = First + threadIdx.x;
  const auto New = Trade(I < L.cells() ? L.Places[I] : Outside);
  if (New.path != Outside)
    smooth(L, First + New.id, New.path);
}
template <typename Collect> __global__ void collected(Level L) {
  __shared__ typename Collect::temp_storage Storage;
  const int First = blockIdx.x * Collect::items;
  Collect Items(Storage);
  Items(
      L.cells() - First, // the longest first; none for what is outside
      [&](int I) { return int(Beside) - int(L.Places[First + I]); },
      [&](int I, int Path) { smooth(L, First + I, Beside - Path); });
}
// Regrouped: the longest first; nothing for what is outside.
__global__ void findKeys(Level L, unsigned char *Keys) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < L.cells())
    Keys[I] = L.Places[I] == Outside ? 2 : Beside - L.Places[I];
}
__global__ void regrouped(Level L, const int *Offsets, const int *Ids) {
  const int T = blockIdx.x * Block + threadIdx.x;
  if (T < Offsets[2])
    smooth(L, Ids[T], T < Offsets[1] ? Beside : Inside);
}
__global__ void coarsen(Level Fine, Level L) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < L.cells())
    restrictTo(Fine, L, I);
}
__global__ void refine(Level L, Level Fine) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < Fine.cells())
    prolong(L, Fine, I);
}

/// One V-cycle from level At of so many on; each step by one of the functions.
template <typename Smooth, typename Down, typename Up>
static void cycle(std::vector<Level> &Levels, size_t At, Smooth S, Down D,
                  Up U) {
  const auto Twice = [&] { // Now is where it was
    for (int K = 0; K < 2; ++K) {
      S(Levels[At]);
      std::swap(Levels[At].Now, Levels[At].Next);
    }
  };
  Twice();
  if (At + 1 < Levels.size()) {
    D(Levels[At], Levels[At + 1]);
    cycle(Levels, At + 1, S, D, U);
    U(Levels[At + 1], Levels[At]);
    Twice();
  }
}

struct Ball {
  double X, Y, Z, R;
};

/// A level's domain: what is in no grain, and how far the grains are.
struct Domain {
  std::vector<unsigned char> Places, Gaps;
  std::vector<int> Right;

  Domain(const std::vector<Ball> &Grains, int Side)
      : Places(Side * Side * Side, Outside), Gaps(6 * Places.size(), Unit),
        Right(Places.size()) {
    const double H = 1. / Side;
    std::vector<float> Depth(Places.size(), 1e9f); // to the nearest surface
    const auto Each = [&](double From, double To, auto Do) {
      for (int I = std::max(1, int(From / H) - 1);
           I <= std::min(Side - 2, int(To / H) + 1); ++I)
        Do(I);
    };
    for (const Ball &B : Grains)
      Each(B.Z - B.R - 2 * H, B.Z + B.R + 2 * H, [&](int Z) {
        Each(B.Y - B.R - 2 * H, B.Y + B.R + 2 * H, [&](int Y) {
          Each(B.X - B.R - 2 * H, B.X + B.R + 2 * H, [&](int X) {
            const double U = (X + .5) * H - B.X, V = (Y + .5) * H - B.Y,
                         W = (Z + .5) * H - B.Z;
            float &D = Depth[(Z * Side + Y) * Side + X];
            D = std::min(D, float(std::sqrt(U * U + V * V + W * W) - B.R));
          });
        });
      });
    const int Steps[] = {1, Side, Side * Side};
    const auto In = [&](int I) { return Depth[I] > 0; };
    const auto IsWall = [&](int A) { return A == 0 || A == Side - 1; };
    for (int I = 0; I < int(Places.size()); ++I)
      if (IsWall(I % Side) || IsWall(I / Side % Side) ||
          IsWall(I / Side / Side))
        Depth[I] = -float(H) / 2;
    for (int I = 0; I < int(Places.size()); ++I) {
      if (!In(I))
        continue;
      Places[I] = Inside;
      Right[I] = (I % 97 < 48 ? 1 : -1) * 4096; // charges
      for (int K = 0; K < 6; ++K) {
        const int J = I + (K % 2 ? 1 : -1) * Steps[K / 2];
        if (In(J))
          continue;
        Places[I] = Beside; // the surface is where depth would be 0
        const float Part = Depth[I] / (Depth[I] - Depth[J]);
        Gaps[K * Places.size() + I] =
            std::min(std::max(int(Part * Unit), 1), Unit - 1);
      }
    }
  }
};

int main(int argc, char **argv) {
  Bench Run(argc, argv, "mg");
  const int Side = Run.integer("side", 32, 16, 512) / 16 * 16;
  const int Cycles = Run.integer("cycles", 1, 1, 100);
  const int Levels = Run.integer("levels", 4, 1, 4); // 1: the smoother alone
  const long Remap = chosenWay(Run);
  Run.ready();

  std::vector<Ball> Grains; // some cells across, whatever the size
  Random Draw = Run.random();
  const auto Any = [&](double To) { return To * Draw.uniform(); };
  for (int I = 0; I < Side * Side * Side / 900; ++I)
    Grains.push_back({Any(1), Any(1), Any(1), (1.5 + Any(5)) / Side});
  std::vector<Domain> Domains;
  for (int S = Side; S >= 4 && int(Domains.size()) < Levels; S /= 2)
    Domains.emplace_back(Grains, S);

  const size_t Cells = size_t(Side) * Side * Side, All = 2 * Cells;
  // A level's arrays lie behind the finer one's.
  std::vector<int> Right(All), Zeros(All), Now(All), Next(All);
  std::vector<unsigned char> Places(All), Gaps(6 * All);
  DeviceArray<int> NowThere(Zeros), NextThere(Zeros), RightThere(Zeros);
  std::vector<Level> Here, There;
  size_t At = 0;
  for (const Domain &D : Domains) {
    std::copy(D.Places.begin(), D.Places.end(), Places.begin() + At);
    std::copy(D.Gaps.begin(), D.Gaps.end(), Gaps.begin() + 6 * At);
    Here.push_back({&Now[At], &Next[At], &Right[At], &Places[At], &Gaps[6 * At],
                    Side >> Here.size()});
    At += D.Places.size();
  }
  DeviceArray<unsigned char> PlacesThere(Places), GapsThere(Gaps);
  for (const Level &L : Here) {
    const size_t From = L.Now - Now.data();
    There.push_back({NowThere + From, NextThere + From, RightThere + From,
                     PlacesThere + From, GapsThere + 6 * From, L.Side});
  }
  std::copy(Domains[0].Right.begin(), Domains[0].Right.end(), Right.begin());
  RightThere.set(Right);
  RemapWays<decltype(&plain)> Kernels = {
      WAYS(plain, remapped<ByLibrary<Block, 3>>, remapped<ByCub<Block, 3>>,
           COLLECTED(2))};
  const auto Blocks = [](const Level &L) {
    return (L.cells() + Block - 1) / Block;
  };
  // A coarse level has no blocks to spare.
  const auto IsCoarse = [&](const Level &L) { return L.Side < Side / 2; };
  const auto Launch = [&](auto Smooth) {
    for (int C = 0; C < Cycles; ++C)
      cycle(
          There, 0, Smooth,
          [&](const Level &Fine, const Level &L) {
            coarsen<<<Blocks(L), Block>>>(Fine, L);
          },
          [&](const Level &L, const Level &Fine) {
            refine<<<Blocks(Fine), Block>>>(L, Fine);
          });
  };
  std::vector<std::unique_ptr<GridOrder<unsigned char>>> Orders;
  for (const Level &L : There)
    if (isRegrouped(Remap) && !IsCoarse(L))
      Orders.push_back(
          std::make_unique<GridOrder<unsigned char>>(L.cells(), 2, true));
  Kernels.regroup(
      reinterpret_cast<const void *>(&regrouped), Block,
      [&] {
        for (size_t I = 0; I < Orders.size(); ++I) {
          findKeys<<<Blocks(There[I]), Block>>>(There[I], Orders[I]->keys());
          Orders[I]->make();
        }
      },
      [&] {
        Launch([&](const Level &L) {
          if (IsCoarse(L))
            return plain<<<Blocks(L), Block>>>(L);
          GridOrder<unsigned char> &Order = *Orders[L.Side < Side];
          regrouped<<<Blocks(L), Block>>>(L, Order.offsets(), Order.ids());
        });
      });
  return Kernels.run(
      Run, Remap, Block,
      [&] {
        NowThere.clear();
        NextThere.clear();
      },
      [&](auto Kernel, Form F) {
        Launch([&](const Level &L) {
          if (F.Items > Block && IsCoarse(L))
            plain<<<Blocks(L), Block>>>(L);
          else
            Kernel<<<F.blocks(L.cells()), F.Threads>>>(L);
        });
      },
      [&] { return NowThere.get(); },
      [&](const std::vector<int> &Got) {
        for (int C = 0; C < Cycles; ++C)
          cycle(
              Here, 0,
              [&](const Level &L) {
                for (int I = 0; I < L.cells(); ++I)
                  if (L.Places[I] != Outside)
                    smooth(L, I, L.Places[I]);
              },
              [&](const Level &F, const Level &L) {
                for (int I = 0; I < L.cells(); ++I)
                  restrictTo(F, L, I);
              },
              [&](const Level &L, const Level &F) {
                for (int I = 0; I < F.cells(); ++I)
                  prolong(L, F, I);
              });
        return Got == Now;
      });
}
