//===- remedies/share/Memory.h - Whether iterations meet --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_SHARE_MEMORY_H
#define RECONVERGE_REMEDIES_SHARE_MEMORY_H

#include "remedies/share/Legality.h"

#include "llvm/Analysis/AliasAnalysis.h"

namespace reconverge::remedies::share {

/// Why other lanes may not run iterations of \p L, at other times than their
/// thread would: what they do to memory, or with other threads. None: they may.
std::optional<Refusal> tiedInMemory(const llvm::Loop &L,
                                    llvm::AAResults &Aliases,
                                    llvm::ScalarEvolution &SE,
                                    const ShareOptions &Options);

} // namespace reconverge::remedies::share

#endif
