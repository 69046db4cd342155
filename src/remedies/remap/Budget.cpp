//===- remedies/remap/Budget.cpp - What a round may cost -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A round takes 4 bytes of shared memory for each word that moves and each
// thread of the largest block that it is laid out for. That is the bound that
// __launch_bounds__ or the parameter threads= gives. If neither does, blocks
// are taken to have 256 threads, and the layout is for 1024, 512 or 256: the
// most for which
//
//   - static shared memory, the kernel's own with it, stays within 48 KiB; with
//     what launches add (shared=), within that as well, or, if it was beyond
//     before, within what a block can have, and
//   - as many blocks fit on a multiprocessor as without it.
//
// Larger blocks than that skip the round. Where the kernel's registers are
// known, they may be what lets no more blocks fit.
//
// What registers a round takes is known only when it is there: Remap.cpp tries.
//
// Limitation: what launches add is not known unless shared= says it; then the
// second rule is stricter than it need be, and a launch may ask for more than
// there is left.
//
//===----------------------------------------------------------------------===//

#include "remedies/remap/Budget.h"

#include "analysis/SharedMemory.h"
#include "analysis/device/Annotations.h"
#include "analysis/device/Architecture.h"
#include "remedies/common/Occupancy.h"
#include "remedies/remap/Refusals.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace reconverge::remedies::remap {

static constexpr uint64_t StaticSharedLimit = analysis::UsualSharedLimit;
static constexpr unsigned WarpThreads = 32, UsualThreads = 256;

namespace {
struct Layout {
  uint64_t KernelBytes; ///< bytes of the kernel without rounds
  uint64_t Rounds;      ///< bytes of all rounds
  uint64_t both() const { return KernelBytes + Rounds; }
};
} // namespace

static const Processor &processorOf(const Function &F) {
  return processorFor(analysis::architectureOf(F).value_or(90));
}

static uint64_t sizeOf(const GlobalVariable &G) {
  return G.getParent()->getDataLayout().getTypeAllocSize(G.getValueType());
}

/// Bytes of shared memory that the kernel has without rounds.
static uint64_t ownShared(const Function &F, const RoundMemory &Rounds) {
  return analysis::staticShared(F, {Rounds.Counts, Rounds.Words});
}

std::optional<Refusal> planBudget(RoundPlan &Plan, const RemapOptions &Options,
                                  const RoundMemory &Memory, bool MayLower) {
  const Function &F = *Plan.Block->getParent();
  const Instruction &Term = *Plan.Block->getTerminator();
  const Processor &On = processorOf(F);
  const unsigned Bound = analysis::launchBound(F);
  if (Bound && Bound <= WarpThreads)
    return refusal(refuse::OneWarp, Term, std::to_string(Bound) + " threads");
  const uint64_t KernelBytes = ownShared(F, Memory);
  auto With = [&](unsigned Threads) {
    Plan.Threads = Threads;
    const uint64_t Words = Memory.Words ? sizeOf(*Memory.Words) : 0,
                   Counts = Memory.Counts ? sizeOf(*Memory.Counts) : 0;
    return Layout{KernelBytes, std::max(Words, Plan.wordBytes()) +
                                   std::max(Counts, Plan.countBytes())};
  };
  unsigned Threads = Options.Threads;
  Plan.Bound = Threads < 1024 ? " (threads=)" : "";
  if (Bound && Bound <= Threads) {
    Threads = alignTo(Bound, WarpThreads);
    Plan.Bound = " (__launch_bounds__)";
  }
  const unsigned Usual =
      Bound || Plan.Exact ? Threads : std::min(Threads, UsualThreads);
  auto Blocks = [&](uint64_t Static) {
    return blocksOn(On, {std::min(Usual, On.Room.Threads),
                         Static + Options.Shared, Options.Registers});
  };
  const uint64_t Most = KernelBytes + Options.Shared <= StaticSharedLimit
                            ? StaticSharedLimit
                            : On.mostShared();
  auto HasRoom = [&](const Layout &L) {
    return L.both() <= StaticSharedLimit && L.both() + Options.Shared <= Most;
  };
  const unsigned Before = Blocks(KernelBytes);
  for (; Threads >= Usual; Threads /= 2) {
    const Layout L = With(Threads);
    if (!HasRoom(L))
      Plan.Bound = Options.Shared ? " (shared memory has room for no more)"
                                  : " (48 KiB have room for no more)";
    else if (!MayLower && Blocks(L.both()) < Before)
      Plan.Bound = " (more would leave fewer blocks on a multiprocessor)";
    else
      return std::nullopt;
  }
  const Layout Least = With(Usual);
  std::string Sizes = std::to_string(Least.Rounds) +
                      " bytes for the round with blocks of " +
                      std::to_string(Usual) + " threads, " +
                      std::to_string(KernelBytes) + " of the kernel";
  if (Options.Shared)
    Sizes += ", " + std::to_string(Options.Shared) + " of its launches";
  if (!HasRoom(Least))
    return refusal(refuse::Shared, Term,
                   Sizes + ", of " + std::to_string(Most));
  return refusal(refuse::Occupancy, Term,
                 Sizes + ": " + std::to_string(Blocks(Least.both())) +
                     " blocks instead of " + std::to_string(Before));
}

RegisterCost registerCost(const Function &F, const RemapOptions &Options,
                          unsigned Registers) {
  const unsigned Bound = analysis::launchBound(F);
  model::BlockNeeds Needs{alignTo(Bound ? Bound : UsualThreads, WarpThreads),
                          ownShared(F, {}) + Options.Shared, Options.Registers};
  const Processor &On = processorOf(F);
  const unsigned Before = blocksOn(On, Needs);
  Needs.Registers = Registers;
  const unsigned After = blocksOn(On, Needs);
  return {After < Before,
          std::to_string(Registers) + " registers instead of " +
              std::to_string(Options.Registers) + ", " + std::to_string(After) +
              " blocks of " + std::to_string(Needs.Threads) +
              " threads on a multiprocessor" +
              (After == Before ? " as before"
                               : " instead of " + std::to_string(Before))};
}

} // namespace reconverge::remedies::remap
