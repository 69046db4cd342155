//===- unittests/transform/RemapKernels.h - Kernels, remapped ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_TRANSFORM_REMAPKERNELS_H
#define RECONVERGE_UNITTESTS_TRANSFORM_REMAPKERNELS_H

#include "RandomKernel.h"

#include "transform/remap/Remap.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

namespace reconverge::transform {

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

/// Everything that is legal, however little is in it.
inline RemapOptions eagerRemap(uint64_t Seed) {
  RemapOptions Options;
  Options.Threshold = 0;
  Options.Ids = true;
  Options.Threads = 128; // RandomKernelMaxThreads
  Options.Paths = Seed % 5 ? 32 : 8;
  Options.Algorithm =
      Seed % 3 ? RemapAlgorithm::WarpAggregated : RemapAlgorithm::Automatic;
  return Options;
}

/// Some kernels are for a processor that adds up over a warp by itself.
inline void chooseProcessor(llvm::Module &M, uint64_t Seed) {
  if (Seed % 2)
    for (llvm::Function &F : M)
      if (!F.isDeclaration())
        F.addFnAttr("target-cpu", "sm_90");
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

/// How many branches of \p M rounds serve: switches, and all others.
struct Served {
  unsigned Switches = 0, Branches = 0;
};
inline Served servedIn(const llvm::Module &M) {
  Served Count;
  for (const llvm::Function &F : M)
    for (const llvm::BasicBlock &BB : F) {
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

} // namespace reconverge::transform

#endif
