//===- remedies/common/Slice.h - The exact slice of a kernel ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_SLICE_H
#define RECONVERGE_REMEDIES_COMMON_SLICE_H

#include "remedies/common/Refusal.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
class Loop;
class Module;
} // namespace llvm

namespace reconverge::remedies {

/// Why a slice cannot be, or is not worth it.
namespace sliced {
#define REFUSALS "remedies/common/SliceRefusals.def"
#include "remedies/common/Refusals.inc"
} // namespace sliced

/// \p Kernel once more, called \p Name, to be reduced: without debug info. \p Map
/// has what its values are there.
llvm::Function &copyToReduce(llvm::Function &Kernel, const llvm::Twine &Name,
                             llvm::ValueToValueMapTy &Map);

/// All ways out of \p F lead to one block, which is returned, empty but for its
/// return.
llvm::BasicBlock &joinEnds(llvm::Function &F);

/// A thread of \p F goes to \p End behind its first round of \p L.
void endBehindFirstRound(const llvm::Loop &L, llvm::BasicBlock &End);

/// Reduces \p F, a copy of \p Kernel with more parameters, to what its notes
/// need. \p Note puts stores to the thread's stack into it; \p LastNeeded says
/// behind which instruction it may end, or null; \p Write has it leave, in front
/// of the return of a block, what it noted. Else it writes nothing. Where it
/// cannot be, F is gone, and that is why; \p Free instructions are not held
/// against it.
std::optional<Refusal>
reduceTo(llvm::Function &F, llvm::Function &Kernel,
         llvm::function_ref<std::optional<Refusal>()> Note,
         llvm::function_ref<llvm::Instruction *()> LastNeeded,
         llvm::function_ref<void(llvm::BasicBlock &)> Write, uint64_t Free = 0);

/// Loads and other reads of \p F of what the same thread may have written before.
llvm::SmallVector<llvm::Instruction *> readsOfWritten(llvm::Function &F);

} // namespace reconverge::remedies

#endif
