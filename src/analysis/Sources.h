//===- analysis/Sources.h - Where uniformity begins -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The level of what is not computed from other values: arguments, constants,
// special registers, and the results of loads and calls.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_ANALYSIS_SOURCES_H
#define RECONVERGE_ANALYSIS_SOURCES_H

#include "analysis/Uniformity.h"

#include <optional>

namespace llvm {
class Argument;
class CallBase;
class Constant;
class LoadInst;
} // namespace llvm

namespace reconverge::analysis {

/// Of \p A in its function: Grid for a kernel's, Divergent for others.
Uniformity argumentLevel(const llvm::Argument &A);

Uniformity constantLevel(const llvm::Constant &C);

/// The memory that \p Load reads cannot change while the kernel runs.
bool isInvariantLoad(const llvm::LoadInst &Load);

/// What the level of a call's result follows from.
enum class CallRule {
  Fixed,    ///< a level of its own
  Operands, ///< a pure function of its operands: as uniform as they are
  Value,    ///< its first operand, unchanged or as another kind of pointer
  ReadOnly ///< a load, through its first operand, of memory that is not written
};

struct CallLevel {
  CallRule Rule = CallRule::Fixed;
  Uniformity Level; ///< if Fixed
};

CallLevel callLevel(const llvm::CallBase &Call,
                    const UniformityOptions &Options);

} // namespace reconverge::analysis

#endif
