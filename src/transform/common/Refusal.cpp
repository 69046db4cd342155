//===- transform/common/Refusal.cpp - Why a remedy does not apply ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "transform/common/Refusal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instruction.h"

using namespace llvm;

namespace reconverge::transform {

namespace {
struct Entry {
  RefusalCode Code;
  StringLiteral Sentence, Page;
};
} // namespace

static constexpr Entry Table[] = {
#define REFUSAL(NUMBER, NAME, SENTENCE, PAGE)                                  \
  {RefusalCode::NAME, SENTENCE, PAGE},
#include "transform/common/Refusals.def"
};

static const Entry &entryOf(RefusalCode Code) {
  const Entry *Found =
      find_if(Table, [&](const Entry &E) { return E.Code == Code; });
  assert(Found != std::end(Table) && "every code has its row");
  return *Found;
}

Refusal refusal(RefusalCode Code, const Instruction &I, std::string Detail) {
  return {Code, I.getDebugLoc(), std::move(Detail)};
}

std::string nameOf(RefusalCode Code) {
  return "RC" + std::to_string(unsigned(Code));
}

StringRef sentenceOf(RefusalCode Code) { return entryOf(Code).Sentence; }

StringRef pageOf(RefusalCode Code) { return entryOf(Code).Page; }

ArrayRef<RefusalCode> allRefusals() {
  static constexpr RefusalCode Codes[] = {
#define REFUSAL(NUMBER, NAME, SENTENCE, PAGE) RefusalCode::NAME,
#include "transform/common/Refusals.def"
  };
  return Codes;
}

std::optional<RefusalCode> refusalNamed(StringRef Name) {
  unsigned Number = 0;
  if (!Name.consume_front_insensitive("rc") || Name.getAsInteger(10, Number))
    return std::nullopt;
  for (RefusalCode Code : allRefusals())
    if (unsigned(Code) == Number)
      return Code;
  return std::nullopt;
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
    std::string Name = nameOf(Why.Code);
    OptimizationRemarkMissed Remark(Pass, Name, Where, Branch.getParent());
    Remark << Missed << ": " << sentenceOf(Why.Code);
    if (!Why.Detail.empty())
      Remark << " (" << ore::NV("Detail", Why.Detail) << ")";
    Remark << " [" << ore::NV("Code", Name) << "]";
    return Remark;
  });
}

} // namespace reconverge::transform
