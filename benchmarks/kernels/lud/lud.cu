//===- benchmarks/kernels/lud/lud.cu - LU decomposition, perimeter --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step of a blocked LU decomposition without pivoting. The diagonal tile is
// factorised already; each block of this kernel finishes one tile to the right
// of it (rows: solves with the unit lower triangle) and one below (columns:
// solves with the upper triangle). A block has twice as many threads as a tile
// has rows, and one half does either: the two arms load, solve and store alike
// but for indices and a division. With tiles of 8 or 16 the halves share warps;
// with tiles of 32 or more each warp is of one half, and nothing diverges.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"

#include <cmath>

/// Tile (\p Row, \p Col) of a matrix of \p N columns.
template <int Side> __device__ float *tile(float *M, int N, int Row, int Col) {
  return M + size_t(Row) * Side * N + size_t(Col) * Side;
}

template <int Side> __global__ void perimeter(float *M, int N) {
  __shared__ float Diagonal[Side][Side], Right[Side][Side], Below[Side][Side];
  const int Other = int(blockIdx.x) + 1;
  const int Half = int(threadIdx.x) / Side, At = int(threadIdx.x) % Side;
  if (Half == 0) {
    for (int I = 0; I < Side / 2; ++I)
      Diagonal[I][At] = tile<Side>(M, N, 0, 0)[I * N + At];
    for (int I = 0; I < Side; ++I)
      Right[I][At] = tile<Side>(M, N, 0, Other)[I * N + At];
  } else {
    for (int I = Side / 2; I < Side; ++I)
      Diagonal[I][At] = tile<Side>(M, N, 0, 0)[I * N + At];
    for (int I = 0; I < Side; ++I)
      Below[I][At] = tile<Side>(M, N, Other, 0)[I * N + At];
  }
  __syncthreads();
  if (Half == 0) {
    for (int I = 1; I < Side; ++I) {
      float Sum = Right[I][At];
      for (int J = 0; J < I; ++J)
        Sum -= Diagonal[I][J] * Right[J][At];
      Right[I][At] = Sum;
    }
  } else {
    for (int I = 0; I < Side; ++I) {
      float Sum = Below[At][I];
      for (int J = 0; J < I; ++J)
        Sum -= Below[At][J] * Diagonal[J][I];
      Below[At][I] = Sum / Diagonal[I][I];
    }
  }
  __syncthreads();
  if (Half == 0) {
    for (int I = 0; I < Side; ++I)
      tile<Side>(M, N, 0, Other)[I * N + At] = Right[I][At];
  } else {
    for (int I = 0; I < Side; ++I)
      tile<Side>(M, N, Other, 0)[I * N + At] = Below[I][At];
  }
}

/// The reference, in double precision.
static void onHost(std::vector<double> &M, int N, int Side) {
  for (int Col = Side; Col < N; ++Col)
    for (int I = 1; I < Side; ++I)
      for (int J = 0; J < I; ++J)
        M[I * N + Col] -= M[I * N + J] * M[J * N + Col];
  for (int Row = Side; Row < N; ++Row)
    for (int I = 0; I < Side; ++I) {
      for (int J = 0; J < I; ++J)
        M[Row * N + I] -= M[Row * N + J] * M[J * N + I];
      M[Row * N + I] /= M[I * N + I];
    }
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "lud");
  const long Tiles = Run.integer("tiles", 17, 2, 4096);
  const long Block = Run.integer("block", 32, 16, 128);
  Run.ready();
  const int Side = int(Block / 2), N = int(Tiles) * Side;
  void (*Kernel)(float *, int) = Side == 8    ? perimeter<8>
                                 : Side == 16 ? perimeter<16>
                                 : Side == 32 ? perimeter<32>
                                 : Side == 64 ? perimeter<64>
                                              : nullptr;
  if (!Kernel) {
    std::fprintf(stderr, "lud: block=%ld: give 16, 32, 64 or 128\n", Block);
    return 2;
  }

  // Dominant on the diagonal, so that it needs no pivoting.
  std::vector<float> M(size_t(N) * N);
  Random Draw = Run.random();
  for (int I = 0; I < N; ++I)
    for (int J = 0; J < N; ++J)
      M[size_t(I) * N + J] = Draw.uniform() + (I == J ? float(Side) : 0.0f);
  DeviceArray<float> Device(M);
  Run.run([&] { Device.set(M); },
          [&] { Kernel<<<Tiles - 1, Block>>>(Device, N); });
  const std::vector<float> Got = Device.get();
  bool Right = true;
  if (Run.checks()) {
    std::vector<double> Want(M.begin(), M.end());
    onHost(Want, N, Side);
    for (size_t I = 0; I < Want.size(); ++I)
      Right &= std::fabs(Got[I] - Want[I]) <= 1e-4 * (1 + std::fabs(Want[I]));
  }
  return Run.finish(Right, checksum(Got));
}
