//===- unittests/remedies/Seeds.h - Many random kernels --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_REMEDIES_SEEDS_H
#define RECONVERGE_UNITTESTS_REMEDIES_SEEDS_H

#include "Differential.h"
#include "SeedRange.h"

#include "analysis/Numbering.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace reconverge::remedies {

using SeedShape = llvm::function_ref<warpvm::RandomKernelOptions(uint64_t)>;
/// How many changes it made.
using SeedChange = llvm::function_ref<unsigned(llvm::Module &, uint64_t)>;

struct SeedsTried {
  unsigned Kernels = 0, Changed = 0;
};

/// Where the running test writes the kernel of \p Seed.
inline std::string stemFor(const char *Folder, uint64_t Seed) {
  const char *Test =
      testing::UnitTest::GetInstance()->current_test_info()->name();
  return (Folder + llvm::Twine("/") + llvm::StringRef(Test).split('/').first +
          "-" + llvm::Twine(Seed))
      .str();
}

/// Compares the kernels of seeds 1 to \p Count, or of those that
/// RECONVERGE_RANDOM_SEEDS="first,count" names; of them, every \p Shares -th
/// from number \p Share on. The first that differs fails the test and ends it;
/// with RECONVERGE_REDUCE=1 a small kernel that does so is printed. With
/// RECONVERGE_WRITE_KERNELS=<folder>, which has to exist, they are not compared,
/// but written for a GPU (RunKernels.cu).
inline SeedsTried compareSeeds(unsigned Count, unsigned Share, unsigned Shares,
                               SeedShape Shape, SeedChange Apply) {
  SeedsTried Tried;
  const SeedRange Seeds = seedRange(Count);
  for (unsigned I = Share; I < Seeds.Count; I += Shares) {
    const uint64_t Seed = Seeds.First + I;
    llvm::LLVMContext C;
    auto M = warpvm::randomKernel(C, Seed, Shape(Seed));
    auto Change = [&](llvm::Module &Of) { return Apply(Of, Seed); };
    const char *Folder = std::getenv("RECONVERGE_WRITE_KERNELS");
    Trial T = Folder ? writeForGpu(stemFor(Folder, Seed), *M, Seed, Change)
                     : compare(*M, Seed, Change);
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

/// That the comparison notices, in one of a hundred kernels, what \p Break does.
inline void expectCaught(SeedShape Shape, SeedChange Break) {
  unsigned Caught = 0, Changed = 0;
  for (uint64_t Seed = 1; Seed <= 100 && !Caught; ++Seed) {
    llvm::LLVMContext C;
    auto M = warpvm::randomKernel(C, Seed, Shape(Seed));
    Trial T =
        compare(*M, Seed, [&](llvm::Module &Of) { return Break(Of, Seed); });
    Changed += T.Changes > 0;
    Caught += !T.Difference.empty();
  }
  EXPECT_TRUE(Caught) << "of " << Changed << " that were changed";
}

/// That \p Apply makes the same bytes of the same kernel.
inline void expectDeterministic(SeedShape Shape, SeedChange Apply) {
  for (uint64_t Seed = 1; Seed <= 20; ++Seed) {
    llvm::LLVMContext C;
    const auto Original = warpvm::randomKernel(C, Seed, Shape(Seed));
    auto Changed = [&] {
      auto M = llvm::CloneModule(*Original);
      Apply(*M, Seed);
      std::string Text;
      llvm::raw_string_ostream(Text) << *M;
      return Text;
    };
    const std::string Once = Changed();
    EXPECT_TRUE(Once == Changed()) << "seed " << Seed;
  }
}

/// Numbers the blocks of kernel "k" of \p M, then calls \p Apply with the
/// number of each branch, the last one first, until it has changed something.
inline unsigned
changeByBranch(llvm::Module &M,
               llvm::function_ref<unsigned(uint32_t Branch)> Apply) {
  analysis::numberBlocks(M);
  llvm::SmallVector<uint32_t> Branches;
  for (const llvm::BasicBlock &BB : *M.getFunction("k"))
    if (auto Number = analysis::branchNumber(BB))
      Branches.push_back(*Number);
  for (uint32_t Branch : llvm::reverse(Branches))
    if (unsigned Changes = Apply(Branch))
      return Changes;
  return 0;
}

} // namespace reconverge::remedies

#endif
