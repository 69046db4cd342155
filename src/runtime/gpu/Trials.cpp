//===- runtime/gpu/Trials.cpp - Candidates on a program's launches --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trial has the device for itself: the program's calls that launch, copy,
// allocate or free hold a gate, shared, and a trial takes it alone
// (TrialTable.cpp). How one goes is in GpuBench.cpp and, for all backends, in
// trial/Protocol.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/Trials.h"

#include "core/Error.h"
#include "runtime/gpu/Cudart.h"
#include "runtime/gpu/GpuBench.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <mutex>
#include <unistd.h>

using namespace llvm;

namespace reconverge::gpu {

GpuTrials &GpuTrials::get() {
  static GpuTrials &Only = *new GpuTrials;
  return Only;
}

Error GpuTrials::configure(Options O, runtime::Remedies Apply) {
  Settings = std::move(O);
  OwnProcess = getpid();
  if (Error E = readTrialPlan(Settings.TrialPlan).moveInto(Plan))
    return E;
  if (Error E = runtime::TrialLog::open(Plan.Log).moveInto(Log))
    return E;
  auto Costs = analysis::MachineModel::load(Settings.MachineFile);
  if (!Costs)
    return Costs.takeError();
  Images.configure(&Plan, Settings, std::move(*Costs), std::move(Apply));
  return Error::success();
}

void **GpuTrials::registerFatBinary(void *Wrapper) {
  const runtime::Stopwatch Building;
  void **Handle = Images.registerFatBinary(
      Wrapper, [&](StringRef Module, const Twine &Why) {
        TrialEvent E;
        E.What = TrialEvent::Untried;
        E.Module = Module.str();
        E.Why = ("no code to try can be built: " + Why).str();
        for (const TrialRequest &R : Plan.Kernels) {
          E.Kernel = R.Kernel;
          for (const Candidate &C : R.Candidates) {
            E.Tried = C;
            if (R.Module == Module)
              Log->add(E);
          }
        }
      });
  if (Plan.IsHurried) {
    std::unique_lock<std::shared_mutex> Alone(Gate);
    Built += Building.seconds();
    Plan.Seconds = secondsAfter(Building.seconds(), Plan.Seconds);
  }
  return Handle;
}

std::string outOfTime(bool IsHurried, double Built, double Spent) {
  if (!IsHurried)
    return formatv("trials have taken {0:f0} s in this run, as long as they "
                   "may; --time-limit sets another limit",
                   Spent);
  return formatv("--time-limit leaves no more time in this run: building the "
                 "candidates took {0:f1} s, trials took {1:f1} s",
                 Built, Spent);
}

double secondsAfter(double Building, double Seconds) {
  return std::max(Seconds / 2, Seconds - Building);
}

void GpuTrials::noteFirstUse() {
  if (FirstUseKnown.exchange(true))
    return;
  size_t Free = 0, Total = 0;
  if (!cudart().MemGetInfo(&Free, &Total))
    UsedAtFirst = Total - Free;
}

cudaError_t GpuTrials::launch(const void *Stub, const ProgramLaunch &L) {
  GpuTriedKernel *K = Images.kernel(Stub);
  if (!K) {
    std::shared_lock<std::shared_mutex> Shared(Gate);
    return L.Launch(Stub);
  }
  std::unique_lock<std::shared_mutex> Alone(Gate);
  if (getpid() != OwnProcess || !K->Choice.wants(L.Shape, Plan.Launches))
    return L.Launch(Stub);
  return GpuBench(*this, *K, L).tryLaunch();
}

} // namespace reconverge::gpu
