//===- remedies/common/Sort.cpp - An order by key, as steps ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sort.cu has the kernels, and becomes bitcode when the tool is built. A pass
// goes from one half of the scratch to the other, or back. A digit has at most 8
// bits, and all have as many, if there is more than one.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Sort.h"

#include "core/Remedied.h"
#include "remedies/common/Redirection.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace reconverge::remedies::sorting {

static constexpr uint8_t Code[] = {
#include "SortCode.inc"
};

LaunchAmount countsOf(LaunchAmount::Base Of, uint64_t Least) {
  // So many items have no more tiles than items / tile * (1 + tile / least).
  return {Of, 4 * Digits * (1 + divideCeil(Tile, Least)), Tile};
}

LaunchAmount totals() { return {LaunchAmount::One, 4 * Digits, 1}; }

static std::string nameOf(const Function &Kernel, StringRef Part) {
  return (Kernel.getName() + "$" + Part + HelperSuffix).str();
}

/// Takes what annotations say of \p F out of \p M.
static void dropNotes(Module &M, const Function &F) {
  NamedMDNode *Notes = M.getNamedMetadata("nvvm.annotations");
  if (!Notes)
    return;
  SmallVector<MDNode *> Others;
  for (MDNode *Note : Notes->operands())
    if (mdconst::dyn_extract_or_null<Function>(Note->getOperand(0)) != &F)
      Others.push_back(Note);
  Notes->clearOperands();
  for (MDNode *Note : Others)
    Notes->addOperand(Note);
}

void link(Function &Kernel, ArrayRef<StringRef> Names) {
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
  for (Function &F : make_early_inc_range(*Own)) {
    if (F.isDeclaration())
      continue;
    if (!is_contained(Names, F.getName())) {
      dropNotes(*Own, F);
      F.eraseFromParent();
      continue;
    }
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

RecipeStep step(const Function &Kernel, StringRef Name, RecipeStep::Extent Grid,
                std::vector<RecipeArgument> Arguments) {
  return {.Kernel = nameOf(Kernel, Name),
          .Helper = true,
          .Grid = Grid,
          .Block = constantExtent(Threads),
          .DynamicShared = false,
          .Arguments = std::move(Arguments)};
}

uint32_t addPasses(Recipe &R, const Function &Kernel, const Scratch &On,
                   unsigned Bits) {
  const RecipeArgument Items = {RecipeArgument::Amount, 0, {On.Of, 1, 1}},
                       Tiles = {RecipeArgument::Amount, 0, {On.Of, 1, Tile}};
  const auto OfTiles = extentOf({On.Of, 1, Tile});
  const unsigned Passes = divideCeil(Bits, DigitBits),
                 OfPass = divideCeil(Bits, Passes);
  uint32_t FromKeys = On.Keys, FromIds = On.Ids[1], ToKeys = On.Sorted,
           ToIds = On.Ids[0];
  for (unsigned Pass = 0; Pass != Passes; ++Pass) {
    const RecipeArgument Shift = number(Pass * OfPass),
                         OfDigit = number(uint64_t(1) << OfPass);
    R.Steps.push_back(step(
        Kernel, "count", OfTiles,
        {scratch(FromKeys), Items, Shift, OfDigit, scratch(On.Counts), Tiles}));
    R.Steps.push_back(step(Kernel, "scan",
                           constantExtent(uint64_t(1) << OfPass),
                           {scratch(On.Counts), Tiles, scratch(On.Totals)}));
    R.Steps.push_back(step(Kernel, "scatter", OfTiles,
                           {scratch(FromKeys), scratch(FromIds),
                            number(Pass == 0), scratch(ToKeys), scratch(ToIds),
                            number(Pass + 1 == Passes), Items, Shift, OfDigit,
                            scratch(On.Counts), scratch(On.Totals), Tiles}));
    std::swap(FromKeys, ToKeys);
    std::swap(FromIds, ToIds);
  }
  return FromIds;
}

uint32_t addWithin(Recipe &R, const Function &Kernel, const Scratch &On,
                   unsigned Bits) {
  R.Steps.push_back(step(Kernel, Within, extentOf({On.Of, 1, Tile}),
                         {scratch(On.Keys),
                          {RecipeArgument::Amount, 0, {On.Of, 1, 1}},
                          number(Bits),
                          scratch(On.Ids[0])}));
  return On.Ids[0];
}

} // namespace reconverge::remedies::sorting
