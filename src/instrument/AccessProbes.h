//===- instrument/AccessProbes.h - Accesses to memory, counted --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a sampled thread block leaves of its accesses to memory: an area of
// 64-bit cells, all zero at first. A sketch of the sectors that it loads comes
// first, then four cells for each access.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_INSTRUMENT_ACCESSPROBES_H
#define RECONVERGE_INSTRUMENT_ACCESSPROBES_H

#include "core/Memory.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"

#include <cstdint>

namespace reconverge::instrument {

/// 32-bit registers of the sketch (HyperLogLog), two to a cell.
inline constexpr unsigned SketchRegisters = 1024;
inline constexpr unsigned SketchCells = SketchRegisters / 2;
/// Of an access: low halves, high halves:
///   requests, lanes; sectors, least sectors; wavefronts, least; turns
inline constexpr unsigned CellsOfAccess = 4;

/// Cells of an area for so many accesses.
constexpr uint64_t areaCells(uint64_t Accesses) {
  return SketchCells + CellsOfAccess * Accesses;
}

/// The counts in the cells of access \p Index of \p Area.
AccessCounts countsOfAccess(llvm::ArrayRef<uint64_t> Area, unsigned Index);

/// About how many sectors the block of \p Area has loaded. The standard error
/// is 3 %.
double loadedSectors(llvm::ArrayRef<uint64_t> Area);

/// Inserts probes of accesses into a module.
class AccessProbes {
public:
  explicit AccessProbes(llvm::Module &M) : M(M) {}

  /// Before \p I, which accessOf knows. \p Area: the device address of the
  /// block's area, an i64; \p Index: the access' place in it.
  void insert(llvm::Instruction &I, llvm::Value *Area, unsigned Index);

private:
  struct Shape;
  llvm::Function *probe(const Shape &S);

  llvm::Module &M;
  /// By shape: those that the module has so far.
  llvm::DenseMap<uint32_t, llvm::Function *> Probes;
};

} // namespace reconverge::instrument

#endif
