//===- driver/Quality.h - The quality of one output -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_QUALITY_H
#define RECONVERGE_DRIVER_QUALITY_H

#include "driver/CommandLine.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::driver {

/// Measures one output beside its reference and says on \p OS what came of it.
/// Returns 3 if a bound was given and the output lies outside, else 0.
llvm::Expected<int> quality(const CompareRequest &Request,
                            llvm::raw_ostream &OS);

} // namespace reconverge::driver

#endif
