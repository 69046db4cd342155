//===- benchmarks/kernels/edges/edges.cu - A thread a vertex --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph in compressed rows, a thread a vertex, which goes through its edges:
//
//   step=0   y = A x: adds up what its neighbours have
//   step=1   a round of shortest paths: tells its neighbours their distance by
//            way of it, by atomicMin
//
// Vertices have degrees by a power law, P(n) ~ n^-2.2, from `least` up to
// `spread` times that, in no order; with even=1 all have as many, and no lane
// waits for another. Numbers are small and whole, so that sums are exact in
// whatever order.
//
// By hand:
//   rows     a warp takes the rows of its 32 vertices one after the other, a lane
//            an edge ("vector CSR")
//   dealt    a warp takes the edges of its 32 vertices 32 at a time; whose an
//            edge is, is found by bisection in the sums of the degrees
//
//===----------------------------------------------------------------------===//
#include "../common/ways.h"

#include <algorithm>
#include <cmath>

constexpr int Threads = 128;
constexpr unsigned All = ~0u;

/// With -DROLLED no compiler makes copies of the loop over edges. Shared, it
/// is the copies that go to lanes, and the rest of a row is not shared.
#ifdef ROLLED
#define UNROLL _Pragma("unroll 1")
#else
#define UNROLL
#endif

__global__ void __launch_bounds__(Threads)
    product(const int *__restrict__ Starts, const int *__restrict__ Columns,
            const float *__restrict__ Values, const float *__restrict__ X,
            float *__restrict__ Y, int Vertices) {
  const int V = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (V >= Vertices)
    return;
  float Sum = 0;
  const int End = Starts[V + 1];
  UNROLL for (int E = Starts[V]; E < End; ++E) Sum =
      fmaf(Values[E], X[Columns[E]], Sum);
  Y[V] = Sum;
}

__global__ void __launch_bounds__(Threads)
    relax(const int *__restrict__ Starts, const int *__restrict__ Columns,
          const int *__restrict__ Lengths, const int *__restrict__ Distance,
          int *__restrict__ Next, int Vertices) {
  const int V = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (V >= Vertices)
    return;
  const int End = Starts[V + 1], Here = Distance[V];
  UNROLL for (int E = Starts[V]; E < End; ++E)
      atomicMin(&Next[Columns[E]], Here + Lengths[E]);
}

#ifndef ONLY_PLAIN
/// What a warp that takes its vertices' edges does with each.
struct Adding {
  const float *Values, *X;
  float *Y;
  const int *Columns;
  __device__ float own(int) const { return 0; }
  __device__ float edge(float, int E) const {
    return Values[E] * X[Columns[E]];
  }
  __device__ void behind(int V, float Sum) const { Y[V] = Sum; }
};
struct Telling {
  const int *Columns, *Lengths, *Distance;
  int *Next;
  __device__ float own(int V) const { return __int_as_float(Distance[V]); }
  __device__ float edge(float Here, int E) const {
    atomicMin(&Next[Columns[E]], __float_as_int(Here) + Lengths[E]);
    return 0;
  }
  __device__ void behind(int, float) const {}
};

template <typename Work>
__global__ void __launch_bounds__(Threads)
    rows(const int *Starts, Work W, int Vertices) {
  const int V = int(blockIdx.x * blockDim.x + threadIdx.x),
            Lane = int(threadIdx.x % 32);
  const bool Has = V < Vertices;
  const int Begin = Has ? Starts[V] : 0, End = Has ? Starts[V + 1] : 0;
  const float Own = Has ? W.own(V) : 0;
  float Mine = 0;
  for (int Of = 0; Of < 32; ++Of) {
    const int To = __shfl_sync(All, End, Of);
    const float Here = __shfl_sync(All, Own, Of);
    float Sum = 0;
    for (int E = __shfl_sync(All, Begin, Of) + Lane; E < To; E += 32)
      Sum += W.edge(Here, E);
    for (int By = 16; By; By /= 2)
      Sum += __shfl_xor_sync(All, Sum, By);
    Mine = Lane == Of ? Sum : Mine;
  }
  if (Has)
    W.behind(V, Mine);
}

template <typename Work>
__global__ void __launch_bounds__(Threads)
    dealt(const int *Starts, Work W, int Vertices) {
  const int V = int(blockIdx.x * blockDim.x + threadIdx.x),
            Lane = int(threadIdx.x % 32);
  const bool Has = V < Vertices;
  const int Begin = Has ? Starts[V] : 0,
            Count = Has ? Starts[V + 1] - Begin : 0;
  const float Own = Has ? W.own(V) : 0;
  int To = Count; // of all lanes up to this
  for (int By = 1; By < 32; By *= 2) {
    const int Below = __shfl_up_sync(All, To, By);
    To += Lane >= By ? Below : 0;
  }
  const int From = To - Count, Total = __shfl_sync(All, To, 31);
  float Mine = 0;
  for (int Base = 0; Base < Total; Base += 32) {
    const int K = Base + Lane;
    int Of = 0;
    for (int By = 16; By; By /= 2)
      Of += __shfl_sync(All, To, Of + By - 1) > K ? 0 : By;
    const int E = __shfl_sync(All, Begin, Of) + K - __shfl_sync(All, From, Of);
    const float Here = __shfl_sync(All, Own, Of);
    const int Last = min(__shfl_sync(All, To, Of) - Base, 32) - 1;
    float Sum = K < Total ? W.edge(Here, E) : 0;
    for (int By = 1; By < 32; By *= 2) {
      const float Above = __shfl_down_sync(All, Sum, By);
      Sum += Lane + By <= Last ? Above : 0;
    }
    const int First = max(From - Base, 0);
    const float Got = __shfl_sync(All, Sum, First & 31);
    Mine += First < min(To - Base, 32) ? Got : 0;
  }
  if (Has)
    W.behind(V, Mine);
}
#endif

/// The graph in the host's memory.
struct Graph {
  std::vector<int> Starts{0}, Columns, Lengths;
  Graph(Random &Draw, int Vertices, int Least, int Spread, bool Even) {
    for (int V = 0; V < Vertices; ++V) {
      // P(degree > n) = (least / n)^1.2.
      const double U = 1 - double(Draw.uniform());
      const double Drawn = Least * std::pow(U, -1 / 1.2);
      const int Degree =
          Even ? 4 * Least : int(std::min(Drawn, double(Spread) * Least));
      Starts.push_back(Starts.back() + Degree);
      for (int N = 0; N < Degree; ++N) {
        const uint32_t Bits = Draw.bits();
        const int Near = V + int(Bits >> 2 & 1023) - 512;
        const bool IsNear = Bits & 3 && Near >= 0 && Near < Vertices;
        Columns.push_back(IsNear ? Near : int(Draw.below(uint32_t(Vertices))));
        Lengths.push_back(int(Bits >> 20 & 15) + 1);
      }
    }
  }
};

int main(int argc, char **argv) {
  Bench Run(argc, argv, "edges");
  const int Vertices = int(Run.integer("vertices", 20000, 1, 1 << 24));
  const int Least = int(Run.integer("least", 3, 1, 64));
  const int Spread = int(Run.integer("spread", 256, 1, 1024));
  const bool Tells = Run.integer("step", 0, 0, 1);
  const bool Even = Run.integer("even", 0, 0, 1);
  const long Form = Run.integer("form", 0, 0, 3);
  Run.ready();

  Random Draw = Run.random();
  const Graph Host(Draw, Vertices, Least, Spread, Even);
  std::vector<float> Values(Host.Lengths.begin(), Host.Lengths.end()), X;
  std::vector<int> Distances;
  for (int V = 0; V < Vertices; ++V) {
    X.push_back(float(Draw.below(16)));
    Distances.push_back(int(Draw.below(1000)));
  }
  DeviceArray<int> Starts(Host.Starts), Columns(Host.Columns),
      Lengths(Host.Lengths), Distance(Distances), Next(Distances);
  DeviceArray<float> Weights(Values), In(X), Y{std::vector<float>(Vertices)};
  const int Blocks = (Vertices + Threads - 1) / Threads;

  if (Tells) {
    std::vector<Way> Ways = {{"plain", (const void *)relax, Threads, [&] {
                                relax<<<Blocks, Threads>>>(Starts, Columns,
                                                           Lengths, Distance,
                                                           Next, Vertices);
                              }}};
#ifndef ONLY_PLAIN
    const Telling W{Columns, Lengths, Distance, Next};
    Ways.push_back({"rows", (const void *)rows<Telling>, Threads,
                    [&] { rows<<<Blocks, Threads>>>(Starts, W, Vertices); }});
    Ways.push_back({"dealt", (const void *)dealt<Telling>, Threads,
                    [&] { dealt<<<Blocks, Threads>>>(Starts, W, Vertices); }});
#endif
    return runWays(
        Run, Ways, std::min(Form, long(Ways.size())),
        [&] { Next.set(Distances); }, [&] { return Next.get(); },
        [&](const std::vector<int> &Got) {
          std::vector<int> Right = Distances;
          for (int V = 0; V < Vertices; ++V)
            for (int E = Host.Starts[V]; E < Host.Starts[V + 1]; ++E)
              Right[Host.Columns[E]] = std::min(Right[Host.Columns[E]],
                                                Distances[V] + Host.Lengths[E]);
          return Got == Right;
        });
  }
  std::vector<Way> Ways = {{"plain", (const void *)product, Threads, [&] {
                              product<<<Blocks, Threads>>>(
                                  Starts, Columns, Weights, In, Y, Vertices);
                            }}};
#ifndef ONLY_PLAIN
  const Adding W{Weights, In, Y, Columns};
  Ways.push_back({"rows", (const void *)rows<Adding>, Threads,
                  [&] { rows<<<Blocks, Threads>>>(Starts, W, Vertices); }});
  Ways.push_back({"dealt", (const void *)dealt<Adding>, Threads,
                  [&] { dealt<<<Blocks, Threads>>>(Starts, W, Vertices); }});
#endif
  return runWays(
      Run, Ways, std::min(Form, long(Ways.size())), [&] { Y.clear(); },
      [&] { return Y.get(); },
      [&](const std::vector<float> &Got) {
        std::vector<float> Right;
        for (int V = 0; V < Vertices; ++V) {
          float Sum = 0;
          for (int E = Host.Starts[V]; E < Host.Starts[V + 1]; ++E)
            Sum += Values[E] * X[Host.Columns[E]];
          Right.push_back(Sum);
        }
        return Got == Right;
      });
}
