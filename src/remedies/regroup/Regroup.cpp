//===- remedies/regroup/Regroup.cpp - Threads in order of a key -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   k<<<grid, block>>>(args)
//
//     classes, lines, range, ... = scratch of some 16 bytes a thread
//     k$keys<<<grid, block>>>(args, classes, lines, range)     Slice.cpp
//     index = items, sorted by class and line                  Sort.cpp
//     k<<<blocks, threads of a block>>>(args, index, threads, grid, block)
//
//   k: run as thread number index[number of the thread] of <<<grid, block>>>
//
// Why right: the index is a permutation of all threads whatever the keys are,
// each is run once, and nothing but its numbers ties a thread to its place
// (common/Items.h). Trials prove that no thread needs what another leaves.
//
// With reuse=on the index stays for later launches (launch/Orders.h), and now
// and then k$probe$before tells of a sample whether it would be another.
//
// Paper: Y. Liang, M. T. Satria, K. Rupnow, D. Chen, "An Accurate GPU
// Performance Model for Effective Control Flow Divergence Optimization", IEEE
// TCAD 35 (2016): groups by what threads will do, and reference redirection.
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Regroup.h"

#include "analysis/device/Annotations.h"
#include "core/Remedied.h"
#include "remedies/common/Redirection.h"
#include "remedies/regroup/Refusals.h"
#include "remedies/regroup/Sort.h"

#include "llvm/IR/Function.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace reconverge::remedies::regroup;

namespace reconverge::remedies {

/// Sort.cu counts in 32 bits.
static constexpr uint64_t MostItems = uint64_t(1) << 31;

/// \p Keys once more, for some of the threads: those of an index.
static Function &makeProbe(Function &Keys, const Function &Kernel) {
  ValueToValueMapTy Map;
  Function *Copy = CloneFunction(&Keys, Map);
  Copy->setName(Kernel.getName() + "$probe" + HelperSuffix);
  analysis::copyAnnotations(Keys, *Copy);
  // What the kernel allows its slice does.
  const ItemsPlan Plan = std::get<ItemsPlan>(planItems(*Copy));
  return redirectThreads(*Copy, Plan, blockWithin(*Copy, 256));
}

PlanOr<Regrouped> regroupKernel(Function &Kernel, RegroupOptions Options) {
  PlanOr<ItemsPlan> Planned = planItems(Kernel);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  const ItemsPlan &Plan = std::get<ItemsPlan>(Planned);
  if (Plan.Exits)
    return refusal(refuse::Exit, *Kernel.getEntryBlock().getTerminator());
  PlanOr<Key> Chosen = chooseKey(Kernel, Options);
  if (const auto *Why = std::get_if<Refusal>(&Chosen))
    return *Why;
  Regrouped Made;
  Made.By = std::get<Key>(Chosen);
  if (!Made.By.Gather)
    Options.Locality = 0;
  const KeyKernel Keys = std::get<KeyKernel>(makeKeyKernel(
      Kernel, Kernel.getName() + "$keys" + HelperSuffix, Made.By));
  Made.ClassBits = Keys.ClassBits;

  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Recipe &R = Made.Launch;
  R.LeastThreads = Options.Least;
  R.MostThreads = MostItems;
  std::vector<RecipeArgument> Arguments;
  for (unsigned I = 0; I != OfProgram; ++I)
    Arguments.push_back({RecipeArgument::Program, I});
  for (RecipeArgument A : keyScratch(R, Keys.ClassBits, Options))
    Arguments.push_back(A);
  RecipeStep &First = R.Steps.emplace_back();
  First.Kernel = Keys.Kernel->getName().str();
  First.Helper = true;
  First.Arguments = std::move(Arguments);
  linkSort(Kernel, Options);
  if (Options.Reuse)
    addProbe(R, Kernel, makeProbe(*Keys.Kernel, Kernel), OfProgram);
  const RecipeArgument Index = addSort(R, Kernel, Keys.ClassBits, Options);
  Function &F = redirectThreads(Kernel, Plan, analysis::launchBound(Kernel));
  R.Steps.push_back(
      {.Kernel = F.getName().str(),
       .Grid = extentOf({LaunchAmount::Blocks}),
       .Block = extentOf({LaunchAmount::BlockThreads}),
       .Arguments = redirectedArguments(
           OfProgram, Index,
           {LaunchAmount::Threads, 1, Options.PlantedBug ? 2u : 1u})});
  return Made;
}

} // namespace reconverge::remedies
