//===- model/Forecast.cpp - What remedies should gain ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A remedy's rule says for each branch how many issue slots it may give back
// and how many it costs. With S the kernel's slots, G and C the sums over its
// branches, the kernel keeps
//
//   s = 1 - (G - C) / S
//
// of its instructions; where the code is at hand, a remedy that can tell from it
// what comes back gives less than G. Sectors and wavefronts stay. The model makes time of
// both (SlotShare.cpp):
//
//   forecast = T(1) / T(s)
//
// At most all of G comes back and nothing is paid: T(1) / T(1 - G/S). At least
// nothing comes back and C is paid: T(1) / T(1 + C/S). A grouping by hand has
// no price that is known, so its least is 1.
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

#include <algorithm>
#include <numeric>

namespace reconverge::model {

Forecasts forecastsOf(const KernelProfile &K, const KernelCost &Cost,
                      std::span<const RemedyRule> Rules,
                      const analysis::MachineLimits &Limits,
                      std::span<const Foreseen> ByCode) {
  if (!timeOf(demandOf(K), Limits).isKnown())
    return {};
  const SlotShare Share(K, Cost.Slots, &Limits);
  Forecasts All;
  for (const RemedyRule &Rule : Rules) {
    const auto Plan =
        std::ranges::find(ByCode, Rule.Words.Name, &Foreseen::Remedy);
    double Gain = 0, Price = 0, Likely = 0;
    for (uint32_t B : Cost.Order) {
      const BranchBound Here = Rule.BoundAt(K, Cost, B);
      if (Here.Gain <= 0)
        continue;
      const double Most = std::min(Here.Gain, Cost.Branches[B].SelfSlots);
      Gain += Most;
      Likely += Plan == ByCode.end() ? Most : std::min(Most, Plan->Slots[B]);
      Price += Here.Price;
    }
    if (Gain <= 0)
      continue;
    All.push_back({Rule.Words.Name, Rule.Words.ByHand,
                   Share.gain(Likely - Price), Share.gain(-Price),
                   Share.gain(Gain)});
  }
  if (Cost.RecoverSlots.InGrid > 0) {
    Forecast ByHand{"sort", /*ByHand=*/true};
    ByHand.Speedup = ByHand.High = Share.gain(Cost.RecoverSlots.InGrid);
    All.push_back(std::move(ByHand));
  }
  std::ranges::sort(All, {}, [](const Forecast &F) {
    return std::pair(-F.Speedup, F.Remedy);
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
