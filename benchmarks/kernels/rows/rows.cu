//===- benchmarks/kernels/rows/rows.cu - Sparse matrix times vector -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = A x, where A is a graph's matrix in compressed rows: a thread has several
// rows, a stride of all threads apart, and goes through each row's entries.
//
// Rows have lengths as degrees have in real graphs: a power law, P(n) ~ n^-2.2,
// from `least` up to 64 times that, in no order. (Where rows are that short, a
// warp a row would leave most lanes without an entry.) An entry's column is near
// its row or, one time in four, anywhere. With even=1 all rows are as long, and
// no lane waits for another.
//
// Flattened by hand (common/nest.h). Sums are fma in one order, so the check by
// a loop over rows on the host is exact.
//
//===----------------------------------------------------------------------===//
#include "../common/nest.h"

struct Matrix {
  const int *Starts; ///< of row r: entries Starts[r] to Starts[r + 1]
  const int *Columns;
  const float *Values;
  const float *X;
  float *Y;
  int Rows, Threads;
};

struct RowsOfThread : Unshared {
  using Input = Matrix;
  int Row, Entry, End;
  float Sum;

  HD void start(const Input &In, int Thread, const void *) {
    Row = Thread - In.Threads;
  }
  HD bool next(const Input &In) {
    Row += In.Threads;
    if (Row >= In.Rows)
      return false;
    Entry = In.Starts[Row];
    End = In.Starts[Row + 1];
    Sum = 0;
    return true;
  }
  HD bool more(const Input &) const { return Entry < End; }
  HD void step(const Input &In) {
    Sum = fmaf(In.Values[Entry], In.X[In.Columns[Entry]], Sum);
    ++Entry;
  }
  HD void behind(const Input &In) { In.Y[Row] = Sum; }
  HD void finish(const Input &, int) {}
};

/// The matrix in the host's memory.
struct Graph {
  std::vector<int> Starts{0}, Columns;
  std::vector<float> Values, X;

  Graph(Random Draw, int Rows, int Least, bool Even) {
    const int Most = 64 * Least;
    for (int Row = 0; Row < Rows; ++Row) {
      // P(length > n) = (least / n)^1.2; its mean is near 4 least.
      const double U = 1 - double(Draw.uniform());
      const double Drawn = Least * std::pow(U, -1 / 1.2);
      const int Length = Even ? 4 * Least : int(std::min(Drawn, double(Most)));
      Starts.push_back(Starts.back() + Length);
    }
    for (int Row = 0; Row < Rows; ++Row)
      for (int E = Starts[Row]; E < Starts[Row + 1]; ++E) {
        const uint32_t Bits = Draw.bits();
        const int Near = Row + int(Bits >> 2 & 1023) - 512;
        const bool IsNear = Bits & 3 && Near >= 0 && Near < Rows;
        Columns.push_back(IsNear ? Near : int(Draw.below(uint32_t(Rows))));
        Values.push_back(float(Bits >> 16) * 0x1p-16f);
      }
    for (int Row = 0; Row < Rows; ++Row)
      X.push_back(Draw.uniform());
  }

  std::vector<float> product() const {
    std::vector<float> Y;
    for (size_t Row = 0; Row + 1 < Starts.size(); ++Row) {
      float Sum = 0;
      for (int E = Starts[Row]; E < Starts[Row + 1]; ++E)
        Sum = fmaf(Values[E], X[Columns[E]], Sum);
      Y.push_back(Sum);
    }
    return Y;
  }
};

int main(int argc, char **argv) {
  Bench Run(argc, argv, "rows");
  const int Rows = int(Run.integer("rows", 20000, 1, 1 << 24));
  const int Least = int(Run.integer("least", 3, 1, 64));
  const int PerThread = int(Run.integer("each", 16, 1, 1 << 16));
  const bool Even = Run.integer("even", 0, 0, 1);
  NestForms Forms(Run, 128);
  Run.ready();

  const Graph Host(Run.random(), Rows, Least, Even);
  DeviceArray<int> Starts(Host.Starts), Columns(Host.Columns);
  DeviceArray<float> Values(Host.Values), X(Host.X),
      Y{std::vector<float>(Rows)};
  const int Threads = (Rows + PerThread - 1) / PerThread;
  const Matrix In{Starts, Columns, Values, X, Y, Rows, Threads};
  return Forms.run<RowsOfThread>(
      In, Threads, [&] { Y.clear(); }, [&] { return Y.get(); },
      [&](const std::vector<float> &Got) { return Got == Host.product(); });
}
