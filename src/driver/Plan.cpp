//===- driver/Plan.cpp - What is worth a trial ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A candidate is hopeless that would be no gain if its forecast were as far too
// low as forecasts usually are off; and one of which no code tells, if it is none
// where all that idles came back, for nothing: the kernel would still wait for
// memory as long. A forecast weighs what a unit has to do. So nothing is
// hopeless where a kernel waits for chains of instructions, a GPU that is not
// full, or the launch: code with fewer jumps has shorter chains, also where no
// lane idles. Nor is a candidate that has lanes read what lies together, which
// no forecast knows. One of which there is no forecast is tried: it says itself
// why it does not apply. Where no lane idles, a remedy for thread blocks is
// tried alone, by its own forecast. What the source asks for is tried in any
// case, and with --try-all so is what is hopeless.
//
//===----------------------------------------------------------------------===//

#include "driver/Plan.h"

#include "driver/ForeignImages.h"
#include "driver/Foresight.h"
#include "model/Forecast.h"
#include "model/Model.h"
#include "remedies/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::driver {

/// Share of a kernel's issue slots that divergence must waste before a remedy
/// is tried on it.
static constexpr double LeastWaste = 0.005;
/// A remedy that cannot gain so much, x, is left out.
static constexpr double LeastHope = 1.005;

std::vector<HotKernel> byHeat(const Profile &P, StringRef Program,
                              const analysis::MachineLimits *Limits,
                              StringRef CudaPath) {
  std::vector<HotKernel> Kernels;
  const RunCost Run = model::costOf(P, remedies::rules(), Limits);
  for (auto [K, C, Code] :
       zip_equal(P.Kernels, Run.Kernels, foresee(P, Program, CudaPath))) {
    double Waste = 0;
    for (const BranchCost &B : C.Branches)
      Waste = std::max(Waste, C.Slots > 0 ? B.LossSlots / C.Slots : 0);
    // Without accesses a forecast hopes for too much, and says too little.
    Forecasts Gains;
    if (Limits && C.Time.HasMemory)
      Gains = model::forecastsOf(K, C, remedies::rules(), *Limits, Code.Gains);
    Kernels.push_back({&K,
                       C.OfRun,
                       Waste,
                       std::move(Gains),
                       {},
                       C.Time.By == Bound::Unit,
                       Limits,
                       Code.Asked});
  }
  sort(Kernels, [](const HotKernel &A, const HotKernel &B) {
    return std::tuple(-A.OfRun, A.Counted->Info.Name, A.Counted->Info.Module) <
           std::tuple(-B.OfRun, B.Counted->Info.Name, B.Counted->Info.Module);
  });
  return Kernels;
}

const Forecast *forecastOf(const HotKernel &K, const Candidate &C) {
  const auto Found = find_if(K.Gains, [&](const Forecast &F) {
    return F.Remedy == C.Remedy &&
           F.Parameters.value_or(C.Parameters) == C.Parameters;
  });
  return Found == K.Gains.end() ? nullptr : &*Found;
}

/// The most that may come of what \p F is of.
static double hopeOf(const Forecast &F) {
  return F.Parameters ? F.Speedup * model::UsualForecastError
                      : F.High / model::UsualForecastError;
}

void leaveOut(HotKernel &K, std::vector<Candidate> &All) {
  erase_if(All, [&](const Candidate &C) {
    const Forecast *F = forecastOf(K, C);
    if (!K.IsBusy || !F || remedies::isUnforeseen(C) ||
        is_contained(K.Asked, C))
      return false;
    const double Hope = hopeOf(*F);
    if (Hope >= LeastHope)
      return false;
    TrialResult &R = K.LeftOut.emplace_back();
    R.What = C;
    R.End = TrialOutcome::Untried;
    raw_string_ostream(R.Why) << format("%.3fx at most by the forecast", Hope);
    return true;
  });
  if (all_of(All, remedies::isProof))
    All.clear();
}

/// The places of \p All in the order in which to try them, with what orders
/// them: proofs stay in front of what they prove.
static std::vector<std::pair<double, size_t>>
byForecast(const HotKernel &K, ArrayRef<Candidate> All) {
  std::vector<std::pair<double, size_t>> Order;
  for (const auto &[At, C] : enumerate(All)) {
    const Forecast *F = forecastOf(K, C);
    const double Key = remedies::isProof(C) ? -1e9 : F ? -F->Speedup : -1;
    Order.push_back({Key, At});
  }
  sort(Order);
  return Order;
}

static TrialRequest requestFor(HotKernel &K, const TrialPlan &Plan,
                               bool ByForecast) {
  TrialRequest R{
      K.Counted->Info.Name, K.Counted->Info.Module, {}, K.Counted->Launches};
  for (ForeignCompiler By : ForeignCompilers)
    if (any_of(Plan.Images, [&](const ForeignImage &I) {
          return I.By == By && I.Module == R.Module;
        }))
      R.Candidates.push_back({nameOf(By), ""});
  std::vector<Candidate> All = remedies::candidates(
      *K.Counted, K.Waste >= LeastWaste, K.Limits, K.Asked);
  // What promises a bound alone is for users who say which outputs have one.
  if (!Plan.ByOutputs)
    erase_if(All,
             [](const Candidate &C) { return C.Promises == Promise::Bound; });
  if (ByForecast)
    leaveOut(K, All);
  for (const auto &[Key, At] : byForecast(K, All))
    R.Candidates.push_back(std::move(All[At]));
  return R;
}

Expected<TrialPlan> planFor(const OptimizeRequest &Request,
                            const Session &Program, bool OnGpu,
                            MutableArrayRef<HotKernel> Kernels,
                            raw_ostream &OS) {
  TrialPlan Plan;
  Plan.Launches = Request.Launches;
  Plan.ByOutputs = Request.letsChange();
  StringSet<> Modules;
  for (const HotKernel &K : Kernels)
    Modules.insert(K.Counted->Info.Module);
  if (OnGpu)
    if (Error E = foreignImages(Request.Build, Modules, Program.folder(), OS)
                      .moveInto(Plan.Images))
      return std::move(E);
  for (HotKernel &K : Kernels)
    Plan.Kernels.push_back(requestFor(K, Plan, OnGpu && !Request.TryAll));
  return Plan;
}

double limitFor(const TrialPlan &Plan, double Once, bool OnGpu) {
  size_t Candidates = 0, Most = 0;
  for (const TrialRequest &R : Plan.Kernels) {
    Candidates += R.Candidates.size();
    Most = std::max(Most, R.Candidates.size());
  }
  const double Again = double(2 + Plan.Orders + Most);
  return 60 + 10 * Once * Again +
         (OnGpu ? 2 * Plan.Seconds + 10 * double(Candidates) : 0);
}

} // namespace reconverge::driver
