//===- remedies/common/Skips.h - Rounds that skip some work -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_SKIPS_H
#define RECONVERGE_REMEDIES_COMMON_SKIPS_H

#include "analysis/Uniformity.h"

namespace llvm {
class BasicBlock;
class DominatorTree;
class Function;
class Loop;
class LoopInfo;
} // namespace llvm

namespace reconverge::remedies {

/// A branch in a loop by which lanes work, or skip the work.
struct Skip {
  llvm::BasicBlock *Work = nullptr;  ///< where the work begins; null: no skip
  llvm::BasicBlock *Other = nullptr; ///< the branch's other side
  uint64_t Weight =
      0; ///< instructions of the work, as weightOf counts a loop's
};

/// What branch \p Number of \p F skips in its innermost loop, if it parts lanes.
Skip skipAt(uint32_t Number, llvm::Function &F, const llvm::LoopInfo &Loops,
            const llvm::DominatorTree &Dominance,
            const analysis::UniformityResult &Known);

/// The most that lanes skip in rounds of \p L, which is not in a loop inside it.
Skip heaviestSkip(const llvm::Loop &L, const llvm::LoopInfo &Loops,
                  const llvm::DominatorTree &Dominance,
                  const analysis::UniformityResult &Known);

/// Makes a loop in the loop of \p Header of the rounds that do not come to the
/// work. Its header is \p Header, and the work is behind one of its exits.
void separateSkips(const Skip &From, llvm::BasicBlock &Header);

} // namespace reconverge::remedies

#endif
