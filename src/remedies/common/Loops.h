//===- remedies/common/Loops.h - What remedies ask of loops -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_LOOPS_H
#define RECONVERGE_REMEDIES_COMMON_LOOPS_H

#include "analysis/Uniformity.h"
#include "remedies/common/Requests.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class BasicBlock;
class Function;
class IRBuilderBase;
class Loop;
class LoopInfo;
} // namespace llvm

namespace reconverge::remedies {

/// Lanes of a warp may leave \p L in different rounds.
bool divergesAt(const llvm::Loop &L, const analysis::UniformityResult &Known);

/// Whether in \p L each thread goes over items of its own: a number that begins as
/// one made from the thread's own grows by what is the same in its block.
bool goesOverItems(const llvm::Loop &L,
                   const analysis::UniformityResult &Known);

/// Instructions of \p L, each counted eight times for each loop it is in.
uint64_t weightOf(const llvm::Loop &L, const llvm::LoopInfo &Loops);

/// What the source says of \p L.
std::optional<SourceRequest> requestOf(const llvm::Loop &L,
                                       llvm::StringRef Remedy);

/// The block that ends with branch \p Number; null: there is none.
llvm::BasicBlock *blockOfBranch(uint32_t Number, llvm::Function &F);

/// The innermost loop that branch \p Number leaves; null: none that diverges.
llvm::Loop *loopLeftBy(uint32_t Number, llvm::Function &F,
                       const llvm::LoopInfo &Loops,
                       const analysis::UniformityResult &Known);

/// Cycles of \p F that are entered at several places, in program order.
llvm::SmallVector<const llvm::Cycle *>
irreducibleCycles(const llvm::Function &F, const llvm::CycleInfo &Cycles);

/// What is read in a loop of \p F, one that is entered at several places among
/// them, and is written by other threads, on which a way out of that loop
/// depends; null: nothing. Only loops in \p Within and itself, if not null.
const llvm::Instruction *waitsFor(llvm::Function &F,
                                  const llvm::LoopInfo &Loops,
                                  const llvm::Loop *Within = nullptr);

/// A block of its own on each edge to \p To; \p Fill, which gets the block that
/// the edge is from, ends it.
void leadElsewhere(
    llvm::BasicBlock *To,
    llvm::function_ref<void(llvm::IRBuilderBase &, llvm::BasicBlock *)> Fill);

/// Makes one round of \p Count rounds of \p L, whose code may have changed since
/// it was analysed inside, each with its ways out; false: LLVM does not.
/// \p Remainder: where the loop's rounds can be counted, only the last of the
/// Count has a way out, and rounds that are left over have a loop of their own.
bool unrollRounds(llvm::Loop &L, unsigned Count,
                  llvm::FunctionAnalysisManager &All, bool Remainder = false);

/// Removes what promotion of slots has left without use.
void removeDead(llvm::Function &F);

} // namespace reconverge::remedies

#endif
