//===- runtime/vm/Options.h - What the environment asks for -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_OPTIONS_H
#define RECONVERGE_RUNTIME_VM_OPTIONS_H

#include "core/CacheFolder.h"
#include "runtime/vm/Device.h"
#include "runtime/vm/Herd.h"
#include "runtime/vm/Shuffle.h"
#include "warpvm/Machine.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace reconverge::runtime {

struct BackendOptions {
  BackendOptions() {
    Machine.Counters = false;
    Machine.OwnMemory = true; // every CUDA call that gives memory is ours
    Machine.Tolerant = true;  // programs run as they do on a GPU
    Machine.Later = true;
  }
  warpvm::MachineOptions Machine; ///< counts only if a profile is asked for
  bool Vectors = true;          ///< a profile samples per-thread block vectors
  std::optional<bool> Accesses; ///< count requests to memory; if not said,
                                ///< where costs are asked for
  bool Races = false;           ///< look for races in each launch
  bool ModelClock = false;      ///< device events tell the model's time
  HerdSettings Herd;            ///< what the policy herds
  ShuffleOptions Shuffle;       ///< a profile tries launches in other orders
  bool HasCache = false; ///< Machine.CacheDir is said; otherwise the user's own
  uint64_t CacheBytes = UsualCacheBytes; ///< that it may take; 0: no bound
  uint64_t Memory = 0; ///< device memory in bytes; 0: DeviceMemory's default
  /// What the device says that it has; launches are held to limits' number.
  unsigned Multiprocessors = limits::Multiprocessors;
  bool Features = false;   ///< a profile has what foretells sampled threads
  std::string Orders;      ///< folder for orders of threads; empty: none
  std::string ProfilePath; ///< where the raw profile goes; empty: none
  std::string Findings;    ///< folder of a test (core/Findings.h); empty: none
  std::string TrialPlan;   ///< plan of trials (core/Trials.h); empty: none
  std::string MachineFile; ///< machines/*.json for all three; empty: h200

  /// Whether what is launched has to be counted and weighed.
  bool needsCosts() const {
    return !ProfilePath.empty() || !TrialPlan.empty() || ModelClock;
  }
  /// Whether somebody but the machine looks at the code of kernels.
  bool needsCode() const {
    return needsCosts() || Shuffle.Orders != 0 || Herd.any();
  }
};

/// What RECONVERGE_VM calls the policy.
std::string policyName(const BackendOptions &O);

/// \p Vm is RECONVERGE_VM's value: "key=value,..." with the keys that
/// Options.cpp lists; \p Usual: what holds where it says nothing. The UserError
/// names the key and what it may be.
llvm::Expected<BackendOptions> parseOptions(llvm::StringRef Vm,
                                            BackendOptions Usual = {});

/// As above from the environment: RECONVERGE_VM, RECONVERGE_PROFILE,
/// RECONVERGE_MACHINE.
llvm::Expected<BackendOptions> optionsFromEnvironment();

} // namespace reconverge::runtime

#endif
