//===- warpvm/prepare/DeviceIntrinsics.h - A GPU's own, lowered -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_PREPARE_DEVICEINTRINSICS_H
#define RECONVERGE_WARPVM_PREPARE_DEVICEINTRINSICS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace llvm {
class Function;
}

namespace reconverge::warpvm {

/// Rewrites what a CPU has no machinery for as plain IR: asynchronous copies,
/// which are over at once, and questions about shared memory. \p Reserved: what
/// sharedLayout() gave the bytes that cooperative groups keep.
void lowerDeviceIntrinsics(llvm::Function &F, uint64_t Reserved);

/// The VM's own function that is called, lane by lane, for device function or
/// intrinsic \p Name; empty if there is none.
std::string laneFunction(llvm::StringRef Name);

} // namespace reconverge::warpvm

#endif
