// The kernel of examples/nqueens/nqueens.cu in OpenCL C.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define THREADS 96
#define MOST_ROWS 16

__kernel void countQueens(__global const uint *Starts, int Count, int N,
                          int Rows, __global uint *Solutions) {
  __local uint Columns[MOST_ROWS][THREADS], Left[MOST_ROWS][THREADS],
      Right[MOST_ROWS][THREADS], Free[MOST_ROWS][THREADS];
  const int Tid = (int)get_local_id(0), At = (int)get_global_id(0);
  if (At >= Count)
    return;
  const uint Board = (1u << N) - 1;
  Columns[0][Tid] = Starts[3 * At];
  Left[0][Tid] = Starts[3 * At + 1];
  Right[0][Tid] = Starts[3 * At + 2];
  Free[0][Tid] = Board & ~(Columns[0][Tid] | Left[0][Tid] | Right[0][Tid]);

  uint Found = 0;
  int Row = 0;
  while (Row >= 0) {
    const uint Squares = Free[Row][Tid];
    if (Squares == 0) {
      --Row;
    } else {
      const uint Queen = Squares & (0u - Squares);
      Free[Row][Tid] = Squares ^ Queen;
      if (Row == Rows - 1) {
        ++Found;
      } else {
        const uint C = Columns[Row][Tid] | Queen;
        const uint L = (Left[Row][Tid] | Queen) << 1;
        const uint R = (Right[Row][Tid] | Queen) >> 1;
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
