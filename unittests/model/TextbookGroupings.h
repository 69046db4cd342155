//===- unittests/model/TextbookGroupings.h - As printed ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The algorithms of Liang et al. (src/model/Groupings.h), thread by thread, for up
// to a few thousand. Two things are put right: Greedy also gives out what
// is left when no more groups can be full, and Greedy-Max's search for the greatest
// gain, which may be below 0, starts below all.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_UNITTESTS_TEXTBOOKGROUPINGS_H
#define RECONVERGE_UNITTESTS_TEXTBOOKGROUPINGS_H

#include "core/Vectors.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

namespace reconverge {

/// Block vectors, a thread a row.
using Rows = std::vector<std::vector<uint32_t>>;

/// A thread a row, in thread blocks of \p BlockThreads.
inline ThreadVectors vectorsOf(const Rows &Threads, uint32_t BlockThreads) {
  ThreadVectors V;
  V.Launch = 1;
  V.Shape.Block = {BlockThreads, 1, 1};
  V.Shape.Grid = {uint32_t(Threads.size()) / BlockThreads, 1, 1};
  std::map<std::vector<uint32_t>, uint32_t> Classes;
  for (uint32_t T = 0; T != Threads.size(); ++T) {
    auto [Class, IsNew] =
        Classes.try_emplace(Threads[T], uint32_t(V.Classes.size()));
    if (IsNew)
      V.Classes.push_back(Threads[T]);
    if (T % BlockThreads == 0)
      V.Blocks.push_back({T / BlockThreads, {}});
    V.Blocks.back().ClassOf.push_back(Class->second);
  }
  return V;
}

namespace textbook {

using Latencies = std::vector<double>;
using Order = std::vector<uint32_t>;
inline constexpr double BelowAll = -std::numeric_limits<double>::infinity();

struct Group {
  Order Threads;
  std::vector<uint32_t> Min, Max; ///< (6), (7)
};

inline Group groupOf(const Rows &Threads, const Order &Of) {
  Group G = {Of, Threads[Of[0]], Threads[Of[0]]};
  for (uint32_t T : Of)
    for (size_t B = 0; B != G.Min.size(); ++B) {
      G.Min[B] = std::min(G.Min[B], Threads[T][B]);
      G.Max[B] = std::max(G.Max[B], Threads[T][B]);
    }
  return G;
}

inline double gain(const Group &G, const Group &H, const Latencies &Latency) {
  double Benefit = 0, Cost = 0; // (8), (9)
  for (size_t B = 0; B != Latency.size(); ++B) {
    const double Min = std::min(G.Min[B], H.Min[B]);
    Benefit += Latency[B] * Min;
    Cost += Latency[B] * (std::max(G.Max[B], H.Max[B]) - Min);
  }
  return Benefit - Cost;
}

inline double timeOf(const Group &G, const Latencies &Latency) {
  return std::inner_product(Latency.begin(), Latency.end(), G.Max.begin(), 0.0);
}

inline Order allOf(const Rows &Threads) {
  Order All(Threads.size());
  std::iota(All.begin(), All.end(), 0);
  return All;
}

/// Section V-A.
inline Order sorted(const Rows &Threads) {
  Order All = allOf(Threads);
  std::ranges::sort(All, [&](uint32_t A, uint32_t B) {
    return std::tie(Threads[A], A) < std::tie(Threads[B], B);
  });
  return All;
}

/// Algorithm 1, with what src/model/Groupings.cpp says of threads that stay
/// behind. Groups come in the order in which they are full. Each keeps its best
/// edge to a later one, so that only edges that merging made new are looked at.
inline Order greedy(const Rows &Threads, const Latencies &Latency,
                    size_t GroupSize) {
  struct Edge {
    double Gain = BelowAll;
    size_t To = 0;
  };
  std::vector<Group> G;
  std::vector<Edge> Best;
  std::vector<bool> IsGone;
  const auto Consider = [&](size_t I, size_t J) {
    if (const double This = gain(G[I], G[J], Latency); This > Best[I].Gain)
      Best[I] = {This, J};
  };
  const auto Insert = [&](const Order &Of) {
    G.push_back(groupOf(Threads, Of));
    Best.emplace_back();
    IsGone.push_back(false);
    for (size_t I = 0; I + 1 != G.size(); ++I)
      if (!IsGone[I])
        Consider(I, G.size() - 1);
  };
  for (uint32_t T : allOf(Threads))
    Insert({T});
  Order Out;
  while (true) {
    size_t M = G.size();
    for (size_t I = 0; I != G.size(); ++I)
      if (!IsGone[I] &&
          Best[I].Gain > (M == G.size() ? BelowAll : Best[M].Gain))
        M = I;
    if (M == G.size())
      break; // one is left at most
    const size_t N = Best[M].To;
    const bool Later = timeOf(G[N], Latency) > timeOf(G[M], Latency);
    Order Both = G[Later ? N : M].Threads;
    const Order &Rest = G[Later ? M : N].Threads;
    Both.insert(Both.end(), Rest.begin(), Rest.end());
    IsGone[M] = IsGone[N] = true;
    for (size_t I = 0; I != G.size(); ++I)
      if (!IsGone[I] && (Best[I].To == M || Best[I].To == N)) {
        Best[I] = {};
        for (size_t J = I + 1; J != G.size(); ++J)
          if (!IsGone[J])
            Consider(I, J);
      }
    if (Both.size() >= GroupSize) {
      Out.insert(Out.end(), Both.begin(), Both.begin() + GroupSize);
      Both.erase(Both.begin(), Both.begin() + GroupSize);
    }
    if (!Both.empty())
      Insert(Both);
  }
  for (size_t I = 0; I != G.size(); ++I)
    if (!IsGone[I])
      Out.insert(Out.end(), G[I].Threads.begin(), G[I].Threads.end());
  return Out;
}

/// Algorithm 2.
inline Order greedyMax(const Rows &Threads, const Latencies &Latency,
                       size_t GroupSize) {
  auto LatencyOf = [&](uint32_t T) { // (11)
    return std::inner_product(Latency.begin(), Latency.end(),
                              Threads[T].begin(), 0.0);
  };
  Order Left = allOf(Threads), Out;
  while (!Left.empty()) {
    auto Taken = std::ranges::max_element(Left, {}, LatencyOf);
    Group G = groupOf(Threads, {*Taken});
    Left.erase(Taken);
    while (G.Threads.size() < GroupSize && !Left.empty()) {
      double Most = BelowAll;
      auto Next = Left.begin();
      for (auto T = Left.begin(); T != Left.end(); ++T) {
        if (std::ranges::any_of(G.Threads, [&](uint32_t J) {
              return Threads[J] == Threads[*T];
            })) {
          Next = T;
          break;
        }
        const double This = gain(G, groupOf(Threads, {*T}), Latency);
        if (This > Most) {
          Most = This;
          Next = T;
        }
      }
      G.Threads.push_back(*Next);
      G = groupOf(Threads, G.Threads);
      Left.erase(Next);
    }
    Out.insert(Out.end(), G.Threads.begin(), G.Threads.end());
  }
  return Out;
}

} // namespace textbook
} // namespace reconverge

#endif
