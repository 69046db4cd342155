//===- remedies/common/WarpCost.cpp - Of a kernel changed -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/WarpCost.h"

#include "analysis/SharedMemory.h"
#include "analysis/device/Annotations.h"
#include "analysis/device/Architecture.h"
#include "remedies/common/KernelCopy.h"
#include "remedies/common/Occupancy.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace reconverge::remedies {

static constexpr unsigned WarpSize = 32, UsualThreads = 256;

/// Of so many less, ptxas puts none into local memory: the Monte Carlo benchmark
/// refilled takes 50 and does with 48 as well. (8 less, of contact collected,
/// are 24 bytes.)
static constexpr unsigned FewRegisters = 4;
/// Of a limit.
static constexpr unsigned LeastRegisters = 24;

bool WarpCost::allows(bool Occupancy, uint32_t &Registers) const {
  if (Occupancy && Limit)
    Registers = Limit;
  return !Occupancy || !Lowers || Limit;
}

std::string WarpCost::note(uint32_t Registers) const {
  return (Text.empty() ? "" : "; " + Text) +
         (Registers ? "; limited to " + std::to_string(Registers) : "");
}

unsigned usualBlock(const Function &Kernel) {
  const unsigned Bound = analysis::launchBound(Kernel);
  return Bound ? unsigned(alignTo(Bound, WarpSize)) : UsualThreads;
}

/// How many warps of \p F run on a multiprocessor, in blocks of \p Threads
/// threads that take \p Registers each.
static unsigned warpsOf(const Function &F, unsigned Threads,
                        unsigned Registers) {
  const Processor &On = processorFor(analysis::architectureOf(F).value_or(90));
  return blocksOn(On, {Threads, analysis::staticShared(F), Registers}) *
         (Threads / WarpSize);
}

/// Of \p Kernel in blocks of \p Before threads that take \p Had registers each,
/// and of \p Changed in blocks of \p After that take \p Has. \p DoesWith: whether
/// as many as it says are enough.
static WarpCost costOf(const Function &Kernel, unsigned Before, unsigned Had,
                       const Function &Changed, unsigned After, unsigned Has,
                       function_ref<bool(unsigned)> DoesWith) {
  const unsigned Was = warpsOf(Kernel, Before, Had),
                 Is = warpsOf(Changed, After, Has);
  WarpCost Cost{std::to_string(Has) + " registers instead of " +
                    std::to_string(Had) + ", " + std::to_string(Is) +
                    " warps on a multiprocessor instead of " +
                    std::to_string(Was),
                Is < Was};
  if (!Cost.Lowers)
    return Cost;
  unsigned Fits = Has;
  while (Fits >= LeastRegisters && warpsOf(Changed, After, Fits) < Was)
    --Fits;
  if (Fits >= LeastRegisters && (Has - Fits <= FewRegisters || DoesWith(Fits)))
    Cost.Limit = Fits;
  return Cost;
}

WarpCost warpCost(const Function &Kernel, const RegisterCounter &Count,
                  unsigned Before, unsigned After,
                  function_ref<void(Function &)> Change) {
  if (!Count)
    return {};
  const auto Had = Count(*copyAlone(Kernel).first);
  if (!Had)
    return {};
  auto [Alone, Copy] = copyAlone(Kernel);
  const std::string Name = Copy->getName().str();
  Change(*Copy); // which may be gone
  const auto Has = Count(*Alone);
  if (!Has)
    return {};
  Function &Changed = *Alone->getFunction(Name);
  return costOf(Kernel, Before, *Had, Changed, After, *Has, [&](unsigned Most) {
    if (analysis::registerLimit(Changed)) // the user's
      return false;
    analysis::setRegisterLimit(Changed, Most);
    const auto Now = Count(*Alone);
    return Now && *Now <= Most && !Now->Spills;
  });
}

WarpCost warpCost(const Function &Kernel, const Function &Changed,
                  const RegisterCounter &Count) {
  const auto Had = Count(*copyAlone(Kernel).first),
             Has = Had ? Count(*copyAlone(Changed).first) : std::nullopt;
  if (!Has)
    return {};
  const unsigned Threads = usualBlock(Changed);
  WarpCost Cost = costOf(Kernel, Threads, *Had, Changed, Threads, *Has,
                         [](unsigned) { return false; });
  const uint64_t Was = analysis::staticShared(Kernel),
                 Is = analysis::staticShared(Changed);
  if (Was != Is)
    Cost.Text += ", " + std::to_string(Is) +
                 " bytes of shared memory instead of " + std::to_string(Was);
  return Cost;
}

std::string registersAsBefore(const KernelProfile &K, uint64_t Before,
                              uint64_t After) {
  const uint32_t Has = K.Info.Registers;
  if (!Has || !Before || !After)
    return "";
  const Processor &On = processorFor(~0u); // a file of registers is as large
                                           // on all that are known
  constexpr uint32_t Granule = 8, Most = 255, Least = 24;
  const auto Warps = [&](uint64_t Threads, uint32_t Registers) {
    return blocksOn(On, {Threads, 0, Registers}) * (Threads / WarpSize);
  };
  const uint64_t Wanted = Warps(Before, Has);
  uint32_t Fits = 0;
  for (uint32_t R = Least; R <= Most; R += Granule)
    if (Warps(After, R) >= Wanted)
      Fits = R;
  return Fits && Fits >= Has ? "registers=" + std::to_string(Fits) : "";
}

void addLimited(std::vector<std::string> &Ways, const std::string &Limit) {
  if (!Ways.empty() && !Limit.empty())
    Ways.insert(Ways.begin() + 1, Ways.front() + ";" + Limit);
}

} // namespace reconverge::remedies
