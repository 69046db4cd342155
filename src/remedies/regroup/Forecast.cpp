//===- remedies/regroup/Forecast.cpp - What regrouping should gain --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gain: what block vectors, sorted over the grid, say of a branch (RecoverSlots
// in the grid, model/Regroup.h). Price, once a kernel: a pass of the sort takes
// 62 us for four million items on an H200, in which its 528 schedulers have 58
// million issue slots: 440 for a warp's items. Another pass pays for the keys and
// for scattered accesses.
//
// A kernel that ran on a GPU and took less time than its order would is left
// alone. Keys and one pass have taken some 25 ps an item there, with a place 45,
// and launches of nothing 10 and 20 us.
//
// Where launches repeat, with one order for many of them as well: 10 times, say,
// as programs take it to be before they know (launch/Launched.cpp). That their data
// stay much the same is not foreseen: a probe watches.
//
// Where what threads load before tells how long they take, as a fit to the counts
// says (model/Regression.h), by that: it may be known where no branch is.
//
// Which gather: of global loads, those that ask for the most sectors beyond what
// they need, as counted; without counts the code decides.
//
// Of a loop over the grid the iterations are sorted. A thread's vector says
// nothing of one, but there are many: all that idles behind a branch comes back.
//
// Limitation: what locality gains is not foreseen: a trial takes times.
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Forecast.h"

#include "core/Recipe.h"
#include "model/Model.h"
#include "model/Regression.h"
#include "remedies/common/Counted.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace reconverge::remedies::regroup {

static constexpr double SlotsOfPass = 440, Passes = 2;
/// Part of the kernel's slots that a branch gives back at least.
static constexpr double LeastGain = 0.02;
/// Part of its warps' time that an order by an estimate gives back at least.
static constexpr double LeastByEstimate = 0.05;
static constexpr size_t MostBranches = 3, MostGathers = 2;

/// Slots that an order over the grid gives back at branch \p B.
static double inGrid(const KernelProfile &K, const KernelCost &Cost,
                     uint32_t B) {
  return endOfGridLoop(K) ? Cost.Branches[B].LossSlots
                          : Cost.Branches[B].RecoverSlots.InGrid;
}

/// Branches that give enough back, the dearest first.
static SmallVector<uint32_t, 4> worthIt(const KernelProfile &K,
                                        const KernelCost &Cost) {
  SmallVector<uint32_t, 4> All;
  if (usesShared(K))
    return All;
  for (uint32_t B = 0; B != K.Branches.size(); ++B)
    if (K.Branches[B].Splits && !isByThread(K.Info.Branches[B]) &&
        !K.Info.Branches[B].EndsGridLoop &&
        inGrid(K, Cost, B) >= LeastGain * Cost.Slots)
      All.push_back(B);
  sort(All, [&](uint32_t A, uint32_t B) {
    return std::pair(-inGrid(K, Cost, A), A) <
           std::pair(-inGrid(K, Cost, B), B);
  });
  return All;
}

BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch) {
  const auto All = worthIt(K, Cost);
  if (!is_contained(All, Branch))
    return {};
  BranchBound Bound{inGrid(K, Cost, Branch), 0};
  if (Branch == All.front())
    Bound.Price = double(itemsOf(K)) / K.WarpSize * SlotsOfPass * Passes;
  return Bound;
}

/// Loads that gather, those with the most needless sectors first.
static SmallVector<uint32_t, 2> gathersOf(const KernelProfile &K) {
  SmallVector<uint32_t, 8> All;
  auto needless = [&](uint32_t A) {
    return K.Accesses[A].Sectors -
           std::min(K.Accesses[A].LeastSectors, K.Accesses[A].Sectors);
  };
  for (uint32_t A = 0; A != K.Accesses.size(); ++A)
    if (K.Info.Accesses[A].Use == MemoryUse::Load && needless(A) > 0)
      All.push_back(A);
  sort(All, [&](uint32_t A, uint32_t B) {
    return std::pair(needless(B), A) < std::pair(needless(A), B);
  });
  SmallVector<uint32_t, 2> Ids;
  for (uint32_t A : ArrayRef(All).take_front(MostGathers))
    Ids.push_back(K.Info.Accesses[A].Id);
  return Ids;
}

/// Whether \p K is known to be over before its threads were in order.
static bool isTooShort(const KernelProfile &K, double Launching,
                       double OfThread) {
  const double Launches = double(std::max<uint64_t>(K.Launches, 1));
  return K.OnGpu && K.Seconds / Launches <
                        Launching + OfThread * double(itemsOf(K)) / Launches;
}

std::vector<std::string> guess(const KernelProfile &K) {
  return guess(K, model::costOf(K));
}

/// Whether most launches of \p K are like earlier ones, so often that an order
/// pays for itself over them.
static bool repeats(const KernelProfile &K) {
  constexpr size_t MostKnown = 8; // of shapes; there may be more then
  return K.Shapes.size() < MostKnown &&
         double(K.Launches) >= RecipeReuse::UsesAtFirst *
                                   double(std::max<size_t>(K.Shapes.size(), 1));
}

std::vector<std::string> guess(const KernelProfile &K, const KernelCost &Cost) {
  const auto All = worthIt(K, Cost);
  std::vector<std::string> Ways;
  const double Share = repeats(K) ? 1 / RecipeReuse::UsesAtFirst : 1;
  // An order for each launch, and one for several.
  const auto Add = [&](const std::string &Way, double Launching,
                       double OfThread) {
    if (!isTooShort(K, Launching, OfThread))
      Ways.push_back(Way);
    if (Share < 1 && !isTooShort(K, Share * Launching, Share * OfThread))
      Ways.push_back(Way + ";reuse=on");
  };
  if (All.empty())
    return Ways;
  std::string By;
  for (uint32_t B : ArrayRef(All).take_front(MostBranches))
    By += (By.empty() ? "branch=" : ";branch=") +
          std::to_string(K.Info.Branches[B].Id);
  Add(By, 10e-6, 25e-12);
  for (uint32_t Gather : gathersOf(K))
    Add(By + ";locality=12;gather=" + std::to_string(Gather), 20e-6, 45e-12);
  if (const auto F = model::estimateFor(K, /*Test=*/nullptr)) {
    double Gain = 0;
    const std::string Best = textOfBest(*F, Gain);
    if (Gain >= LeastByEstimate)
      Add(Best, 20e-6, 45e-12);
  }
  return Ways;
}

} // namespace reconverge::remedies::regroup
