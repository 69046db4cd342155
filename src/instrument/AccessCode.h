//===- instrument/AccessCode.h - What a request costs, counted --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_INSTRUMENT_ACCESSCODE_H
#define RECONVERGE_INSTRUMENT_ACCESSCODE_H

#include "core/Memory.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>

namespace llvm {
class CallInst;
class Function;
} // namespace llvm

namespace reconverge::instrument {

/// What makes two accesses alike for what counts them.
struct AccessShape {
  MemorySpace Space;
  MemoryUse Use;
  uint32_t Bytes; ///< a lane
};

/// Gives \p F, which has no body yet, code that adds one request of shape \p S
/// to its cells:
///
///   void(i64 address, i64 area, i32 index, i32 mask)
///
/// \p area and \p index: as in AccessProbes.h. \p mask: the lanes that make the
/// request, which run this together. \p Of: the same function for another
/// space, asked for where the address alone says which.
void emitAccessCode(llvm::Function &F, const AccessShape &S, bool Portable,
                    llvm::function_ref<llvm::Function *(MemorySpace)> Of);

/// The code of the function that \p Call calls, instead of it.
void putInPlace(llvm::CallInst *Call);

} // namespace reconverge::instrument

#endif
