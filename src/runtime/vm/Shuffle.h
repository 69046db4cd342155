//===- runtime/vm/Shuffle.h - The same launch in other orders ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_SHUFFLE_H
#define RECONVERGE_RUNTIME_VM_SHUFFLE_H

#include "core/Profile.h"
#include "runtime/vm/RepeatedLaunch.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace reconverge::runtime {

/// How launches are judged; part of BackendOptions.
struct ShuffleOptions {
  uint32_t Orders = 0; ///< beside the natural one; 0: launches run once
  uint64_t Budget = 0; ///< bytes that snapshots may take; 0: a quarter of the
                       ///< machine's memory
};

/// Whether the kernel's launch \p Number is repeated: the first ones all, later
/// ones now and then.
bool isShuffledLaunch(uint64_t Number);

/// Calls \p Natural, which runs \p L, launch \p Number of its kernel, then runs
/// it again from the same state of memory in Options.Orders other orders, and
/// leaves memory as \p Natural did. What was seen goes to \p Found, which stays
/// empty if nothing was tried: a launch that fails by itself, or one too large,
/// of which \p Refuse is told. Returns what \p Natural returned.
llvm::Error launchInAllOrders(
    const RepeatedLaunch &L, uint64_t Number, const ShuffleOptions &Options,
    llvm::function_ref<llvm::Error()> Natural,
    llvm::function_ref<void(const llvm::Twine &)> Refuse, OrderTrials &Found);

} // namespace reconverge::runtime

#endif
