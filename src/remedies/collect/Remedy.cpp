//===- remedies/collect/Remedy.cpp - Collecting, for the rest -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What collecting may give back is what regrouping in a thread block does: more
// items a block come nearer to what there is at best. Its price is what an item
// pays for its sort and its claim.
//
// Limitation: that the branch is in no loop, and what comes before it only
// reads, is not known of a profile; Apply says so then.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Remedy.h"

#include "model/Slots.h"
#include "remedies/collect/Collect.h"
#include "remedies/collect/Refusals.h"
#include "remedies/common/Requests.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::remedies {

static constexpr const char *PassName = "reconverge-collect";
/// Instructions that an item's sort and claim take, a warp: counted on the warp
/// VM with four items a thread and two paths.
static constexpr double PerItem = 70;
/// What an instruction may count at most, in a loop.
static constexpr uint64_t LoopWeight = 8;
/// analysis::describe(Cause::ThreadId).
static const char ByThread[] = "thread id";

/// Whether an item's path may be its way at the branch.
static bool canPart(const KernelInfo &Kernel, const BranchInfo &Branch) {
  if (Branch.Kind == BranchKind::LoopExit || Branch.Reason == ByThread)
    return false;
  uint64_t Controlled = 0;
  for (uint32_t Block : Branch.Region)
    Controlled += Kernel.Blocks[Block].Instructions;
  return Controlled * LoopWeight >= CollectOptions().Threshold &&
         none_of(Kernel.Branches, [&](const BranchInfo &Other) {
           return Other.Kind == BranchKind::LoopExit &&
                  model::inRegion(Other, Branch.Block);
         });
}

static BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                           uint32_t Branch) {
  if (!canPart(K.Info, K.Info.Branches[Branch]))
    return {};
  return {Cost.Branches[Branch].RecoverSlots.InBlock,
          double(K.Branches[Branch].Warps) * PerItem * Cost.Slots /
              double(std::max<uint64_t>(Cost.WarpInstructions, 1))};
}

/// Four items a thread, and eight, in blocks as large as the launches'.
static std::vector<std::string> guess(const KernelProfile &Seen) {
  uint64_t Most = 0;
  for (const LaunchShape &S : Seen.Shapes)
    Most = std::max(Most, S.blockThreads());
  const std::string Threads =
      Most > 32 ? ";threads=" + std::to_string(std::max<uint64_t>(Most, 64))
                : "";
  return {"items=4" + Threads, "items=8" + Threads};
}

static void report(Function &F, const Collected &Made) {
  OptimizationRemarkEmitter Remarks(&F);
  Remarks.emit([&] {
    OptimizationRemark Remark(PassName, "Collected", Made.Where,
                              &F.getEntryBlock());
    Remark << "collected: " << std::to_string(Made.Paths) << " paths, "
           << std::to_string(Made.Options.Items) << " items a thread, "
           << std::to_string(Made.SharedBytes)
           << " bytes of shared memory, blocks of up to "
           << std::to_string(Made.Threads) << " threads";
    if (!Made.Warps.empty())
      Remark << "; " << Made.Warps;
    return Remark;
  });
  for (const Refusal &Why : Made.Others)
    reportMissed(Remarks, PassName, "not collected",
                 *F.getEntryBlock().getTerminator(), Why);
}

static Expected<std::optional<Recipe>>
apply(Function &F, StringRef Parameters, const Services &Services,
      OptimizationRemarkEmitter &Remarks) {
  auto Options = parseCollectOptions(Parameters);
  if (!Options)
    return Options.takeError();
  if (Options->Marked && !isAskedFor(F, collect::Name))
    return std::nullopt;
  Options->CountRegisters = Services.CountRegisters;
  Module &M = *F.getParent();
  const std::string Name = F.getName().str();
  PlanOr<Collected> Made = collectKernel(F, *Options); // F may be gone
  if (auto *Now = std::get_if<Collected>(&Made)) {
    report(*M.getFunction(Name), *Now);
    return std::move(Now->Launch);
  }
  reportMissed(Remarks, PassName, "not collected",
               *F.getEntryBlock().getTerminator(), std::get<Refusal>(Made));
  return std::nullopt;
}

const Remedy collect::Itself = {
    .Name = collect::Name,
    .Does = collect::Does,
    .Parameters = collect::Parameters,
    .Refusals = collect::refuse::All,
    .Advice = "collect its items by path",
    .PriceOf = "sorting",
    .RegroupsBlock = true,
    .BoundAt = boundAt,
    .Guess = guess,
    .Check =
        [](StringRef Text) { return parseCollectOptions(Text).takeError(); },
    .Apply = apply,
    .Moves = [](StringRef) { return Moved::Threads; },
    .ChangesLaunch = true};

} // namespace reconverge::remedies
