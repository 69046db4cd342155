//===- driver/Optimize.h - Try, prove, keep ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_OPTIMIZE_H
#define RECONVERGE_DRIVER_OPTIMIZE_H

#include "core/Decision.h"
#include "driver/CommandLine.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::driver {

/// Profiles the program of \p Request, tries every remedy on its own launches,
/// writes Request.Decisions, builds Request.Program with what is kept and the
/// table to \p OS. Returns what the program returned in its first run, 128 +
/// its signal if one ended it; where that is not 0, nothing is built.
llvm::Expected<int> optimize(const OptimizeRequest &Request,
                             llvm::raw_ostream &OS);

} // namespace reconverge::driver

#endif
