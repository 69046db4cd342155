//===- warpvm/run/Launch.h - All blocks of a launch -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_LAUNCH_H
#define RECONVERGE_WARPVM_RUN_LAUNCH_H

#include "warpvm/run/Block.h"

namespace reconverge::warpvm {

/// Runs every thread block of \p L on up to \p Threads CPU threads. Device
/// output goes to stdout in block order when the launch ends. \p BlockSeconds:
/// what a block took in the kernel's last launch, on average, and then in this.
llvm::Error runLaunch(const LaunchContext &L, PolicyKind Kind, unsigned Threads,
                      double &BlockSeconds, LaunchCounts *Counts,
                      VectorObserver *Observer);

/// CPU threads, besides the one that launches and at most \p Most, that \p Seconds
/// of work are worth.
unsigned othersWorth(double Seconds, unsigned Most);

/// Turns SIGSEGV and SIGBUS inside compiled code into faults; elsewhere they
/// keep the meaning they had.
void installSignalHandlers();

} // namespace reconverge::warpvm

#endif
