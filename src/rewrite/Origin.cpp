//===- rewrite/Origin.cpp - Where code stands in the source ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rewrite/Origin.h"

#include "analysis/Places.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace reconverge::rewrite {

using namespace remedies::remap;

static std::string pathOf(const DILocation &At) {
  SmallString<128> Path(analysis::sourcePath(At));
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

static Place placeOf(const DILocation &At) {
  return {pathOf(At), At.getLine(), At.getColumn()};
}

const DILocation *locationOf(const BasicBlock &BB) {
  const Instruction &Term = *BB.getTerminator();
  const DILocation *At = Term.getDebugLoc();
  if (At && At->getLine())
    return At;
  const auto *Condition = dyn_cast<Instruction>(Term.getOperand(0));
  At = Condition ? Condition->getDebugLoc().get() : nullptr;
  return At && At->getLine() ? At : nullptr;
}

std::vector<Place> chainOf(const BasicBlock &BB) {
  std::vector<Place> Chain;
  const DILocation *At = locationOf(BB);
  for (; At; At = At->getInlinedAt()) {
    if (!At->getLine())
      return {};
    Chain.insert(Chain.begin(), placeOf(*At));
    if (!At->getInlinedAt() &&
        At->getScope()->getSubprogram() != BB.getParent()->getSubprogram())
      return {};
  }
  return Chain;
}

std::vector<Place> choicesOf(const RoundPlan &Plan) {
  std::vector<Place> All;
  SmallVector<unsigned, 8> Work{Plan.Trees.front().Root};
  while (!Work.empty()) {
    const Choice &C = Plan.Choices[Work.pop_back_val()];
    if (const DILocation *At = locationOf(*C.Block))
      All.push_back(placeOf(*At));
    for (const Way &On : C.Ways)
      if (On.Inner >= 0)
        Work.push_back(On.Inner);
  }
  return All;
}

Missed missedAt(const BasicBlock &BB, const remedies::Refusal &Why) {
  const DILocation *At = Why.Where ? Why.Where.get() : locationOf(BB);
  // In the kernel's own text.
  while (At && At->getInlinedAt())
    At = At->getInlinedAt();
  Missed M{"", 0, 0, Why.Kind, Why.Detail};
  if (At)
    M = {pathOf(*At), At->getLine(), At->getColumn(), Why.Kind, Why.Detail};
  return M;
}

} // namespace reconverge::rewrite
