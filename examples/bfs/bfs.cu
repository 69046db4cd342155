//===- examples/bfs/bfs.cu - Lesson 12: breadth-first search --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distances from one vertex of a graph, a launch a level. The frontier is a
// queue: each thread takes one of its vertices and looks at all neighbours;
// whoever sets a neighbour's distance first puts it in the next queue.
//
//     level 0      1        2
//       (s)----->(a)----->(c)        this queue   [ a b ]
//         \----->(b)--/-->(d)        next queue   [ c d ]
//
// Who succeeds at a step is known only then: the lanes that do form a group
// (cooperative_groups::coalesced_threads), take their places in the queue with
// one atomic addition, and divide them among themselves.
//
// In a graph like the web's (R-MAT: Chakrabarti, Zhan, Faloutsos, 2004) most
// vertices have few neighbours and some have hundreds; in a grid all have four.
// Distances do not depend on the order of the queue, parents do: only
// the first are compared.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"
#include "../common/random.h"

#include <algorithm>
#include <cooperative_groups.h>
#include <vector>

namespace cg = cooperative_groups;

static constexpr int Unseen = -1;

struct Graph {
  std::vector<int> Begin; ///< a vertex's first edge, and one more
  std::vector<int> To;
};

/// Places for all threads that call it together, by one atomic.
__device__ inline int append(int *Count) {
  const cg::coalesced_group Group = cg::coalesced_threads();
  int First = 0;
  if (Group.thread_rank() == 0)
    First = atomicAdd(Count, int(Group.size()));
  return Group.shfl(First, 0) + int(Group.thread_rank());
}

__global__ void expand(const int *Begin, const int *To, int *Distance,
                       const int *Queue, int Size, int Level, int *Next,
                       int *NextSize) {
  const int At = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (At >= Size)
    return;
  const int From = Queue[At];
  for (int Edge = Begin[From]; Edge < Begin[From + 1]; ++Edge) {
    const int Vertex = To[Edge];
    // A look first: most have been seen. It races, and an old value only costs.
    if (Distance[Vertex] != Unseen)
      continue;
    if (atomicCAS(&Distance[Vertex], Unseen, Level + 1) == Unseen)
      Next[append(NextSize)] = Vertex;
  }
}

/// From pairs of vertices, both ways, to compressed rows.
static Graph makeGraph(int Vertices,
                       const std::vector<std::pair<int, int>> &Edges) {
  Graph G;
  G.Begin.assign(Vertices + 1, 0);
  for (auto [A, B] : Edges) {
    ++G.Begin[A + 1];
    ++G.Begin[B + 1];
  }
  for (int V = 0; V < Vertices; ++V)
    G.Begin[V + 1] += G.Begin[V];
  G.To.resize(2 * Edges.size());
  std::vector<int> End(G.Begin.begin(), G.Begin.end() - 1);
  for (auto [A, B] : Edges) {
    G.To[End[A]++] = B;
    G.To[End[B]++] = A;
  }
  return G;
}

/// Each edge falls into one of four quarters of the adjacency matrix, again and
/// again, by chances of 57, 19, 19 and 5 in a hundred.
static Graph makeRmat(int Scale, long Degree, long Seed) {
  Random Draw(uint64_t(Seed), 13);
  std::vector<std::pair<int, int>> Edges;
  for (long I = 0; I < (Degree << Scale) / 2; ++I) {
    int A = 0, B = 0;
    for (int Bit = 0; Bit < Scale; ++Bit) {
      const uint32_t Chance = Draw.below(100);
      A = 2 * A + (Chance >= 76);
      B = 2 * B + (Chance >= 95 || (Chance >= 57 && Chance < 76));
    }
    Edges.emplace_back(A, B);
  }
  return makeGraph(1 << Scale, Edges);
}

static Graph makeGrid(int Scale) {
  const int Width = 1 << (Scale / 2), Height = 1 << (Scale - Scale / 2);
  std::vector<std::pair<int, int>> Edges;
  for (int Y = 0; Y < Height; ++Y)
    for (int X = 0; X < Width; ++X) {
      if (X + 1 < Width)
        Edges.emplace_back(Y * Width + X, Y * Width + X + 1);
      if (Y + 1 < Height)
        Edges.emplace_back(Y * Width + X, (Y + 1) * Width + X);
    }
  return makeGraph(Width * Height, Edges);
}

static std::vector<int> searchOnHost(const Graph &G, int Source) {
  std::vector<int> Distance(G.Begin.size() - 1, Unseen), Queue = {Source};
  Distance[Source] = 0;
  for (size_t At = 0; At < Queue.size(); ++At)
    for (int Edge = G.Begin[Queue[At]]; Edge < G.Begin[Queue[At] + 1]; ++Edge)
      if (int V = G.To[Edge]; Distance[V] == Unseen) {
        Distance[V] = Distance[Queue[At]] + 1;
        Queue.push_back(V);
      }
  return Distance;
}

static std::vector<int> searchOnDevice(const Graph &G, int Source,
                                       unsigned Threads, int &Levels,
                                       int &Widest) {
  const size_t Vertices = G.Begin.size() - 1;
  int *Begin = nullptr, *To = nullptr, *Distance = nullptr, *Queue = nullptr,
      *Next = nullptr, *NextSize = nullptr;
  CHECK_CUDA(cudaMalloc(&Begin, G.Begin.size() * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&To, (G.To.size() + 1) * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&Distance, Vertices * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&Queue, Vertices * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&Next, Vertices * sizeof(int)));
  CHECK_CUDA(cudaMallocManaged(&NextSize, sizeof(int)));
  CHECK_CUDA(cudaMemcpy(Begin, G.Begin.data(), G.Begin.size() * sizeof(int),
                        cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(To, G.To.data(), G.To.size() * sizeof(int),
                        cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(Distance, 0xff, Vertices * sizeof(int)));
  CHECK_CUDA(cudaMemset(Distance + Source, 0, sizeof(int)));
  CHECK_CUDA(cudaMemcpy(Queue, &Source, sizeof(int), cudaMemcpyHostToDevice));

  int Size = 1;
  Widest = 1;
  for (Levels = 0; Size > 0; ++Levels) {
    *NextSize = 0;
    expand<<<(unsigned(Size) + Threads - 1) / Threads, Threads>>>(
        Begin, To, Distance, Queue, Size, Levels, Next, NextSize);
    CHECK_LAUNCH();
    CHECK_CUDA(cudaDeviceSynchronize());
    Size = *NextSize;
    Widest = std::max(Widest, Size);
    std::swap(Queue, Next);
  }
  std::vector<int> Result(Vertices);
  CHECK_CUDA(cudaMemcpy(Result.data(), Distance, Vertices * sizeof(int),
                        cudaMemcpyDeviceToHost));
  for (int *P : {Begin, To, Distance, Queue, Next, NextSize})
    CHECK_CUDA(cudaFree(P));
  return Result;
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Scale = Args.integer("scale", 16, 1, 24); // log2 of the vertices
  const long Degree = Args.integer("degree", 16, 1, 256);
  const long Threads = Args.integer("block", 128, 1, 1024);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();

  bool Right = true;
  uint64_t Sum = ChecksumSeed;
  for (const bool Rmat : {true, false}) {
    const Graph G = Rmat ? makeRmat(int(Scale), Degree, Seed)
                         : makeGrid(int(Scale) - 2 > 0 ? int(Scale) - 2 : 1);
    const int Source = 0; // of an R-MAT graph, the vertex with most neighbours
    int Levels = 0, Widest = 0;
    const std::vector<int> Distance =
        searchOnDevice(G, Source, unsigned(Threads), Levels, Widest);
    const bool Same = !Check || Distance == searchOnHost(G, Source);
    long Reached = 0;
    for (int D : Distance)
      Reached += D != Unseen;
    std::printf("bfs: %s, %zu of %zu vertices in %d levels (at most %d at "
                "once), %zu edges: %s\n",
                Rmat ? "R-MAT" : "grid", size_t(Reached), Distance.size(),
                Levels, Widest, G.To.size(),
                Check ? Same ? "right" : "WRONG" : "not checked");
    Right &= Same;
    Sum = checksum(Distance, Sum);
  }
  std::printf("checksum: %016llx\n", static_cast<unsigned long long>(Sum));
  return Right ? 0 : 1;
}
