//===- benchmarks/vm/scalar/stencil.cpp - Stencil with boundaries, scalar -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of examples/stencil/stencil.cu; stopwatch.h says how and why.
//
//===----------------------------------------------------------------------===//
#include "common/checksum.h"
#include "common/options.h"
#include "common/random.h"
#include "stopwatch.h"

#include <cmath>
#include <utility>
#include <vector>

static constexpr int TileX = 32, TileY = 8;
static constexpr float Conduction = 0.2f, Hot = 100.0f, Radiation = 1e-7f;

static float conduct(float Here, float North, float South, float West,
                     float East) {
  const float Around = (North + South) + (West + East);
  return fmaf(Conduction, fmaf(-4.0f, Here, Around), Here);
}

static float radiate(float Here) {
  const float Square = Here * Here;
  return fmaf(-Radiation, Square * Square, Here);
}

static float warmBottom(float Here, float North, int X, int Step) {
  const float Source = float((X + Step) & 7) * 5.0f;
  const float Flow = fmaf(0.5f, North - Here, Here);
  return fmaf(0.125f, fmaf(-0.01f, Here, Source), Flow);
}

static void heatBlock(const float *In, float *Out, int Width, int Height,
                      int Step, int BlockX, int BlockY) {
  float T[TileY + 2][TileX + 2];
  for (int Ty = 1; Ty <= TileY; ++Ty)
    for (int Tx = 1; Tx <= TileX; ++Tx) {
      const int X = BlockX * TileX + Tx - 1, Y = BlockY * TileY + Ty - 1;
      const int At = Y * Width + X;
      if (X < Width && Y < Height) {
        T[Ty][Tx] = In[At];
        if (Tx == 1 && X > 0)
          T[Ty][0] = In[At - 1];
        if (Tx == TileX && X < Width - 1)
          T[Ty][TileX + 1] = In[At + 1];
        if (Ty == 1 && Y > 0)
          T[0][Tx] = In[At - Width];
        if (Ty == TileY && Y < Height - 1)
          T[TileY + 1][Tx] = In[At + Width];
      }
    }
  for (int Ty = 1; Ty <= TileY; ++Ty)
    for (int Tx = 1; Tx <= TileX; ++Tx) {
      const int X = BlockX * TileX + Tx - 1, Y = BlockY * TileY + Ty - 1;
      if (X >= Width || Y >= Height)
        continue;
      const float Here = T[Ty][Tx];
      float Next;
      if (Y == 0)
        Next = Hot;
      else if (Y == Height - 1)
        Next = warmBottom(Here, T[Ty - 1][Tx], X, Step);
      else if (X == 0)
        Next = conduct(Here, T[Ty - 1][Tx], T[Ty + 1][Tx], T[Ty][Tx + 1],
                       T[Ty][Tx + 1]);
      else if (X == Width - 1)
        Next = radiate(
            conduct(Here, T[Ty - 1][Tx], T[Ty + 1][Tx], T[Ty][Tx - 1], Here));
      else
        Next = conduct(Here, T[Ty - 1][Tx], T[Ty + 1][Tx], T[Ty][Tx - 1],
                       T[Ty][Tx + 1]);
      Out[Y * Width + X] = Next;
    }
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const int Width = int(Args.integer("width", 500, 2, 16384));
  const int Height = int(Args.integer("height", 300, 2, 16384));
  const int Steps = int(Args.integer("steps", 40, 1, 1 << 20));
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  Args.done();

  std::vector<float> From(size_t(Width) * Height), To(From.size());
  Random Draw(uint64_t(Seed), 0);
  for (float &Point : From)
    Point = 20.0f + Draw.uniform();
  Stopwatch Watch;
  Watch.start();
  for (int Step = 0; Step < Steps; ++Step) {
    for (int BlockY = 0; BlockY < (Height + TileY - 1) / TileY; ++BlockY)
      for (int BlockX = 0; BlockX < (Width + TileX - 1) / TileX; ++BlockX)
        heatBlock(From.data(), To.data(), Width, Height, Step, BlockX, BlockY);
    std::swap(From, To);
  }
  Watch.stop();
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(From)));
  Watch.print();
}
