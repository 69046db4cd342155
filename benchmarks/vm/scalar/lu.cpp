//===- benchmarks/vm/scalar/lu.cpp - LU decomposition, scalar -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of examples/lu/lu.cu; stopwatch.h says how and why.
//
//===----------------------------------------------------------------------===//
#include "common/checksum.h"
#include "common/options.h"
#include "common/random.h"
#include "stopwatch.h"

#include <cmath>
#include <vector>

static constexpr int Tile = 16;

static void diagonal(float *A, int N, int At) {
  float D[Tile][Tile + 1];
  float *Corner = A + size_t(At) * N + At;
  for (int Lane = 0; Lane < Tile; ++Lane)
    for (int Row = 0; Row < Tile; ++Row)
      D[Row][Lane] = Corner[Row * N + Lane];
  for (int K = 0; K < Tile - 1; ++K)
    for (int Lane = 0; Lane < Tile; ++Lane)
      if (Lane > K) {
        D[Lane][K] /= D[K][K];
        for (int Column = K + 1; Column < Tile; ++Column)
          D[Lane][Column] = fmaf(-D[Lane][K], D[K][Column], D[Lane][Column]);
      }
  for (int Lane = 0; Lane < Tile; ++Lane)
    for (int Row = 0; Row < Tile; ++Row)
      Corner[Row * N + Lane] = D[Row][Lane];
}

static void perimeter(float *A, int N, int At, int Block) {
  float D[Tile][Tile + 1], U[Tile][Tile + 1], L[Tile][Tile + 1];
  const int To = At + (Block + 1) * Tile;
  float *Above = A + size_t(At) * N + To;
  float *Aside = A + size_t(To) * N + At;
  const float *Corner = A + size_t(At) * N + At;
  for (int Tid = 0; Tid < 2 * Tile; ++Tid) {
    const int Lane = Tid % Tile;
    if (Tid < Tile) {
      for (int Row = 0; Row < Tile; ++Row) {
        D[Row][Lane] = Corner[Row * N + Lane];
        U[Row][Lane] = Above[Row * N + Lane];
      }
    } else {
      for (int Row = 0; Row < Tile; ++Row)
        L[Row][Lane] = Aside[Row * N + Lane];
    }
  }
  for (int Tid = 0; Tid < 2 * Tile; ++Tid) {
    const int Lane = Tid % Tile;
    if (Tid < Tile) {
      for (int Row = 1; Row < Tile; ++Row) {
        float Sum = U[Row][Lane];
        for (int K = 0; K < Row; ++K)
          Sum = fmaf(-D[Row][K], U[K][Lane], Sum);
        U[Row][Lane] = Sum;
      }
    } else {
      for (int Column = 0; Column < Tile; ++Column) {
        float Sum = L[Lane][Column];
        for (int K = 0; K < Column; ++K)
          Sum = fmaf(-L[Lane][K], D[K][Column], Sum);
        L[Lane][Column] = Sum / D[Column][Column];
      }
    }
  }
  for (int Tid = 0; Tid < 2 * Tile; ++Tid) {
    const int Lane = Tid % Tile;
    if (Tid < Tile) {
      for (int Row = 0; Row < Tile; ++Row)
        Above[Row * N + Lane] = U[Row][Lane];
    } else {
      for (int Row = 0; Row < Tile; ++Row)
        Aside[Row * N + Lane] = L[Row][Lane];
    }
  }
}

static void internal(float *A, int N, int At, int BlockX, int BlockY) {
  float U[Tile][Tile], L[Tile][Tile];
  const int Row0 = At + (BlockY + 1) * Tile, Column0 = At + (BlockX + 1) * Tile;
  for (int Y = 0; Y < Tile; ++Y)
    for (int X = 0; X < Tile; ++X) {
      U[Y][X] = A[size_t(At + Y) * N + Column0 + X];
      L[Y][X] = A[size_t(Row0 + Y) * N + At + X];
    }
  for (int Y = 0; Y < Tile; ++Y)
    for (int X = 0; X < Tile; ++X) {
      float Sum = A[size_t(Row0 + Y) * N + Column0 + X];
      for (int K = 0; K < Tile; ++K)
        Sum = fmaf(-L[Y][K], U[K][X], Sum);
      A[size_t(Row0 + Y) * N + Column0 + X] = Sum;
    }
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const int N = int(Args.integer("n", 384, Tile, 8192));
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  Args.done();

  std::vector<float> A(size_t(N) * N);
  Random Draw(Seed, 0);
  for (float &Value : A)
    Value = Draw.uniform() - 0.5f;
  for (int I = 0; I < N; ++I)
    A[size_t(I) * N + I] += float(N);

  Stopwatch Watch;
  Watch.start();
  for (int At = 0; At < N; At += Tile) {
    const int Rest = (N - At) / Tile - 1;
    diagonal(A.data(), N, At);
    for (int Block = 0; Block < Rest; ++Block)
      perimeter(A.data(), N, At, Block);
    for (int BlockY = 0; BlockY < Rest; ++BlockY)
      for (int BlockX = 0; BlockX < Rest; ++BlockX)
        internal(A.data(), N, At, BlockX, BlockY);
  }
  Watch.stop();
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(A)));
  Watch.print();
}
