//===- remedies/remap/Remedy.cpp - Remapping, for the rest of the project -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What remapping may give back is what regrouping in a thread block does; its
// price is a round before each execution of the branch. Only where the pass may
// put a round, as far as the profile tells (docs/remap.md): no loop exits,
// nothing inside a loop or side of another branch that can diverge, nothing
// that comes of the thread's number first, and not if the branch controls too
// little.
//
// Limitation: a round's price is its instructions at the kernel's mean of slots
// an instruction; what moving state and scattered accesses cost is not known
// here. `optimize` finds out.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Remedy.h"
#include "remedies/common/Counted.h"

#include "model/Slots.h"
#include "remedies/remap/Forecast.h"
#include "remedies/remap/Refusals.h"
#include "remedies/remap/Remap.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace reconverge::remedies {

/// Instructions of a round, a warp, for two paths and for more: measured on
/// what the pass emits (docs/remap.md, Algorithms).
static constexpr double RoundOfTwo = 86, RoundOfMore = 132;
/// What an instruction may count at most, in a loop.
static constexpr uint64_t LoopWeight = 8;

/// Whether the pass would put a round before the branch.
static bool canHaveRound(const KernelInfo &Kernel, const BranchInfo &Branch) {
  if (Branch.Kind == BranchKind::LoopExit || isByThread(Branch))
    return false;
  uint64_t Controlled = 0;
  for (uint32_t Block : Branch.Region)
    Controlled += Kernel.Blocks[Block].Instructions;
  if (Controlled * LoopWeight < RemapOptions().Threshold)
    return false;
  return none_of(Kernel.Branches, [&](const BranchInfo &Other) {
    const bool Returns =
        Other.LeavesKernel && !model::inRegion(Other, Other.Block);
    return model::inRegion(Other, Branch.Block) && !Returns;
  });
}

static BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                           uint32_t Branch) {
  const BranchInfo &Info = K.Info.Branches[Branch];
  if (!canHaveRound(K.Info, Info))
    return {};
  const double Round = Info.Successors.size() > 2 ? RoundOfMore : RoundOfTwo;
  return {Cost.Branches[Branch].RecoverSlots.InBlock,
          double(K.Branches[Branch].Warps) * Round * Cost.Slots /
              double(std::max<uint64_t>(Cost.WarpInstructions, 1))};
}

/// Threads of all thread blocks that were launched, if they are whole warps; 0:
/// there are others.
static uint64_t sizeOfAll(const KernelProfile &Seen) {
  uint64_t Size = 0;
  for (const LaunchShape &S : Seen.Shapes) {
    if (Size && S.blockThreads() != Size)
      return 0;
    Size = S.blockThreads();
  }
  return Size >= 64 && Size % 32 == 0 ? Size : 0;
}

/// For the blocks that there are; and for two paths, with the fewest registers.
/// Where blocks are of several sizes, as it is, and with less shared memory. All
/// know of the shared memory that launches add to the kernel's own.
static std::vector<std::string> guess(const KernelProfile &Seen) {
  uint64_t Most = 0;
  for (const LaunchShape &S : Seen.Shapes)
    Most = std::max(Most, S.DynamicShared);
  const std::string Shared = Most ? "shared=" + std::to_string(Most) : "";
  std::vector<std::string> All = {"", "threads=256", "algorithm=head_or_tail"};
  if (const uint64_t Size = sizeOfAll(Seen)) {
    const std::string Exact = "threads=" + std::to_string(Size) + ";exact=1";
    All = {Exact, Exact + ";algorithm=head_or_tail"};
  }
  for (std::string &Each : All)
    Each += (Each.empty() || Shared.empty() ? "" : ";") + Shared;
  return All;
}

static Expected<std::optional<Recipe>>
apply(Function &F, StringRef Parameters, const Services &Services,
      OptimizationRemarkEmitter &Remarks) {
  auto Options = parseRemapOptions(Parameters);
  if (!Options)
    return Options.takeError();
  Options->CountRegisters = Services.CountRegisters;
  return asBefore(remapFunction(F, *Options, Remarks) != 0);
}

const Remedy remap::Itself = {.Name = remap::Name,
                              .Does = remap::Does,
                              .Parameters = remap::Parameters,
                              .Refusals = remap::refuse::All,
                              .Advice = "remap",
                              .PriceOf = "rounds",
                              .RegroupsBlock = true,
                              .BoundAt = boundAt,
                              .Guess = guess,
                              .Check = checkBy<parseRemapOptions>,
                              .Apply = apply,
                              .Foresee = remap::foresee};

} // namespace reconverge::remedies
