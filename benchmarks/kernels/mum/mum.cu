//===- benchmarks/kernels/mum/mum.cu - Exact matches of queries -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each place of a query the longest match that begins there with any part of
// a reference (A. L. Delcher and others, 1999), by the reference's suffix tree.
// A thread has a query. It goes down the tree as long as the next base fits; then
// it takes a suffix link, which leads to where the match without its first base
// ends, and goes on from there:
//
//        root
//        /  \            at "acg", the query goes on with a base that no edge
//      ac    c           has: report 3 for this place, follow the link from
//     /  \    \          "ac" to "c", walk down "g" without comparing, go on
//    g..  t..  g..       comparing for the next place
//
// The tree is built on the host (E. Ukkonen, 1995). It is implicit, without an
// end mark, which is enough to find what occurs. The check does not use it: it
// sorts all suffixes.
//
//===----------------------------------------------------------------------===//
#include "../common/moved.h"

#include <numeric>

/// A node and the edge that leads to it: reference[Start, End). The places of an
/// edge are those of its string's first occurrence.
struct Node {
  int Start, End, Link;
  int Child[4]; ///< 0: none, as the root is nobody's
};

/// A tree that grows by a base at a time.
class SuffixTree {
public:
  explicit SuffixTree(const Letters &Reference) : Text(Reference) {
    Nodes.push_back({0, 0, 0, {}}); // the root
    for (int I = 0; I < int(Text.size()); ++I)
      extend(I);
    for (Node &N : Nodes) // leaves grow to the end
      N.End = std::min(N.End, int(Text.size()));
  }
  std::vector<Node> Nodes;

private:
  static constexpr int Open = 1 << 30; ///< a leaf's end

  int lengthOf(int N, int I) const {
    return std::min(Nodes[N].End, I + 1) - Nodes[N].Start;
  }
  int add(int Start, int End) {
    Nodes.push_back({Start, End, 0, {}});
    return int(Nodes.size()) - 1;
  }
  void link(int N) {
    if (Unlinked)
      Nodes[Unlinked].Link = N;
    Unlinked = N;
  }

  /// All suffixes of Text up to I.
  void extend(int I) {
    Unlinked = 0;
    ++Remaining;
    while (Remaining) {
      if (!Along)
        Edge = I;
      const int Next = Nodes[Active].Child[Text[Edge]];
      if (!Next) {
        const int Leaf = add(I, Open);
        Nodes[Active].Child[Text[Edge]] = Leaf;
        link(Active);
      } else {
        const int Length = lengthOf(Next, I);
        if (Along >= Length) {
          Edge += Length;
          Along -= Length;
          Active = Next;
          continue;
        }
        if (Text[Nodes[Next].Start + Along] == Text[I]) {
          ++Along;
          link(Active);
          return;
        }
        const int Start = Nodes[Next].Start;
        const int Split = add(Start, Start + Along), Leaf = add(I, Open);
        Nodes[Active].Child[Text[Edge]] = Split;
        Nodes[Split].Child[Text[I]] = Leaf;
        Nodes[Next].Start += Along;
        Nodes[Split].Child[Text[Nodes[Next].Start]] = Next;
        link(Split);
      }
      --Remaining;
      if (!Active && Along) {
        --Along;
        Edge = I - Remaining + 1;
      } else {
        Active = Nodes[Active].Link;
      }
    }
  }

  const Letters &Text;
  int Active = 0, Edge = 0, Along = 0, Remaining = 0, Unlinked = 0;
};

struct Problem {
  const unsigned char *Reference;
  const Node *Nodes;
  const unsigned char *Text; ///< of all queries
  const int *Begin;
  int Count, Least;
};

/// The longest match at a place of a query, and the first place of the reference
/// that has it; none, {0, -1}, if it is shorter than Least.
struct Found {
  int Length, At;
};

/// \p Out: parallel to the queries' text.
__global__ void match(Problem P, Found *Out) {
  const int I = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (I >= P.Count)
    return;
  const int Last = P.Begin[I + 1];
  // So far matched: to node Above, and Along bases of the edge to Below.
  int Above = 0, Below = 0, Along = 0, Depth = 0;
  for (int From = P.Begin[I]; From < Last; ++From) {
    while (From + Depth < Last) {
      const int Base = P.Text[From + Depth];
      if (!Along) {
        Below = P.Nodes[Above].Child[Base];
        if (!Below)
          break;
      } else if (P.Reference[P.Nodes[Below].Start + Along] != Base) {
        break;
      }
      ++Depth;
      if (++Along == P.Nodes[Below].End - P.Nodes[Below].Start) {
        Above = Below;
        Along = 0;
      }
    }
    const int End = Along ? P.Nodes[Below].Start + Along : P.Nodes[Above].End;
    Out[From] = Depth >= P.Least ? Found{Depth, End - Depth} : Found{0, -1};
    if (!Depth)
      continue;
    // The same without its first base: what lay below the linked node is walked
    // again, edge by edge.
    const bool AtRoot = Above == 0;
    Above = P.Nodes[Above].Link;
    --Depth;
    int Left = AtRoot ? Depth : Along;
    Along = 0;
    while (Left) {
      Below = P.Nodes[Above].Child[P.Text[From + 1 + Depth - Left]];
      const int Length = P.Nodes[Below].End - P.Nodes[Below].Start;
      if (Left < Length) {
        Along = Left;
        break;
      }
      Left -= Length;
      Above = Below;
    }
  }
}

/// By the sorted suffixes of the reference: the longest match is with a
/// neighbour of the place where the query's rest would stand.
class Suffixes {
public:
  explicit Suffixes(const Letters &Reference)
      : Text(Reference), Order(Reference.size()) {
    std::iota(Order.begin(), Order.end(), 0);
    std::sort(Order.begin(), Order.end(), [&](int A, int B) {
      return std::lexicographical_compare(Text.begin() + A, Text.end(),
                                          Text.begin() + B, Text.end());
    });
  }
  Found find(const unsigned char *Query, int Length, int Least) const {
    const auto Above = std::lower_bound(
        Order.begin(), Order.end(), Query, [&](int S, const unsigned char *Q) {
          return std::lexicographical_compare(Text.begin() + S, Text.end(), Q,
                                              Q + Length);
        });
    int Most = 0;
    for (auto It : {Above, Above - 1})
      if (It >= Order.begin() && It < Order.end())
        Most = std::max(Most, common(*It, Query, Length));
    if (Most < Least)
      return {0, -1};
    int First = int(Text.size());
    for (auto It = Above;
         It < Order.end() && common(*It, Query, Length) >= Most; ++It)
      First = std::min(First, *It);
    for (auto It = Above - 1;
         It >= Order.begin() && common(*It, Query, Length) >= Most; --It)
      First = std::min(First, *It);
    return {Most, First};
  }

private:
  int common(int S, const unsigned char *Query, int Length) const {
    int Same = 0;
    while (Same < Length && S + Same < int(Text.size()) &&
           Text[S + Same] == Query[Same])
      ++Same;
    return Same;
  }
  const Letters &Text;
  std::vector<int> Order;
};

/// Short reads cut where their quality falls; one of ten is of something else
/// that was in the sample.
static Sequences drawQueries(Random Draw, const Letters &Reference, int Count,
                             int Length) {
  Sequences All;
  const Letters Other = drawGenome(Draw, 4 * Length + 4000);
  for (int I = 0; I < Count; ++I) {
    const Letters &From = Draw.below(10) ? Reference : Other;
    const int Cut = Draw.below(3) ? 0 : int(Draw.below(uint32_t(Length) / 2));
    const bool Reverse = Draw.below(2);
    const int Place = int(Draw.below(uint32_t(From.size())));
    All.add(drawRead(Draw, From, Place, Length - Cut, ShortReads, Reverse));
  }
  return All;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "mum");
  const int Count = int(Run.integer("queries", 1000, 1, 1 << 24));
  const int Length = int(Run.integer("length", 48, 2, 1000));
  const int Size = int(Run.integer("reference", 20000, 1, 1 << 28));
  const int Least = int(Run.integer("least", 14, 1, 1000));
  const int Block = int(Run.integer("block", 128, 1, 1024));
  Run.ready();

  const Letters Genome = drawGenome(Run.random(1), Size);
  const Sequences Queries = drawQueries(Run.random(), Genome, Count, Length);
  const std::vector<int> Order = itemOrder(Queries);
  const Sequences Moved = inOrder(Queries, Order);
  DeviceArray<unsigned char> Reference(Genome), Text(Moved.Text);
  DeviceArray<Node> Nodes(SuffixTree(Genome).Nodes);
  DeviceArray<int> Begin(Moved.Begin);
  DeviceArray<Found> Out{std::vector<Found>(Queries.Text.size())};
  const Problem P = {Reference, Nodes, Text, Begin, Count, Least};
  Run.run([&] { Out.clear(); },
          [&] { match<<<(Count + Block - 1) / Block, Block>>>(P, Out); });
  const std::vector<Found> InOrder = Out.get();
  std::vector<Found> Got(InOrder.size());
  for (int Place = 0; Place < Count; ++Place)
    std::copy_n(InOrder.begin() + Moved.Begin[Place], Moved.length(Place),
                Got.begin() + Queries.Begin[Order[Place]]);
  bool Right = true;
  if (Run.checks()) {
    const Suffixes Sorted(Genome);
    for (int I = 0; I < Count; ++I)
      for (int At = Queries.Begin[I]; At < Queries.Begin[I + 1]; ++At) {
        const Found Want = Sorted.find(Queries.Text.data() + At,
                                       Queries.Begin[I + 1] - At, Least);
        Right &= Got[At].Length == Want.Length && Got[At].At == Want.At;
      }
  }
  return Run.finish(Right, checksum(Got));
}
