//===- benchmarks/kernels/sw/sw.cu - Smith-Waterman -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The best local alignment of a query with each protein of a database (T. F.
// Smith, M. S. Waterman, 1981; gaps by O. Gotoh, 1982), a thread a protein. With
// row I of the protein and column J of the query
//
//   E(I,J) = max(H(I,J-1) - Open, E(I,J-1)) - Extend      a gap in the protein
//   F(I,J) = max(H(I-1,J) - Open, F(I-1,J)) - Extend      a gap in the query
//   H(I,J) = max(0, H(I-1,J-1) + Score, E(I,J), F(I,J))
//
// A thread keeps the row before in memory, threads side by side, and its place
// of the best score. Scores come from the query's profile: a row for each amino
// acid, a column for each letter of the query.
//
// Unlike examples/smithwaterman this is the form of the first GPU programs, and
// its database is like a real one: lengths are log-normal, amino acids as
// frequent as in proteins, and one sequence of 50 is a relative of the query.
//
//===----------------------------------------------------------------------===//
#include "../common/moved.h"

static constexpr int Acids = 20, Open = 10, Extend = 1;

/// A best score and where the alignment ends.
struct Hit {
  int Score, Row, Column;
};

/// The cells of the row before: H, and F.
struct Cell {
  short H, F;
};

struct Problem {
  const unsigned char *Text;
  const int *Begin;
  const signed char *Profile; ///< of [amino acid][column]
  int Count, Query;
};

__global__ void align(Problem P, Cell *Rows, Hit *Hits) {
  const int I = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (I >= P.Count)
    return;
  Cell *Row = Rows + I;
  for (int J = 0; J < P.Query; ++J)
    Row[size_t(J) * P.Count] = {0, -Open};
  const unsigned char *Text = P.Text + P.Begin[I];
  const int Length = P.Begin[I + 1] - P.Begin[I];
  Hit Best = {0, -1, -1};
  for (int R = 0; R < Length; ++R) {
    const signed char *Score = P.Profile + Text[R] * P.Query;
    int Left = 0, Diagonal = 0, E = -Open;
    for (int J = 0; J < P.Query; ++J) {
      const Cell Up = Row[size_t(J) * P.Count];
      E = max(Left - Open, E) - Extend;
      const int F = max(Up.H - Open, int(Up.F)) - Extend;
      const int H = max(max(0, Diagonal + Score[J]), max(E, F));
      Diagonal = Up.H;
      Left = H;
      Row[size_t(J) * P.Count] = {short(H), short(F)};
      if (H > Best.Score)
        Best = {H, R, J};
    }
  }
  Hits[I] = Best;
}

//===----------------------------------------------------------------------===//
// Proteins
//===----------------------------------------------------------------------===//

/// BLOSUM62 (S. Henikoff, J. G. Henikoff, 1992), amino acids in the order
/// ARNDCQEGHILKMFPSTWYV, below and on the diagonal.
static constexpr signed char Blosum62[] = {
    4,                                                              // A
    -1, 5,                                                          // R
    -2, 0,  6,                                                      // N
    -2, -2, 1,  6,                                                  // D
    0,  -3, -3, -3, 9,                                              // C
    -1, 1,  0,  0,  -3, 5,                                          // Q
    -1, 0,  0,  2,  -4, 2,  5,                                      // E
    0,  -2, 0,  -1, -3, -2, -2, 6,                                  // G
    -2, 0,  1,  -1, -3, 0,  0,  -2, 8,                              // H
    -1, -3, -3, -3, -1, -3, -3, -4, -3, 4,                          // I
    -1, -2, -3, -4, -1, -2, -3, -4, -3, 2,  4,                      // L
    -1, 2,  0,  -1, -3, 1,  1,  -2, -1, -3, -2, 5,                  // K
    -1, -1, -2, -3, -1, 0,  -2, -3, -2, 1,  2,  -1, 5,              // M
    -2, -3, -3, -3, -2, -3, -3, -3, -1, 0,  0,  -3, 0,  6,          // F
    -1, -2, -2, -1, -3, -1, -1, -2, -2, -3, -3, -1, -2, -4, 7,      // P
    1,  -1, 1,  0,  -1, 0,  0,  0,  -1, -2, -2, 0,  -1, -2, -1, 4,  // S
    0,  -1, 0,  -1, -1, -1, -1, -2, -2, -1, -1, -1, -1, -2, -1, 1,  // T
    5,                                                              //
    -3, -3, -4, -4, -2, -2, -3, -2, -2, -3, -2, -3, -1, 1,  -4, -3, // W
    -2, 11,                                                         //
    -2, -2, -2, -3, -2, -1, -2, -3, 2,  -1, -1, -2, -1, 3,  -3, -2, // Y
    -2, 2,  7,                                                      //
    0,  -3, -3, -3, -1, -2, -2, -3, -3, 3,  1,  -2, 1,  -1, -2, -2, // V
    0,  -3, -1, 4};
static_assert(sizeof(Blosum62) == Acids * (Acids + 1) / 2);

/// How often each occurs, of a thousand.
static constexpr int Often[Acids] = {83, 55, 41, 55, 14, 39, 67, 71, 23, 59,
                                     97, 58, 24, 39, 47, 66, 53, 11, 29, 69};

static int scoreOf(int A, int B) {
  const int Row = std::max(A, B), Column = std::min(A, B);
  return Blosum62[Row * (Row + 1) / 2 + Column];
}

static unsigned char drawAcid(Random &Draw) {
  int Acid = 0;
  for (int Left = int(Draw.below(1000)); Left >= Often[Acid]; ++Acid)
    Left -= Often[Acid];
  return (unsigned char)Acid;
}

static Letters drawProtein(Random &Draw, int Length) {
  Letters One(Length);
  for (unsigned char &Acid : One)
    Acid = drawAcid(Draw);
  return One;
}

/// What became of the query: four acids of ten changed, gaps here and there.
static Letters relativeOf(const Letters &Query, Random &Draw) {
  Letters One;
  for (unsigned char Acid : Query) {
    const unsigned Event = Draw.below(1000);
    if (Event < 15) // lost
      continue;
    for (unsigned More = Event < 30 ? 1 + Draw.below(6) : 0; More; --More)
      One.push_back(drawAcid(Draw));
    One.push_back(Draw.below(10) < 4 ? drawAcid(Draw) : Acid);
  }
  return One;
}

static Sequences drawDatabase(Random Draw, int Count, int Median,
                              const Letters &Query) {
  Sequences All;
  for (int S = 0; S < Count; ++S) {
    // A standard deviation of 1.1 octaves is that of protein databases.
    Letters One =
        drawProtein(Draw, drawLength(Draw, Median, 1.1f, 16, 12 * Median));
    if (Draw.below(50) == 0) {
      const Letters Relative = relativeOf(Query, Draw);
      One.insert(One.begin() + Draw.below(uint32_t(One.size())),
                 Relative.begin(), Relative.end());
    }
    All.add(One);
  }
  return All;
}

/// By the definition, with the whole table.
static Hit alignOnHost(const unsigned char *Text, int Length,
                       const Letters &Query) {
  const int Wide = int(Query.size()) + 1;
  const auto Table = [&](int Border) {
    return std::vector<int>(size_t(Length + 1) * Wide, Border);
  };
  std::vector<int> H = Table(0), E = Table(-Open), F = Table(-Open);
  Hit Best = {0, -1, -1};
  for (int R = 1; R <= Length; ++R)
    for (int J = 1; J < Wide; ++J) {
      const size_t At = size_t(R) * Wide + J, Up = At - Wide;
      E[At] = std::max(H[At - 1] - Open, E[At - 1]) - Extend;
      F[At] = std::max(H[Up] - Open, F[Up]) - Extend;
      H[At] = std::max(
          {0, H[Up - 1] + scoreOf(Text[R - 1], Query[J - 1]), E[At], F[At]});
      if (H[At] > Best.Score)
        Best = {H[At], R - 1, J - 1};
    }
  return Best;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "sw");
  const int Count = int(Run.integer("sequences", 400, 1, 1 << 22));
  const int Median = int(Run.integer("length", 60, 16, 2000));
  const int Length = int(Run.integer("query", 48, 1, 2000));
  const int Block = int(Run.integer("block", 128, 1, 1024));
  Run.ready();

  Random Draw = Run.random(1);
  const Letters Query = drawProtein(Draw, Length);
  const Sequences All = drawDatabase(Run.random(), Count, Median, Query);
  std::vector<signed char> Table;
  for (int Acid = 0; Acid < Acids; ++Acid)
    for (unsigned char Of : Query)
      Table.push_back((signed char)(scoreOf(Acid, Of)));
  const std::vector<int> Order = itemOrder(All);
  const Sequences Moved = inOrder(All, Order);
  DeviceArray<unsigned char> Text(Moved.Text);
  DeviceArray<int> Begin(Moved.Begin);
  DeviceArray<signed char> Profile(Table);
  DeviceArray<Cell> Rows(std::vector<Cell>(size_t(Count) * Length));
  DeviceArray<Hit> Hits{std::vector<Hit>(Count)};
  const Problem P = {Text, Begin, Profile, Count, Length};
  Run.run(
      [&] { Hits.clear(); },
      [&] { align<<<(Count + Block - 1) / Block, Block>>>(P, Rows, Hits); });
  const std::vector<Hit> Got = backInPlace(Hits.get(), Order);
  bool Right = true;
  for (int I = 0; I < Count && Run.checks(); ++I) {
    const Hit Want = alignOnHost(All[I], All.length(I), Query);
    Right &= Got[I].Score == Want.Score && Got[I].Row == Want.Row &&
             Got[I].Column == Want.Column;
  }
  return Run.finish(Right, checksum(Got));
}
