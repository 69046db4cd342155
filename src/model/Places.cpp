//===- model/Places.cpp - What a place in the source costs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reader thinks of `for (...; i < n; ...)` as one branch. The compiler may
// have made thirty of it: copies by unrolling, by inlining, in instances of a
// template, and for a loop the test before it. They are one place if file, line
// and condition are the same (the column, where no condition is known).
//
// Selves add up. Regions of copies overlap or nest, so of the rest each block
// counts once: with the copy that is charged most for it.
//
// What may help there, each an upper bound (docs/metrics.md), and none more
// than self, because that is what idles on this place's account:
//
//   a remedy  what its own rule says (RemedyRule), summed over the copies
//   sort      what regrouping over the grid gives back, where that is more than
//             what the others can: in a block where a remedy regroups that,
//             else in a warp
//
//===----------------------------------------------------------------------===//

#include "model/Places.h"
#include "model/Slots.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace reconverge::model {

/// Sorting is named where it gives back so much more than the others can.
static constexpr double WorthSorting = 1.1;
static const RemedyWords Sort = {
    "sort",
    "sort, by hand: order the data, or the threads, so that a warp agrees", "",
    /*ByHand=*/true};

namespace {
class Places {
public:
  Places(const Profile &P, const std::vector<KernelCost> &Costs,
         std::span<const SlotShare> Shares, std::span<const RemedyRule> Rules);
  std::vector<PlaceCost> take();

private:
  using Member = PlaceCost::Member;
  struct ByKernel;

  const BranchInfo &info(Member M) const {
    return P.Kernels[M.Kernel].Info.Branches[M.Branch];
  }
  const BranchCost &cost(Member M) const {
    return Costs[M.Kernel].Branches[M.Branch];
  }
  /// The part of the run that \p Saved slots of \p Kernel are worth.
  double ofRun(uint32_t Kernel, double Saved) const {
    return Costs[Kernel].OfRun * Shares[Kernel].of(Saved);
  }
  void fill(PlaceCost &Place) const;
  void addRemedies(PlaceCost &Place) const;
  std::optional<uint32_t> outer(uint32_t Place) const;

  const Profile &P;
  const std::vector<KernelCost> &Costs;
  const std::span<const SlotShare> Shares;
  const std::span<const RemedyRule> Rules;
  std::vector<KernelSlots> Slots;
  std::vector<PlaceCost> Found;
};
} // namespace

Places::Places(const Profile &P, const std::vector<KernelCost> &Costs,
               std::span<const SlotShare> Shares,
               std::span<const RemedyRule> Rules)
    : P(P), Costs(Costs), Shares(Shares), Rules(Rules) {
  using Key =
      std::tuple<std::string, unsigned, std::string, unsigned, unsigned>;
  std::map<Key, size_t> Index;
  for (uint32_t K = 0; K != P.Kernels.size(); ++K) {
    Slots.emplace_back(P.Kernels[K]);
    for (uint32_t B : Costs[K].Order) {
      const BranchInfo &Info = info({K, B});
      Key Which = {"", 0, "", K, B}; // of its own
      if (!Info.Where.empty()) {
        const SourceLoc &At = Info.Where.front();
        Which = {At.File, At.Line, Info.Condition,
                 Info.Condition.empty() ? At.Column : 0, 0};
      }
      auto [It, New] = Index.try_emplace(Which, Found.size());
      if (New)
        Found.emplace_back();
      Found[It->second].Branches.push_back({K, B});
    }
  }
}

/// Slots of one kernel at one place, each block with the member that is charged
/// most for it.
struct Places::ByKernel {
  double Loss = 0, Exit = 0, Partial = 0;
  double InWarp = 0, InBlock = 0, InGrid = 0;

  ByKernel(const KernelSlots &In, const std::vector<const BranchInfo *> &Of) {
    const RegroupedCounts &R = In.kernel().Regrouped;
    std::map<uint32_t, IdleLanes> Most; // by block
    for (const BranchInfo *Branch : Of)
      for (uint32_t Block : Branch->Region) {
        IdleLanes Idle = In.idle(*Branch, Block);
        auto [It, New] = Most.try_emplace(Block, Idle);
        if (!New && It->second.loss() < Idle.loss())
          It->second = Idle;
      }
    for (const auto &[Block, Idle] : Most) {
      Loss += In.lanes(Block) * Idle.loss();
      Exit += In.lanes(Block) * Idle.Exited;
      Partial += In.lanes(Block) * Idle.Partial;
      InWarp += In.gain(R.InWarp, Block);
      InBlock += In.gain(R.InBlock, Block);
      InGrid += In.gain(R.InGrid, Block);
    }
    InWarp = std::clamp(InWarp, 0.0, Loss);
    InBlock = std::clamp(InBlock, 0.0, Loss);
    InGrid = std::clamp(InGrid, 0.0, Loss);
  }
};

void Places::fill(PlaceCost &Place) const {
  std::map<uint32_t, std::vector<const BranchInfo *>> Kernels;
  std::map<uint32_t, double> Self; // slots
  for (Member M : Place.Branches) {
    const BranchCounts &C = P.Kernels[M.Kernel].Branches[M.Branch];
    Place.Warps += C.Warps;
    Place.Splits += C.Splits;
    Place.SelfSlots += cost(M).SelfSlots;
    Self[M.Kernel] += cost(M).SelfSlots;
    Kernels[M.Kernel].push_back(&info(M));
  }
  for (const auto &[Kernel, Branches] : Kernels) {
    const ByKernel Sum(Slots[Kernel], Branches);
    Place.LossSlots += Sum.Loss;
    Place.ExitSlots += Sum.Exit;
    Place.PartialSlots += Sum.Partial;
    Place.Self += ofRun(Kernel, Self[Kernel]);
    Place.Cost += ofRun(Kernel, Sum.Loss);
    Place.Recover.InWarp += ofRun(Kernel, Sum.InWarp);
    Place.Recover.InBlock += ofRun(Kernel, Sum.InBlock);
    Place.Recover.InGrid += ofRun(Kernel, Sum.InGrid);
  }
  std::ranges::sort(Place.Branches, {}, [&](Member M) {
    return std::tuple(-Costs[M.Kernel].OfRun * cost(M).Self, M.Kernel,
                      M.Branch);
  });
}

void Places::addRemedies(PlaceCost &Place) const {
  auto Add = [&](const RemedyWords &What, double Gain, double Price = 0) {
    if (Gain > 0)
      Place.Remedies.push_back({What, std::min(Gain, Place.Self), Price});
  };
  bool RegroupsBlock = false;
  for (const RemedyRule &Rule : Rules) {
    std::map<uint32_t, BranchBound> Kernels;
    for (Member M : Place.Branches) {
      const BranchBound Here =
          Rule.BoundAt(P.Kernels[M.Kernel], Costs[M.Kernel], M.Branch);
      Kernels[M.Kernel].Gain += std::min(Here.Gain, cost(M).SelfSlots);
      Kernels[M.Kernel].Price += Here.Price;
    }
    double Gain = 0, Net = 0;
    for (const auto &[Kernel, Sum] : Kernels) {
      Gain += ofRun(Kernel, Sum.Gain);
      Net += ofRun(Kernel, Sum.Gain - Sum.Price);
    }
    RegroupsBlock |= Rule.RegroupsBlock && Gain > 0;
    Add(Rule.Words, Gain, Gain - Net);
  }
  const Recoverable &R = Place.Recover;
  if (R.InGrid > WorthSorting * (RegroupsBlock ? R.InBlock : R.InWarp))
    Add(Sort, R.InGrid);
}

/// The place of the smallest region that holds the dearest branch of \p Place.
std::optional<uint32_t> Places::outer(uint32_t Place) const {
  const Member Inner = Found[Place].Branches.front();
  const BranchInfo &Branch = info(Inner);
  std::optional<uint32_t> Closest;
  size_t Blocks = 0;
  for (uint32_t Other = 0; Other != Found.size(); ++Other)
    for (Member M : Found[Other].Branches) {
      const BranchInfo &Around = info(M);
      if (Other == Place || M.Kernel != Inner.Kernel ||
          !inRegion(Around, Branch.Block) || inRegion(Branch, Around.Block))
        continue;
      if (!Closest || Around.Region.size() < Blocks) {
        Closest = Other;
        Blocks = Around.Region.size();
      }
    }
  return Closest;
}

std::vector<PlaceCost> Places::take() {
  for (PlaceCost &Place : Found)
    fill(Place);
  std::ranges::sort(Found, {}, [](const PlaceCost &Place) {
    const Member First = Place.Branches.front();
    return std::tuple(-Place.Self, -Place.Cost, First.Kernel, First.Branch);
  });
  for (uint32_t I = 0; I != Found.size(); ++I) {
    addRemedies(Found[I]);
    Found[I].Outer = outer(I);
  }
  return std::move(Found);
}

std::vector<PlaceCost> placesOf(const Profile &P,
                                const std::vector<KernelCost> &Costs,
                                std::span<const SlotShare> Shares,
                                std::span<const RemedyRule> Rules) {
  return Places(P, Costs, Shares, Rules).take();
}

} // namespace reconverge::model
