//===- remedies/regroup/Sort.cpp - An order by key, as steps --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sort.cu has the kernels. Scratch, by number, of T threads:
//
//   0  keys, 4 T bytes      2  keys sorted    4  counts, 1 KiB a tile
//   1  lines, then ids      3  ids            5  totals
//                                             6  range
//
// Where the order is reused, of a sample of T / 1024 threads:
//
//   7  their keys now, 4 T bytes   10  their numbers   12  how many differ, kept
//   8  lines    9  range           11  their classes in the order, kept
//
// A pass goes from 0 and 3 to 2 and 1, or back. A digit has at most 8 bits, and
// all have as many, if there is more than one.
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Sort.h"

#include "core/Remedied.h"
#include "remedies/common/Redirection.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace reconverge::remedies::regroup {

static constexpr uint8_t Code[] = {
#include "SortCode.inc"
};

/// As Sort.cu has them.
static constexpr uint64_t Threads = 256, Digits = 256, Tile = 16 * Threads;
static constexpr unsigned DigitBits = 8;

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

static RecipeArgument scratch(uint32_t Number) {
  return {RecipeArgument::Scratch, Number};
}
static RecipeArgument number(uint64_t Value) {
  return {RecipeArgument::Amount, 0, {LaunchAmount::One, Value, 1}};
}
static LaunchAmount threads(uint64_t Times = 1, uint64_t Per = 1) {
  return {LaunchAmount::Threads, Times, Per};
}

std::vector<RecipeArgument> keyScratch(Recipe &R, unsigned ClassBits,
                                       const RegroupOptions &Options) {
  // So many threads have no more tiles than threads / tile * (1 + tile / least).
  const uint64_t Rounded = 1 + divideCeil(Tile, Options.Least);
  R.Scratch = {{threads(4)},
               {threads(4)},
               {threads(4)},
               {threads(4)},
               {threads(4 * Digits * Rounded, Tile)},
               {{LaunchAmount::One, 4 * Digits, 1}},
               {{LaunchAmount::One, uint64_t(8) << ClassBits, 1}, true}};
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

static std::string nameOf(const Function &Kernel, StringRef Part) {
  return (Kernel.getName() + "$" + Part + HelperSuffix).str();
}

void linkSort(Function &Kernel) {
  Module &M = *Kernel.getParent();
  const StringRef Bytes(reinterpret_cast<const char *>(Code), sizeof Code);
  auto Own = cantFail(
      parseBitcodeFile(MemoryBufferRef(Bytes, "Sort.cu"), M.getContext()));
  // What it says of a module is not for this one: how floats are rounded, who
  // compiled it.
  for (NamedMDNode &Said : make_early_inc_range(Own->named_metadata()))
    if (Said.getName() != "nvvm.annotations")
      Own->eraseNamedMetadata(&Said);
  Own->setDataLayout(M.getDataLayout());
  Own->setTargetTriple(M.getTargetTriple());
  for (Function &F : *Own) {
    if (F.isDeclaration())
      continue;
    for (StringRef Of : {"target-cpu", "target-features"}) {
      F.removeFnAttr(Of);
      if (Kernel.hasFnAttribute(Of))
        F.addFnAttr(Kernel.getFnAttribute(Of));
    }
    F.setCallingConv(CallingConv::PTX_Kernel);
    F.setDSOLocal(false);
    F.setName(nameOf(Kernel, F.getName()));
  }
  [[maybe_unused]] const bool Failed = Linker::linkModules(M, std::move(Own));
  assert(!Failed && "no name is taken");
}

static RecipeStep step(const Function &Kernel, StringRef Name,
                       RecipeStep::Extent Grid,
                       std::vector<RecipeArgument> Arguments) {
  return {.Kernel = nameOf(Kernel, Name),
          .Helper = true,
          .Grid = Grid,
          .Block = constantExtent(Threads),
          .DynamicShared = false,
          .Arguments = std::move(Arguments)};
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
  const RecipeArgument Items = {RecipeArgument::Amount, 0, threads()},
                       Tiles = {RecipeArgument::Amount, 0, threads(1, Tile)};
  const auto OfTiles = extentOf(threads(1, Tile));
  // Two passes at most: more bits are not worth a third.
  constexpr unsigned MostBits = 2 * DigitBits;
  const unsigned Bits = std::clamp(ClassBits + Options.Locality, 1u, MostBits);
  if (Options.Locality)
    R.Steps.push_back(
        step(Kernel, "compose", OfTiles,
             {scratch(Keys), scratch(Lines), scratch(Range), Items,
              number(uint64_t(1) << ClassBits), number(Bits)}));
  const unsigned Passes = divideCeil(Bits, DigitBits),
                 OfPass = divideCeil(Bits, Passes);
  uint32_t FromKeys = Keys, FromIds = Ids, ToKeys = Sorted, ToIds = Lines;
  for (unsigned Pass = 0; Pass != Passes; ++Pass) {
    const RecipeArgument Shift = number(Pass * OfPass),
                         OfDigit = number(uint64_t(1) << OfPass);
    R.Steps.push_back(step(
        Kernel, "count", OfTiles,
        {scratch(FromKeys), Items, Shift, OfDigit, scratch(Counts), Tiles}));
    R.Steps.push_back(step(Kernel, "scan",
                           constantExtent(uint64_t(1) << OfPass),
                           {scratch(Counts), Tiles, scratch(Totals)}));
    R.Steps.push_back(
        step(Kernel, "scatter", OfTiles,
             {scratch(FromKeys), scratch(FromIds), number(Pass == 0),
              scratch(ToKeys), scratch(ToIds), number(Pass + 1 == Passes),
              Items, Shift, OfDigit, scratch(Counts), scratch(Totals), Tiles}));
    std::swap(FromKeys, ToKeys);
    std::swap(FromIds, ToIds);
  }
  if (Options.Reuse) {
    R.Scratch[FromIds].Kept = true;
    for (RecipeStep &Step : R.Steps)
      if (Step.When == RecipeStep::Always)
        Step.When = RecipeStep::Making;
  }
  return scratch(FromIds);
}

} // namespace reconverge::remedies::regroup
