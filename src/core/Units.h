//===- core/Units.h - What a kernel's time can be bound by ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_UNITS_H
#define RECONVERGE_CORE_UNITS_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace reconverge {

/// A part of a GPU that all warps share. The pipes of a scheduler come first:
/// what they do follows from the instructions alone. What memory does hangs on
/// addresses.
enum class Unit : uint8_t {
  Issue,   ///< a scheduler's one instruction a cycle
  Alu,     ///< integers, comparisons, logic
  Fma,     ///< single precision, integer multiplication
  Fp64,    ///< double precision
  Xu,      ///< transcendentals, conversions, bit counts
  Lsu,     ///< instructions that go to memory, shuffles
  Tex,     ///< textures
  Control, ///< branches, calls, barriers
  L1,      ///< passes of shared memory and the first cache
  L2,      ///< sectors between the multiprocessors and the second cache
  Dram,    ///< bytes of device memory
  Atomics, ///< turns of atomic operations on global memory
  Start    ///< thread blocks that start
};
inline constexpr size_t NumPipes = size_t(Unit::L1);
inline constexpr size_t NumUnits = size_t(Unit::Start) + 1;

/// Cycles for which each pipe of a scheduler is busy.
using PipeCycles = std::array<double, NumPipes>;

/// "issue", "alu", ..., as machine files and reports call it.
const char *wordOf(Unit U);

} // namespace reconverge

#endif
