//===- runtime/gpu/Options.h - What the environment asks for ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_OPTIONS_H
#define RECONVERGE_RUNTIME_GPU_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace reconverge::gpu {

struct Options {
  bool Vectors = true;   ///< sample per-thread block vectors
  bool Features = false; ///< and what foretells those threads
  bool Counters = true;  ///< off: measure times only, of code without probes
  /// What probes are built into: machine code, or for tests on the warp VM a
  /// container of bitcode.
  bool Bitcode = false;
  /// At least so many thread blocks of a launch count; 0: all.
  uint64_t Blocks = 1024;
  /// Of these, at most so many have their accesses to memory counted; 0: none;
  /// unset: as MemoryCount.cpp says.
  std::optional<uint64_t> MemoryBlocks;
  /// That a thread may use; blocks of n threads need at most 65536 / n. 0:
  /// ptxas' choice, which weighs them against the warps that fit. (With a limit
  /// it takes what it may, and a kernel that has 20 runs with 128.)
  unsigned Registers = 0;
  std::string CacheDir;    ///< where built images are kept; empty: nowhere
  std::string ProfilePath; ///< RECONVERGE_PROFILE
  std::string MachineFile; ///< RECONVERGE_MACHINE; empty: the GPU's
  std::string TrialPlan; ///< RECONVERGE_TRIALS; set: tries, and counts nothing
  /// That a trial may take at least before it is a hang, seconds.
  double HangSeconds = 2;
};

/// \p Text is RECONVERGE_GPU's value, "key=value,...", with the keys that
/// Options.cpp lists. The UserError names the key and what it may be.
llvm::Expected<Options> parseOptions(llvm::StringRef Text);

/// As above from the environment.
llvm::Expected<Options> optionsFromEnvironment();

} // namespace reconverge::gpu

#endif
