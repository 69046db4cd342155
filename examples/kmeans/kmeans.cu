//===- examples/kmeans/kmeans.cu - Lesson 16: k-means ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups points around k centres (S. Lloyd, 1982), again and again:
//
//   assign   each point to the nearest centre. A centre that lags behind the
//            best so far is given up after a few coordinates:
//              if (Sum >= Best) break;       <- each lane at its own time
//   gather   sums and counts by centre, first in shared memory, then over all
//   move     each centre to the mean of its points
//
// until hardly a point changes sides. Centres are read by all lanes at once:
// they lie in constant memory, refreshed by a copy from device to symbol.
//
// Coordinates are integers, so sums do not depend on their order, and host and
// device agree exactly.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"
#include "../common/random.h"

#include <vector>

static constexpr int Dimensions = 8, MaxCentres = 64;

struct Point {
  int At[Dimensions];
};

/// Sums of the points of one centre.
struct Group {
  unsigned long long Sum[Dimensions];
  unsigned Count;
};

__constant__ Point Centres[MaxCentres];

__host__ __device__ inline int nearest(const Point &P, const Point *Centres,
                                       int K) {
  int Best = 0;
  long long BestSum = 0x7fffffffffffffffll;
  for (int C = 0; C < K; ++C) {
    long long Sum = 0;
    for (int D = 0; D < Dimensions; ++D) {
      const long long Off = P.At[D] - Centres[C].At[D];
      Sum += Off * Off;
      if (Sum >= BestSum)
        break;
    }
    if (Sum < BestSum) {
      Best = C;
      BestSum = Sum;
    }
  }
  return Best;
}

__global__ void assign(const Point *Points, int Count, int K, int *Nearest,
                       int *Changed) {
  const int At = int(blockIdx.x * blockDim.x + threadIdx.x);
  bool Change = false;
  if (At < Count) {
    const int Best = nearest(Points[At], Centres, K);
    Change = Best != Nearest[At];
    Nearest[At] = Best;
  }
  // A sum over the block and one atomic.
  const int Changes = __syncthreads_count(Change);
  if (threadIdx.x == 0 && Changes)
    atomicAdd(Changed, Changes);
}

__global__ void gather(const Point *Points, const int *Nearest, int Count,
                       int K, Group *Groups) {
  extern __shared__ Group Own[];
  unsigned *Words = reinterpret_cast<unsigned *>(Own);
  for (int I = int(threadIdx.x); I < K * int(sizeof(Group) / sizeof(unsigned));
       I += int(blockDim.x))
    Words[I] = 0;
  __syncthreads();
  const int Stride = int(gridDim.x * blockDim.x);
  for (int At = int(blockIdx.x * blockDim.x + threadIdx.x); At < Count;
       At += Stride) {
    Group &G = Own[Nearest[At]];
    for (int D = 0; D < Dimensions; ++D)
      atomicAdd(&G.Sum[D], (unsigned long long)Points[At].At[D]);
    atomicAdd(&G.Count, 1u);
  }
  __syncthreads();
  for (int C = int(threadIdx.x); C < K; C += int(blockDim.x))
    if (Own[C].Count) {
      for (int D = 0; D < Dimensions; ++D)
        atomicAdd(&Groups[C].Sum[D], Own[C].Sum[D]);
      atomicAdd(&Groups[C].Count, Own[C].Count);
    }
}

/// A thread a coordinate, a row of the block a centre.
__global__ void move(const Group *Groups, int K, Point *Next) {
  const int D = int(threadIdx.x);
  const int C = int(blockIdx.x * blockDim.y + threadIdx.y);
  if (C < K && Groups[C].Count)
    Next[C].At[D] = int(Groups[C].Sum[D] / Groups[C].Count);
}

/// The reference: one round; the number of points that changed.
static long roundOnHost(const std::vector<Point> &Points,
                        std::vector<int> &Nearest,
                        std::vector<Point> &Centres) {
  std::vector<Group> Groups(Centres.size(), Group{});
  long Changed = 0;
  for (size_t I = 0; I < Points.size(); ++I) {
    const int Best = nearest(Points[I], Centres.data(), int(Centres.size()));
    Changed += Best != Nearest[I];
    Nearest[I] = Best;
    for (int D = 0; D < Dimensions; ++D)
      Groups[Best].Sum[D] += (unsigned long long)Points[I].At[D];
    ++Groups[Best].Count;
  }
  for (size_t C = 0; C < Centres.size(); ++C)
    if (Groups[C].Count)
      for (int D = 0; D < Dimensions; ++D)
        Centres[C].At[D] = int(Groups[C].Sum[D] / Groups[C].Count);
  return Changed;
}

/// Points in K overlapping clouds; coordinates in [0, 2^20).
static std::vector<Point> makePoints(long Count, long K, long Seed) {
  Random Draw(uint64_t(Seed), 17);
  std::vector<Point> Heart(K), Points(Count);
  for (Point &P : Heart)
    for (int &X : P.At)
      X = int(200000 + Draw.below(600000));
  for (Point &P : Points) {
    const Point &Near = Heart[Draw.below(uint32_t(K))];
    for (int D = 0; D < Dimensions; ++D) {
      // A sum of four is bell-shaped enough.
      int Off = 0;
      for (int I = 0; I < 4; ++I)
        Off += int(Draw.below(100000)) - 50000;
      P.At[D] = Near.At[D] + Off;
    }
  }
  return Points;
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Count = Args.integer("points", 50000, 1, 1 << 26);
  const long K = Args.integer("centres", 20, 1, MaxCentres);
  const long Most = Args.integer("rounds", 12, 1, 1000);
  const long Threads = Args.integer("block", 256, 1, 1024);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();
  if (Count < K) {
    std::fprintf(stderr, "kmeans: give at least as many points as centres\n");
    return 2;
  }

  const std::vector<Point> Points = makePoints(Count, K, Seed);
  std::vector<Point> Start(Points.begin(), Points.begin() + K);
  Point *DevicePoints = nullptr, *Next = nullptr;
  int *Nearest = nullptr, *Changed = nullptr;
  Group *Groups = nullptr;
  CHECK_CUDA(cudaMalloc(&DevicePoints, Count * sizeof(Point)));
  CHECK_CUDA(cudaMalloc(&Nearest, Count * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&Groups, K * sizeof(Group)));
  CHECK_CUDA(cudaMalloc(&Next, K * sizeof(Point)));
  CHECK_CUDA(cudaMallocManaged(&Changed, sizeof(int)));
  CHECK_CUDA(cudaMemcpy(DevicePoints, Points.data(), Count * sizeof(Point),
                        cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(Next, Start.data(), K * sizeof(Point),
                        cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(Nearest, 0xff, Count * sizeof(int)));

  const unsigned Blocks = unsigned((Count + Threads - 1) / Threads);
  const unsigned Rows = 16;
  long Rounds = 0;
  do {
    *Changed = 0;
    CHECK_CUDA(cudaMemcpyToSymbol(Centres, Next, K * sizeof(Point), 0,
                                  cudaMemcpyDeviceToDevice));
    CHECK_CUDA(cudaMemset(Groups, 0, K * sizeof(Group)));
    assign<<<Blocks, unsigned(Threads)>>>(DevicePoints, int(Count), int(K),
                                          Nearest, Changed);
    CHECK_LAUNCH();
    gather<<<32, unsigned(Threads), K * sizeof(Group)>>>(
        DevicePoints, Nearest, int(Count), int(K), Groups);
    CHECK_LAUNCH();
    move<<<unsigned(K + Rows - 1) / Rows, dim3(Dimensions, Rows)>>>(
        Groups, int(K), Next);
    CHECK_LAUNCH();
    CHECK_CUDA(cudaDeviceSynchronize());
    ++Rounds;
  } while (Rounds < Most && *Changed * 1000l > Count);

  std::vector<int> Result(Count);
  std::vector<Point> Found(K);
  CHECK_CUDA(cudaMemcpy(Result.data(), Nearest, Count * sizeof(int),
                        cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(Found.data(), Next, K * sizeof(Point),
                        cudaMemcpyDeviceToHost));
  for (void *P : {(void *)DevicePoints, (void *)Nearest, (void *)Groups,
                  (void *)Next, (void *)Changed})
    CHECK_CUDA(cudaFree(P));

  long Wrong = 0;
  if (Check) {
    std::vector<int> Expected(Count, -1);
    for (long Round = 0; Round < Rounds; ++Round)
      roundOnHost(Points, Expected, Start);
    for (long I = 0; I < Count; ++I)
      Wrong += Expected[I] != Result[I];
    for (long C = 0; C < K; ++C)
      for (int D = 0; D < Dimensions; ++D)
        Wrong += Start[C].At[D] != Found[C].At[D];
  }
  std::printf("kmeans: %ld points, %ld centres, %ld rounds: ", Count, K,
              Rounds);
  if (Wrong)
    std::printf("%ld WRONG\n", Wrong);
  else
    std::printf(Check ? "right\n" : "not checked\n");
  std::printf("checksum: %016llx\n", static_cast<unsigned long long>(
                                         checksum(Found, checksum(Result))));
  return Wrong ? 1 : 0;
}
