//===- instrument/AccessProbes.h - Accesses to memory, counted --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a sampled thread block leaves of its accesses to memory: an area of
// 64-bit cells, all zero at first. A sketch of the sectors that it loads comes
// first, then a cell that is not 0 if it has not seen all of them, then four
// cells for each access.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_INSTRUMENT_ACCESSPROBES_H
#define RECONVERGE_INSTRUMENT_ACCESSPROBES_H

#include "core/Memory.h"
#include "instrument/AccessCode.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"

#include <cstdint>
#include <optional>

namespace reconverge::instrument {

/// 32-bit registers of the sketch (HyperLogLog), two to a cell.
inline constexpr unsigned SketchRegisters = 1024;
inline constexpr unsigned SketchCells = SketchRegisters / 2;
inline constexpr unsigned HeaderCells = SketchCells + 1;
/// Of an access: low halves, high halves:
///   requests, lanes; sectors, least sectors; wavefronts, least; turns
inline constexpr unsigned CellsOfAccess = 4;

/// Cells of an area for so many accesses.
constexpr uint64_t areaCells(uint64_t Accesses) {
  return HeaderCells + CellsOfAccess * Accesses;
}

/// The counts in the cells of access \p Index of \p Area.
AccessCounts countsOfAccess(llvm::ArrayRef<uint64_t> Area, unsigned Index);

/// About how many sectors the block of \p Area has loaded, if all its accesses
/// were counted. The standard error is 3 %.
std::optional<double> loadedSectors(llvm::ArrayRef<uint64_t> Area);

/// Inserts probes of accesses into a module.
class AccessProbes {
public:
  /// \p Config: the variable ProbeConfigName. \p Portable: no inline PTX.
  AccessProbes(llvm::Module &M, llvm::GlobalVariable &Config, bool Portable)
      : M(M), Config(Config), Portable(Portable) {}
  AccessProbes(const AccessProbes &) = delete;
  ~AccessProbes();

  /// What probes of a thread need to know.
  struct Thread {
    llvm::Value *Area = nullptr;  ///< device address of its block's, an i64
    llvm::Value *Start = nullptr; ///< the clock when it began, an i32
    /// By block that begins behind a probe: whether that was to run.
    llvm::DenseMap<const llvm::BasicBlock *, llvm::Value *> WasOn{};
  };
  /// Reads the clock where \p B is.
  static llvm::Value *clock(llvm::IRBuilder<> &B);

  /// Before \p I, which accessOf knows. \p Index: the access' place in areas.
  /// \p Calls: the probe is called, and does not stand there; only where
  /// mayCall. Best of all for accesses in the order in which they run.
  void insert(llvm::Instruction &I, Thread &T, unsigned Index, bool Calls);
  /// Whether calls in \p F, as it is without probes, let no lanes join.
  static bool mayCall(llvm::Function &F);
  /// Before \p I, by which the thread leaves the kernel.
  void insertAtExit(llvm::Instruction &I, const Thread &T);

private:
  llvm::Function *probe(const AccessShape &S);
  llvm::Value *windowOf(llvm::IRBuilder<> &B, const Thread &T);
  llvm::Value *idle(llvm::IRBuilder<> &B);

  llvm::Module &M;
  llvm::GlobalVariable &Config;
  const bool Portable;
  /// By shape: functions that are called, or whose code goes in place.
  llvm::DenseMap<uint32_t, llvm::Function *> Probes;
};

} // namespace reconverge::instrument

#endif
