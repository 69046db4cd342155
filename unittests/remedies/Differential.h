//===- unittests/remedies/Differential.h - Before against after -- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a transform must not change: a random kernel runs as it was and as the
// transform left it, from the same memory, and every byte that it leaves is
// compared. Any transform can be put to this test. The changed kernel runs on
// the warp VM, half of them shaped for ptxas before, the original thread by thread as code of the host, which takes a
// fraction of the time to compile and owes the VM nothing.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_UNITTESTS_REMEDIES_DIFFERENTIAL_H
#define RECONVERGE_UNITTESTS_REMEDIES_DIFFERENTIAL_H

#include "RandomKernel.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>

namespace reconverge::remedies {

/// Changes a module; returns how often it found something to change.
using Transform = llvm::function_ref<unsigned(llvm::Module &)>;

struct Trial {
  unsigned Changes = 0;   ///< what the transform returned
  std::string Difference; ///< empty: none; or what is wrong with the module
};

/// Options for kernels with much to meld, as various as the seeds.
warpvm::RandomKernelOptions twinOptions(uint64_t Seed);

/// Of a thread block of the launch that belongs to \p Seed.
unsigned blockThreads(uint64_t Seed);

/// What the original runs on. The VM stops one that runs on for ever, as a
/// kernel that is being reduced may.
enum class Reference { Scalar, Vm };

/// Compares \p M, which has kernel `k` as RandomKernel.h describes it, with
/// what
/// \p Apply makes of a copy, which is launched by its recipe if it carries one.
/// Launch and input follow from the seed.
Trial compare(const llvm::Module &M, uint64_t Seed, Transform Apply,
              Reference Before = Reference::Scalar);

/// Runs the kernel of a module on a launch's memory; returns what went wrong.
using Runner = llvm::function_ref<std::string(
    const llvm::Module &M, unsigned Blocks, unsigned Threads,
    const std::vector<uint32_t> &In, std::vector<uint32_t> &Out,
    std::vector<uint32_t> &Sums, uint32_t N)>;

/// Compares what \p Apply makes of a copy of \p M, on the VM, with the same as
/// \p Run runs it: for what changes results.
Trial compareChanged(const llvm::Module &M, uint64_t Seed, Transform Apply,
                     Runner Run);

/// Writes what compare would run and compare, for RunKernels.cu on a GPU: the
/// changed kernel to \p Stem.ptx, what is in memory before and what the original
/// leaves there to \p Stem.words. Nothing where nothing changes. With \p Run,
/// what compareChanged would: the other half is what Run leaves.
Trial writeForGpu(llvm::StringRef Stem, const llvm::Module &M, uint64_t Seed,
                  Transform Apply, Runner Run = nullptr);

/// The smallest kernel found of which \p Fails still holds, from \p M, of which
/// it holds. Asks at most \p Budget times.
std::unique_ptr<llvm::Module>
reduce(std::unique_ptr<llvm::Module> M,
       llvm::function_ref<bool(const llvm::Module &)> Fails,
       unsigned Budget = 2000);

} // namespace reconverge::remedies

#endif
