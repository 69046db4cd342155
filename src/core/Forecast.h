//===- core/Forecast.h - What a remedy should gain --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_FORECAST_H
#define RECONVERGE_CORE_FORECAST_H

#include "core/PathTree.h"
#include "core/Profile.h"
#include "core/Schedule.h"
#include "core/Units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reconverge {

/// Of one candidate on one kernel, from counts of the kernel as it is: nothing
/// was built.
struct Forecast {
  std::string Remedy; ///< as in Remedies.def, or "sort"
  /// Of the candidate; none: of all that the remedy has, as nothing tells them
  /// apart.
  std::optional<std::string> Parameters = {};
  bool ByHand = false; ///< `optimize` does not try it
  double Speedup = 1;  ///< of the kernel, x
  /// If the remedy gives nothing back and its price is paid, or all that is
  /// lost, for nothing; and as far off as forecasts are.
  double Low = 1, High = 1;
};

/// What warps keep busy over all launches, by machine code: cycles of pipes, and of
/// warps' chains with the loads in these, as in Demand.
struct MachineWork {
  PipeCycles Busy = {};
  double PathCycles = 0, PathLoads = 0;
};

/// What a candidate's code asks for besides what it gives back, over all
/// launches. Below zero: it asks for less.
struct AddedWork {
  double Slots = 0;          ///< issue slots
  double PathCycles = 0;     ///< of warps' chains, as in Demand
  double Wavefronts = 0;     ///< of the first cache and shared memory
  double Requests = 0;       ///< of warps to memory
  double LoadSectors = 0;    ///< of global memory
  double StoreSectors = 0;   ///< the same, and of atomics
  double FirstSectors = 0;   ///< of LoadSectors: the first of a thread block
  uint64_t StaticShared = 0; ///< bytes a thread block
  int Registers = 0;         ///< of a thread, where ptxas counted them
  bool ChainsStay = false;   ///< as long as they are, but for PathCycles
  double ApartLoads = 0, Apart = 1; ///< as in Demand
  double Seconds = 0;               ///< of other launches before the kernel's
  /// In place of what slots come back, and of Slots and PathCycles: of the
  /// candidate's own code, where that is known.
  std::optional<MachineWork> Machine = {};
};

/// What the code of a kernel tells of one candidate, beside counts.
struct Foreseen {
  std::string Remedy;     ///< as in Remedies.def
  std::string Parameters; ///< of the candidate
  /// By branch: issue slots that come back.
  std::vector<double> Slots = {};
  /// In place of the price that the remedy's rule has; none: that holds, and no
  /// more comes back at a branch than the rule's bound.
  std::optional<AddedWork> Added = {};
  /// It will be refused, and say itself why: there is nothing to forecast.
  bool IsRefused = false;
};

using Forecasts = std::vector<Forecast>;

/// What one launch of a kernel gains if its threads are dealt out anew over the
/// grid, before any price: by each of the algorithms of Liang et al., and if its
/// thread blocks come in another order.
struct GroupingForecasts {
  struct Grouping {
    /// "Sorting", "Greedy", "Greedy-Max", "longest blocks first"
    std::string Algorithm;
    /// 1 - T/T0 by both metrics, below 0 if it loses. Scheduled is 0 if not one
    /// thread block fits on a multiprocessor.
    BlockVectorTimes Improvement;
  };
  uint64_t Launch = 0;               ///< of the kernel, from 1
  uint64_t Threads = 0, Sampled = 0; ///< of the launch, and those regrouped
  uint64_t Classes = 0; ///< of threads that did the same, in the sample
  std::vector<Grouping> By;
};

/// What a thread of a kernel will take, as a sum of weighted features.
struct Estimate {
  double Base = 0, PerThread = 0; ///< cycles; and for each number of a thread
  std::vector<double> PerUnit; ///< parallel to ThreadVectors::Loads; 0: unused
};

/// How good a source of an order is, on threads that it was not fitted to.
struct OrderQuality {
  /// Part of the variance of what threads take that it explains; at most 1, and
  /// below 0 where the mean were the better estimate. 0 where none vary.
  double R2 = 0;
  /// Of the threads of a warp in its order, those that belong to its most frequent
  /// class of time (model/ThreadRows.h), of all threads: 0 to 1.
  double Purity = 0;
  /// 1 - T/T0 by the weighted metric.
  double Gain = 0;
};

/// What tells how long threads of a kernel take, and how well.
struct EstimateForecast {
  std::vector<uint32_t> Loads;     ///< by number; what may tell
  uint64_t Fitted = 0, Tested = 0; ///< threads
  Estimate Sum;                    ///< parallel to Loads
  PathTree Tree;                   ///< empty: nothing to ask
  OrderQuality BySum, ByTree;
  std::optional<OrderQuality>
      ByNet,            ///< trained on what the others are fitted to
      ByTiles;          ///< as tensor cores compute it (core/TensorNet.h)
  std::string WhyNoNet; ///< if it was tried and could not be
  OrderQuality AsItIs;  ///< threads in their own order; its R2 is 0
  OrderQuality ByTime;  ///< in the order of what they took: the best there is
};

/// Where the feature \p Number of \p K stands, "app.cu:12"; empty: not known.
std::string placeOfFeature(const KernelInfo &K, uint32_t Number);

/// The parameters of regrouping by the sum of \p F, "estimate=17:0.5;estimate=base:40",
/// and by its tree, "tree=17:0.5/100/200"; empty where it tells nothing.
std::string textOfSum(const EstimateForecast &F);
std::string textOfTree(const EstimateForecast &F);
/// Those of which more is gained, by \p Gain; of equals the sum.
std::string textOfBest(const EstimateForecast &F, double &Gain);

} // namespace reconverge

#endif
