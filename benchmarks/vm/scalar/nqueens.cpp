//===- benchmarks/vm/scalar/nqueens.cpp - N queens, scalar ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of examples/nqueens/nqueens.cu; stopwatch.h says how and why.
//
//===----------------------------------------------------------------------===//
#include "common/checksum.h"
#include "common/options.h"
#include "stopwatch.h"

#include <vector>

static constexpr int MostRows = 16;

struct Start {
  unsigned Columns, Left, Right;
};

static unsigned search(const Start &S, int N, int Rows) {
  unsigned Columns[MostRows], Left[MostRows], Right[MostRows], Free[MostRows];
  const unsigned Board = (1u << N) - 1;
  Columns[0] = S.Columns;
  Left[0] = S.Left;
  Right[0] = S.Right;
  Free[0] = Board & ~(S.Columns | S.Left | S.Right);
  unsigned Found = 0;
  int Row = 0;
  while (Row >= 0) {
    const unsigned Squares = Free[Row];
    if (Squares == 0) {
      --Row;
    } else {
      const unsigned Queen = Squares & (0u - Squares);
      Free[Row] = Squares ^ Queen;
      if (Row == Rows - 1) {
        ++Found;
      } else {
        const unsigned C = Columns[Row] | Queen;
        const unsigned L = (Left[Row] | Queen) << 1;
        const unsigned R = (Right[Row] | Queen) >> 1;
        ++Row;
        Columns[Row] = C;
        Left[Row] = L;
        Right[Row] = R;
        Free[Row] = Board & ~(C | L | R);
      }
    }
  }
  return Found;
}

static void place(const Start &S, unsigned Board, int Rows,
                  std::vector<Start> &Out) {
  if (Rows == 0) {
    Out.push_back(S);
    return;
  }
  for (unsigned Free = Board & ~(S.Columns | S.Left | S.Right); Free;
       Free &= Free - 1) {
    const unsigned Queen = Free & (0u - Free);
    place({S.Columns | Queen, (S.Left | Queen) << 1, (S.Right | Queen) >> 1},
          Board, Rows - 1, Out);
  }
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const int N = int(Args.integer("n", 12, 4, 18));
  const int Above = int(Args.integer("above", 4, 1, 6));
  Args.done();

  std::vector<Start> Starts;
  place({0, 0, 0}, (1u << N) - 1, Above, Starts);
  std::vector<unsigned> Solutions(Starts.size());
  Stopwatch Watch;
  Watch.start();
  for (size_t I = 0; I < Starts.size(); ++I)
    Solutions[I] = search(Starts[I], N, N - Above);
  Watch.stop();
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(Solutions)));
  Watch.print();
}
