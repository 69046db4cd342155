//===- unittests/remedies/RemapKernels.h - Kernels, remapped ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_REMEDIES_REMAPKERNELS_H
#define RECONVERGE_UNITTESTS_REMEDIES_REMAPKERNELS_H

#include "Differential.h"
#include "RandomKernel.h"

#include "remedies/common/Requests.h"
#include "remedies/remap/Remap.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

namespace reconverge::remedies {

/// Kernels whose threads have all their state in registers.
inline warpvm::RandomKernelOptions remapShape(uint64_t Seed) {
  warpvm::RandomKernelOptions Options = warpvm::randomOptions(Seed);
  Options.Local = false;
  Options.Inline = true;
  // Small ones, as compiling them takes the time.
  Options.Depth = Seed % 4 ? 1 : 2;
  Options.Statements = Seed % 4 ? 3 : 2;
  return Options;
}

/// Every other one is head_or_tail: most rounds have too many groups for it.
inline RemapAlgorithm algorithmFor(uint64_t N) {
  static constexpr RemapAlgorithm Others[] = {
      RemapAlgorithm::Automatic, RemapAlgorithm::WarpAggregated,
      RemapAlgorithm::DataGroupIndexing};
  return N % 2 ? Others[N / 2 % 3] : RemapAlgorithm::HeadOrTail;
}

/// Everything that is legal, however little is in it.
inline RemapOptions eagerRemap(uint64_t Seed) {
  RemapOptions Options;
  Options.Threshold = 0;
  Options.Ids = true;
  Options.Threads = 128; // RandomKernelMaxThreads
  // Of those whose blocks are whole warps; and some that no block is of.
  if (const unsigned There = blockThreads(Seed); There >= 64) {
    Options.Exact = Seed % 3 != 0;
    Options.Threads = Seed % 16 == 1 ? 128 : There;
  }
  Options.Paths = Seed % 5 ? 32 : 8;
  Options.Algorithm = algorithmFor(Seed / 4); // of each shape and processor
  Options.Neighbours = 4 << Seed % 5;
  if (Options.Algorithm == RemapAlgorithm::HeadOrTail)
    Options.Paths = 2;
  return Options;
}

/// Some kernels are for a processor that adds up over a warp by itself.
inline void chooseProcessor(llvm::Module &M, uint64_t Seed) {
  if (Seed % 2)
    for (llvm::Function &F : M)
      if (!F.isDeclaration())
        F.addFnAttr("target-cpu", "sm_90");
}

/// Branches ask for \p Cycle in turns, as by pragmas.
inline void askFor(llvm::Module &M, llvm::ArrayRef<RemapAlgorithm> Cycle) {
  static constexpr const char *Names[] = {
      "on:algorithm=automatic", "on:algorithm=warp_aggregated",
      "on:algorithm=head_or_tail", "on:algorithm=data_group_indexing"};
  llvm::LLVMContext &C = M.getContext();
  // What is not legal would be a warning.
  C.setDiagnosticHandlerCallBack([](const llvm::DiagnosticInfo *, void *) {});
  unsigned Branches = 0;
  for (llvm::Function &F : M)
    for (llvm::BasicBlock &BB : F)
      if (llvm::Instruction *Term = BB.getTerminator();
          Term->getNumSuccessors() > 1) {
        const auto Which = Cycle[Branches++ % Cycle.size()];
        hangRequest(*Term, "remap", Names[unsigned(Which)],
                    "k.cu:" + llvm::Twine(Branches));
      }
}

/// How many rounds the functions of \p M got.
inline unsigned remapModule(llvm::Module &M, const RemapOptions &Options) {
  unsigned Rounds = 0;
  for (llvm::Function &F : M)
    if (!F.isDeclaration()) {
      llvm::OptimizationRemarkEmitter Remarks(&F);
      Rounds += remapFunction(F, Options, Remarks);
    }
  return Rounds;
}

/// What \p Seed makes of \p M; one kernel in eight mixes algorithms.
inline unsigned remapSeed(llvm::Module &M, uint64_t Seed) {
  chooseProcessor(M, Seed);
  if (Seed % 8 == 3)
    askFor(M, {RemapAlgorithm::HeadOrTail, RemapAlgorithm::DataGroupIndexing,
               RemapAlgorithm::Automatic, RemapAlgorithm::WarpAggregated});
  return remapModule(M, eagerRemap(Seed));
}

/// How many branches of \p M rounds serve: switches, and all others; and how
/// many rounds are of the paper's algorithms.
struct Served {
  unsigned Switches = 0, Branches = 0, HeadOrTail = 0, DataGroupIndexing = 0;
};
inline Served servedIn(const llvm::Module &M) {
  Served Count;
  for (const llvm::Function &F : M)
    for (const llvm::BasicBlock &BB : F) {
      Count.HeadOrTail += BB.getName().starts_with("remap.ends");
      Count.DataGroupIndexing += BB.getName().starts_with("remap.rank");
      const llvm::Instruction *Term = BB.getTerminator();
      if (!Term->getMetadata("rc.remapped"))
        continue;
      Count.Switches += llvm::isa<llvm::SwitchInst>(Term);
      // Of a round's own blocks, only the tail has a branch of the kernel.
      Count.Branches += llvm::isa<llvm::BranchInst>(Term) &&
                        (!BB.getName().starts_with("remap.") ||
                         BB.getName().starts_with("remap.tail"));
    }
  return Count;
}

} // namespace reconverge::remedies

#endif
