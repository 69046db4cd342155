//===- runtime/vm/Engine.h - The machine behind the calls -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_ENGINE_H
#define RECONVERGE_RUNTIME_VM_ENGINE_H

#include "runtime/profile/Collector.h"
#include "runtime/vm/Features.h"
#include "runtime/vm/ModelClock.h"
#include "runtime/vm/Options.h"
#include "runtime/vm/Trials.h"
#include "warpvm/Machine.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace reconverge::runtime {

struct DeviceFunction;

using MachineFactory =
    std::function<llvm::Expected<std::unique_ptr<warpvm::Machine>>(
        const warpvm::MachineOptions &)>;

/// The warp VM of this process, made at the first launch, and the profile of
/// what it ran. All but get() and configure() are called under deviceLock().
class Engine {
public:
  static Engine &get(); ///< made at first use, never destroyed

  /// Sets the size of device memory, reads the machine file if a profile is
  /// asked for, and sees to it that the profile is written when the process
  /// exits.
  llvm::Error configure(BackendOptions Options, MachineFactory Make);

  /// Forgets machine and options; for tests.
  void reset();

  llvm::Expected<warpvm::Machine *> machine();
  const BackendOptions &options() const { return Options; }

  /// Runs \p F, whose code is resolved. Returns what cudaLaunchKernel is to
  /// return: success also for a kernel that faulted, whose fault is then
  /// everyone's (Errors.h).
  cudaError_t launch(DeviceFunction &F, const LaunchShape &Shape, void **Args,
                     cudaStream_t Stream);

  /// \p P is unloaded, or the process ends.
  void leave(warpvm::Program &P) {
    if (TheMachine)
      TheMachine->leave(P);
  }

  /// Says, once, why something cannot be run, on stderr or to a test; the
  /// profile keeps it.
  void refuse(const llvm::Twine &Why, llvm::StringRef Kernel = "");
  /// Says on stderr, once, what else a reader of the profile must know.
  void note(const llvm::Twine &What);

  /// Writes the profile of what was counted so far and begins anew.
  llvm::Error writeProfile();

  /// What device events go by; null: the CPU's time.
  const ModelClock *modelClock() const { return Clock.get(); }

private:
  Engine() = default;
  void noteOverruns(const DeviceFunction &F);
  void noteRaces(const DeviceFunction &F, const RaceFindings &Found);
  void noteFindings(std::vector<Finding> Found);
  cudaError_t noteFailure(const DeviceFunction &F, llvm::Error Failure);

  BackendOptions Options;
  MachineFactory Make;
  std::unique_ptr<warpvm::Machine> TheMachine;
  std::unique_ptr<Collector> Counted;      ///< null: no profile asked for
  FeatureReader Features;                  ///< if asked for
  std::unique_ptr<VmTrials> Tried;         ///< null: nothing is to be tried
  std::unique_ptr<ModelClock> Clock;       ///< null: not asked for
  std::vector<std::string> Refused, Notes; ///< in the order they were said
  llvm::StringSet<> Overrunning; ///< kernels of which noteOverruns has spoken
  llvm::StringMap<RaceFindings> SaidRaces; ///< by kernel: what noteRaces said
  llvm::StringMap<uint64_t>
      Launched;       ///< by kernel, where no profile counts them
  int OwnProcess = 0; ///< a fork's child does not write the parent's profile
};

/// Seconds since some start, as device events have them: the time that it took
/// to load and compile device code does not count, since a GPU's program has
/// that behind it. With a clock of the model's, that one's. Under deviceLock().
double deviceSeconds();

/// While one lives, deviceSeconds() stands still.
class StoppedClock {
public:
  StoppedClock();
  ~StoppedClock();
  StoppedClock(const StoppedClock &) = delete;
  StoppedClock &operator=(const StoppedClock &) = delete;

private:
  double Begin;
};

} // namespace reconverge::runtime

#endif
