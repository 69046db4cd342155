//===- remedies/common/Controlled.cpp - What hangs on a branch ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Controlled.h"

#include "analysis/Costs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::remedies {

static constexpr unsigned LoopTrips = 8;

uint64_t instructionsBehind(const BasicBlock &Branch,
                            const analysis::PostDominance &Dominance,
                            const CycleInfo &Cycles) {
  uint64_t Cost = 0;
  for (const BasicBlock *BB :
       analysis::regionOf(Branch, Dominance, Cycles).Blocks) {
    uint64_t Trips = 1;
    for (const Cycle *C = Cycles.getCycle(BB); C && !C->contains(&Branch);
         C = C->getParentCycle())
      Trips = std::min<uint64_t>(Trips * LoopTrips, 1 << 20);
    Cost += Trips * count_if(*BB, analysis::countsAsInstruction);
  }
  return Cost;
}

bool onlyReturns(const BasicBlock &BB) {
  SmallPtrSet<const BasicBlock *, 4> Seen;
  for (const BasicBlock *At = &BB; At && Seen.insert(At).second;
       At = At->getSingleSuccessor()) {
    for (const Instruction &I : *At)
      if (!I.isTerminator() && I.mayHaveSideEffects())
        return false;
    if (isa<ReturnInst>(At->getTerminator()))
      return true;
  }
  return false;
}

} // namespace reconverge::remedies
