//===- examples/spmv/spmv.cu - Lesson 11: sparse matrix, vector -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = A x for a sparse matrix in compressed rows, in three ways:
//
//   scalar: a thread a row          vector: a warp a row
//     lane 0  ####                    row 0  ####............................
//     lane 1  ##################      row 1  ##################..............
//     lane 2  #                       row 2  ################################
//     lane 3  ######                         ####....
//
// The first waits for the longest of 32 rows, the second pays 32 lanes for
// each row, however short, and then five shuffles. The third (sliced) is the
// first on padded rows: nothing diverges, for every wait has become a product
// with zero. Which wins depends on the lengths of the rows: the generator makes
// a discretised operator (a band of 5 to 9) with some dense rows, as networks
// and constraint matrices have.
//
// Values are small multiples of 1/8, so sums are exact and their order does
// not matter. Managed memory: host and device use the same pointers.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"
#include "../common/random.h"

#include <algorithm>
#include <cmath>
#include <vector>

static constexpr unsigned AllLanes = 0xffffffffu;
static constexpr int SliceRows = 32;

template <typename T> struct Matrix {
  int Rows;
  int *Begin; ///< Rows + 1 positions in Column and Value
  int *Column;
  T *Value;
};

template <typename T>
__global__ void multiplyScalar(Matrix<T> A, const T *X, T *Y) {
  const int Row = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (Row >= A.Rows)
    return;
  T Sum = 0;
  for (int At = A.Begin[Row]; At < A.Begin[Row + 1]; ++At)
    Sum += A.Value[At] * X[A.Column[At]];
  Y[Row] = Sum;
}

template <typename T>
__global__ void multiplyVector(Matrix<T> A, const T *X, T *Y) {
  const int Thread = int(blockIdx.x * blockDim.x + threadIdx.x);
  const int Lane = int(threadIdx.x) % warpSize;
  const int Warps = int(gridDim.x * blockDim.x) / warpSize;
  for (int Row = Thread / warpSize; Row < A.Rows; Row += Warps) {
    T Sum = 0;
    for (int At = A.Begin[Row] + Lane; At < A.Begin[Row + 1]; At += warpSize)
      Sum += A.Value[At] * X[A.Column[At]];
    for (int Distance = warpSize / 2; Distance > 0; Distance /= 2)
      Sum += __shfl_down_sync(AllLanes, Sum, Distance);
    if (Lane == 0)
      Y[Row] = Sum;
  }
}

/// Rows in slices of 32, each as wide as its longest row, shorter ones padded
/// with zeros; entries of a slice side by side (M. Kreutzer and others, 2014).
template <typename T> struct SlicedMatrix {
  int Rows;
  int *Begin; ///< a slice's first entry, and one more
  int *Column;
  T *Value;
};

template <typename T>
__global__ void multiplySliced(SlicedMatrix<T> A, const T *X, T *Y) {
  const int Row = int(blockIdx.x * blockDim.x + threadIdx.x);
  const int Slice = Row / SliceRows, InSlice = Row % SliceRows;
  if (Slice * SliceRows >= A.Rows)
    return;
  T Sum = 0;
  for (int At = A.Begin[Slice]; At < A.Begin[Slice + 1]; At += SliceRows)
    Sum += A.Value[At + InSlice] * X[A.Column[At + InSlice]];
  if (Row < A.Rows)
    Y[Row] = Sum;
}

/// Sorted, distinct columns of each row.
static std::vector<std::vector<int>> makePattern(long Rows, long Dense,
                                                 long Seed) {
  Random Draw(uint64_t(Seed), 11);
  std::vector<std::vector<int>> Pattern(Rows);
  const long Side = std::max(1l, long(std::sqrt(double(Rows))));
  for (long Row = 0; Row < Rows; ++Row) {
    std::vector<int> &Columns = Pattern[Row];
    for (long Off : {-Side, -1l, 0l, 1l, Side})
      if (Row + Off >= 0 && Row + Off < Rows)
        Columns.push_back(int(Row + Off));
    long Extra = Draw.below(5);
    if (Dense && Draw.below(uint32_t(Dense)) == 0)
      Extra = 50 + Draw.below(450);
    for (long I = 0; I < Extra; ++I)
      Columns.push_back(int(Draw.below(uint32_t(Rows))));
    std::sort(Columns.begin(), Columns.end());
    Columns.erase(std::unique(Columns.begin(), Columns.end()), Columns.end());
  }
  return Pattern;
}

template <typename T> static T *managed(size_t Count) {
  T *Pointer = nullptr;
  CHECK_CUDA(cudaMallocManaged(&Pointer, Count * sizeof(T)));
  return Pointer;
}

template <typename T> static SlicedMatrix<T> sliced(const Matrix<T> &A) {
  const int Slices = (A.Rows + SliceRows - 1) / SliceRows;
  SlicedMatrix<T> S = {A.Rows, managed<int>(Slices + 1), nullptr, nullptr};
  auto Length = [&](int Row) {
    return Row < A.Rows ? A.Begin[Row + 1] - A.Begin[Row] : 0;
  };
  S.Begin[0] = 0;
  for (int Slice = 0; Slice < Slices; ++Slice) {
    int Longest = 0;
    for (int Row = 0; Row < SliceRows; ++Row)
      Longest = std::max(Longest, Length(SliceRows * Slice + Row));
    S.Begin[Slice + 1] = S.Begin[Slice] + SliceRows * Longest;
  }
  S.Column = managed<int>(S.Begin[Slices]);
  S.Value = managed<T>(S.Begin[Slices]);
  for (int Row = 0; Row < SliceRows * Slices; ++Row) {
    int To = S.Begin[Row / SliceRows] + Row % SliceRows;
    for (int I = 0; To < S.Begin[Row / SliceRows + 1]; ++I, To += SliceRows) {
      const bool Present = I < Length(Row);
      S.Column[To] = Present ? A.Column[A.Begin[Row] + I] : 0;
      S.Value[To] = Present ? A.Value[A.Begin[Row] + I] : T(0);
    }
  }
  return S;
}

/// All kernels on one pattern; wrong elements of y, and y.
template <typename T>
static long run(const std::vector<std::vector<int>> &Pattern, long Threads,
                long Seed, bool Check, std::vector<T> &Result) {
  size_t Entries = 0;
  for (const auto &Columns : Pattern)
    Entries += Columns.size();
  const int Rows = int(Pattern.size());
  Matrix<T> A = {Rows, managed<int>(Rows + 1), managed<int>(Entries),
                 managed<T>(Entries)};
  T *X = managed<T>(Rows), *Scalar = managed<T>(Rows),
    *Vector = managed<T>(Rows), *Padded = managed<T>(Rows);
  Random Draw(uint64_t(Seed), 12);
  int At = 0;
  for (int Row = 0; Row < Rows; ++Row) {
    A.Begin[Row] = At;
    for (int Column : Pattern[Row]) {
      A.Column[At] = Column;
      A.Value[At++] = T(int(Draw.below(64)) - 32) / 8;
    }
    X[Row] = T(int(Draw.below(64)) - 32) / 8;
  }
  A.Begin[Rows] = At;

  const SlicedMatrix<T> S = sliced(A);
  multiplyScalar<T>
      <<<unsigned((Rows + Threads - 1) / Threads), unsigned(Threads)>>>(A, X,
                                                                        Scalar);
  CHECK_LAUNCH();
  multiplyVector<T><<<256, unsigned(Threads)>>>(A, X, Vector);
  CHECK_LAUNCH();
  multiplySliced<T>
      <<<unsigned((Rows + Threads - 1) / Threads), unsigned(Threads)>>>(S, X,
                                                                        Padded);
  CHECK_LAUNCH();
  CHECK_CUDA(cudaDeviceSynchronize());

  long Wrong = 0;
  for (int Row = 0; Row < Rows; ++Row) {
    T Sum = Scalar[Row];
    if (Check) {
      Sum = 0;
      for (int I = A.Begin[Row]; I < A.Begin[Row + 1]; ++I)
        Sum += A.Value[I] * X[A.Column[I]];
    }
    Wrong += Scalar[Row] != Sum || Vector[Row] != Sum || Padded[Row] != Sum;
  }
  Result.assign(Vector, Vector + Rows);
  for (void *P : {(void *)A.Begin, (void *)A.Column, (void *)A.Value, (void *)X,
                  (void *)Scalar, (void *)Vector, (void *)Padded,
                  (void *)S.Begin, (void *)S.Column, (void *)S.Value})
    CHECK_CUDA(cudaFree(P));
  return Wrong;
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Rows = Args.integer("rows", 60000, 1, 1 << 24);
  const long Dense =
      Args.integer("dense", 100, 0, 1 << 24); // one row in so many
  const long Threads = Args.integer("block", 128, 32, 1024);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();
  if (Threads % 32) {
    std::fprintf(stderr, "spmv: block=%ld: give a multiple of 32\n", Threads);
    return 2;
  }

  const auto Pattern = makePattern(Rows, Dense, Seed);
  size_t Entries = 0, Longest = 0;
  for (const auto &Columns : Pattern) {
    Entries += Columns.size();
    Longest = std::max(Longest, Columns.size());
  }
  std::vector<float> Single;
  std::vector<double> Double;
  const long Wrong = run(Pattern, Threads, Seed, Check, Single) +
                     run(Pattern, Threads, Seed, Check, Double);
  std::printf("spmv: %ld rows, %zu entries, longest row %zu: ", Rows, Entries,
              Longest);
  if (Wrong)
    std::printf("%ld WRONG\n", Wrong);
  else
    std::printf(Check ? "right\n" : "not checked\n");
  std::printf("checksum: %016llx\n", static_cast<unsigned long long>(
                                         checksum(Double, checksum(Single))));
  return Wrong ? 1 : 0;
}
