//===- examples/lu/lu.cu - Lesson 4: LU decomposition, perimeter kernel ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A = L U in place, without pivoting, in tiles of 16 x 16. For each tile on the
// diagonal three kernels run:
//
//   D U U U     diagonal   D: factored by one half warp
//   L i i i     perimeter  U: row tiles, solved with D's L
//   L i i i                L: column tiles, solved with D's U
//   L i i i     internal   i: i -= L * U
//
// The perimeter kernel is the one to look at. One warp takes a row tile and the
// column tile opposite: its lower half runs one arm, its upper half the other.
// The arms do nearly the same, but the warp runs them one after the other, so
// both at half of its lanes. (Rodinia's LUD has this kernel; the program here
// is written from the algorithm.)
//
// Each element takes its updates in the order of k, as in the textbook's three
// loops, with explicit fmaf: host and device agree to the last bit.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"
#include "../common/random.h"

#include <cmath>
#include <vector>

static constexpr int Tile = 16;

__global__ void luDiagonal(float *A, int N, int At) {
  __shared__ float D[Tile][Tile + 1];
  const int Lane = int(threadIdx.x);
  float *Corner = A + size_t(At) * N + At;
  for (int Row = 0; Row < Tile; ++Row)
    D[Row][Lane] = Corner[Row * N + Lane];
  __syncthreads();

  for (int K = 0; K < Tile - 1; ++K) {
    if (Lane > K) {
      D[Lane][K] /= D[K][K];
      for (int Column = K + 1; Column < Tile; ++Column)
        D[Lane][Column] = fmaf(-D[Lane][K], D[K][Column], D[Lane][Column]);
    }
    __syncthreads();
  }

  for (int Row = 0; Row < Tile; ++Row)
    Corner[Row * N + Lane] = D[Row][Lane];
}

__global__ void luPerimeter(float *A, int N, int At) {
  __shared__ float D[Tile][Tile + 1], U[Tile][Tile + 1], L[Tile][Tile + 1];
  const int Lane = int(threadIdx.x) % Tile;
  const int To = At + (int(blockIdx.x) + 1) * Tile;
  float *Above = A + size_t(At) * N + To; // the row tile
  float *Aside = A + size_t(To) * N + At; // the column tile
  const float *Corner = A + size_t(At) * N + At;

  if (threadIdx.x < Tile) {
    for (int Row = 0; Row < Tile; ++Row) {
      D[Row][Lane] = Corner[Row * N + Lane];
      U[Row][Lane] = Above[Row * N + Lane];
    }
  } else {
    for (int Row = 0; Row < Tile; ++Row)
      L[Row][Lane] = Aside[Row * N + Lane];
  }
  __syncthreads();

  if (threadIdx.x < Tile) { // this lane solves column Lane of U
    for (int Row = 1; Row < Tile; ++Row) {
      float Sum = U[Row][Lane];
      for (int K = 0; K < Row; ++K)
        Sum = fmaf(-D[Row][K], U[K][Lane], Sum);
      U[Row][Lane] = Sum;
    }
  } else { // this lane solves row Lane of L
    for (int Column = 0; Column < Tile; ++Column) {
      float Sum = L[Lane][Column];
      for (int K = 0; K < Column; ++K)
        Sum = fmaf(-L[Lane][K], D[K][Column], Sum);
      L[Lane][Column] = Sum / D[Column][Column];
    }
  }
  __syncthreads();

  if (threadIdx.x < Tile) {
    for (int Row = 0; Row < Tile; ++Row)
      Above[Row * N + Lane] = U[Row][Lane];
  } else {
    for (int Row = 0; Row < Tile; ++Row)
      Aside[Row * N + Lane] = L[Row][Lane];
  }
}

__global__ void luInternal(float *A, int N, int At) {
  __shared__ float U[Tile][Tile], L[Tile][Tile];
  const int X = int(threadIdx.x), Y = int(threadIdx.y);
  const int Row = At + (int(blockIdx.y) + 1) * Tile + Y;
  const int Column = At + (int(blockIdx.x) + 1) * Tile + X;
  U[Y][X] = A[size_t(At + Y) * N + Column];
  L[Y][X] = A[size_t(Row) * N + At + X];
  __syncthreads();

  float Sum = A[size_t(Row) * N + Column];
  for (int K = 0; K < Tile; ++K)
    Sum = fmaf(-L[Y][K], U[K][X], Sum);
  A[size_t(Row) * N + Column] = Sum;
}

/// The reference: three loops.
static void luOnHost(std::vector<float> &A, int N) {
  for (int K = 0; K < N; ++K)
    for (int Row = K + 1; Row < N; ++Row) {
      const float Factor = A[size_t(Row) * N + K] /= A[size_t(K) * N + K];
      for (int Column = K + 1; Column < N; ++Column)
        A[size_t(Row) * N + Column] = fmaf(-Factor, A[size_t(K) * N + Column],
                                           A[size_t(Row) * N + Column]);
    }
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long N = Args.integer("n", 384, Tile, 8192);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();
  if (N % Tile) {
    std::fprintf(stderr, "lu: n=%ld: give a multiple of %d\n", N, Tile);
    return 2;
  }

  // Diagonally dominant, so that no pivot is needed.
  std::vector<float> A(size_t(N) * N);
  Random Draw(Seed, 0);
  for (float &Value : A)
    Value = Draw.uniform() - 0.5f;
  for (long I = 0; I < N; ++I)
    A[I * N + I] += float(N);

  const size_t Bytes = A.size() * sizeof(float);
  float *Device = nullptr;
  CHECK_CUDA(cudaMalloc(&Device, Bytes));
  CHECK_CUDA(cudaMemcpy(Device, A.data(), Bytes, cudaMemcpyHostToDevice));
  for (int At = 0; At < N; At += Tile) {
    const unsigned Rest = unsigned(N - At) / Tile - 1;
    luDiagonal<<<1, Tile>>>(Device, int(N), At);
    CHECK_LAUNCH();
    if (Rest == 0)
      break;
    luPerimeter<<<Rest, 2 * Tile>>>(Device, int(N), At);
    CHECK_LAUNCH();
    luInternal<<<dim3(Rest, Rest), dim3(Tile, Tile)>>>(Device, int(N), At);
    CHECK_LAUNCH();
  }
  CHECK_CUDA(cudaDeviceSynchronize());

  std::vector<float> Factors(A.size());
  CHECK_CUDA(cudaMemcpy(Factors.data(), Device, Bytes, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(Device));

  bool Right = true;
  if (Check) {
    luOnHost(A, int(N));
    Right = A == Factors;
  }
  std::printf("lu: %ld x %ld, last pivot %.6f: %s\n", N, N,
              double(Factors.back()),
              Check ? Right ? "bit-identical" : "WRONG" : "not checked");
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(Factors)));
  return Right ? 0 : 1;
}
