//===- remedies/herd/Remedy.cpp - Herding, for the rest -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Remedy.h"

#include "remedies/common/Requests.h"
#include "remedies/herd/Forecast.h"
#include "remedies/herd/Herd.h"
#include "remedies/herd/Refusals.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::remedies {

static constexpr const char *PassName = "reconverge-herd";

static std::string textFor(const HerdedBranch &Here, const Herded &All) {
  const HerdOptions &By = Here.Options;
  std::string Text = "herded: ";
  Text += Here.OfLoop ? "lanes leave the loop once no more than "
                      : "lanes are dropped from an arm that no more than ";
  Text += std::to_string(By.Threshold) + " of 32 ";
  Text += Here.OfLoop ? "are inside" : "want";
  if (Here.OfLoop && By.Every > 1)
    Text += ", with a vote every " + std::to_string(By.Every) + " rounds";
  if (All.ReachesMemory)
    Text += "; what they would have written to memory is not followed further";
  return Text + All.Registers;
}

static Expected<std::optional<Recipe>> apply(Function &F, StringRef Parameters,
                                             const Services &Services,
                                             OptimizationRemarkEmitter &) {
  auto Options = parseHerdOptions(Parameters);
  if (!Options)
    return Options.takeError();
  if (Options->Marked && !isAskedFor(F, herd::Name))
    return std::nullopt;
  Options->CountRegisters = Services.CountRegisters;
  Module &M = *F.getParent();
  const std::string Name = F.getName().str();
  const Herded Made = herdFunction(F, *Options); // F may be gone
  Function &Now = *M.getFunction(Name);
  OptimizationRemarkEmitter Remarks(&Now);
  const BasicBlock &Entry = Now.getEntryBlock();
  for (const HerdedBranch &Here : Made.Branches)
    Remarks.emit([&] {
      return OptimizationRemark(PassName, "Herded", Here.Where, &Entry)
             << textFor(Here, Made);
    });
  for (const Refusal &Why : Made.Others)
    reportMissed(Remarks, PassName, "not herded", *Entry.getTerminator(), Why);
  if (Made.Branches.empty())
    return std::nullopt;
  return Made.Launch;
}

/// A launch that counts who is dropped is not the program's.
static bool counts(StringRef Parameters) {
  auto Options = parseHerdOptions(Parameters);
  if (Options)
    return Options->Stop.has_value();
  consumeError(Options.takeError()); // Check says so
  return false;
}

static std::string stopping(StringRef Parameters, double Share) {
  std::string Text = Parameters.str();
  raw_string_ostream(Text) << (Parameters.empty() ? "" : ";")
                           << format("stop=%.6g", Share);
  return Text;
}

const Remedy herd::Itself = {
    .Name = herd::Name,
    .Does = herd::Does,
    .Parameters = herd::Parameters,
    .Refusals = herd::refuse::All,
    .Advice = "herd its lanes",
    .PriceOf = "",
    .RegroupsBlock = false,
    .BoundAt = nullptr,
    .Guess = herd::guess,
    .Check = [](StringRef Text) { return parseHerdOptions(Text).takeError(); },
    .Apply = apply,
    .Promises = Promise::Bound,
    .Join = joinBranches,
    .Stopping = stopping,
    .ChangesLaunchBy = counts};

} // namespace reconverge::remedies
