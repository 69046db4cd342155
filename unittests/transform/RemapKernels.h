//===- unittests/transform/RemapKernels.h - Kernels, remapped ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_TRANSFORM_REMAPKERNELS_H
#define RECONVERGE_UNITTESTS_TRANSFORM_REMAPKERNELS_H

#include "RandomKernel.h"

#include "transform/remap/Remap.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
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
inline RemapOptions eagerRemap() {
  RemapOptions Options;
  Options.Threshold = 0;
  Options.Ids = true;
  Options.Threads = 128; // RandomKernelMaxThreads
  return Options;
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

} // namespace reconverge::transform

#endif
