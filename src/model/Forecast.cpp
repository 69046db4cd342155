//===- model/Forecast.cpp - What remedies should gain ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A remedy's rule says for each branch how many issue slots it may give back
// and how many it costs. With S the kernel's slots, G and C the sums over its
// branches, the kernel keeps
//
//   s = 1 - (G - C) / S
//
// of its instructions. Where the code is at hand, a remedy may tell of each of
// its candidates what comes back at most of G, and what the candidate's code
// adds or saves besides (AddedWork), which goes before C. The model makes time
// of both (SlotShare.cpp):
//
//   forecast = T(1) / T(s)
//
// At most all of G comes back and nothing is paid: T(1) / T(1 - G/S). At least
// nothing comes back and C is paid: T(1) / T(1 + C/S). A grouping by hand has
// no price that is known, so its least is 1. Around both ends lies what
// forecasts are usually off by (UsualForecastError): the machine code of what is
// not built, and what memory then does, is not known.
//
// Selves of branches add up to at most what idles, so G is capped by them.
//
//===----------------------------------------------------------------------===//

#include "model/Forecast.h"

#include "model/BlockVectorTime.h"
#include "model/Demand.h"
#include "model/Groupings.h"
#include "model/SlotShare.h"
#include "model/Time.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace reconverge::model {

namespace {
/// What a remedy may give back and costs, as its rule has it.
struct BoundSum {
  double Gain = 0, Price = 0;
  std::vector<double> ByBranch; ///< of Gain
};
} // namespace

static BoundSum boundOf(const KernelProfile &K, const KernelCost &Cost,
                        const RemedyRule &Rule) {
  BoundSum Sum;
  Sum.ByBranch.resize(Cost.Branches.size());
  for (uint32_t B : Cost.Order) {
    const BranchBound Here = Rule.BoundAt(K, Cost, B);
    if (Here.Gain <= 0)
      continue;
    Sum.ByBranch[B] = std::min(Here.Gain, Cost.Branches[B].SelfSlots);
    Sum.Gain += Sum.ByBranch[B];
    Sum.Price += Here.Price;
  }
  return Sum;
}

/// None: the candidate is refused, or finds nothing.
static std::optional<Forecast> forecastOf(const RemedyRule &Rule,
                                          const BoundSum &Most,
                                          const Foreseen &Code,
                                          const SlotShare &Share) {
  if (Code.IsRefused)
    return std::nullopt;
  Forecast F{Rule.Words.Name, Code.Parameters, Rule.Words.ByHand};
  if (Code.Added) {
    const double Back =
        std::accumulate(Code.Slots.begin(), Code.Slots.end(), 0.0);
    F.Speedup = Share.gain(Back, *Code.Added);
    F.Low = Share.gain(0, *Code.Added);
    F.High = Share.gain(std::max(Back, Most.Gain));
    return F;
  }
  if (Most.Gain <= 0)
    return std::nullopt;
  double Back = 0;
  for (auto [Bound, Told] : llvm::zip_equal(Most.ByBranch, Code.Slots))
    Back += std::min(Bound, Told);
  F.Speedup = Share.gain(Back - Most.Price);
  F.Low = Share.gain(-Most.Price);
  F.High = Share.gain(Most.Gain);
  return F;
}

Forecasts forecastsOf(const KernelProfile &K, const KernelCost &Cost,
                      std::span<const RemedyRule> Rules,
                      const analysis::MachineLimits &Limits,
                      std::span<const Foreseen> ByCode) {
  if (!timeOf(demandOf(K), Limits).isKnown())
    return {};
  const SlotShare Share(K, Cost.Slots, &Limits);
  Forecasts All;
  for (const RemedyRule &Rule : Rules) {
    const BoundSum Most = boundOf(K, Cost, Rule);
    bool IsTold = false;
    for (const Foreseen &Code : ByCode)
      if (Code.Remedy == Rule.Words.Name) {
        IsTold = true;
        if (auto F = forecastOf(Rule, Most, Code, Share))
          All.push_back(std::move(*F));
      }
    if (!IsTold && Most.Gain > 0)
      All.push_back({Rule.Words.Name, std::nullopt, Rule.Words.ByHand,
                     Share.gain(Most.Gain - Most.Price),
                     Share.gain(-Most.Price), Share.gain(Most.Gain)});
  }
  if (Cost.RecoverSlots.InGrid > 0) {
    Forecast ByHand{"sort", std::nullopt, /*ByHand=*/true};
    ByHand.Speedup = ByHand.High = Share.gain(Cost.RecoverSlots.InGrid);
    All.push_back(std::move(ByHand));
  }
  for (Forecast &F : All) {
    F.Low = std::min(F.Low, F.Speedup) / UsualForecastError;
    F.High = std::max(F.High, F.Speedup) * UsualForecastError;
  }
  std::ranges::sort(All, {}, [](const Forecast &F) {
    return std::tuple(-F.Speedup, F.Remedy, F.Parameters);
  });
  return All;
}

std::optional<GroupingForecasts>
groupingForecastsOf(const KernelProfile &K,
                    const analysis::MachineLimits &Limits) {
  const ThreadVectors &V = K.Vectors;
  std::vector<double> Latency;
  for (const BlockInfo &B : K.Info.Blocks)
    Latency.push_back(B.Latency);
  GroupingForecasts All;
  All.Launch = V.Launch;
  All.Threads = V.Shape.blocks() * V.Shape.blockThreads();
  for (const ThreadVectors::ThreadBlock &B : V.Blocks)
    All.Sampled += B.ClassOf.size();
  All.Classes = V.Classes.size();
  std::vector<uint32_t> AsTheyAre(All.Sampled);
  std::iota(AsTheyAre.begin(), AsTheyAre.end(), 0);
  const std::optional<BlockVectorTimes> Now =
      blockVectorTimes(K, Limits, AsTheyAre);
  if (!Now || AsTheyAre.empty())
    return std::nullopt;
  const auto Add = [&](const char *Algorithm, ThreadOrder Order) {
    All.By.push_back(
        {Algorithm, improvement(*Now, *blockVectorTimes(K, Limits, Order))});
  };
  Add("Sorting", sorted(V));
  Add("Greedy", greedy(V, Latency, K.WarpSize));
  Add("Greedy-Max", greedyMax(V, Latency, K.WarpSize));
  Add("longest blocks first", longestBlocksFirst(V, Latency, K.WarpSize));
  return All;
}

} // namespace reconverge::model
