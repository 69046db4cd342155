//===- runtime/vm/ModelClock.cpp - Time as a GPU would take it ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/vm/ModelClock.h"

#include "model/Demand.h"
#include "model/Time.h"
#include "runtime/vm/Registry.h"

namespace reconverge::runtime {

void ModelClock::add(const DeviceFunction &F, const LaunchShape &Shape,
                     const LaunchCounts &Counts) {
  auto [At, IsNew] = Known.try_emplace((F.Home->Code->hash() + F.Name).str());
  if (IsNew)
    At->second = analysis::describeKernel(F.Code->function(), Costs,
                                          F.Home->Code->hash());
  const KernelTime T = model::timeOf(model::demandOf(At->second, Counts, Shape),
                                     *Costs.limits());
  Seconds += T.Cycles / (Costs.limits()->ClockMHz * 1e6);
}

} // namespace reconverge::runtime
