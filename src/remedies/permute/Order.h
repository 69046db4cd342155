//===- remedies/permute/Order.h - A kernel that fills an index --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_PERMUTE_ORDER_H
#define RECONVERGE_REMEDIES_PERMUTE_ORDER_H

#include "remedies/permute/Options.h"

#include "llvm/ADT/Twine.h"

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies {

/// Adds to the module of \p Kernel, for the same target, the kernel
/// `Name(u32 *index, u64 items)`: each of its threads
/// sets the element of its own number, if there is one, and all of them
/// together make a permutation of the numbers below items, which are at most
/// 2^32.
llvm::Function &makeOrderKernel(llvm::Function &Kernel, const llvm::Twine &Name,
                                const PermuteOptions &Options);

} // namespace reconverge::remedies

#endif
