//===- model/LaunchOrders.cpp - Orders of a launch's threads --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   Sorting, longest blocks first   of all threads
//   Greedy, Greedy-Max              of all threads, if they and their classes are
//                                   few; else
//     1. every 2^n-th thread block is a sample, n the least for which it is small
//     2. the algorithm groups the sample, which gives each of its classes a rank
//     3. each class of the launch takes the rank of the class of the sample with
//        which it gains most
//     4. threads come by rank, and of one rank by class and then by number, so
//        that equal threads stay together
//
// Step 3 compares all classes with those of the sample, on all cores.
//
//===----------------------------------------------------------------------===//

#include "model/LaunchOrders.h"

#include "model/BlockVectorTime.h"
#include "model/ClassRanks.h"
#include "model/Groupings.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <thread>
#include <tuple>

using llvm::ArrayRef;

namespace reconverge::model {

/// A launch that the algorithms can group as a whole in seconds.
static constexpr uint64_t MostThreads = 1 << 18;

static uint64_t threadsOf(const ThreadVectors &V) {
  uint64_t Sum = 0;
  for (const ThreadVectors::ThreadBlock &B : V.Blocks)
    Sum += B.ClassOf.size();
  return Sum;
}

static bool isFew(const ThreadVectors &V, uint64_t Threads) {
  return threadsOf(V) <= Threads &&
         (V.Classes.empty() ||
          V.Classes.size() * V.Classes.front().size() <= V.MaxCells);
}

/// Each \p Stride-th thread block of \p All, with classes of its own.
static ThreadVectors thinned(const ThreadVectors &All, size_t Stride) {
  ThreadVectors Sample;
  Sample.Launch = All.Launch;
  Sample.Shape = All.Shape;
  std::vector<uint32_t> Numbers(All.Classes.size(), UINT32_MAX);
  for (size_t At = 0; At < All.Blocks.size(); At += Stride) {
    ThreadVectors::ThreadBlock Block{All.Blocks[At].Number, {}};
    for (uint32_t Class : All.Blocks[At].ClassOf) {
      if (Numbers[Class] == UINT32_MAX) {
        Numbers[Class] = uint32_t(Sample.Classes.size());
        Sample.Classes.push_back(All.Classes[Class]);
      }
      Block.ClassOf.push_back(Numbers[Class]);
    }
    Sample.Blocks.push_back(std::move(Block));
  }
  return Sample;
}

static ThreadVectors sampleOf(const ThreadVectors &All) {
  size_t Stride = 1;
  ThreadVectors Sample = thinned(All, Stride);
  while (!isFew(Sample, ThreadVectors::MaxThreads) && Sample.Blocks.size() > 1)
    Sample = thinned(All, Stride *= 2);
  return Sample;
}

/// The nearest class of \p Sample for each of \p All.
static std::vector<uint32_t> nearestOfEach(const ThreadVectors &All,
                                           const ThreadVectors &Sample,
                                           ArrayRef<double> Latency) {
  std::vector<uint32_t> Nearest(All.Classes.size());
  const size_t Workers = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> Team;
  for (size_t Worker = 0; Worker != Workers; ++Worker)
    Team.emplace_back([&, Worker] {
      for (size_t C = Worker; C < Nearest.size(); C += Workers)
        Nearest[C] = nearestClass(Sample, All.Classes[C], Latency);
    });
  for (std::thread &One : Team)
    One.join();
  return Nearest;
}

/// All threads by \p RankOf their classes; equal threads stay together.
static std::vector<uint32_t> byRank(const ThreadVectors &All,
                                    ArrayRef<uint32_t> RankOf) {
  std::vector<uint32_t> Classes(All.Classes.size()), Places(Classes.size());
  std::iota(Classes.begin(), Classes.end(), 0);
  std::ranges::sort(Classes, {}, [&](uint32_t Class) {
    return std::tie(RankOf[Class], All.Classes[Class]);
  });
  for (size_t Place = 0; Place != Classes.size(); ++Place)
    Places[Classes[Place]] = uint32_t(Place);
  return orderByRank(All, Places, Places.size());
}

std::vector<LaunchOrder> ordersOf(const ThreadVectors &All,
                                  ArrayRef<double> Latency, unsigned WarpSize) {
  std::vector<LaunchOrder> Orders;
  Orders.push_back({"Sorting", sorted(All)});
  if (isFew(All, MostThreads)) {
    Orders.push_back({"Greedy", greedy(All, Latency, WarpSize)});
    Orders.push_back({"Greedy-Max", greedyMax(All, Latency, WarpSize)});
  } else {
    const ThreadVectors Sample = sampleOf(All);
    const std::vector<uint32_t> Nearest = nearestOfEach(All, Sample, Latency);
    const auto Add = [&](const char *Name, std::vector<uint32_t> Grouped) {
      const ClassRanks Ranks = classRanks(Sample, Grouped, WarpSize);
      std::vector<uint32_t> RankOf;
      for (uint32_t Class : Nearest)
        RankOf.push_back(Ranks[Class]);
      Orders.push_back({Name, byRank(All, RankOf)});
    };
    Add("Greedy", greedy(Sample, Latency, WarpSize));
    Add("Greedy-Max", greedyMax(Sample, Latency, WarpSize));
  }
  Orders.push_back(
      {"longest blocks first", longestBlocksFirst(All, Latency, WarpSize)});
  return Orders;
}

} // namespace reconverge::model
