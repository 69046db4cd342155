//===- driver/Predict.cpp - What remedies should gain ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Predict.h"

#include "core/Error.h"
#include "driver/Build.h"
#include "driver/Foresight.h"
#include "driver/Profile.h"
#include "model/Forecast.h"
#include "model/Model.h"
#include "remedies/Table.h"
#include "report/Forecasts.h"

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

Expected<int> predict(const PredictRequest &Request, raw_ostream &OS) {
  auto Program = Session::create(Request);
  if (!Program)
    return orInterrupted(Program.takeError(), OS);
  if (!Request.Orders.empty())
    if (Error E = makeFolder(Request.Orders))
      return std::move(E);
  auto Run = countRun(Request, *Program, {});
  if (!Run)
    return Run.takeError();
  if (!Run->Counted)
    return withoutProfile(Request, *Program, *Run, OS);
  const analysis::MachineLimits *Limits =
      limitsFor(*Run->Counted, Program->machine());
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
  if (!Request.Orders.empty() && !sys::fs::exists(Request.Orders + "/times"))
    return userError("--orders=" + Request.Orders + ": no order was written",
                     "The notes above say why, if a kernel was launched.");
  return Run->End.status();
}

} // namespace reconverge::driver
