//===- unittests/remedies/Seeds.h - Many random kernels --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_REMEDIES_SEEDS_H
#define RECONVERGE_UNITTESTS_REMEDIES_SEEDS_H

#include "Differential.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace reconverge::remedies {

struct SeedsTried {
  unsigned Kernels = 0, Changed = 0;
};

/// Compares the kernels of seeds 1 to \p Count, or of those that
/// RECONVERGE_RANDOM_SEEDS="first,count" names; of them, every \p Shares -th
/// from number \p Share on. The first that differs fails the test and ends it;
/// with RECONVERGE_REDUCE=1 a small kernel that does so is printed.
inline SeedsTried
compareSeeds(unsigned Count, unsigned Share, unsigned Shares,
             llvm::function_ref<warpvm::RandomKernelOptions(uint64_t)> Shape,
             llvm::function_ref<unsigned(llvm::Module &, uint64_t)> Apply) {
  SeedsTried Tried;
  unsigned First = 1;
  if (const char *Text = std::getenv("RECONVERGE_RANDOM_SEEDS")) {
    auto [A, B] = llvm::StringRef(Text).split(',');
    if (A.getAsInteger(10, First) || B.getAsInteger(10, Count)) {
      ADD_FAILURE() << "RECONVERGE_RANDOM_SEEDS is not \"first,count\"";
      return Tried;
    }
  }
  for (unsigned I = Share; I < Count; I += Shares) {
    const uint64_t Seed = First + I;
    llvm::LLVMContext C;
    auto M = warpvm::randomKernel(C, Seed, Shape(Seed));
    auto Change = [&](llvm::Module &Of) { return Apply(Of, Seed); };
    Trial T = compare(*M, Seed, Change);
    ++Tried.Kernels;
    Tried.Changed += T.Changes > 0;
    if (T.Difference.empty())
      continue;
    ADD_FAILURE() << "seed " << Seed << ": " << T.Difference;
    if (std::getenv("RECONVERGE_REDUCE")) {
      auto Small = reduce(std::move(M), [&](const llvm::Module &Of) {
        return !compare(Of, Seed, Change, Reference::Vm).Difference.empty();
      });
      llvm::errs() << "; seed " << Seed << ", reduced\n" << *Small;
    }
    break;
  }
  return Tried;
}

} // namespace reconverge::remedies

#endif
