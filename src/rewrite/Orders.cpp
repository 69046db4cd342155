//===- rewrite/Orders.cpp - What to write into a source -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One home for who may ask: the command line or decisions, which a kernel's own
// entry goes before, and the source. What only the source asks for is planned
// with the remedy's usual parameters, at the branches that are marked.
//
//===----------------------------------------------------------------------===//

#include "rewrite/Orders.h"

#include "analysis/Marks.h"
#include "analysis/device/Annotations.h"
#include "remedies/common/Requests.h"
#include "rewrite/Collecting.h"
#include "rewrite/Rounds.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::rewrite {

Expected<bool> Wish::add(StringRef Name, StringRef Parameters) {
  if (Name == "remap") {
    auto Options = remedies::parseRemapOptions(Parameters);
    if (!Options)
      return Options.takeError();
    Remap = std::move(*Options);
  } else if (Name == "collect") {
    auto Options = remedies::parseCollectOptions(Parameters);
    if (!Options)
      return Options.takeError();
    Collect = std::move(*Options);
  } else {
    return false;
  }
  return true;
}

std::string insteadOf(StringRef Name, StringRef Build) {
  const StringRef ByHand =
      StringSwitch<StringRef>(Name)
          .Case("refill", "block_collect by the number of trips")
          .Case("regroup", "reconverge::regroup before the launch")
          .Case("reorder-blocks", "gridDim.x - 1 - blockIdx.x for blockIdx.x")
          .Default("");
  return (Name + ": build by `" + Build + "`" +
          (ByHand.empty() ? "" : ", or by hand: " + ByHand))
      .str();
}

void Wish::limit(uint64_t Threads) {
  if (Remap)
    Remap->Threads = std::min<uint64_t>(Remap->Threads, Threads);
  if (Collect)
    Collect->Threads = uint32_t(
        Collect->Threads ? std::min<uint64_t>(Collect->Threads, Threads)
                         : Threads);
}

bool isKernelNamed(const Function &F, StringRef Name) {
  if (F.isDeclaration() || !analysis::isKernel(F) || analysis::isTwin(F))
    return false;
  if (F.getName() == Name)
    return true;
  const std::string Whole = demangle(F.getName());
  StringRef Bare =
      StringRef(Whole).take_until([](char C) { return C == '(' || C == '<'; });
  Bare = Bare.rsplit(' ').second.empty() ? Bare : Bare.rsplit(' ').second;
  return Bare == Name || Bare.ends_with(("::" + Name).str());
}

static const Wish &wishOf(const Function &F, const Wishes &Asked) {
  const auto Found = Asked.Of.find(F.getName().str());
  return Found == Asked.Of.end() ? Asked.All : Found->second;
}

/// Without a wish, what the source says counts.
static remedies::RemapOptions remapOf(const Wish &Of) {
  remedies::RemapOptions InSource;
  InSource.Marked = true;
  remedies::RemapOptions Options = Of.Remap.value_or(InSource);
  Options.WorkingExits = true; // the text brings them along as they stand
  return Options;
}

Ordered orderPatches(Module &M, const Wishes &Asked) {
  Ordered Result;
  for (Function &F : M) {
    if (F.isDeclaration() || !analysis::isKernel(F) || analysis::isTwin(F) ||
        !(Asked.Only.empty() || isKernelNamed(F, Asked.Only)))
      continue;
    const Wish &Of = wishOf(F, Asked);
    remedies::CollectOptions Marked;
    Marked.Marked = true;
    if (Of.Collect || (!Of.Remap && remedies::isAskedFor(F, "collect")))
      orderCollecting(F, Of.Collect.value_or(Marked), Result);
    if (Of.Remap || !Of.Collect)
      orderRounds(F, remapOf(Of), Result);
  }
  return Result;
}

std::vector<Order> furtherRounds(const Function &F, const Wishes &Asked,
                                 ArrayRef<Order> Done) {
  return orderFurther(F, remapOf(wishOf(F, Asked)), Done);
}

} // namespace reconverge::rewrite
