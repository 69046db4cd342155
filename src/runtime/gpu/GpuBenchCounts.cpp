//===- runtime/gpu/GpuBenchCounts.cpp - What a trial's code executes ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/gpu/GpuBench.h"

#include "model/Demand.h"
#include "runtime/gpu/Cudart.h"

using namespace llvm;

namespace reconverge::gpu {

/// Milliseconds: of a launch that takes less, the thread blocks that count
/// accesses do so all the time. That takes a block several times as long, and
/// alone says what a block loads again.
static constexpr float ShortLaunch = 5;

runtime::DemandPair GpuBench::count(runtime::TriedCandidate &Tried) {
  auto &C = static_cast<GpuCandidate &>(Tried);
  if (!Asks && C.Counting.Kernel)
    Asks = demandsOf(K.Counting, nullptr);
  if (!Asks || Asks->empty())
    return {};
  return {*Asks, demandsOf(C.Counting, &C)};
}

/// Of \p Code, the original's or that of \p C; empty: not counted.
Demands GpuBench::demandsOf(const CountingCode &Code, GpuCandidate *C) {
  LaunchCounts Counts;
  if (!Code.Kernel || !addCounts(TrialCount::Blocks, Code, C, Counts))
    return {};
  (void)addCounts(TrialCount::Accesses, Code, C, Counts);
  return {model::demandWithin(
      extent(), model::demandOf(Code.Info, Counts, Log.Common.Shape))};
}

/// One run of \p Code for \p Counts. False: there was no memory for it, or it
/// could not be launched.
bool GpuBench::addCounts(TrialCount::Kind What, const CountingCode &Code,
                         GpuCandidate *C, LaunchCounts &Counts) {
  TrialCount Count(What, Code, Log.Common.Shape, In.Settings,
                   /*Windows=*/Shortest < ShortLaunch ? 1 : 2);
  if (!Count.isNeeded())
    return true;
  if (Count.begin()) {
    (void)cudart().GetLastError();
    return false;
  }
  restoreBefore();
  const CudaEnd E = runWatched(C, /*Gated=*/false, &Code.Stub);
  if (E.Launched) { // probes take registers
    (void)cudart().GetLastError();
    return false;
  }
  must(E.Ran);
  must(Count.end(Counts));
  return true;
}

} // namespace reconverge::gpu
