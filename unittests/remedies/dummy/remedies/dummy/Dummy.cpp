//===- remedies/dummy/Dummy.cpp - The smallest remedy ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds a name to each function that has a branch.
//
//===----------------------------------------------------------------------===//

#include "core/Error.h"
#include "remedies/common/Parameters.h"
#include "remedies/common/Remedy.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace reconverge::remedies {

static constexpr RefusalKind Straight = {9901, "there is no branch",
                                         "Code in a line cannot diverge."};
static constexpr const RefusalKind *Refusals[] = {&Straight};

static Expected<unsigned> parse(StringRef Text) {
  unsigned Times = 1;
  bool Marked;
  if (Error E = readParameters(
          Text, "doing nothing", dummy::Parameters,
          [&](StringRef Key, StringRef Value) {
            return Key == "marked"
                       ? readFlag(Value, Marked)
                       : Key == "times" && !Value.getAsInteger(10, Times);
          }))
    return std::move(E);
  return Times;
}

static Expected<std::optional<Recipe>>
apply(Function &F, StringRef Parameters, const Services &,
      OptimizationRemarkEmitter &Remarks) {
  auto Times = parse(Parameters);
  if (!Times)
    return Times.takeError();
  Instruction &End = *F.getEntryBlock().getTerminator();
  if (F.size() == 1) {
    reportMissed(Remarks, "reconverge-dummy", "nothing done", End,
                 refusal(Straight, End));
    return std::nullopt;
  }
  F.addFnAttr("dummy", std::to_string(*Times));
  return asBefore(true);
}

const Remedy dummy::Itself = {
    .Name = dummy::Name,
    .Does = dummy::Does,
    .Parameters = dummy::Parameters,
    .Refusals = Refusals,
    .Advice = "do nothing",
    .PriceOf = "",
    .RegroupsBlock = false,
    .BoundAt = [](const KernelProfile &, const KernelCost &Cost, uint32_t B)
        -> BranchBound { return {Cost.Branches[B].SelfSlots / 2}; },
    .Guess = [](const KernelProfile &) -> std::vector<std::string> {
      return {"times=2"};
    },
    .Check = checkBy<parse>,
    .Apply = apply,
    .Promises = Promise::Order,
    .Moves = [](StringRef) { return Moved::Threads; }};

} // namespace reconverge::remedies
