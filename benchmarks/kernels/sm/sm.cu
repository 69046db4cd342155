//===- benchmarks/kernels/sm/sm.cu - Stereo matching ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far is what a pixel shows? By how much it is shifted between two cameras
// (D. Min, J. Lu, M. N. Do, "A revisit to cost aggregation in stereo matching:
// how far can we reduce its computational redundancy?", 2011). A pixel's
// neighbours vote for its disparity, weighed by how alike they look. What makes
// that cheap: only a few disparities of each pixel are worth a vote.
//
//   candidates   a thread has a pixel: the likelihood of each disparity, by the
//                differences of 3 by 3 pixels; of its local maxima the greatest
//                `candidates` are kept, in order
//   aggregate    a thread has a pixel: every third neighbour of a window adds
//                its likelihoods to those candidates that both have, weighed by
//                the difference in brightness; the greatest sum wins
//
// Whole numbers, so that every build computes the same. Pixels are numbered row
// by row.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"
#include "../common/exact.h"

#include <algorithm>

static constexpr int MostCandidates = 8, Top = 255, Step = 3;
static constexpr int Unlikely = 9 * 40; ///< a difference that says nothing

struct Candidate {
  int Disparity, Likelihood;
};

struct Pair {
  const unsigned char *Left, *Right;
  int Width, Height, Disparities, Keep, Radius;
};

HD static int clamp(int Value, int Most) {
  return Value < 0 ? 0 : Value > Most ? Most : Value;
}

/// Of pixel (X, Y) of the left image, if it is D further left in the right one.
HD static int likelihood(const Pair &P, int X, int Y, int D) {
  int Difference = 0;
  for (int V = -1; V <= 1; ++V)
    for (int U = -1; U <= 1; ++U) {
      const int Row = clamp(Y + V, P.Height - 1) * P.Width;
      const int L = P.Left[Row + clamp(X + U, P.Width - 1)];
      const int R = P.Right[Row + clamp(X + U - D, P.Width - 1)];
      const int Off = L < R ? R - L : L - R;
      Difference += Off > 40 ? 40 : Off;
    }
  return Unlikely - Difference;
}

/// \p Out has places for P.Keep; returns how many there are.
HD static int findCandidates(const Pair &P, int I, Candidate *Out) {
  const int X = I % P.Width, Y = I / P.Width;
  Candidate Best[MostCandidates];
  int Count = 0, Before = -1, Here = likelihood(P, X, Y, 0);
  for (int D = 0; D < P.Disparities; ++D) {
    const int Next = D + 1 < P.Disparities ? likelihood(P, X, Y, D + 1) : -1;
    if (Here > Before && Here >= Next &&
        (Count < P.Keep || Here > Best[Count - 1].Likelihood)) {
      int At = Count < P.Keep ? Count++ : Count - 1;
      for (; At > 0 && Best[At - 1].Likelihood < Here; --At)
        Best[At] = Best[At - 1];
      Best[At] = {D, Here};
    }
    Before = Here;
    Here = Next;
  }
  for (int C = 0; C < Count; ++C)
    Out[C] = Best[C];
  return Count;
}

/// \p All: P.Keep a pixel, of which there are Counts[pixel].
HD static int aggregate(const Pair &P, const Candidate *All, const int *Counts,
                        int I) {
  const int X = I % P.Width, Y = I / P.Width, Mine = Counts[I];
  const Candidate *Own = All + size_t(I) * P.Keep;
  int Votes[MostCandidates] = {};
  for (int V = -P.Radius; V <= P.Radius; V += Step)
    for (int U = -P.Radius; U <= P.Radius; U += Step) {
      const int Column = X + U, Row = Y + V;
      if (Column < 0 || Column >= P.Width || Row < 0 || Row >= P.Height)
        continue;
      const int J = Row * P.Width + Column;
      const int Off = P.Left[I] - P.Left[J];
      const int Weight = 32 - (Off < 0 ? -Off : Off);
      if (Weight <= 0)
        continue; // of something else
      const Candidate *Other = All + size_t(J) * P.Keep;
      for (int K = 0; K < Counts[J]; ++K)
        for (int C = 0; C < Mine; ++C)
          if (Own[C].Disparity == Other[K].Disparity) {
            Votes[C] += Weight * Other[K].Likelihood;
            break;
          }
    }
  int Best = 0;
  for (int C = 1; C < Mine; ++C)
    if (Votes[C] > Votes[Best])
      Best = C;
  return Own[Best].Disparity;
}

__global__ void candidates(Pair P, Candidate *All, int *Counts) {
  const int I = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (I < P.Width * P.Height)
    Counts[I] = findCandidates(P, I, All + size_t(I) * P.Keep);
}

__global__ void aggregateAll(Pair P, const Candidate *All, const int *Counts,
                             int *Out) {
  const int I = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (I < P.Width * P.Height)
    Out[I] = aggregate(P, All, Counts, I);
}

//===----------------------------------------------------------------------===//
// A room, seen by two cameras
//===----------------------------------------------------------------------===//

/// An upright ellipse or rectangle at one distance, as the left camera sees it.
struct Thing {
  int X, Y, HalfWidth, HalfHeight, Disparity;
  bool Round;
  int Grain, Grey; ///< of its texture: pixels that are alike; mean brightness
  uint64_t Look;

  bool covers(int AtX, int AtY) const {
    const int64_t U = AtX - X, V = AtY - Y, W = HalfWidth, H = HalfHeight;
    if (!Round)
      return std::abs(U) <= W && std::abs(V) <= H;
    return U * U * H * H + V * V * W * W <= W * W * H * H;
  }
  int brightness(int AtX, int AtY) const {
    uint64_t Cell = Look +
                    uint64_t((AtX + 4096) / Grain) * 0x9e3779b97f4a7c15ull +
                    uint64_t((AtY + 4096) / Grain) * 0xbf58476d1ce4e5b9ull;
    Cell = (Cell ^ Cell >> 31) * 0x94d049bb133111ebull;
    return clamp(Grey + int(Cell >> 58) - 32, Top);
  }
};

struct Scene {
  std::vector<Thing> Things; ///< rising in disparity: the nearest last
  std::vector<unsigned char> Left, Right;
  std::vector<int> Disparity; ///< of the left image

  Scene(Random Draw, int Width, int Height, int Disparities) {
    // The wall, then what stands before it.
    Things.push_back({0, 0, 1 << 14, 1 << 14, 1, false, 2, 120, Draw.bits()});
    for (int I = 0; I < 14; ++I)
      Things.push_back({int(Draw.below(Width)), int(Draw.below(Height)),
                        Width / 20 + int(Draw.below(Width / 8 + 1)),
                        Height / 20 + int(Draw.below(Height / 5 + 1)),
                        1 + int(Draw.below(std::max(Disparities - 2, 1))),
                        Draw.below(2) == 1, 1 + int(Draw.below(4)),
                        40 + int(Draw.below(180)), Draw.bits()});
    std::sort(Things.begin(), Things.end(), [](const Thing &A, const Thing &B) {
      return A.Disparity != B.Disparity ? A.Disparity < B.Disparity
                                        : A.Look < B.Look;
    });
    for (int Y = 0; Y < Height; ++Y)
      for (int X = 0; X < Width; ++X) {
        int L = 0, R = 0;
        for (int T = 0; T < int(Things.size()); ++T) {
          if (Things[T].covers(X, Y))
            L = T;
          if (Things[T].covers(X + Things[T].Disparity, Y))
            R = T;
        }
        Disparity.push_back(Things[L].Disparity);
        const auto Noise = [&] { return int(Draw.below(7)) - 3; };
        Left.push_back(
            (unsigned char)clamp(Things[L].brightness(X, Y) + Noise(), Top));
        Right.push_back((unsigned char)clamp(
            Things[R].brightness(X + Things[R].Disparity, Y) + Noise(), Top));
      }
  }
};

int main(int argc, char **argv) {
  Bench Run(argc, argv, "sm");
  const int Width = int(Run.integer("width", 96, 1, 8192));
  const int Height = int(Run.integer("height", 72, 1, 8192));
  const int Disparities = int(Run.integer("disparities", 24, 1, 256));
  const int Keep = int(Run.integer("candidates", 6, 1, MostCandidates));
  const int Radius = int(Run.integer("radius", 9, 0, 100));
  const int Block = int(Run.integer("block", 128, 1, 1024));
  Run.ready();

  const Scene S(Run.random(), Width, Height, Disparities);
  const int Count = Width * Height, Blocks = (Count + Block - 1) / Block;
  DeviceArray<unsigned char> Left(S.Left), Right(S.Right);
  const std::vector<Candidate> None(size_t(Count) * Keep, Candidate{0, 0});
  DeviceArray<Candidate> All(None);
  DeviceArray<int> Counts(std::vector<int>(Count, 0)),
      Out(std::vector<int>(Count, 0));
  const Pair There = {Left, Right, Width, Height, Disparities, Keep, Radius};
  Run.run(
      [&] {
        All.clear();
        Counts.clear();
        Out.clear();
      },
      [&] {
        candidates<<<Blocks, Block>>>(There, All, Counts);
        aggregateAll<<<Blocks, Block>>>(There, All, Counts, Out);
      });
  const std::vector<int> Got = Out.get();
  int Near = 0;
  for (int I = 0; I < Count; ++I)
    Near += std::abs(Got[I] - S.Disparity[I]) <= 1;
  std::printf("%d of %d pixels within a disparity of the scene's\n", Near,
              Count);
  bool Same = true;
  if (Run.checks()) {
    Pair Here = There;
    Here.Left = S.Left.data();
    Here.Right = S.Right.data();
    std::vector<Candidate> Of = None;
    std::vector<int> Many(Count);
    for (int I = 0; I < Count; ++I)
      Many[I] = findCandidates(Here, I, Of.data() + size_t(I) * Keep);
    for (int I = 0; I < Count; ++I)
      Same &= Got[I] == aggregate(Here, Of.data(), Many.data(), I);
  }
  return Run.finish(Same, checksum(Got));
}
