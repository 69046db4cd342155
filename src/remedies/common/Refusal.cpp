//===- remedies/common/Refusal.cpp - Why a remedy does not apply ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Refusal.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instruction.h"

using namespace llvm;

namespace reconverge::remedies {

Refusal refusal(const RefusalKind &Kind, const Instruction &I,
                std::string Detail) {
  return {&Kind, I.getDebugLoc(), std::move(Detail)};
}

/// \p Where, or the call there that it was inlined from, in the function that
/// the branch was written in: a place in a header says little.
static DebugLoc seenFrom(const DebugLoc &Branch, const DebugLoc &Where) {
  if (!Where || !Branch)
    return Where ? Where : Branch;
  const DISubprogram *Home = Branch->getScope()->getSubprogram();
  const DILocation *At = Where.get();
  while (At->getInlinedAt() && At->getScope()->getSubprogram() != Home)
    At = At->getInlinedAt();
  return At;
}

void reportMissed(OptimizationRemarkEmitter &Remarks, const char *Pass,
                  StringRef Missed, const Instruction &Branch,
                  const Refusal &Why) {
  Remarks.emit([&] {
    DebugLoc Where = seenFrom(Branch.getDebugLoc(), Why.Where);
    std::string Name = Why.Kind->code();
    OptimizationRemarkMissed Remark(Pass, Name, Where, Branch.getParent());
    Remark << Missed << ": " << Why.Kind->Sentence;
    if (!Why.Detail.empty())
      Remark << " (" << ore::NV("Detail", Why.Detail) << ")";
    Remark << " [" << ore::NV("Code", Name) << "]";
    return Remark;
  });
}

} // namespace reconverge::remedies
