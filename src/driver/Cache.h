//===- driver/Cache.h - The folder of compiled kernels ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_CACHE_H
#define RECONVERGE_DRIVER_CACHE_H

#include "driver/CommandLine.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::driver {

/// Says on \p OS how large the folder is, or empties it of what we put there, or
/// compiles what programs have left.
llvm::Error cache(const CacheRequest &Request, llvm::raw_ostream &OS);

} // namespace reconverge::driver

#endif
