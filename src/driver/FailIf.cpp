//===- driver/FailIf.cpp - Conditions that fail a run ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   condition := event | measure ('>' | '<') number '%'
//   event     := refused | none-ran | order-dependent | races
//   measure   := self | total | recoverable (of any place) | cfe (of any
//                kernel)
//
// `cost` is another word for total. Shares are those of the table: of the run,
// for places. Where a run has no figures to judge by (no kernel ran, no
// --shuffle or --races, no sample) a condition counts as one that holds: a script must not
// take it for a good result.
//
//===----------------------------------------------------------------------===//

#include "driver/FailIf.h"

#include "core/Error.h"
#include "report/Names.h"
#include "report/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace llvm;

namespace reconverge::driver {

static Error notACondition(StringRef Text) {
  return userError(
      "'" + Text + "' is no condition of --fail-if",
      "Write refused, none-ran, order-dependent or races; or self, "
      "total, recoverable or cfe with a bound in per cent: "
      "'total>20%', 'cfe<60%'.");
}

Expected<FailCondition> parseFailCondition(StringRef Text) {
  using Kind = std::optional<FailCondition::Kind>;
  FailCondition C;
  C.Text = Text.str();
  Text = Text.trim();
  const size_t At = Text.find_first_of("<>");
  if (At == StringRef::npos) {
    Kind What = StringSwitch<Kind>(Text)
                    .Case("refused", FailCondition::Refused)
                    .Case("none-ran", FailCondition::NoneRan)
                    .Case("order-dependent", FailCondition::OrderDependent)
                    .Case("races", FailCondition::Races)
                    .Default(std::nullopt);
    if (!What)
      return notACondition(Text);
    C.What = *What;
    return C;
  }
  Kind What = StringSwitch<Kind>(Text.take_front(At).trim())
                  .Case("self", FailCondition::Self)
                  .Cases("total", "cost", FailCondition::Total)
                  .Case("recoverable", FailCondition::Recoverable)
                  .Case("cfe", FailCondition::Cfe)
                  .Default(std::nullopt);
  StringRef Number = Text.substr(At + 1).trim();
  double Percent = 0;
  if (!What || !Number.consume_back("%") ||
      Number.rtrim().getAsDouble(Percent) || !(Percent >= 0 && Percent <= 100))
    return notACondition(Text);
  C.What = *What;
  C.Above = Text[At] == '>';
  C.Bound = Percent / 100;
  return C;
}

/// Two writes of the same value count for none.
static bool hasRace(const KernelProfile &K) {
  return any_of(K.Races.Races, [](const Race &R) { return !R.SameValue; });
}

/// Why the run cannot tell whether \p C holds; null if it can.
static const char *whyUnknown(const FailCondition &C, const Profile &P) {
  auto InNone = [&](auto &&Has) { return none_of(P.Kernels, Has); };
  switch (C.What) {
  case FailCondition::Refused:
  case FailCondition::NoneRan:
    return nullptr;
  case FailCondition::OrderDependent:
    return InNone([](const KernelProfile &K) { return K.Orders.Launches; })
               ? "no launch was tried in other orders (--shuffle)"
               : nullptr;
  case FailCondition::Races:
    if (InNone([](const KernelProfile &K) { return K.Races.Launches; }))
      return "no launch was looked at for races (--races)";
    return InNone(hasRace) && !InNone([](const KernelProfile &K) {
             return K.Races.Incomplete;
           })
               ? "there was no memory to follow all accesses"
               : nullptr;
  case FailCondition::Recoverable:
    if (!P.Kernels.empty() &&
        InNone([](const KernelProfile &K) { return K.Regrouped.Launches; }))
      return "no threads were sampled for regrouping";
    [[fallthrough]];
  case FailCondition::Self:
  case FailCondition::Total:
  case FailCondition::Cfe:
    return P.Kernels.empty() ? "no kernel ran to its end" : nullptr;
  }
  llvm_unreachable("a condition has one of these kinds");
}

/// The first thing in the run for which \p C holds, in words; none if none.
static std::optional<std::string> holds(const FailCondition &C,
                                        const Profile &P, const RunCost &Cost) {
  auto IsBeyond = [&](double Value) {
    return C.Above ? Value > C.Bound : Value < C.Bound;
  };
  auto OfKernel = [&](size_t Kernel, const std::string &What) {
    return report::kernelName(P.Kernels[Kernel].Info.Display, 60) + What;
  };
  switch (C.What) {
  case FailCondition::Refused:
    if (!P.Refused.empty())
      return P.Refused.front();
    return std::nullopt;
  case FailCondition::NoneRan:
    if (P.Kernels.empty())
      return "no kernel ran to its end";
    return std::nullopt;
  case FailCondition::OrderDependent:
    for (auto [I, K] : enumerate(P.Kernels))
      if (K.Orders.Differing || K.Orders.FaultyRuns)
        return OfKernel(I, " depends on the order of its threads");
    return std::nullopt;
  case FailCondition::Races:
    for (auto [I, K] : enumerate(P.Kernels))
      if (hasRace(K))
        return OfKernel(I, " has a race");
    return std::nullopt;
  case FailCondition::Cfe:
    for (auto [I, K] : enumerate(Cost.Kernels))
      if (IsBeyond(K.Cfe))
        return OfKernel(I, " has a CFE of " + report::percent(K.Cfe));
    return std::nullopt;
  case FailCondition::Self:
  case FailCondition::Total:
  case FailCondition::Recoverable:
    break;
  }
  for (const PlaceCost &Place : Cost.Places) {
    const double Value = C.What == FailCondition::Self ? Place.Self
                         : C.What == FailCondition::Total
                             ? Place.Cost
                             : Place.Recover.InGrid;
    if (!IsBeyond(Value))
      continue;
    const PlaceCost::Member M = Place.Branches.front();
    const BranchInfo &Branch = P.Kernels[M.Kernel].Info.Branches[M.Branch];
    std::string Words = report::percent(Value) + " at ";
    if (Branch.Where.empty())
      return Words + "a branch of " + OfKernel(M.Kernel, "");
    const SourceLoc &At = Branch.Where.front();
    Words += sys::path::filename(At.File).str() + ":" + std::to_string(At.Line);
    return Words + (Branch.Condition.empty() ? "" : ": " + Branch.Condition);
  }
  return std::nullopt;
}

bool sayWhatHolds(ArrayRef<FailCondition> Conditions, const Profile &P,
                  const RunCost &Cost, raw_ostream &OS) {
  bool Any = false;
  for (const FailCondition &C : Conditions)
    if (const char *Missing = whyUnknown(C, P)) {
      OS << "reconverge: --fail-if '" << C.Text
         << "' cannot be judged: " << Missing << '\n';
      Any = true;
    } else if (std::optional<std::string> Why = holds(C, P, Cost)) {
      OS << "reconverge: --fail-if '" << C.Text
         << "': " << report::cleanText(*Why) << '\n';
      Any = true;
    }
  return Any;
}

} // namespace reconverge::driver
