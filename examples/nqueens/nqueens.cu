//===- examples/nqueens/nqueens.cu - Lesson 5: N queens -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the ways to put N queens on an N x N board. The host places the first
// rows in every legal way; each thread takes one such start and searches the
// rest depth first, with a stack of its own in shared memory instead of
// recursion. A row is three bit sets: columns taken, and the two diagonals,
// which shift by one from row to row.
//
//   while rows are left on the stack
//     no square left in this row  ->  pop            lanes of a warp do
//     last row                    ->  count          different things in
//     else                        ->  place, push    every step
//
// and the subtrees differ in size, so lanes leave the loop one by one.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"

#include <vector>

static constexpr int Threads = 96;  // a block; three warps
static constexpr int MostRows = 16; // that a thread searches

/// A row of the search: what the queens above attack, and which squares are
/// still to be tried.
struct Start {
  unsigned Columns, Left, Right;
};

__global__ void countQueens(const Start *Starts, int Count, int N, int Rows,
                            unsigned *Solutions) {
  __shared__ unsigned Columns[MostRows][Threads], Left[MostRows][Threads],
      Right[MostRows][Threads], Free[MostRows][Threads];
  const int Tid = int(threadIdx.x);
  const int At = int(blockIdx.x) * Threads + Tid;
  if (At >= Count)
    return;

  const unsigned Board = (1u << N) - 1;
  const Start S = Starts[At];
  Columns[0][Tid] = S.Columns;
  Left[0][Tid] = S.Left;
  Right[0][Tid] = S.Right;
  Free[0][Tid] = Board & ~(S.Columns | S.Left | S.Right);

  unsigned Found = 0;
  int Row = 0;
  while (Row >= 0) {
    const unsigned Squares = Free[Row][Tid];
    if (Squares == 0) {
      --Row;
    } else {
      const unsigned Queen = Squares & (0u - Squares); // the lowest one
      Free[Row][Tid] = Squares ^ Queen;
      if (Row == Rows - 1) {
        ++Found;
      } else {
        const unsigned C = Columns[Row][Tid] | Queen;
        const unsigned L = (Left[Row][Tid] | Queen) << 1;
        const unsigned R = (Right[Row][Tid] | Queen) >> 1;
        ++Row;
        Columns[Row][Tid] = C;
        Left[Row][Tid] = L;
        Right[Row][Tid] = R;
        Free[Row][Tid] = Board & ~(C | L | R);
      }
    }
  }
  Solutions[At] = Found;
}

/// Every legal placement of \p Rows more rows below \p S.
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

/// The reference: recursion.
static unsigned solve(const Start &S, unsigned Board) {
  if (S.Columns == Board)
    return 1;
  unsigned Found = 0;
  for (unsigned Free = Board & ~(S.Columns | S.Left | S.Right); Free;
       Free &= Free - 1) {
    const unsigned Queen = Free & (0u - Free);
    Found += solve(
        {S.Columns | Queen, (S.Left | Queen) << 1, (S.Right | Queen) >> 1},
        Board);
  }
  return Found;
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long N = Args.integer("n", 12, 4, 18);
  const long Above = Args.integer("above", 4, 1, 6); // rows the host places
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();
  if (N - Above < 1 || N - Above > MostRows) {
    std::fprintf(stderr, "nqueens: above=%ld: leave 1 to %d rows\n", Above,
                 MostRows);
    return 2;
  }

  const unsigned Board = (1u << N) - 1;
  std::vector<Start> Starts;
  place({0, 0, 0}, Board, int(Above), Starts);
  std::vector<unsigned> Solutions(Starts.size());
  if (Starts.empty()) { // as on a 4 x 4 board below a bad corner
    std::printf("nqueens: no legal start\n");
    return 1;
  }

  Start *DeviceStarts = nullptr;
  unsigned *DeviceSolutions = nullptr;
  CHECK_CUDA(cudaMalloc(&DeviceStarts, Starts.size() * sizeof(Start)));
  CHECK_CUDA(cudaMalloc(&DeviceSolutions, Starts.size() * sizeof(unsigned)));
  CHECK_CUDA(cudaMemcpy(DeviceStarts, Starts.data(),
                        Starts.size() * sizeof(Start), cudaMemcpyHostToDevice));
  const int Count = int(Starts.size());
  countQueens<<<(Count + Threads - 1) / Threads, Threads>>>(
      DeviceStarts, Count, int(N), int(N - Above), DeviceSolutions);
  CHECK_LAUNCH();
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK_CUDA(cudaMemcpy(Solutions.data(), DeviceSolutions,
                        Starts.size() * sizeof(unsigned),
                        cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(DeviceStarts));
  CHECK_CUDA(cudaFree(DeviceSolutions));

  unsigned long long Total = 0;
  size_t Wrong = 0;
  for (size_t I = 0; I < Starts.size(); ++I) {
    Total += Solutions[I];
    if (Check)
      Wrong += Solutions[I] != solve(Starts[I], Board);
  }
  std::printf("nqueens: %ld queens, %zu starts, %llu solutions: ", N,
              Starts.size(), Total);
  if (Wrong)
    std::printf("%zu starts WRONG\n", Wrong);
  else
    std::printf(Check ? "right\n" : "not checked\n");
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(Solutions)));
  return Wrong ? 1 : 0;
}
