//===- remedies/regroup/Forecast.cpp - What regrouping should gain --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gain: what block vectors, sorted over the grid, say of a branch (RecoverSlots
// in the grid, model/Regroup.h), whatever decides it: threads whose number alone
// decides, with several kinds in each warp, are in no order either. Of a candidate
// whose code is at hand, only branches that its key knows.
//
// Price, as counts alone tell, once a kernel: a pass of the sort takes 62 us for
// four million items on an H200, in which its 528 schedulers have 58 million
// issue slots: 440 for a warp's items. Another pass pays for the keys and for
// scattered accesses. Where the code is at hand, keys are what is left of each
// block in their kernel, and the sort is in time.
//
// A kernel that ran on a GPU and took less time than its order would is left
// alone. Keys and one pass have taken some 25 ps an item there, with a place 45,
// and launches of nothing 10 and 20 us. Within windows, where two launches do and
// no key is read again, 10 ps and 5 us are supposed.
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
// Threads that share a warp by the order are of one class, in their own order: of a
// class of the part f of all threads, neighbours are 1 / f apart. What s sectors a
// lane served, had no lane idled, takes the fewer of s / f and a sector for each
// lane (common/Mixing.h), but for what all threads of the grid read at one
// address. Classes are of the threads whose block vectors are known, by how often
// they come to either side of the branches. By an estimate neighbours are anywhere.
//
// Limitation: what locality gains is not foreseen, nor what it takes to copy rows:
// a trial takes times.
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Forecast.h"

#include "analysis/Costs.h"
#include "analysis/Numbering.h"
#include "core/Recipe.h"
#include "model/Model.h"
#include "model/Regression.h"
#include "model/Slots.h"
#include "remedies/common/Counted.h"
#include "remedies/common/Mixing.h"
#include "remedies/regroup/Options.h"
#include "remedies/regroup/Regroup.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"

#include <map>

using namespace llvm;

namespace reconverge::remedies::regroup {

static constexpr double SlotsOfPass = 440, Passes = 2;

namespace {
/// What it takes to put threads in order, in seconds.
struct SortTime {
  double Launching; ///< launches of nothing
  double OfThread;
};
} // namespace
static constexpr SortTime ByClass = {10e-6, 25e-12}, ByPlace = {20e-6, 45e-12},
                          InWindow = {5e-6, 10e-12};

/// Part of the kernel's slots that a branch gives back at least.
static constexpr double LeastGain = 0.02;
/// Part of its warps' time that an order by an estimate gives back at least.
static constexpr double LeastByEstimate = 0.05;
static constexpr size_t MostBranches = 8, MostGathers = 2;

/// Slots that an order over the grid gives back at branch \p B. At one that
/// the thread's number decides, only there: it is often a guard around others.
static double inGrid(const KernelProfile &K, const KernelCost &Cost,
                     uint32_t B) {
  const BranchCost &C = Cost.Branches[B];
  const double Gain = endOfGridLoop(K) ? C.LossSlots : C.RecoverSlots.InGrid;
  return isByThread(K.Info.Branches[B]) ? std::min(Gain, C.SelfSlots) : Gain;
}

/// Branches that give enough back, the dearest first.
static SmallVector<uint32_t, 4> worthIt(const KernelProfile &K,
                                        const KernelCost &Cost) {
  SmallVector<uint32_t, 4> All;
  if (usesShared(K))
    return All;
  for (uint32_t B = 0; B != K.Branches.size(); ++B)
    if (K.Branches[B].Splits && !K.Info.Branches[B].EndsGridLoop &&
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

/// Whether threads seem to go through rows that lie side by side (Rows.h): each
/// often runs accesses whose lanes are near each other.
static bool seemsInRows(const KernelProfile &K) {
  constexpr double Often = 16;
  double Lanes = 0;
  for (auto [Info, C] : zip(K.Info.Accesses, K.Accesses)) {
    const double Requests = double(C.Requests), Sectors = double(C.Sectors),
                 OfWarp = double(K.WarpSize) * Info.Bytes / SectorBytes;
    if (Info.Space == MemorySpace::Global && Sectors > Requests &&
        Sectors <= (OfWarp + 1) * Requests)
      Lanes += double(C.Lanes);
  }
  return Lanes >= Often * double(itemsOf(K));
}

/// Whether \p K is known to be over before its threads were in order.
static bool isTooShort(const KernelProfile &K, const SortTime &Sort,
                       double Share) {
  const double Launches = double(std::max<uint64_t>(K.Launches, 1));
  return K.OnGpu && K.Seconds < Share * (Sort.Launching * Launches +
                                         Sort.OfThread * double(itemsOf(K)));
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
  const auto Add = [&](const std::string &Way, const SortTime &Sort) {
    if (!isTooShort(K, Sort, 1))
      Ways.push_back(Way);
    if (Share < 1 && !isTooShort(K, Sort, Share))
      Ways.push_back(Way + ";reuse=on");
  };
  if (All.empty())
    return Ways;
  std::string By;
  for (uint32_t B : ArrayRef(All).take_front(MostBranches))
    By += (By.empty() ? "branch=" : ";branch=") +
          std::to_string(K.Info.Branches[B].Id);
  Add(By, ByClass);
  const bool InRows = seemsInRows(K) && !isTooShort(K, ByPlace, 1);
  if (InRows)
    Ways.push_back(By + ";layout=rows");
  if (!isTooShort(K, InWindow, 1)) // so quick that it is seldom worth keeping
    Ways.push_back(By + ";window=on");
  for (uint32_t Gather : gathersOf(K))
    Add(By + ";locality=12;gather=" + std::to_string(Gather), ByPlace);
  if (const auto F = model::estimateFor(K, /*Test=*/nullptr)) {
    double Gain = 0;
    const std::string Best = textOfBest(*F, Gain);
    if (Gain >= LeastByEstimate) {
      Add(Best, ByPlace);
      if (InRows)
        Ways.push_back(Best + ";layout=rows");
    }
  }
  return Ways;
}

/// What parts of the threads are alike at \p Branches, numbers; empty: of no
/// thread is known what it did. \p Branches empty: alike in all blocks.
static std::vector<double> partsOf(const KernelProfile &K,
                                   ArrayRef<uint32_t> Branches) {
  const ThreadVectors &V = K.Vectors;
  std::vector<uint32_t> Deciding;
  for (const BranchInfo &B : K.Info.Branches)
    if (is_contained(Branches, B.Id))
      append_range(Deciding, B.Successors);
  std::map<std::vector<uint32_t>, double> Threads;
  double All = 0;
  for (const ThreadVectors::ThreadBlock &Block : V.Blocks)
    for (uint32_t Class : Block.ClassOf) {
      const std::vector<uint32_t> &Vector = V.Classes[Class];
      std::vector<uint32_t> Key;
      for (uint32_t B : Deciding)
        Key.push_back(Vector[B]);
      ++Threads[Branches.empty() ? Vector : Key];
      ++All;
    }
  std::vector<double> Parts;
  for (const auto &[Key, Of] : Threads)
    Parts.push_back(Of / All);
  return Parts;
}

/// The memory that the kernel asks for besides, in the order that \p Options say.
/// \p InRows: accesses whose data lie in the order.
static AddedWork memoryOf(const KernelProfile &K, const RegroupOptions &Options,
                          const CommonAddresses &Common,
                          ArrayRef<uint32_t> InRows) {
  if (Options.Locality && Options.Estimate.empty())
    return {};
  const bool ByEstimate = !Options.Estimate.empty();
  const std::vector<double> Parts =
      ByEstimate ? std::vector<double>() : partsOf(K, Options.Branches);
  AddedWork Added =
      mixed(K, K.WarpSize, [&](const AccessInfo &A, const LaneSectors &S) {
        if (Common.InStep.contains(A.Id))
          return S.Now;
        if (is_contained(InRows, A.Id))
          return S.Full;
        double Sum = 0;
        for (double Part : Parts)
          Sum += std::min(S.Full, Part * S.Most);
        return Parts.empty() ? S.Most : Sum;
      });
  // Neighbours are in other thread blocks; a window's blocks are few, and run
  // at about one time.
  if (!Options.Window)
    Added.FirstSectors = Added.LoadSectors;
  return Added;
}

/// Issue slots and sectors of \p Keys, the slice of the kernel \p K: of each
/// block what is left of it, as often as the kernel runs it. What has no number
/// is the slice's own, and runs once a warp.
static AddedWork keysOf(const KernelProfile &K, const Function &Keys) {
  DenseMap<uint32_t, size_t> Blocks, Accesses;
  for (auto [At, Block] : enumerate(K.Info.Blocks))
    Blocks[Block.Id] = At;
  for (auto [At, Access] : enumerate(K.Info.Accesses))
    Accesses[Access.Id] = At;
  const model::KernelSlots Slots(K);
  AddedWork Sum;
  for (const BasicBlock &BB : Keys) {
    const auto Number = analysis::blockNumber(BB);
    const auto Found = Number ? Blocks.find(*Number) : Blocks.end();
    double Each = double(itemsOf(K)) / K.WarpSize;
    if (Found != Blocks.end() && K.Info.Blocks[Found->second].Instructions)
      Each = Slots.slotsOf(Found->second) *
             double(K.Blocks[Found->second].Warps) /
             K.Info.Blocks[Found->second].Instructions;
    Sum.Slots += Each * analysis::machineInstructions(BB);
    for (const Instruction &I : BB) {
      const auto Access = analysis::accessNumber(I);
      const auto At = Access ? Accesses.find(*Access) : Accesses.end();
      if (At == Accesses.end() || At->second >= K.Accesses.size())
        continue;
      const AccessCounts &C = K.Accesses[At->second];
      const AccessInfo &A = K.Info.Accesses[At->second];
      if (C.Requests)
        Sum.LoadSectors += double(C.Sectors) / double(C.Requests) *
                           double(K.Blocks[A.Block].Warps);
    }
  }
  return Sum;
}

/// What an order takes: the key, and the sort. A small run on a CPU says nothing
/// of launches that a sort is too long for.
static AddedWork priceOf(const KernelProfile &K, const RegroupOptions &Options,
                         const Function &Keys) {
  const bool HasPlace = Options.Locality || !Options.Estimate.empty();
  const SortTime &Sort = Options.Window ? InWindow
                         : HasPlace     ? ByPlace
                                        : ByClass;
  AddedWork Price = keysOf(K, Keys);
  Price.Seconds = Sort.OfThread * double(itemsOf(K)) +
                  (K.OnGpu ? Sort.Launching * double(K.Launches) : 0);
  if (Options.Reuse)
    for (double *Part : {&Price.Slots, &Price.LoadSectors, &Price.Seconds})
      *Part /= RecipeReuse::UsesAtFirst;
  return Price;
}

Foreseen foresee(Function &Copy, const KernelProfile &Seen,
                 StringRef Parameters) {
  Foreseen F;
  const KernelCost Cost = model::costOf(Seen);
  F.Slots.resize(Seen.Branches.size());
  auto Options = parseRegroupOptions(Parameters);
  if (!Options) {
    consumeError(Options.takeError()); // Check says so
    F.IsRefused = true;
    return F;
  }
  const CommonAddresses Common = commonAddresses(Copy);
  const Module &M = *Copy.getParent();
  const PlanOr<Regrouped> Made = regroupKernel(Copy, *Options);
  const auto *Now = std::get_if<Regrouped>(&Made);
  F.IsRefused = !Now;
  if (!Now)
    return F;
  F.Added = memoryOf(Seen, *Options, Common, Now->InRows);
  const AddedWork Price =
      priceOf(Seen, *Options, *M.getFunction(Now->Launch.Steps.front().Kernel));
  F.Added->Slots += Price.Slots;
  F.Added->LoadSectors += Price.LoadSectors;
  F.Added->Seconds += Price.Seconds;
  // What is not in the key does not come back by it.
  const std::vector<uint32_t> &InKey = Now->By.Branches;
  for (uint32_t B : worthIt(Seen, Cost))
    if (InKey.empty() || is_contained(InKey, Seen.Info.Branches[B].Id))
      F.Slots[B] = std::min(inGrid(Seen, Cost, B), Cost.Branches[B].SelfSlots);
  return F;
}

} // namespace reconverge::remedies::regroup
