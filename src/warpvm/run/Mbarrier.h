//===- warpvm/run/Mbarrier.h - Barriers in shared memory --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_MBARRIER_H
#define RECONVERGE_WARPVM_RUN_MBARRIER_H

#include "llvm/ADT/ArrayRef.h"

#include <utility>

namespace reconverge::warpvm {

/// Name and address of what compiled code calls for PTX's mbarrier.
llvm::ArrayRef<std::pair<const char *, void *>> mbarrierSymbols();

} // namespace reconverge::warpvm

#endif
