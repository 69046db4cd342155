//===- examples/smithwaterman/smithwaterman.cu - Lesson 17: alignment -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The best local alignment of a protein with each of a database's (T. Smith,
// M. Waterman, 1981; gaps as by O. Gotoh, 1982). Each cell of the table needs
// its left, upper and upper left neighbour:
//
//      H(i,j) = max(0, H(i-1,j-1) + S(a_i, b_j), E(i,j), F(i,j))
//      E, F   = max(H of the neighbour - Open, E, F of the neighbour) - Extend
//
// Two mappings of work to threads:
//
//   alignMany   short sequences: a thread each, row by row, the last row in
//               memory, threads side by side. Lengths differ: a warp runs as
//               long as its longest. `sorted=1` gives a warp equal lengths.
//   alignLong   long ones: a block each, in stripes of a warp's height. The
//               lanes run down an antidiagonal, a row each; what the lane above
//               had comes by shuffle:
//
//                 lane 0   c c c c c c . .      lanes wait at the corners of
//                 the lane 1     c c c c c c .      parallelogram: 31 steps at
//                 each lane 2       c c c c c c      end
//
// Scores come from a table in constant memory, made of hydrophobicity classes.
// All integers: scores equal the reference's.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"
#include "../common/random.h"

#include <algorithm>
#include <vector>

static constexpr int Letters = 20, Open = 10, Extend = 1;
static constexpr int MaxQuery = 256;
static constexpr unsigned AllLanes = 0xffffffffu;

__constant__ signed char Scores[Letters][Letters];
__constant__ unsigned char Query[MaxQuery];

struct Cell {
  int H, F; ///< best score that ends here; with a gap in the query
};

/// One cell; \p E is of the row, \p Up the cell above, \p Diagonal its left H.
__host__ __device__ inline Cell fill(int Diagonal, const Cell &Up, int Left,
                                     int &E, int Score) {
  E = max(Left - Open, E) - Extend;
  const int F = max(Up.H - Open, Up.F) - Extend;
  const int H = max(max(0, Diagonal + Score), max(E, F));
  return {H, F};
}

/// A sequence a thread; row j of the query, the row before in \p Row, where
/// cells of all threads lie side by side.
__global__ void alignMany(const unsigned char *Text, const int *Begin,
                          const int *Order, int Count, int QueryLength,
                          Cell *Row, int *Best) {
  const int Thread = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (Thread >= Count)
    return;
  const int Sequence = Order[Thread];
  const int First = Begin[Sequence], End = Begin[Sequence + 1];
  for (int J = 0; J < QueryLength; ++J)
    Row[J * Count + Thread] = {0, 0};
  int Most = 0;
  for (int I = First; I < End; ++I) {
    const int Letter = Text[I];
    int Diagonal = 0, Left = 0, E = 0;
    for (int J = 0; J < QueryLength; ++J) {
      const Cell Up = Row[J * Count + Thread];
      const Cell Here = fill(Diagonal, Up, Left, E, Scores[Letter][Query[J]]);
      Diagonal = Up.H;
      Left = Here.H;
      Row[J * Count + Thread] = Here;
      Most = max(Most, Here.H);
    }
  }
  Best[Sequence] = Most;
}

/// A sequence a warp. The lanes hold 32 letters of the sequence; the query runs
/// past them. The last lane's cells go to shared memory, for lane 0 of the next
/// stripe.
__global__ void alignLong(const unsigned char *Text, const int *Begin,
                          int QueryLength, int *Best) {
  __shared__ Cell Border[MaxQuery];
  const int Lane = int(threadIdx.x);
  const int First = Begin[blockIdx.x], End = Begin[blockIdx.x + 1];
  for (int J = Lane; J < QueryLength; J += warpSize)
    Border[J] = {0, 0};
  __syncwarp();
  int Most = 0;
  for (int Stripe = First; Stripe < End; Stripe += warpSize) {
    const bool Present = Stripe + Lane < End;
    const int Letter = Present ? Text[Stripe + Lane] : 0;
    Cell Here = {0, 0};
    int Diagonal = 0, Left = 0, E = 0;
    for (int Step = 0; Step < QueryLength + warpSize - 1; ++Step) {
      const int J = Step - Lane;
      Cell Up = {__shfl_up_sync(AllLanes, Here.H, 1),
                 __shfl_up_sync(AllLanes, Here.F, 1)};
      if (Present && J >= 0 && J < QueryLength) {
        if (Lane == 0)
          Up = Border[J];
        Here = fill(Diagonal, Up, Left, E, Scores[Letter][Query[J]]);
        Diagonal = Up.H;
        Left = Here.H;
        Most = max(Most, Here.H);
        if (Lane == warpSize - 1)
          Border[J] = Here; // lane 0 was here 31 steps ago
      }
      __syncwarp();
    }
  }
  for (int Distance = warpSize / 2; Distance > 0; Distance /= 2)
    Most = max(Most, __shfl_xor_sync(AllLanes, Most, Distance));
  if (Lane == 0)
    Best[blockIdx.x] = Most;
}

struct Database {
  std::vector<unsigned char> Text;
  std::vector<int> Begin = {0};
  int size() const { return int(Begin.size()) - 1; }
};

/// Random sequences; every fifth holds a mutated piece of the query.
static Database makeDatabase(long Count, uint32_t Least, uint32_t Most,
                             const std::vector<unsigned char> &Query,
                             Random &Draw) {
  Database D;
  for (long S = 0; S < Count; ++S) {
    // Many short ones, few long ones, as in real databases.
    const uint32_t Range = Most - Least + 1;
    const uint32_t Length =
        Least + std::min(Draw.below(Range), Draw.below(Range));
    std::vector<unsigned char> Sequence(Length);
    for (unsigned char &Letter : Sequence)
      Letter = (unsigned char)(Draw.below(Letters));
    if (S % 5 == 0) {
      size_t From = Draw.below(uint32_t(Query.size()));
      for (size_t At = Draw.below(Length);
           At < Sequence.size() && From < Query.size(); ++At, ++From) {
        if (Draw.below(16) == 0)
          From += Draw.below(4); // a gap
        if (From < Query.size() && Draw.below(8))
          Sequence[At] = Query[From];
      }
    }
    D.Text.insert(D.Text.end(), Sequence.begin(), Sequence.end());
    D.Begin.push_back(int(D.Text.size()));
  }
  return D;
}

using ScoreTable = signed char[Letters][Letters];

static int alignOnHost(const unsigned char *Text, int Length,
                       const std::vector<unsigned char> &Query,
                       const ScoreTable &Table) {
  std::vector<Cell> Row(Query.size(), {0, 0});
  int Most = 0;
  for (int I = 0; I < Length; ++I) {
    int Diagonal = 0, Left = 0, E = 0;
    for (size_t J = 0; J < Query.size(); ++J) {
      const int Score = Diagonal + Table[Text[I]][Query[J]];
      E = std::max(Left - Open, E) - Extend;
      const int F = std::max(Row[J].H - Open, Row[J].F) - Extend;
      Diagonal = Row[J].H;
      Left = std::max({0, Score, E, F});
      Row[J] = {Left, F};
      Most = std::max(Most, Left);
    }
  }
  return Most;
}

template <typename T> static T *toDevice(const std::vector<T> &Values) {
  T *Pointer = nullptr;
  CHECK_CUDA(cudaMalloc(&Pointer, Values.size() * sizeof(T)));
  CHECK_CUDA(cudaMemcpy(Pointer, Values.data(), Values.size() * sizeof(T),
                        cudaMemcpyHostToDevice));
  return Pointer;
}

/// The best score of each sequence. \p Long: a warp a sequence.
static std::vector<int> align(const Database &D, int QueryLength, bool Long,
                              unsigned Threads, bool Sorted) {
  std::vector<int> Best(D.size()), Order(D.size());
  for (int S = 0; S < D.size(); ++S)
    Order[S] = S;
  if (Sorted)
    std::sort(Order.begin(), Order.end(), [&](int A, int B) {
      const int LengthA = D.Begin[A + 1] - D.Begin[A];
      const int LengthB = D.Begin[B + 1] - D.Begin[B];
      return LengthA != LengthB ? LengthA < LengthB : A < B;
    });
  unsigned char *Text = toDevice(D.Text);
  int *Begin = toDevice(D.Begin), *DeviceOrder = toDevice(Order),
      *DeviceBest = toDevice(Best);
  if (Long) {
    alignLong<<<unsigned(D.size()), 32>>>(Text, Begin, QueryLength, DeviceBest);
    CHECK_LAUNCH();
  } else {
    Cell *Row = nullptr;
    CHECK_CUDA(cudaMalloc(&Row, size_t(D.size()) * QueryLength * sizeof(Cell)));
    alignMany<<<(unsigned(D.size()) + Threads - 1) / Threads, Threads>>>(
        Text, Begin, DeviceOrder, D.size(), QueryLength, Row, DeviceBest);
    CHECK_LAUNCH();
    CHECK_CUDA(cudaFree(Row));
  }
  CHECK_CUDA(cudaMemcpy(Best.data(), DeviceBest, Best.size() * sizeof(int),
                        cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(Text));
  for (int *P : {Begin, DeviceOrder, DeviceBest})
    CHECK_CUDA(cudaFree(P));
  return Best;
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Count = Args.integer("sequences", 2000, 1, 1 << 22);
  const long QueryLength = Args.integer("query", 100, 1, MaxQuery);
  const long Threads = Args.integer("block", 64, 1, 1024);
  const long Sorted = Args.integer("sorted", 0, 0, 1);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();

  // Equal letters score 4 to 7, of one class 1, others -1 to -4.
  ScoreTable Table;
  for (int A = 0; A < Letters; ++A)
    for (int B = 0; B < Letters; ++B)
      Table[A][B] = (signed char)(A == B           ? 4 + A % 4
                                  : A / 5 == B / 5 ? 1
                                                   : -1 - (A * B) % 4);
  Random Draw(uint64_t(Seed), 18);
  std::vector<unsigned char> Protein(QueryLength);
  for (unsigned char &Letter : Protein)
    Letter = (unsigned char)(Draw.below(Letters));
  CHECK_CUDA(cudaMemcpyToSymbol(Scores, Table, sizeof(Table)));
  CHECK_CUDA(cudaMemcpyToSymbol(Query, Protein.data(), Protein.size()));

  const Database Short = makeDatabase(Count, 30, 400, Protein, Draw);
  const Database Long =
      makeDatabase(std::max(1l, Count / 40), 500, 4000, Protein, Draw);
  long Wrong = 0;
  int Most = 0;
  uint64_t Sum = ChecksumSeed;
  for (const bool IsLong : {false, true}) {
    const Database &D = IsLong ? Long : Short;
    const std::vector<int> Best =
        align(D, int(QueryLength), IsLong, unsigned(Threads), Sorted != 0);
    for (int S = 0; S < D.size(); ++S) {
      Most = std::max(Most, Best[S]);
      if (Check)
        Wrong +=
            Best[S] != alignOnHost(D.Text.data() + D.Begin[S],
                                   D.Begin[S + 1] - D.Begin[S], Protein, Table);
    }
    Sum = checksum(Best, Sum);
  }
  std::printf("smithwaterman: %d + %d sequences, %zu letters, best score %d: ",
              Short.size(), Long.size(), Short.Text.size() + Long.Text.size(),
              Most);
  if (Wrong)
    std::printf("%ld WRONG\n", Wrong);
  else
    std::printf(Check ? "right\n" : "not checked\n");
  std::printf("checksum: %016llx\n", static_cast<unsigned long long>(Sum));
  return Wrong ? 1 : 0;
}
