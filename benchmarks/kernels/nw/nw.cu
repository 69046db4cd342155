//===- benchmarks/kernels/nw/nw.cu - Needleman-Wunsch ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The best alignment, from end to end, of a query with each read of a database
// (S. B. Needleman, C. D. Wunsch, 1970), a thread a read. With row I of the read
// and column J of the query
//
//   S(I,J) = max(S(I-1,J-1) + Match or Mismatch,      Diagonal
//                S(I-1,J) + Gap,                      Up
//                S(I,J-1) + Gap)                      Left
//
// and of equals the first. A thread keeps the row before, and which of the three
// each cell came from, two bits each; then it walks back from the last cell to
// the first and counts what the alignment is made of.
//
// The reads are of single molecules: their lengths are log-normal and most of
// their errors are gaps. They begin anywhere on a stretch of the genome around
// the query, so that some are alike and some are not.
//
//===----------------------------------------------------------------------===//
#include "../common/moved.h"

static constexpr int Match = 5, Mismatch = -4, Gap = -6;
enum From : unsigned { Diagonal, Up, Left };

/// What an alignment is made of: columns of each kind.
struct Alignment {
  int Score, Matches, Mismatches, Gaps;
  bool operator==(const Alignment &O) const {
    return Score == O.Score && Matches == O.Matches &&
           Mismatches == O.Mismatches && Gaps == O.Gaps;
  }
};

struct Problem {
  const unsigned char *Text;
  const int *Begin;
  const unsigned char *Query;
  int Count, Length; ///< of the query
  /// Words that the ways of a row take.
  HD int words() const { return (Length + 15) / 16; }
};

__device__ static int fill(const Problem &P, int I, short *Row,
                           unsigned *Ways) {
  const unsigned char *Read = P.Text + P.Begin[I];
  const int Rows = P.Begin[I + 1] - P.Begin[I];
  const size_t Stride = P.Count;
  for (int J = 0; J < P.Length; ++J)
    Row[J * Stride] = short((J + 1) * Gap);
  int Last = P.Length * Gap;
  for (int R = 0; R < Rows; ++R) {
    int Corner = R * Gap, Before = Corner + Gap;
    unsigned Word = 0;
    for (int J = 0; J < P.Length; ++J) {
      const int Above = Row[J * Stride];
      int Best = Corner + (Read[R] == P.Query[J] ? Match : Mismatch);
      unsigned Way = Diagonal;
      if (Above + Gap > Best) {
        Best = Above + Gap;
        Way = Up;
      }
      if (Before + Gap > Best) {
        Best = Before + Gap;
        Way = Left;
      }
      Corner = Above;
      Before = Best;
      Row[J * Stride] = short(Best);
      Word |= Way << 2 * (J & 15);
      if ((J & 15) == 15 || J + 1 == P.Length) {
        *Ways = Word;
        Ways += Stride;
        Word = 0;
      }
    }
    Last = Before;
  }
  return Last;
}

__device__ static Alignment walkBack(const Problem &P, int I,
                                     const unsigned *Ways) {
  const unsigned char *Read = P.Text + P.Begin[I];
  const size_t Stride = P.Count;
  int R = P.Begin[I + 1] - P.Begin[I] - 1, J = P.Length - 1;
  Alignment A = {0, 0, 0, 0};
  while (R >= 0 && J >= 0) {
    const unsigned Word = Ways[(size_t(R) * P.words() + (J >> 4)) * Stride];
    const unsigned Way = Word >> 2 * (J & 15) & 3;
    if (Way == Diagonal) {
      if (Read[R] == P.Query[J])
        ++A.Matches;
      else
        ++A.Mismatches;
      --R;
      --J;
    } else if (Way == Up) {
      ++A.Gaps;
      --R;
    } else {
      ++A.Gaps;
      --J;
    }
  }
  A.Gaps += R + J + 2; // along the border
  return A;
}

/// Row and Ways: of all threads, side by side.
__global__ void align(Problem P, short *Row, unsigned *Ways, Alignment *Out) {
  const int I = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (I >= P.Count)
    return;
  const int Score = fill(P, I, Row + I, Ways + I);
  Alignment A = walkBack(P, I, Ways + I);
  A.Score = Score;
  Out[I] = A;
}

/// By the definition, with the whole table.
static Alignment alignOnHost(const unsigned char *Read, int Rows,
                             const Letters &Query) {
  const int Columns = int(Query.size());
  std::vector<std::vector<int>> S(Rows + 1, std::vector<int>(Columns + 1));
  const auto Pair = [&](int I, int J) {
    return Read[I - 1] == Query[J - 1] ? Match : Mismatch;
  };
  for (int I = 0; I <= Rows; ++I)
    for (int J = 0; J <= Columns; ++J)
      S[I][J] = !I || !J ? (I + J) * Gap
                         : std::max({S[I - 1][J - 1] + Pair(I, J),
                                     S[I - 1][J] + Gap, S[I][J - 1] + Gap});
  Alignment A = {S[Rows][Columns], 0, 0, 0};
  for (int I = Rows, J = Columns; I || J;) {
    if (I && J && S[I][J] == S[I - 1][J - 1] + Pair(I, J)) {
      ++(Pair(I, J) == Match ? A.Matches : A.Mismatches);
      --I;
      --J;
      continue;
    }
    ++A.Gaps;
    if (I && S[I][J] == S[I - 1][J] + Gap)
      --I;
    else
      --J;
  }
  return A;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "nw");
  const int Count = int(Run.integer("reads", 400, 1, 1 << 22));
  const int Median = int(Run.integer("length", 48, 16, 1000));
  const int Length = int(Run.integer("query", 48, 1, 1000));
  const int Block = int(Run.integer("block", 128, 1, 1024));
  Run.ready();

  const Letters Genome = drawGenome(Run.random(1), 8 * Median + Length);
  const Letters Query(Genome.begin() + 2 * Median,
                      Genome.begin() + 2 * Median + Length);
  Sequences Reads;
  Random Draw = Run.random();
  for (int I = 0; I < Count; ++I) {
    const int Wanted = drawLength(Draw, Median, 1.0f, 8, 4 * Median);
    Reads.add(drawRead(Draw, Genome, int(Draw.below(4 * Median)), Wanted,
                       LongReads, /*Reverse=*/false));
  }
  const std::vector<int> Order = itemOrder(Reads);
  const Sequences Moved = inOrder(Reads, Order);
  DeviceArray<unsigned char> Text(Moved.Text), Queried(Query);
  DeviceArray<int> Begin(Moved.Begin);
  const Problem P = {Text, Begin, Queried, Count, Length};
  DeviceArray<short> Row(std::vector<short>(size_t(Count) * Length));
  DeviceArray<unsigned> Ways(
      std::vector<unsigned>(size_t(Count) * Reads.longest() * P.words()));
  DeviceArray<Alignment> Out{std::vector<Alignment>(Count)};
  Run.run([&] { Out.clear(); },
          [&] {
            align<<<(Count + Block - 1) / Block, Block>>>(P, Row, Ways, Out);
          });
  const std::vector<Alignment> Got = backInPlace(Out.get(), Order);
  bool Right = true;
  for (int I = 0; I < Count && Run.checks(); ++I)
    Right &= Got[I] == alignOnHost(Reads[I], Reads.length(I), Query);
  return Run.finish(Right, checksum(Got));
}
