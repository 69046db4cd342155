//===- remedies/regroup/Sort.cpp - An order by key, as steps --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// common/Sort.cu has the kernels. Scratch, by number, of T threads:
//
//   0  keys, 4 T bytes      2  keys sorted    4  counts, 1 KiB a tile
//   1  lines, then ids      3  ids            5  totals
//                                             6  range
//
// Within windows 2 to 5 are not needed, and are of one word.
//
// Where the order is reused, of a sample of T / 1024 threads:
//
//   7  their keys now, 4 T bytes   10  their numbers   12  how many differ, kept
//   8  lines    9  range           11  their classes in the order, kept
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Sort.h"

#include "remedies/common/Redirection.h"
#include "remedies/common/Sort.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace reconverge::remedies::regroup {

using namespace sorting;

enum Number : uint32_t {
  Keys,
  Lines,
  Sorted,
  Ids,
  Counts,
  Totals,
  Range,
  KeysNow,
  LinesNow,
  RangeNow,
  Sample,
  Classes,
  Differing
};

/// Of T threads a probe looks at T / Sparsity; as Sort.cu has it.
static constexpr uint64_t Sparsity = 1024;

static LaunchAmount threads(uint64_t Times = 1, uint64_t Per = 1) {
  return {LaunchAmount::Threads, Times, Per};
}

std::vector<RecipeArgument> keyScratch(Recipe &R, unsigned ClassBits,
                                       const RegroupOptions &Options) {
  R.Scratch = {{threads(4)},
               {threads(4)},
               {threads(4)},
               {threads(4)},
               {countsOf(LaunchAmount::Threads, Options.Least)},
               {totals()},
               {{LaunchAmount::One, uint64_t(8) << ClassBits, 1}, true}};
  if (Options.Window)
    for (uint32_t Unused : {Sorted, Ids, Counts, Totals})
      R.Scratch[Unused] = {{LaunchAmount::One, 4, 1}};
  if (Options.Reuse) {
    const RecipeScratch OfSample = {threads(4, Sparsity)}, Whole = {threads(4)};
    R.Scratch.insert(R.Scratch.end(), {Whole,
                                       Whole,
                                       R.Scratch[Range],
                                       OfSample,
                                       OfSample,
                                       {{LaunchAmount::One, 4, 1}}});
    R.Scratch[Classes].Kept = R.Scratch[Differing].Kept = true;
    R.Reuse = {Differing, threads(1, Sparsity)};
  }
  return {scratch(Keys), scratch(Lines), scratch(Range)};
}

static std::vector<RecipeArgument> probeScratch() {
  return {scratch(KeysNow), scratch(LinesNow), scratch(RangeNow)};
}

void linkSort(Function &Kernel, const RegroupOptions &Options) {
  SmallVector<StringRef, 8> Names(std::begin(Passes), std::end(Passes));
  if (Options.Window)
    Names = {Within};
  if (Options.Locality)
    Names.push_back("compose");
  if (Options.Layout == RecordLayout::Rows)
    Names.append(std::begin(Rows), std::end(Rows));
  if (Options.Reuse)
    Names.append({"sample", "remember", "compare"});
  link(Kernel, Names);
}

void addProbe(Recipe &R, const Function &Kernel, Function &KeysOf,
              unsigned OfProgram) {
  const RecipeArgument Items = {RecipeArgument::Amount, 0, threads()},
                       Probed = {RecipeArgument::Amount, 0,
                                 threads(1, Sparsity)};
  const auto Grid = extentOf(threads(1, Sparsity * Threads));
  auto Add = [&](RecipeStep Step, RecipeStep::Part When) {
    Step.When = When;
    R.Steps.push_back(std::move(Step));
  };
  Add(step(Kernel, "sample", Grid,
           {scratch(Sample), Probed, Items, scratch(Differing)}),
      RecipeStep::Probing);
  const unsigned Block = blockWithin(KeysOf, Threads);
  std::vector<RecipeArgument> Arguments;
  for (unsigned I = 0; I != OfProgram; ++I)
    Arguments.push_back({RecipeArgument::Program, I});
  for (const auto &More :
       {probeScratch(),
        redirectedArguments(0, scratch(Sample), threads(1, Sparsity))})
    Arguments.insert(Arguments.end(), More.begin(), More.end());
  Add({.Kernel = KeysOf.getName().str(),
       .Helper = true,
       .Grid = extentOf(threads(1, Sparsity * Block)),
       .Block = constantExtent(Block),
       .Arguments = std::move(Arguments)},
      RecipeStep::Probing);
  Add(step(Kernel, "compare", Grid,
           {scratch(KeysNow), Probed, Items, scratch(Classes),
            scratch(Differing)}),
      RecipeStep::Probing);
  Add(step(Kernel, "remember", Grid,
           {scratch(Keys), Probed, Items, scratch(Classes)}),
      RecipeStep::Making);
}

RecipeArgument addSort(Recipe &R, Function &Kernel, unsigned ClassBits,
                       const RegroupOptions &Options) {
  const unsigned Bits = std::clamp(ClassBits + Options.Locality, 1u, MostBits);
  if (Options.Locality)
    R.Steps.push_back(step(Kernel, "compose", extentOf(threads(1, Tile)),
                           {scratch(Keys),
                            scratch(Lines),
                            scratch(Range),
                            {RecipeArgument::Amount, 0, threads()},
                            number(uint64_t(1) << ClassBits),
                            number(Bits)}));
  const auto Add = Options.Window ? addWithin : addPasses;
  const uint32_t Order = Add(R, Kernel,
                             {.Of = LaunchAmount::Threads,
                              .Keys = Keys,
                              .Ids = {Lines, Ids},
                              .Sorted = Sorted,
                              .Counts = Counts,
                              .Totals = Totals},
                             Bits);
  if (Options.Reuse || Options.Next) {
    R.Scratch[Order].Kept = true;
    for (RecipeStep &Step : R.Steps)
      if (Step.When == RecipeStep::Always)
        Step.When = RecipeStep::Making;
  }
  return scratch(Order);
}

} // namespace reconverge::remedies::regroup
