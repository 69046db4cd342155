//===- benchmarks/kernels/xslookup/xslookup.cu - Cross sections -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a neutron may do next: the inner kernel of event-based Monte Carlo
// transport. A thread has one particle, with an energy, in a material. For each
// nuclide of the material it finds the energy in the nuclide's own grid (a
// table of energy bins says where to begin, a binary search does the rest),
// interpolates five cross sections, and adds them, weighed by density.
//
// Products and sums are fmaf in one order, so every build computes the same.
//
// Remapped (common/remap.h): the path is the material, numbered by how many
// nuclides it has, so that a warp between two materials wastes little.
//
//===----------------------------------------------------------------------===//
#include "../common/regroup.h"

#include <algorithm>
#include <cmath>

static constexpr int Block = 256;
static constexpr int Nuclides = 68, Materials = 12, MostIn = 34, Kinds = 5;
static constexpr int EnergyBits = 28;

struct Data {
  const unsigned *Energy; ///< of [nuclide][point], rising
  const float *Sections;  ///< of [nuclide][point][kind]
  const int *Start;       ///< of [bin][nuclide]: last point not above the bin
  const int *Members;     ///< of [material]: how many nuclides; then, of
                          ///< [material][i], which
  const float *Density;   ///< of [material][i]
  int Points, BinShift;
};
struct Particles {
  const unsigned *Energy;
  const int *Material;
};

/// The last point of the nuclide's grid that is not above the energy.
HD static int pointOf(const Data &D, int Nuclide, unsigned Energy) {
  const int *Bin = D.Start + (Energy >> D.BinShift) * Nuclides + Nuclide;
  const unsigned *Grid = D.Energy + Nuclide * D.Points;
  int Low = Bin[0], High = Bin[Nuclides] + 1;
  while (High - Low > 1) {
    const int Middle = (Low + High) / 2;
    if (Grid[Middle] <= Energy)
      Low = Middle;
    else
      High = Middle;
  }
  return Low;
}

/// Writes the macroscopic cross sections to Out, of [kind][particle].
HD static void lookUp(const Data &D, unsigned Energy, int Material, float *Out,
                      int Count) {
  float Sum[Kinds] = {};
  const int *Which = D.Members + Materials + Material * MostIn;
  const float *Density = D.Density + Material * MostIn;
  const int Many = D.Members[Material];
#pragma unroll 1
  for (int I = 0; I < Many; ++I) {
    const int N = Which[I];
    const int At = N * D.Points + pointOf(D, N, Energy);
    const unsigned Below = D.Energy[At], Above = D.Energy[At + 1];
    const float Part = float(Energy - Below) / float(Above - Below);
    const float *S = D.Sections + At * Kinds;
    for (int K = 0; K < Kinds; ++K)
      Sum[K] = fmaf(Density[I], fmaf(Part, S[Kinds + K] - S[K], S[K]), Sum[K]);
  }
  for (int K = 0; K < Kinds; ++K)
    Out[K * Count] = Sum[K];
}

__global__ void plain(Data D, Particles P, float *Out, int Count) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < Count)
    lookUp(D, P.Energy[I], P.Material[I], Out + I, Count);
}

template <typename Way>
__global__ void remapped(Data D, Particles P, float *Out, int Count) {
  __shared__ typename Way::temp_storage Storage;
  Way Trade(Storage, threadIdx.x);
  const int First = blockIdx.x * Block, I = First + threadIdx.x;
  const auto New = Trade(I < Count ? P.Material[I] : Materials);
  if (New.path == Materials)
    return;
  const int J = First + New.id;
  lookUp(D, P.Energy[J], New.path, Out + J, Count);
}

template <typename Collect>
__global__ void collected(Data D, Particles P, float *Out, int Count) {
  __shared__ typename Collect::temp_storage Storage;
  const int First = blockIdx.x * Collect::items;
  Collect Items(Storage);
  Items(
      Count - First, // the longest first
      [&](int I) { return Materials - 1 - P.Material[First + I]; },
      [&](int I, int Path) {
        const int J = First + I;
        lookUp(D, P.Energy[J], Materials - 1 - Path, Out + J, Count);
      });
}

// Regrouped: the longest first, and those of a material by energy, so that a
// warp reads what lies close together.
__global__ void findKeys(Particles P, int EnergyKey, unsigned short *Keys,
                         int Count) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < Count)
    Keys[I] = (Materials - 1 - P.Material[I]) << EnergyKey |
              P.Energy[I] >> (EnergyBits - EnergyKey);
}
__global__ void regrouped(Data D, Particles P, float *Out, int Count,
                          const int *Ids) {
  const int T = blockIdx.x * Block + threadIdx.x;
  if (T >= Count)
    return;
  const int I = Ids[T];
  lookUp(D, P.Energy[I], P.Material[I], Out + I, Count);
}

//===----------------------------------------------------------------------===//
// A reactor: fuel has half of all nuclides, the rest have few
//===----------------------------------------------------------------------===//

/// By rising number of nuclides: coolant, moderator, clads, structure, fuel.
static constexpr int Sizes[Materials] = {4,  4,  5,  9,  9,  21,
                                         21, 21, 21, 21, 27, MostIn};
/// How often a particle is there, in thousandths.
static constexpr int Often[Materials] = {134, 154, 52, 25, 13,  64,
                                         66,  55,  8,  14, 275, 140};

struct Library {
  std::vector<unsigned> Energy;
  std::vector<float> Sections, Density;
  std::vector<int> Start, Members;

  Library(Random Draw, int Points, int Bins) {
    const unsigned Top = 1u << EnergyBits;
    for (int N = 0; N < Nuclides; ++N) {
      std::vector<unsigned> Grid; // resonances: points gather where they are
      unsigned Peak = Top / 2;
      while (int(Grid.size()) < Points - 2) {
        if (Draw.below(16) == 0)
          Peak = Draw.below(Top);
        const unsigned Near = Draw.below(Draw.below(Top / 8) + 1);
        Grid.push_back(1 + (Peak + Near) % (Top - 2));
      }
      std::sort(Grid.begin(), Grid.end());
      Grid.insert(Grid.begin(), 0);
      Grid.push_back(Top);
      for (int P = 1; P < Points; ++P) // all different
        Grid[P] = std::max(Grid[P], Grid[P - 1] + 1);
      Energy.insert(Energy.end(), Grid.begin(), Grid.end());
    }
    for (int I = 0; I < Nuclides * Points * Kinds; ++I)
      Sections.push_back(Draw.uniform());
    for (int B = 0; B <= Bins; ++B)
      for (int N = 0; N < Nuclides; ++N) {
        const auto Grid = Energy.begin() + N * Points;
        const auto Above =
            std::upper_bound(Grid, Grid + Points - 1, B * (Top / Bins));
        Start.push_back(int(Above - Grid) - 1);
      }
    Members.assign(Sizes, Sizes + Materials);
    for (int M = 0; M < Materials; ++M)
      for (int I = 0, N = Draw.below(Nuclides); I < MostIn; ++I) {
        Members.push_back(N);
        Density.push_back(Draw.uniform());
        N = (N + 1 + Draw.below(Nuclides / MostIn)) % Nuclides;
      }
  }
  Data data() const {
    return {Energy.data(),
            Sections.data(),
            Start.data(),
            Members.data(),
            Density.data(),
            0,
            0};
  }
};

int main(int argc, char **argv) {
  Bench Run(argc, argv, "xslookup");
  const int Count = Run.integer("particles", 3000, 1, 1 << 26);
  const int Points = Run.integer("points", 256, 16, 1 << 15);
  const int BinBits = Run.integer("binbits", 6, 0, 16);
  const int EnergyKey = Run.integer("energykey", 12, 0, 12); // bits
  const long Remap = chosenWay(Run);
  Run.ready();

  const Library L(Run.random(1), Points, 1 << BinBits);
  std::vector<unsigned> Energies(Count);
  std::vector<int> In(Count);
  Random Draw = Run.random();
  for (int I = 0; I < Count; ++I) {
    Energies[I] = Draw.bits() >> (32 - EnergyBits);
    int M = 0;
    for (int Left = Draw.below(1000); Left >= Often[M]; ++M)
      Left -= Often[M];
    In[I] = M;
  }
  DeviceArray<unsigned> Grid(L.Energy), Energy(Energies);
  DeviceArray<float> Sections(L.Sections), Density(L.Density);
  DeviceArray<int> Start(L.Start), Members(L.Members), Material(In);
  DeviceArray<float> Out(std::vector<float>(size_t(Count) * Kinds));
  const int Shift = EnergyBits - BinBits;
  const Data There = {Grid, Sections, Start, Members, Density, Points, Shift};
  const Particles Moving = {Energy, Material};
  Data Here = L.data();
  Here.Points = Points;
  Here.BinShift = Shift;
  RemapWays<decltype(&plain)> All = {
      WAYS(plain, remapped<ByLibrary<Block, Materials + 1>>,
           remapped<ByCub<Block, Materials + 1>>, COLLECTED(Materials))};
  GridOrder<unsigned short> Order(isRegrouped(Remap) ? Count : 0,
                                  4 + EnergyKey);
  const int Blocks = (Count + Block - 1) / Block;
  All.regroup(
      reinterpret_cast<const void *>(&regrouped), Block,
      [&] {
        findKeys<<<Blocks, Block>>>(Moving, EnergyKey, Order.keys(), Count);
        Order.make();
      },
      [&] {
        regrouped<<<Blocks, Block>>>(There, Moving, Out, Count, Order.ids());
      });
  return All.run(
      Run, Remap, Block, [&] { Out.clear(); },
      [&](auto Kernel, Form F) {
        Kernel<<<F.blocks(Count), F.Threads>>>(There, Moving, Out, Count);
      },
      [&] { return Out.get(); },
      [&](const std::vector<float> &Got) {
        std::vector<float> Want(Got.size());
        for (int I = 0; I < Count; ++I)
          lookUp(Here, Energies[I], In[I], Want.data() + I, Count);
        return Got == Want;
      });
}
