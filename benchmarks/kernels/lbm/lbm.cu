//===- benchmarks/kernels/lbm/lbm.cu - Lattice Boltzmann ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flow through a bed of grains (paper 3, LBM), by the lattice-Boltzmann method
// in two dimensions with nine velocities: a thread pulls what flows into its
// cell. In a grain that goes back where it came from; elsewhere it relaxes
// towards equilibrium, and in the cells of the inlet it is accelerated too.
// Products and sums are fmaf in one order, so every build computes the same.
//
// Remapped (common/remap.h): the path is what the cell is.
//
//===----------------------------------------------------------------------===//
#include "../common/output.h"
#include "../common/remap.h"

#include <cmath>

static constexpr int Block = 256, Speeds = 9;

enum Cell : unsigned char { Fluid, Grain, Inlet };

struct Flow {
  const float *From; ///< of [velocity][cell]
  float *To;
  const unsigned char *Cells;
  int Width, Height; ///< it wraps around at all sides
};

/// Velocities: 0 rests, 1 to 4 go along the axes, 5 to 8 between them.
HD static int stepX(int Q) {
  return (Q == 1 || Q == 5 || Q == 8) - (Q == 3 || Q == 6 || Q == 7);
}
HD static int stepY(int Q) {
  return (Q == 2 || Q == 5 || Q == 6) - (Q == 4 || Q == 7 || Q == 8);
}
HD static int opposite(int Q) {
  return Q == 0 ? 0 : Q < 5 ? (Q + 1) % 4 + 1 : (Q - 3) % 4 + 5;
}
HD static float weight(int Q) {
  return Q == 0 ? 4.f / 9 : Q < 5 ? 1.f / 9 : 1.f / 36;
}

HD static void collide(const Flow &L, const float (&In)[Speeds], int I,
                       bool Accelerates) {
  float Density = 0, U = 0, V = 0;
#pragma unroll
  for (int Q = 0; Q < Speeds; ++Q) {
    Density += In[Q];
    U = fmaf(float(stepX(Q)), In[Q], U);
    V = fmaf(float(stepY(Q)), In[Q], V);
  }
  U = U / Density;
  V = V / Density;
  if (Accelerates) {
    U = fmaf(0.5f, 0.05f - U, U);
    V = 0.5f * V;
  }
  const float Energy = fmaf(U, U, V * V);
#pragma unroll
  for (int Q = 0; Q < Speeds; ++Q) {
    const float Along = fmaf(float(stepX(Q)), U, float(stepY(Q)) * V);
    const float Bend = fmaf(4.5f * Along, Along, fmaf(3.f, Along, 1.f));
    // Nothing is left for a compiler to contract.
    const float More =
        fmaf(weight(Q) * Density, fmaf(-1.5f, Energy, Bend), -In[Q]);
    L.To[Q * L.Width * L.Height + I] = fmaf(0.6f, More, In[Q]);
  }
}

HD static void update(const Flow &L, int I, int Cell) {
  const int Area = L.Width * L.Height, X = I % L.Width, Y = I / L.Width;
  float In[Speeds];
#pragma unroll
  for (int Q = 0; Q < Speeds; ++Q) {
    int U = X - stepX(Q), V = Y - stepY(Q);
    U += U < 0 ? L.Width : U >= L.Width ? -L.Width : 0;
    V += V < 0 ? L.Height : V >= L.Height ? -L.Height : 0;
    In[Q] = L.From[Q * Area + V * L.Width + U];
  }
  if (Cell == Grain) {
#pragma unroll
    for (int Q = 0; Q < Speeds; ++Q)
      L.To[opposite(Q) * Area + I] = In[Q];
  } else {
    collide(L, In, I, Cell == Inlet);
  }
}

__global__ void plain(Flow L) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < L.Width * L.Height)
    update(L, I, L.Cells[I]);
}

template <typename Way> __global__ void remapped(Flow L) {
  __shared__ typename Way::temp_storage Storage;
  Way Trade(Storage, threadIdx.x);
  const int First = blockIdx.x * Block, I = First + threadIdx.x;
  const auto New = Trade(I < L.Width * L.Height ? L.Cells[I] : Inlet + 1);
  if (New.path <= Inlet)
    update(L, First + New.id, New.path);
}

template <typename Collect> __global__ void collected(Flow L) {
  __shared__ typename Collect::temp_storage Storage;
  const int First = blockIdx.x * Collect::items;
  Collect Items(Storage);
  Items(
      L.Width * L.Height - First, [&](int I) { return L.Cells[First + I]; },
      [&](int I, int Cell) { update(L, First + I, Cell); });
}

/// How fast the flow is in each cell: along x, then along y.
static std::vector<float> speeds(const std::vector<float> &In, int Area) {
  std::vector<float> Out(2 * size_t(Area));
  for (int I = 0; I < Area; ++I) {
    float Density = 0, U = 0, V = 0;
    for (int Q = 0; Q < Speeds; ++Q) {
      const float Part = In[size_t(Q) * Area + I];
      Density += Part;
      U += float(stepX(Q)) * Part;
      V += float(stepY(Q)) * Part;
    }
    Out[I] = U / Density;
    Out[size_t(Area) + I] = V / Density;
  }
  return Out;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "lbm");
  const int Width = Run.integer("width", 96, 16, 1 << 14);
  const int Height = Run.integer("height", 96, 16, 1 << 14);
  const int Steps = Run.integer("steps", 2, 1, 10000);
  const long Remap = chosenWay(Run);
  const std::string Output = Run.output();
  Run.ready();

  const int Area = Width * Height;
  std::vector<unsigned char> Cells(Area, Fluid);
  Random Draw = Run.random();
  for (int G = 0; G < Area / 60; ++G) { // grains of a few cells
    const int X = Draw.below(Width), Y = Draw.below(Height);
    const int Radius = 1 + Draw.below(4);
    for (int V = -Radius; V <= Radius; ++V)
      for (int U = -Radius; U <= Radius; ++U)
        if (U * U + V * V <= Radius * Radius)
          Cells[(Y + V + Height) % Height * Width + (X + U + Width) % Width] =
              Grain;
  }
  for (int I = 0; I < Area; ++I)
    if (I % Width < 4 && Cells[I] == Fluid)
      Cells[I] = Inlet;
  std::vector<float> Start(size_t(Area) * Speeds);
  for (int Q = 0; Q < Speeds; ++Q)
    for (int I = 0; I < Area; ++I)
      Start[size_t(Q) * Area + I] =
          weight(Q) * (0.99f + 0.02f * Draw.uniform());
  DeviceArray<float> First(Start), A(Start), B(Start);
  DeviceArray<unsigned char> There(Cells);
  const RemapWays<decltype(&plain)> All = {
      WAYS(plain, remapped<ByLibrary<Block, 4>>, remapped<ByCub<Block, 4>>,
           COLLECTED(3))};
  const auto Flowing = [&] {
    std::vector<float> Now = Steps % 2 ? B.get() : A.get();
    if (!Output.empty())
      writeFloats(Output, speeds(Now, Area));
    return Now;
  };
  return All.run(
      Run, Remap, Block,
      [&] {
        CHECK_CUDA(cudaMemcpy(A, First, Start.size() * sizeof(float),
                              cudaMemcpyDeviceToDevice));
      },
      [&](auto Kernel, Form F) {
        for (int S = 0; S < Steps; ++S)
          Kernel<<<F.blocks(Area), F.Threads>>>(
              {S % 2 ? B : A, S % 2 ? A : B, There, Width, Height});
      },
      Flowing,
      [&](const std::vector<float> &Got) {
        std::vector<float> From = Start, To = Start;
        for (int S = 0; S < Steps; ++S) {
          const Flow L = {From.data(), To.data(), Cells.data(), Width, Height};
          for (int I = 0; I < Area; ++I)
            update(L, I, Cells[I]);
          std::swap(From, To);
        }
        return Got == From;
      });
}
