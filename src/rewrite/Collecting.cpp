//===- rewrite/Collecting.cpp - Which kernels to collect ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass plans on device code (remedies/collect/Legality.cpp): that a thread
// may be an item, that what comes before the branches only reads, and which of
// them make paths. In the source one branch, with those right behind it, gives
// the number of a path. Each that the pass takes is ordered, those of the most
// ways first, and of these the last, for the ways out before it are parted as
// well; the source rewriter takes the first that it can write.
//
//===----------------------------------------------------------------------===//

#include "rewrite/Collecting.h"

#include "analysis/device/Annotations.h"
#include "remedies/collect/Plan.h"
#include "remedies/common/KernelCopy.h"
#include "remedies/common/Straight.h"
#include "remedies/remap/Fragment.h"
#include "rewrite/Origin.h"
#include "rewrite/Refusals.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::rewrite {

static constexpr unsigned MostThreads = 1024;

namespace {
struct Branch {
  Order What;
  unsigned Working = 0; ///< of its ways, those that have something to do
};
} // namespace

static Branch orderOf(BasicBlock &BB,
                      const remedies::collect::CollectPlan &Plan,
                      const remedies::remap::Facts &Now) {
  const Function &F = *BB.getParent();
  Branch Made;
  Order &O = Made.What;
  O.Kernel = F.getName().str();
  O.Chain = chainOf(BB);
  remedies::remap::RoundPlan Ways;
  Ways.Block = &BB;
  const auto May = [](const BasicBlock &) { return true; };
  const auto Never = [](const BasicBlock &) { return false; };
  if (!planFragment(Ways, Now, /*Paths=*/remedies::remap::MaxLeaves, May,
                    Never)) {
    O.Choices = choicesOf(Ways);
    O.Leaves = Ways.Trees.front().Leaves;
    const auto &Ends = Plan.Deciding.Ends;
    for (const auto &C : Ways.Choices)
      Made.Working += count_if(C.Ways, [&](const auto &On) {
        const auto End = Ends.find(On.To);
        return On.Inner < 0 &&
               (End == Ends.end() || End->second != remedies::collect::NoWork ||
                Plan.Deciding.Short.contains(On.To));
      });
  }
  O.IsAsked = Plan.IsAsked;
  O.HasExits = true; // whoever has no item, or nothing to do
  const unsigned Bound = analysis::launchBound(F),
                 Wanted = Plan.Options.Threads;
  O.IsBound = Bound && (!Wanted || Bound <= Wanted);
  O.Threads = O.IsBound ? Bound : Wanted ? Wanted : MostThreads;
  O.IsSized = O.IsBound || Wanted;
  O.Items = Plan.Options.Items;
  O.Chunk = std::max(*Plan.Options.Chunk, 32u); // the library has no turns
  return Made;
}

static void orderItems(Function &F, const remedies::CollectOptions &Options,
                       bool IsGrid, Ordered &Result) {
  auto Planned = remedies::collect::planCollect(F, Options);
  if (const auto *Why = std::get_if<remedies::Refusal>(&Planned)) {
    Result.Left.push_back(missedAt(F.getEntryBlock(), *Why));
    return;
  }
  const auto &Plan = std::get<remedies::collect::CollectPlan>(Planned);
  for (const remedies::Refusal &Why : Plan.Others)
    Result.Left.push_back(missedAt(F.getEntryBlock(), Why));
  const remedies::remap::Facts Now(F);
  std::vector<Branch> Made;
  for (BasicBlock *BB : Plan.Parting)
    if (Branch B = orderOf(*BB, Plan, Now); !B.What.Chain.empty())
      Made.insert(find_if(Made,
                          [&](const Branch &Other) {
                            return Other.Working <= B.Working;
                          }),
                  std::move(B));
  if (Made.empty())
    Result.Left.push_back(
        missedAt(*Plan.Branch->getParent(),
                 remedies::refusal(refuse::Lost, *Plan.Branch)));
  for (Branch &B : Made) {
    B.What.IsGrid = IsGrid;
    Result.Orders.push_back(std::move(B.What));
  }
}

void orderCollecting(Function &F, const remedies::CollectOptions &Options,
                     Ordered &Result) {
  // Of a loop over the grid, each trip is an item, as for the pass.
  const auto [Alone, Copy] = remedies::copyAlone(F);
  const auto Trips = remedies::straighten(*Copy, [&](Function &Straight) {
    return std::holds_alternative<remedies::collect::CollectPlan>(
        remedies::collect::planCollect(Straight, Options));
  });
  orderItems(Trips ? *Copy : F, Options, Trips.has_value(), Result);
}

} // namespace reconverge::rewrite
