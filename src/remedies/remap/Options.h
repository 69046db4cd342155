//===- remedies/remap/Options.h - Parameters of remapping ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REMAP_OPTIONS_H
#define RECONVERGE_REMEDIES_REMAP_OPTIONS_H

#include "remedies/common/Remedy.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace reconverge::remedies {

enum class RemapAlgorithm {
  Automatic,        ///< leaves blocks of at most one mixed warp as they are
  WarpAggregated,   ///< leaves blocks of no mixed warp
  HeadOrTail,       ///< for two groups; with more, the next
  DataGroupIndexing ///< both leave blocks of one group
};
inline std::optional<RemapAlgorithm> remapAlgorithm(llvm::StringRef Name) {
  return llvm::StringSwitch<std::optional<RemapAlgorithm>>(Name)
      .Case("automatic", RemapAlgorithm::Automatic)
      .Case("warp_aggregated", RemapAlgorithm::WarpAggregated)
      .Case("head_or_tail", RemapAlgorithm::HeadOrTail)
      .Case("data_group_indexing", RemapAlgorithm::DataGroupIndexing)
      .Default(std::nullopt);
}

inline constexpr uint32_t MinNeighbours = 4, MaxNeighbours = 64;

struct RemapOptions {
  /// Least number of instructions that a branch controls, those of a loop
  /// counted eight times.
  uint64_t Threshold = 100;
  /// The largest block that exchanges; larger ones skip the round. Each word
  /// that moves takes 4 bytes of shared memory for each of these threads.
  uint32_t Threads = 1024;
  /// Only thread blocks of exactly so many exchange, which makes rounds shorter.
  bool Exact = false;
  /// Most paths of a round that serves several branches in a row.
  uint32_t Paths = 8;
  RemapAlgorithm Algorithm = RemapAlgorithm::Automatic;
  /// Threads that data_group_indexing counts as one: 4, 8, 16, 32 or 64. Twice
  /// as many where there is too little shared memory.
  uint32_t Neighbours = 16;
  /// Also remap branches that depend on the thread's number alone.
  bool Ids = false;
  /// Only rounds whose shared memory and registers leave as many blocks on a
  /// processor as before.
  bool Occupancy = true;
  /// Bytes of shared memory that launches add to the kernel's own.
  uint32_t Shared = 0;
  /// Only branches that a pragma asks for.
  bool Marked = false;
  /// Threads that do something before they leave come to a round as well. No
  /// parameter: patches to the source ask for it.
  bool WorkingExits = false;
  /// Numbers (!rc.branch) of the branches to remap; empty: all.
  std::vector<uint32_t> Branches;

  RegisterCounter CountRegisters; ///< null: nothing is known of registers
  /// Of the kernel as it is; 0: not known.
  unsigned Registers = 0;

  /// A mistake to make on purpose, so that tests can show that they would
  /// notice: the first value that must move stays.
  bool PlantedBug = false;
};

/// Reads "threshold=100;threads=256;ids=1;branch=3"; the error names the word
/// that is wrong.
llvm::Expected<RemapOptions> parseRemapOptions(llvm::StringRef Text);

} // namespace reconverge::remedies

#endif
