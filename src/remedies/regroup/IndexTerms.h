//===- remedies/regroup/IndexTerms.h - Sums of 32 bits ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REGROUP_INDEXTERMS_H
#define RECONVERGE_REMEDIES_REGROUP_INDEXTERMS_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class Function;
class Value;
} // namespace llvm

namespace reconverge::remedies::regroup {

/// Has the terms of each index into an object that is \p Wanted be extended to 64
/// bits, where the sum was that may not wrap: k * n + i of ints becomes long(k) *
/// long(n) + long(i).
void extendTerms(llvm::Function &F,
                 llvm::function_ref<bool(const llvm::Value &Object)> Wanted);

} // namespace reconverge::remedies::regroup

#endif
