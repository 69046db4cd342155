//===- remedies/regroup/Remedy.cpp - Regrouping, for the rest -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Remedy.h"

#include "core/Error.h"
#include "remedies/common/Requests.h"
#include "remedies/regroup/Forecast.h"
#include "remedies/regroup/Refusals.h"
#include "remedies/regroup/Regroup.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::remedies {

static constexpr const char *PassName = "reconverge-regroup";

static void report(Function &F, const Regrouped &Made) {
  OptimizationRemarkEmitter Remarks(&F);
  Remarks.emit([&] {
    OptimizationRemark Remark(PassName, "Regrouped", DebugLoc(),
                              &F.getEntryBlock());
    Remark << "regrouped: threads are sorted by "
           << ore::NV("ClassBits", Made.ClassBits) << " bits of "
           << ore::NV("Branches", unsigned(Made.By.Branches.size()))
           << " branches";
    for (uint32_t Branch : Made.By.Branches)
      Remark << " " << ore::NV("Branch", Branch);
    if (const unsigned Leaves = Made.By.Tree.leaves())
      Remark << ", by a tree of " << ore::NV("Leaves", Leaves) << " leaves";
    if (Made.By.Net)
      Remark << ", by a net of "
             << ore::NV("Classes", unsigned(Made.By.Net->Classes.size()))
             << " classes" << (Made.By.OnTensorCores ? " on tensor cores" : "");
    if (Made.By.Gather)
      Remark << ", and " << ore::NV("Locality", Made.Locality) << " of load "
             << ore::NV("Gather", *Made.By.Gather);
    if (!Made.By.Estimate.empty())
      Remark << ", and " << ore::NV("Locality", Made.Locality)
             << " of an estimate";
    if (Made.MovedBytes)
      Remark << "; " << ore::NV("Loads", Made.Loads) << " loads and "
             << ore::NV("Stores", Made.Stores) << " stores are moved, "
             << ore::NV("Bytes", Made.MovedBytes) << " bytes a thread";
    if (Made.Arrays)
      Remark << "; " << ore::NV("Arrays", Made.Arrays) << " arrays with "
             << ore::NV("Accesses", Made.Accesses)
             << " accesses lie in the order";
    return Remark;
  });
  for (const Refusal &Why : Made.Others)
    reportMissed(Remarks, PassName, "not regrouped by it",
                 *F.getEntryBlock().getTerminator(), Why);
}

/// That \p N is of the code of \p F, as far as that is known.
static Error checkNet(const PathNet &N, const Function &F,
                      const Services &Services) {
  if (Services.IsWhole && !F.getParent()->getFunction(N.Kernel))
    return userError("the net is of another kernel: the program has no " +
                         demangle(N.Kernel),
                     "Profile it with --paths and train a net of its own.");
  if (!regroup::isOf(F.getName(), N.Kernel) || Services.CodeHash.empty() ||
      Services.CodeHash == N.Module)
    return Error::success();
  return userError("the net of " + demangle(N.Kernel) +
                       " is of other code than this: of module " + N.Module +
                       ", not " + Services.CodeHash,
                   "The source or the way to build it has changed since: "
                   "profile it with --paths again and train anew.");
}

/// That what the source asks of \p F goes together.
static Error checkRequests(const Function &F) {
  for (const SourceRequest &Said : requestsIn(F, regroup::Name))
    if (auto Alone = parseRegroupOptions(Said.Parameters); !Alone)
      return Alone.takeError();
  return Error::success();
}

static Expected<std::optional<Recipe>>
apply(Function &F, StringRef Parameters, const Services &Services,
      OptimizationRemarkEmitter &Remarks) {
  auto Options = parseRegroupOptions(Parameters);
  if (!Options)
    return Options.takeError();
  if (Error E = checkRequests(F))
    return std::move(E);
  if (Options->Marked && !isAskedFor(F, regroup::Name))
    return std::nullopt;
  Module &M = *F.getParent();
  const std::string Name = F.getName().str();
  if (Options->Net) {
    if (Error E = checkNet(*Options->Net, F, Services))
      return std::move(E);
    // Of a module that has its kernel, nothing need be said of the others.
    if (!regroup::isOf(Name, Options->Net->Kernel) &&
        M.getFunction(Options->Net->Kernel))
      return std::nullopt;
  }
  PlanOr<Regrouped> Made = regroupKernel(F, *Options); // F may be gone
  if (auto *Now = std::get_if<Regrouped>(&Made)) {
    report(*M.getFunction(Name), *Now);
    return std::move(Now->Launch);
  }
  reportMissed(Remarks, PassName, "not regrouped",
               *F.getEntryBlock().getTerminator(), std::get<Refusal>(Made));
  return std::nullopt;
}

static bool ordersMemory(StringRef Parameters) {
  auto Options = parseRegroupOptions(Parameters);
  if (Options)
    return Options->Locality != 0;
  consumeError(Options.takeError()); // Check says so
  return false;
}

const Remedy regroup::Itself = {
    .Name = regroup::Name,
    .Does = regroup::Does,
    .Parameters = regroup::Parameters,
    .Refusals = regroup::refuse::All,
    .Advice = "regroup its threads over the grid",
    .PriceOf = "sorting",
    .RegroupsBlock = true,
    .BoundAt = regroup::boundAt,
    .Guess = regroup::guess,
    .Check =
        [](StringRef Text) { return parseRegroupOptions(Text).takeError(); },
    .Apply = apply,
    .Moves = [](StringRef) { return Moved::Threads; },
    .OrdersMemory = ordersMemory,
    .Foresee = regroup::foresee,
    .ChangesLaunch = true};

} // namespace reconverge::remedies
