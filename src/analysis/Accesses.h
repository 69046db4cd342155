//===- analysis/Accesses.h - Instructions that access memory ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_ACCESSES_H
#define RECONVERGE_ANALYSIS_ACCESSES_H

#include "core/Memory.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace llvm {
class Instruction;
class Value;
} // namespace llvm

namespace reconverge::analysis {

/// What \p Pointer leads to: "global", "shared", "const", "local" or, where the
/// code does not say, "generic".
llvm::StringRef spaceOf(const llvm::Value &Pointer);

struct Access {
  const llvm::Value *Pointer;
  MemoryUse Use;
  MemorySpace Space;
  uint32_t Bytes; ///< a lane
};

/// What \p I does if it is a load, store or atomic operation of a width that
/// the code says, and not of constant memory or parameters. Copies of blocks,
/// asynchronous ones, fragments of matrices and textures are none.
std::optional<Access> accessOf(const llvm::Instruction &I);

} // namespace reconverge::analysis

#endif
