//===- transform/remap/Remap.h - Thread-data remapping ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_TRANSFORM_REMAP_REMAP_H
#define RECONVERGE_TRANSFORM_REMAP_REMAP_H

#include "transform/remap/Options.h"

#include "llvm/IR/PassManager.h"

namespace llvm {
class OptimizationRemarkEmitter;
} // namespace llvm

namespace reconverge::transform {

/// Puts a round before divergent branches of kernel \p F; leaves \p F as it was
/// if there is none. Each branch gets a remark: remapped, or why not. Returns
/// the number of rounds.
unsigned remapFunction(llvm::Function &F, const RemapOptions &Options,
                       llvm::OptimizationRemarkEmitter &Remarks);

/// `reconverge-remap`. To be run late, after inlining. What has been remapped
/// once is left alone.
class RemapPass : public llvm::PassInfoMixin<RemapPass> {
public:
  explicit RemapPass(RemapOptions Options = {}) : Options(std::move(Options)) {}
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &AM);

private:
  RemapOptions Options;
};

} // namespace reconverge::transform

#endif
