//===- driver/Predict.cpp - What remedies should gain ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Predict.h"

#include "core/Error.h"
#include "driver/Build.h"
#include "driver/Foresight.h"
#include "driver/Nets.h"
#include "driver/Profile.h"
#include "driver/Progress.h"
#include "model/Forecast.h"
#include "model/Model.h"
#include "model/Regression.h"
#include "remedies/Table.h"
#include "report/Forecasts.h"
#include "train/Train.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

/// A place for orders; what times an earlier run has left there goes.
static Error makeFolder(StringRef Orders) {
  std::error_code EC = sys::fs::create_directories(Orders);
  if (!EC)
    EC = sys::fs::remove(Orders + "/times");
  if (EC)
    return userError("--orders=" + Orders + ": " + EC.message());
  return Error::success();
}

/// The kernel of \p P that \p K is, or null.
static const KernelProfile *sameIn(const Profile &P, const KernelProfile &K) {
  const auto Found = find_if(P.Kernels, [&](const KernelProfile &Other) {
    return Other.Info.Name == K.Info.Name && Other.Info.Module == K.Info.Module;
  });
  return Found == P.Kernels.end() ? nullptr : &*Found;
}

/// Fits what threads took, tries that on another run if there is to be one, and
/// prints it.
static Error estimate(const PredictRequest &Request, const Session &Program,
                      const Profile &Counted, const RunCost &Cost,
                      Progress &Now, raw_ostream &OS) {
  std::optional<Profile> Other;
  if (Request.Test) {
    RunMode Mode;
    Mode.Arguments = &*Request.Test;
    Now.step("running the program with the words of --test");
    auto Run = countRun(Request, Program, Now, Mode);
    if (!Run)
      return Run.takeError();
    if (!Run->Counted)
      return userError("--test: the program " + endOf(Run->End) +
                           " and left no profile",
                       "It ran with the words of --test as its arguments.");
    Other = std::move(Run->Counted);
  }
  std::vector<std::optional<EstimateForecast>> All;
  for (const KernelProfile &K : Counted.Kernels) {
    const KernelProfile *Same = Other ? sameIn(*Other, K) : nullptr;
    All.push_back(Other && !Same ? std::nullopt : model::estimateFor(K, Same));
    if (All.back() && train::canTrain())
      if (auto Net = forecastNet(K, Same, *All.back()); !Net)
        return Net.takeError();
  }
  report::printEstimates(Counted, Cost, All, OS, terminalFor(OS));
  return Error::success();
}

Expected<int> predict(const PredictRequest &Request, raw_ostream &OS) {
  Progress Now(OS, Request);
  auto Program = prepare(Request, Now);
  if (!Program)
    return orInterrupted(Program.takeError(), OS);
  if (!Request.Orders.empty())
    if (Error E = makeFolder(Request.Orders))
      return std::move(E);
  Now.step("running the program");
  auto Run = countRun(Request, *Program, Now);
  if (!Run)
    return Run.takeError();
  if (!Run->Counted)
    return withoutProfile(Request, *Program, *Run, OS);
  const analysis::MachineLimits *Limits =
      limitsFor(*Run->Counted, Run->Machine);
  if (!Limits)
    return userError("predict: there is no machine file of " +
                         Run->Counted->Device,
                     "benchmarks/micro/run.py writes one; name it by "
                     "--machine.");
  const RunCost Cost = model::costOf(*Run->Counted, remedies::rules(), Limits);
  std::vector<Forecasts> All;
  const auto ByCode =
      foresee(*Run->Counted, Program->program(), Request.Build.CudaPath);
  for (auto [K, C, Code] :
       zip_equal(Run->Counted->Kernels, Cost.Kernels, ByCode))
    All.push_back(
        model::forecastsOf(K, C, remedies::rules(), *Limits, Code.Gains));
  report::printForecasts(*Run->Counted, Cost, All, OS, terminalFor(OS));
  if (Request.Groupings) {
    std::vector<std::optional<GroupingForecasts>> Groupings;
    for (const KernelProfile &K : Run->Counted->Kernels)
      Groupings.push_back(model::groupingForecastsOf(K, *Limits));
    report::printGroupings(*Run->Counted, Cost, Groupings, OS, terminalFor(OS));
  }
  if (Request.Estimate)
    if (Error E = estimate(Request, *Program, *Run->Counted, Cost, Now, OS))
      return std::move(E);
  if (!Request.Orders.empty() && !sys::fs::exists(Request.Orders + "/times"))
    return userError("--orders=" + Request.Orders + ": no order was written",
                     "The notes above say why, if a kernel was launched.");
  return Run->End.status();
}

} // namespace reconverge::driver
