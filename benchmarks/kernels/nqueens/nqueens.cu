//===- benchmarks/kernels/nqueens/nqueens.cu - Count the solutions --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every thread takes one placement of the queens of the first three rows and
// counts the ways to place the rest, by depth-first search with bit masks and a
// stack in shared memory. In each step some lanes go on to the next row, some
// try the next column, and some go back.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"

static constexpr int MaxRows = 18;

/// Columns and diagonals that the queens above a row attack in it.
struct State {
  unsigned Columns, Left, Right;
};

__host__ __device__ inline State after(State S, unsigned Queen) {
  return {S.Columns | Queen, (S.Left | Queen) << 1, (S.Right | Queen) >> 1};
}

__global__ void search(const State *Starts, unsigned *Counts, int Tasks,
                       int Rows, unsigned Board) {
  extern __shared__ unsigned Stack[]; // of each thread: 4 words a row
  const int Task = int(blockIdx.x * blockDim.x + threadIdx.x);
  const int Stride = int(blockDim.x);
  if (Task >= Tasks)
    return;
  State S = Starts[Task];
  unsigned Free = Board & ~(S.Columns | S.Left | S.Right), Found = 0;
  int Row = 0;
  while (Row >= 0) {
    unsigned *Top = Stack + threadIdx.x + Row * 4 * Stride;
    if (Free == 0) { // back to the row above
      --Row;
      if (Row >= 0) {
        Top -= 4 * Stride;
        Free = Top[0];
        S.Columns = Top[Stride];
        S.Left = Top[2 * Stride];
        S.Right = Top[3 * Stride];
      }
    } else { // place a queen
      const unsigned Queen = Free & -Free;
      Free ^= Queen;
      if (Row == Rows - 1) {
        ++Found;
      } else {
        Top[0] = Free;
        Top[Stride] = S.Columns;
        Top[2 * Stride] = S.Left;
        Top[3 * Stride] = S.Right;
        S = after(S, Queen);
        Free = Board & ~(S.Columns | S.Left | S.Right);
        ++Row;
      }
    }
  }
  Counts[Task] = Found;
}

static unsigned countOnHost(State S, int Rows, unsigned Board) {
  if (Rows == 0)
    return 1;
  unsigned Count = 0;
  for (unsigned Free = Board & ~(S.Columns | S.Left | S.Right); Free;) {
    const unsigned Queen = Free & -Free;
    Free ^= Queen;
    Count += countOnHost(after(S, Queen), Rows - 1, Board);
  }
  return Count;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "nqueens");
  const long Queens = Run.integer("queens", 8, 4, MaxRows);
  const long Block = Run.integer("block", 64, 1, 256);
  Run.ready();

  const unsigned Board = (1u << Queens) - 1;
  std::vector<State> Starts;
  for (long I = 0; I < Queens * Queens * Queens; ++I) {
    State S{0, 0, 0};
    bool Fits = true;
    for (long Rest = I, Row = 0; Row < 3; ++Row, Rest /= Queens) {
      const unsigned Queen = 1u << (Rest % Queens);
      Fits &= !(Queen & (S.Columns | S.Left | S.Right));
      S = after(S, Queen);
    }
    if (Fits)
      Starts.push_back(S);
  }
  const int Tasks = int(Starts.size()), Rows = int(Queens) - 3;
  DeviceArray<State> In(Starts);
  DeviceArray<unsigned> Out(std::vector<unsigned>(Tasks, 0));
  const size_t Bytes = size_t(Block) * 4 * Rows * sizeof(unsigned);
  Run.run([] {},
          [&] {
            search<<<(Tasks + Block - 1) / Block, Block, Bytes>>>(
                In, Out, Tasks, Rows, Board);
          });
  const std::vector<unsigned> Got = Out.get();
  bool Right = true;
  for (int I = 0; Run.checks() && I < Tasks; ++I)
    Right &= Got[I] == countOnHost(Starts[I], Rows, Board);
  return Run.finish(Right, checksum(Got));
}
