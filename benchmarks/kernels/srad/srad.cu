//===- benchmarks/kernels/srad/srad.cu - Speckle reduction, one step ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Anisotropic diffusion (Y. Yu and S. Acton, "Speckle reducing anisotropic
// diffusion", 2002): the diffusion coefficient of each pixel from the
// differences to its four neighbours. A block has its tile in shared memory;
// threads at the tile's edge fetch the neighbour beyond from global memory,
// each edge in an arm of its own, and pixels at the border are their own
// neighbours.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"

#include <cmath>

__host__ __device__ inline float coefficient(float C, float N, float S, float W,
                                             float E, float Noise) {
  const float G = (N * N + S * S + W * W + E * E) / (C * C);
  const float L = (N + S + W + E) / C;
  const float Numerator = 0.5f * G - 0.0625f * L * L;
  const float Denominator = 1.0f + 0.25f * L;
  const float Q = Numerator / (Denominator * Denominator);
  const float D = (Q - Noise) / (Noise * (1.0f + Noise));
  const float R = 1.0f / (1.0f + D);
  return R < 0.0f ? 0.0f : R > 1.0f ? 1.0f : R;
}

template <int Side>
__global__ void coefficients(const float *Image, float *Result, int Width,
                             int Height, float Noise) {
  __shared__ float Tile[Side][Side];
  const int TX = int(threadIdx.x), TY = int(threadIdx.y);
  const int X = int(blockIdx.x) * Side + TX, Y = int(blockIdx.y) * Side + TY;
  const float C = Image[Y * Width + X];
  Tile[TY][TX] = C;
  __syncthreads();

  float N, S, W, E;
  if (TY == 0)
    N = Image[(Y > 0 ? Y - 1 : 0) * Width + X] - C;
  else
    N = Tile[TY - 1][TX] - C;
  if (TY == Side - 1)
    S = Image[(Y < Height - 1 ? Y + 1 : Y) * Width + X] - C;
  else
    S = Tile[TY + 1][TX] - C;
  if (TX == 0)
    W = Image[Y * Width + (X > 0 ? X - 1 : 0)] - C;
  else
    W = Tile[TY][TX - 1] - C;
  if (TX == Side - 1)
    E = Image[Y * Width + (X < Width - 1 ? X + 1 : X)] - C;
  else
    E = Tile[TY][TX + 1] - C;
  Result[Y * Width + X] = coefficient(C, N, S, W, E, Noise);
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "srad");
  const long Width = Run.integer("width", 128, 32, 1 << 15);
  const long Height = Run.integer("height", 128, 32, 1 << 15);
  const long Block = Run.integer("block", 16, 8, 32); // by as many
  Run.ready();
  using Kernel = void (*)(const float *, float *, int, int, float);
  const Kernel Launch = Block == 8    ? coefficients<8>
                        : Block == 16 ? coefficients<16>
                        : Block == 32 ? coefficients<32>
                                      : nullptr;
  if (!Launch || Width % Block || Height % Block) {
    std::fprintf(stderr, "srad: block is 8, 16 or 32 and divides the image\n");
    return 2;
  }

  // Bright discs on a dark ground, with multiplicative noise.
  std::vector<float> Image(Width * Height);
  Random Draw = Run.random();
  for (long Y = 0; Y < Height; ++Y)
    for (long X = 0; X < Width; ++X) {
      const long DX = X % 64 - 32, DY = Y % 64 - 32;
      const float Base = DX * DX + DY * DY < 400 ? 0.9f : 0.3f;
      Image[Y * Width + X] = Base * (0.75f + 0.5f * Draw.uniform());
    }
  DeviceArray<float> In(Image), Out(Image);
  const dim3 Grid(Width / Block, Height / Block), Threads(Block, Block);
  const float Noise = 0.05f;
  Run.run([] {},
          [&] {
            Launch<<<Grid, Threads>>>(In, Out, int(Width), int(Height), Noise);
          });
  const std::vector<float> Got = Out.get();
  bool Right = true;
  auto At = [&](long X, long Y) {
    return Image[std::min(std::max(Y, 0l), Height - 1) * Width +
                 std::min(std::max(X, 0l), Width - 1)];
  };
  for (long Y = 0; Run.checks() && Y < Height; ++Y)
    for (long X = 0; X < Width; ++X) {
      const float C = At(X, Y);
      const float Want = coefficient(C, At(X, Y - 1) - C, At(X, Y + 1) - C,
                                     At(X - 1, Y) - C, At(X + 1, Y) - C, Noise);
      Right &= std::fabs(Got[Y * Width + X] - Want) <= 1e-3f;
    }
  return Run.finish(Right, checksum(Got));
}
