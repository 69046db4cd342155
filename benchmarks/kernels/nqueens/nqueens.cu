//===- benchmarks/kernels/nqueens/nqueens.cu - Count the solutions --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every thread takes one placement of the queens of the first rows and counts
// the ways to place the rest, by depth-first search with bit masks and a stack
// in shared memory. In each step some lanes go on to the next row, some try the
// next column, and some go back; and searches end at different times.
//
// Remapped (common/remap.h): every 32 steps the threads whose search goes on
// move together, so that warps without any have nothing to do. A search's stack
// stays where it is; its state goes there too, and one word moves with the
// identity.
//
//===----------------------------------------------------------------------===//
#include "../common/remap.h"

static constexpr int MaxRows = 18;

/// Columns and diagonals that the queens above a row attack in it.
struct State {
  unsigned Columns, Left, Right;
};

__host__ __device__ inline State after(State S, unsigned Queen) {
  return {S.Columns | Queen, (S.Left | Queen) << 1, (S.Right | Queen) >> 1};
}

/// A search: its column of the stack has 4 words a row.
struct Search {
  unsigned *Column;
  int Stride, Rows, Row = 0;
  unsigned Board, Free, Found = 0;
  State S;

  __device__ void push() const {
    unsigned *Top = Column + Row * 4 * Stride;
    Top[0] = Free;
    Top[Stride] = S.Columns;
    Top[2 * Stride] = S.Left;
    Top[3 * Stride] = S.Right;
  }
  __device__ void pop() {
    const unsigned *Top = Column + Row * 4 * Stride;
    Free = Top[0];
    S.Columns = Top[Stride];
    S.Left = Top[2 * Stride];
    S.Right = Top[3 * Stride];
  }
  __device__ void start(State From) {
    S = From;
    Free = Board & ~(S.Columns | S.Left | S.Right);
  }
  __device__ void step() {
    if (Free == 0) { // back to the row above
      --Row;
      if (Row >= 0)
        pop();
    } else { // place a queen
      const unsigned Queen = Free & -Free;
      Free ^= Queen;
      if (Row == Rows - 1) {
        ++Found;
      } else {
        push();
        start(after(S, Queen));
        ++Row;
      }
    }
  }
};

__global__ void search(const State *Starts, unsigned *Counts, int Tasks,
                       int Rows, unsigned Board) {
  extern __shared__ unsigned Stack[];
  const int Task = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (Task >= Tasks)
    return;
  Search Mine{Stack + threadIdx.x, int(blockDim.x), Rows, 0, Board, 0, 0, {}};
  Mine.start(Starts[Task]);
  while (Mine.Row >= 0)
    Mine.step();
  Counts[Task] = Mine.Found;
}

/// The block size that kernels which trade places have.
static constexpr int Traders = 128;

template <typename Way>
__global__ void remapped(const State *Starts, unsigned *Counts, int Tasks,
                         int Rows, unsigned Board) {
  extern __shared__ unsigned Stack[];
  __shared__ typename Way::temp_storage Storage;
  Way Trade(Storage, threadIdx.x);
  int Id = threadIdx.x;
  const int First = int(blockIdx.x) * Traders;
  Search Mine{Stack + Id, Traders, Rows, -1, Board, 0, 0, {}};
  if (First + Id < Tasks) {
    Mine.Row = 0;
    Mine.start(Starts[First + Id]);
  }
  while (__syncthreads_or(Mine.Row >= 0)) {
    for (int K = 0; K < 32 && Mine.Row >= 0; ++K)
      Mine.step();
    if (Mine.Row >= 0)
      Mine.push();
    // Whose search it is; rounds name threads, which have had others before.
    unsigned Moves = Id | (Mine.Row + 1) << 8 | Mine.Found << 13;
    Trade(Mine.Row >= 0, Moves);
    Id = Moves & 255;
    Mine.Row = int(Moves >> 8 & 31) - 1;
    Mine.Found = Moves >> 13;
    Mine.Column = Stack + Id;
    if (Mine.Row >= 0)
      Mine.pop();
  }
  if (First + Id < Tasks)
    Counts[First + Id] = Mine.Found;
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
  const int Placed = int(Run.integer("placed", 3, 3, 6)); // rows, on the host
  const long Remap = Run.integer("remap", 0, 0, 3);
  Run.ready();
  if (Placed >= Queens || (Remap && Block != Traders)) {
    std::fprintf(stderr,
                 "nqueens: give placed below queens, and block=%d with remap\n",
                 Traders);
    return 2;
  }

  const unsigned Board = (1u << Queens) - 1;
  std::vector<State> Starts;
  long Ways = 1;
  for (int Row = 0; Row < Placed; ++Row)
    Ways *= Queens;
  for (long I = 0; I < Ways; ++I) {
    State S{0, 0, 0};
    bool Fits = true;
    for (long Rest = I, Row = 0; Row < Placed; ++Row, Rest /= Queens) {
      const unsigned Queen = 1u << (Rest % Queens);
      Fits &= !(Queen & (S.Columns | S.Left | S.Right));
      S = after(S, Queen);
    }
    if (Fits)
      Starts.push_back(S);
  }
  const int Tasks = int(Starts.size()), Rows = int(Queens) - Placed;
  DeviceArray<State> In(Starts);
  DeviceArray<unsigned> Out(std::vector<unsigned>(Tasks, 0));
  const size_t Bytes = size_t(Block) * 4 * Rows * sizeof(unsigned);
  const RemapWays<decltype(&search)> All = {
      WAYS(search, remapped<ByLibrary<Traders, 2, 1>>,
           remapped<ByCub<Traders, 2, 1>>)};
  return All.run(
      Run, Remap, int(Block), [&] { Out.clear(); },
      [&](auto Kernel, Form) {
        Kernel<<<(Tasks + Block - 1) / Block, Block, Bytes>>>(In, Out, Tasks,
                                                              Rows, Board);
      },
      [&] { return Out.get(); },
      [&](const std::vector<unsigned> &Got) {
        bool Right = true;
        for (int I = 0; I < Tasks; ++I)
          Right &= Got[I] == countOnHost(Starts[I], Rows, Board);
        return Right;
      },
      Bytes);
}
