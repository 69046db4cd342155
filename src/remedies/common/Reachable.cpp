//===- remedies/common/Reachable.cpp - What may come after ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Reachable.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instruction.h"

using namespace llvm;

namespace reconverge::remedies {

bool Reachable::operator()(const Instruction &From, const Instruction &To) {
  const BasicBlock *Start = From.getParent();
  if (Start == To.getParent() && (&From == &To || From.comesBefore(&To)))
    return true;
  auto [Known, IsNew] = Behind.try_emplace(Start);
  if (IsNew) {
    SmallVector<const BasicBlock *> Work = {Start};
    while (!Work.empty())
      for (const BasicBlock *Next : successors(Work.pop_back_val()))
        if (Known->second.insert(Next).second)
          Work.push_back(Next);
  }
  return Known->second.contains(To.getParent());
}

} // namespace reconverge::remedies
