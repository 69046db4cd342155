//===- driver/NetHeader.h - A net as CUDA source ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_NETHEADER_H
#define RECONVERGE_DRIVER_NETHEADER_H

#include "core/PathNet.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace reconverge::driver {

/// Writes \p N as constants for the device library (warp/warp_net.cuh): NAME_net,
/// of net_weights, and NAME_tiles, of net_tiles; NAME is the kernel's. Same net,
/// same bytes.
void printNetHeader(const PathNet &N, llvm::raw_ostream &OS);
llvm::Error writeNetHeader(const PathNet &N, llvm::StringRef Path);

} // namespace reconverge::driver

#endif
